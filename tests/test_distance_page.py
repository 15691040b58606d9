"""The page "Distance": what it shows is what the library computes, for checkpoints of every kind and bad links."""

import base64
import json

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.checkpoint import list_checkpoints, open_checkpoint, save_checkpoint
from relxl.trace import run, split_memory
from relxl.weights_only import v_bias_curves
from tests.conftest import ROOT
from tests.foreign import CASES
from tests.test_pages import control, healthy, open_app, text_box

PAGE = "pages/3_Distance.py"
BUNDLED = list_checkpoints(ROOT / "checkpoints")


def words(app):
    return " ".join(markdown.value for markdown in app.markdown).replace("\\", "")


def captions(app):
    return " ".join(caption.value for caption in app.caption)


def figures(app):
    """Give every figure of a page as plotly's dicts, with its alt text."""
    return [(json.loads(chart.proto.spec), chart.proto.alt) for chart in app.get("plotly_chart")]


def numbers(values):
    """Read an array of a figure: a list, or bytes in base64 as plotly writes them."""
    if not isinstance(values, dict):
        return np.array([np.nan if value is None else value for value in values], float)
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).astype(float)


def lines(figure, name):
    return [trace for trace in figure["data"] if trace.get("name") == name]


def trace_of(app, name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), checkpoint.config.segment_len, max(checkpoint.config.mem_len, 128))
    return run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_checkpoint_is_shown_with_its_reach(name):
    app = open_app(PAGE, ck=name, l="1", h="2", da="1")
    assert healthy(app) and not app.toast
    terms = trace_of(app, name).terms(1).head(2)
    half, most = diagnostics.attention_reach(terms.probs, terms.distance, terms.mask)
    position = "position_position" if name.endswith("absolute") else "v_bias"
    alone = diagnostics.alone(terms.terms[position], terms.mask)
    (by_position,) = diagnostics.attention_reach(alone, terms.distance, terms.mask, [0.5])
    assert f"to the last **{half + 1:.0f}** tokens and 90 % to the last {most + 1:.0f};" in words(app)
    assert f"(d) {position} alone would give half to the last **{by_position + 1:.0f}**" in words(app)
    shown = figures(app)
    assert len(shown) == (3 if name.endswith("absolute") else 4) and all(len(alt) > 20 for _figure, alt in shown)
    assert "beyond the training" not in words(app)


def test_the_panels_hold_the_curve_from_the_weights_and_the_averages():
    app = open_app(PAGE, ck="shakespeare-learned", l="2", h="3", dx="lin")
    picture, _alt = figures(app)[0]
    drawn = lines(picture, "H3")
    assert len(drawn) == 3
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    curve = v_bias_curves(checkpoint.model.layers[2].attn, torch.arange(256))[3]
    terms = trace_of(app, "shakespeare-learned").terms(2).head(3)
    seen = terms.distance[terms.mask].max()
    np.testing.assert_allclose(numbers(drawn[0]["y"]), curve - curve[: seen + 1].mean(), atol=1e-5)
    centred = diagnostics.row_centred(terms.terms["content_position"], terms.mask)
    for panel, values in ((1, centred), (2, terms.probs)):
        profile = diagnostics.distance_profile(values, terms.distance, terms.mask)
        often = profile.count >= 4
        np.testing.assert_allclose(numbers(drawn[panel]["x"]), profile.distance[often])
        np.testing.assert_allclose(numbers(drawn[panel]["y"]), profile.mean[often], atol=1e-5)
    names = {note["text"] for note in picture["layout"]["annotations"]}
    assert {"(d) v_bias", "(b) content_position", "memory", "training · table ends"} <= names


@pytest.mark.parametrize("far, last", [("1", 255), ("2", 511), ("4", 1023)])
def test_the_curve_goes_on_beyond_the_training(far, last):
    app = open_app(PAGE, ck="shakespeare-sinusoid", l="1", h="2", dx="lin", df=far)
    assert healthy(app)
    picture, _alt = figures(app)[0]
    assert numbers(lines(picture, "H2")[0]["x"]).max() == last
    shaded = [shape for shape in picture["layout"].get("shapes", ()) if shape["type"] == "rect"]
    assert len(shaded) == (0 if far == "1" else 3)
    assert ("beyond the training it still moves" in words(app)) == (far != "1")
    learned = open_app(PAGE, ck="shakespeare-learned", l="1", h="2", df=far)
    assert ("beyond the training one value stands for all" in words(learned)) == (far != "1")


def test_all_terms_can_be_seen():
    app = open_app(PAGE, ck="txl-official", dt="all", l="0", h="6")
    picture, _alt = figures(app)[0]
    titles = [note["text"] for note in picture["layout"]["annotations"]][:6]
    assert titles == [
        "(a) content",
        "(b) content_position",
        "(c) u_bias",
        "(d) v_bias",
        "sum",
        "attention probability",
    ]
    assert healthy(app) and control(app, "control_dt").value == "all"


def test_tables_twin_every_figure_and_hold_the_curve_as_it_is():
    app = open_app(PAGE, ck="shakespeare-learned", l="2", h="3", da="1")
    toggles = [toggle for toggle in app.toggle if str(toggle.key).startswith("table_")]
    assert len(toggles) == len(figures(app)) == 4
    for toggle in toggles:
        toggle.set_value(True)
    app.run()
    assert healthy(app) and len(app.dataframe) == 4
    curve = v_bias_curves(
        open_checkpoint(ROOT / "checkpoints/shakespeare-learned").model.layers[2].attn, torch.arange(256)
    )[3]
    table = app.dataframe[0].value
    np.testing.assert_allclose(table["v_bias_from_weights"], curve, rtol=1e-6)
    reach = app.dataframe[1].value
    assert len(reach) == 32 and list(reach["half"]) == sorted(reach["half"]) and "half_life" in reach


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("link", [{}, {"dt": "all", "dx": "lin", "df": "4", "da": "1", "m": "0"}], ids=["plain", "all"])
def test_every_family_is_shown(name, link, library):
    app = open_app(PAGE, ck=f"folder/{name}", l="0", h="1", **link)
    assert healthy(app) and not app.toast
    assert "gives half of its attention" in words(app) and len(figures(app)) >= 3
    assert ("no curve belongs to the distance" in words(app)) == (name == "espnet_legacy")


def test_where_both_sides_are_seen_the_axis_has_two(library):
    app = open_app(PAGE, ck="folder/nemo", dx="lin")
    picture, _alt = figures(app)[0]
    x = numbers(lines(picture, "H0")[0]["x"])
    assert x.min() == -x.max() and "to keys at most" in words(app)
    assert control(app, "control_df").options[0] == "1×"  # nobody knows how long the training's input was


def test_presets_lead_to_their_heads_and_to_a_longer_text():
    app = open_app(PAGE)
    first, last = (
        [button for button in app.button if str(button.key).startswith("distance_preset")][i] for i in (0, -1)
    )
    layer, head = first.label.rsplit("L", 1)[1].split("H")
    first.click().run()
    assert (control(app, "control_l").value, control(app, "control_h").value) == (int(layer), int(head))
    assert last.label == "A longer text"
    next(button for button in app.button if button.label == "A longer text").click().run()
    assert healthy(app) and len(text_box(app).value) > 1000 and "A longer text" not in [b.label for b in app.button]


@pytest.mark.parametrize("text", ["a", "ab", "to be", "x" * 300])
@pytest.mark.parametrize("memory", ["0", "1"])
def test_any_text_is_shown(text, memory):
    app = open_app(PAGE, m=memory, da="1")
    text_box(app).set_value(text).run()
    assert healthy(app) and len(figures(app)) == 4


def test_a_long_text_says_which_queries_count():
    app = open_app(PAGE, n="512")
    text_box(app).set_value("To be, or not to be. " * 60).run()
    assert healthy(app) and "The last 256 queries of the text count." in captions(app)


def test_bad_links_fall_back():
    app = open_app(PAGE, dx="cubic", dt="none", df="1e9", da="yes")
    assert not app.exception and len(app.toast) == 4 and len(figures(app)) == 3


def test_weights_that_are_not_numbers_are_no_crash(monkeypatch, tmp_path):
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    state = checkpoint.model.state_dict()
    for name in ("layers.0.attn.w_q.weight", "layers.1.attn.v"):
        state[name] = torch.full_like(state[name], torch.nan)
    checkpoint.model.load_state_dict(state, assign=True)
    save_checkpoint(tmp_path / "broken", checkpoint.model, checkpoint.vocab, {})
    monkeypatch.setattr("relxl.ui.library.BUNDLED", tmp_path)
    for layer in ("0", "1"):
        app = open_app(PAGE, l=layer, da="1")
        assert healthy(app) and "no attention that could be measured" in words(app)
