"""The page "Heads": it shows what the library measures, of every family, and a claim only where it holds."""

import time

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.atlas import repeat_scores, trace_scores
from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.figures import heads as figures
from relxl.jobs import Jobs
from relxl.style import percent
from relxl.trace import run, split_memory
from relxl.ui.heads import look as heads_look
from tests.conftest import ROOT
from tests.foreign import CASES
from tests.test_pages import control, healthy, open_app, text_box

PAGE = "pages/2_Heads.py"
CHECKPOINTS = list_checkpoints(ROOT / "checkpoints")


@pytest.fixture
def registry(monkeypatch):
    """Give each test its own jobs."""
    jobs = Jobs(lambda owner: True)
    monkeypatch.setattr(heads_look, "jobs", lambda: jobs)
    monkeypatch.setattr("relxl.ui.jobs.jobs", lambda: jobs)
    yield jobs
    jobs.close()


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


def chips(app, key):
    return [button for button in app.button if str(button.key).startswith(key)]


def scores_in_view(app, name="shakespeare-learned"):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    return checkpoint, trace_scores(run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len)).mean


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_every_checkpoint_is_shown(name):
    app = open_app(PAGE, ck=name)
    assert healthy(app) and control(app, "control_ck").value == name
    charts = app.get("plotly_chart")
    assert len(charts) == 2 and all(len(chart.proto.alt) > 40 for chart in charts)
    assert "leads with" in words(app) and len(app.dataframe) == 1


@pytest.mark.parametrize("name", CASES)
def test_every_family_is_shown(name, library):
    app = open_app(PAGE, ck=f"folder/{name}", l="0", h="1")
    assert healthy(app) and not app.toast and "leads with" in words(app)
    offered = control(app, "control_hm").options
    reads_tokens = bool(app.text_area)
    assert ("induction" in offered) == reads_tokens


@pytest.mark.parametrize("measure", ["content", "previous_token", "by_distance", "memory_mass", "mean_distance"])
def test_the_table_and_the_sentence_hold_what_the_library_measures(measure):
    app = open_app(PAGE, hm=measure, l="1", h="3")
    _checkpoint, mean = scores_in_view(app)
    table = app.dataframe[0].value
    assert len(table) == 32 and table.iloc[:, 1].is_monotonic_decreasing and list(table)[:2] == ["name", measure]
    ours = dict(zip([name.removeprefix("▸ ") for name in table["name"]], table[measure], strict=True))
    for (layer, head), value in np.ndenumerate(mean[measure]):
        assert ours[f"L{layer}H{head}"] == pytest.approx(value, abs=1e-6)
    assert [name for name in table["name"] if name.startswith("▸")] == ["▸ L1H3"]
    layer, head = np.unravel_index(mean[measure].argmax(), (4, 8))
    assert f"**L{layer}H{head}** leads" in words(app)
    if measure != "mean_distance":
        assert f"L1H3 has {percent(mean[measure][1, 3])}" in words(app)


def test_induction_is_measured_on_random_tokens_that_come_twice():
    app = open_app(PAGE, hm="repeat")
    checkpoint, _mean = scores_in_view(app)
    expected = repeat_scores(checkpoint.model).mean["induction"].max()
    assert app.dataframe[0].value["repeat"].iloc[0] == pytest.approx(expected, abs=1e-6)


def test_a_preset_leads_to_its_head_and_is_drawn_only_where_it_holds():
    app = open_app(PAGE)
    _checkpoint, mean = scores_in_view(app)
    for button in chips(app, "heads_preset"):
        layer, head = (int(place) for place in button.label.rsplit("L", 1)[1].split("H"))
        if button.label.startswith("One token back"):
            assert mean["previous_token"][layer, head] == mean["previous_token"].max() >= 0.4
            button.click().run()
            assert healthy(app) and control(app, "control_hm").value == "previous_token"
            assert (control(app, "control_l").value, control(app, "control_h").value) == (layer, head)
            assert f"**L{layer}H{head}** leads" in words(app) and "it is the chosen head" in words(app)
    assert mean["first_token"].max() < 0.3 and not any("first key" in it.label for it in chips(app, "heads_preset"))


def test_heads_alike_are_chips_that_choose_them():
    app = open_app(PAGE, l="1", h="2")
    button = chips(app, "heads_alike")[0]
    layer, head = button.label.split(" ")[0][1:].split("H")
    button.click().run()
    assert healthy(app) and control(app, "control_l").value == int(layer)
    assert control(app, "control_h").value == int(head)


def test_the_table_can_be_filtered():
    app = open_app(PAGE, hm="previous_token")
    next(it for it in app.multiselect if str(it.key).startswith("heads_layers")).set_value([3]).run()
    table = app.dataframe[0].value
    assert healthy(app) and {name.removeprefix("▸ ")[:2] for name in table["name"]} == {"L3"}
    slider = next(it for it in app.slider if str(it.key).startswith("heads_least"))
    slider.set_value(45.0).run()
    assert healthy(app) and 0 < len(app.dataframe[0].value) < 8 and (app.dataframe[0].value.iloc[:, 1] >= 0.45).all()


def test_every_picture_has_a_table_twin():
    app = open_app(PAGE)
    for key in ("table_heads_grid", "table_heads_simplex"):
        control(app, key).set_value(True)
    app.run()
    assert healthy(app) and len(app.dataframe) == 3
    np.testing.assert_allclose(app.dataframe[1].value.iloc[:, 1:].sum(axis=1), 1, atol=1e-6)


def test_a_bad_measure_in_a_link_is_reported():
    app = open_app(PAGE, hm="nonsense")
    assert not app.exception and "hm=nonsense" in app.toast[0].value
    assert control(app, "control_hm").value == "previous_token"


@pytest.mark.parametrize("text", ["a", "ab", "<b> & `x` $y$ %{z}", "a" * 300])
def test_any_text_has_its_heads(text):
    app = open_app(PAGE)
    text_box(app).set_value(text).run()
    assert healthy(app) and len(app.get("plotly_chart")) == 2


def test_the_text_is_averaged_and_takes_the_place_of_the_window(registry):
    app = open_app(PAGE, m="0")
    text_box(app).set_value("To be, or not to be, that is the question.\n" * 9).run()
    start = next(button for button in app.button if str(button.key).startswith("start heads"))
    assert "3 windows of 128 tokens" in words(app)
    start.click().run()
    deadline = time.monotonic() + 60
    while registry.running() is not None and time.monotonic() < deadline:
        time.sleep(0.1)
    app.run()
    assert healthy(app) and "Done in" in words(app) and "±" in words(app)
    table = app.dataframe[0].value
    assert list(table)[:3] == ["name", "previous_token", "previous_token_spread"]
    assert "3 windows, this text" in control(app, "heads_from").options
    control(app, "heads_from").set_value("window").run()
    assert healthy(app) and "previous_token_spread" not in app.dataframe[0].value


def test_a_short_text_of_a_model_that_knows_no_text_is_a_single_window(library):
    app = open_app(PAGE, ck="folder/xlnet_uni", n="32")
    assert not app.exception and any("single window" in caption.value for caption in app.caption)
    app = open_app(PAGE, ck="folder/nemo")
    assert healthy(app) and any("one input" in caption.value for caption in app.caption)


# Figures -------------------------------------------------------------------------------------------------------------


def test_the_grid_holds_the_numbers_and_marks_the_chosen_head():
    values = np.array([[0.1, 0.5, np.nan], [0.3, 1.2, -0.2]])
    figure = figures.grid_figure(values, np.full((2, 3), 0.01), (1, 2), "title", "{:.1f}".format)
    heat, *texts, dots = figure.data
    np.testing.assert_allclose(heat.z, values, rtol=1e-6)
    assert (heat.zmin, heat.zmax) == (0, 1.2)
    written = {(y, x): text for trace in texts for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)}
    assert written[0, 2].startswith("–") and written[1, 1].startswith("1.2 ") and "±0.0" in written[1, 1]
    assert [tuple(it[:2]) for it in dots.customdata] == list(np.ndindex(2, 3))
    assert {(shape.x0 + 0.47, shape.y0 + 0.45) for shape in figure.layout.shapes} == {(2, 1)}
    assert figure.layout.xaxis.ticktext[2] == "<b>H2</b>" and figure.layout.yaxis.ticktext[0] == "L0"


def test_the_ink_stands_out_on_its_cell():
    light, dark = figures.readable_ink("rgb(250, 250, 250)"), figures.readable_ink("rgb(50, 16, 107)")
    assert light == figures.LIGHT.ink and dark == figures.LIGHT.halo


def test_the_simplex_holds_every_head_and_names_those_that_have_the_room():
    parts = np.array([[[1, 0, 0], [0, 1, 0]], [[0.02, 0.98, 0], [np.nan] * 3]])
    figure = figures.simplex_figure(parts, np.array([[False, True], [False, False]]), (0, 0), list("abc"))
    dots = [trace for trace in figure.data if trace.customdata]
    assert list(dots[0].a) == [1, 0] and dots[0].marker.symbol == ("circle", "circle-open")
    named = [text for trace in dots for text in trace.text if text]
    assert len(named) == 1 and figure.data[-1].text == ("&nbsp;<b>L0H0</b>",)  # two dots at one place share one label
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["L0", "L1"]
    assert figure.to_json() != figures.simplex_figure(parts, parts[..., 0] > 2, (0, 1), list("abc"), True).to_json()


def test_the_corners_of_the_page_are_those_of_the_library():
    shares = {
        name: np.full((1, 1), value)
        for name, value in zip(("content", "content_position", "u_bias", "v_bias"), (0.4, 0.3, 0.2, 0.1), strict=True)
    }
    np.testing.assert_allclose(diagnostics.simplex(shares)[0, 0], [0.4, 0.3, 0.3])
