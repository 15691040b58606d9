"""The pages as a session sees them, from home on: every control, every bad input, the link."""

import json
import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import list_checkpoints, open_checkpoint, save_checkpoint
from relxl.trace import run, split_memory
from tests.conftest import ROOT
from tests.decode import decode

CHECKPOINTS = list_checkpoints(ROOT / "checkpoints")
SCORE_TERMS = "pages/1_Score_terms.py"


def open_app(page=None, **link):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    if page:
        app.switch_page(page)
    return app.run()


def control(app, name):
    return next(
        widget
        for kind in ("selectbox", "text_area", "segmented_control", "number_input", "toggle")
        for widget in getattr(app, kind)
        if widget.key == name
    )


def text_box(app):
    return app.text_area[0]


def matrices(app, view=0):
    """Give what a matrix view of the page was sent: its header and its panels."""
    header, panels, _ = decode(app.get("bidi_component")[view].proto.bytes)
    return header, panels


def healthy(app):
    return not app.exception and not app.error


@pytest.mark.parametrize("page", [None, SCORE_TERMS])
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_every_page_shows_every_checkpoint(name, page):
    app = open_app(page, ck=name)
    assert healthy(app) and control(app, "control_ck").value == name
    assert len(app.get("bidi_component")) >= 1
    assert any("exact to" in str(badge.proto) for badge in app.main)


def test_the_picture_holds_what_the_library_computes():
    app = open_app(SCORE_TERMS, l="2", h="5")
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    terms = run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len).terms(2).head(5)
    expected = [*list(terms.terms.values())[:2], terms.logits, *list(terms.terms.values())[2:], terms.probs]
    header, panels = matrices(app)
    assert header["pool"] == 1 and header["cells"] == list(terms.mask.shape)
    for index, matrix in enumerate(expected):
        np.testing.assert_allclose(panels[index], matrix, atol=np.abs(matrix).max() / 60_000)


def test_layer_and_head_repaint_and_stay_when_the_page_changes():
    app = open_app(l="0", h="0")
    before = matrices(app)[1][0]
    control(app, "control_l").set_value(2)
    control(app, "control_h").set_value(6)
    app.run()
    after = matrices(app)[1][0]
    assert healthy(app) and not np.array_equal(before, after)
    app.switch_page(SCORE_TERMS).run()
    assert control(app, "control_l").value == 2 and control(app, "control_h").value == 6
    np.testing.assert_array_equal(matrices(app)[1][0], after)
    assert (app.query_params["l"], app.query_params["h"]) == ("2", "6")


def test_a_link_restores_the_view_and_reports_what_it_asks_in_vain():
    app = open_app(ck="shakespeare-learned", l="1", h="99", m="0", q="3")
    assert control(app, "control_l").value == 1 and control(app, "control_m").value == 0
    assert 0 <= control(app, "control_h").value < 8
    assert len(app.toast) == 1 and "`h=99`" in app.toast[0].value
    app.run()
    assert len(app.toast) == 0
    app.switch_page(SCORE_TERMS).run()
    assert control(app, "control_q").value == 3 and control(app, "control_l").value == 1


def test_an_evil_link_does_nothing():
    app = open_app(ck="../../etc/passwd", l="1e9", h="-1", m="![x](http://h/t.png)", other="y" * 10_000)
    assert healthy(app) and control(app, "control_ck").value == "shakespeare-learned"
    assert len(app.toast) == 4 and "`m=![x](http://h/t.png)`" in "".join(toast.value for toast in app.toast)


@pytest.mark.parametrize("evil", ["``![x](http://h/t.png)", "a\n\n![x](http://h/t.png)", "`"])
def test_markdown_in_a_link_stays_inside_its_fence(evil):
    (toast,) = open_app(m=evil).toast
    fence = re.search(r"asked for (`+)", toast.value)[1]
    inside = toast.value.split(fence)[1]
    assert "\n" not in toast.value and evil.split("\n")[0].strip() in inside and len(fence) > evil.count("`")


def test_text_never_stands_in_the_link():
    app = open_app()
    text_box(app).set_value("my secret text").run()
    assert "secret" not in json.dumps(dict(app.query_params))


TEXTS = {
    "empty": ("", False),
    "one character": ("a", True),
    "two characters": ("ab", True),
    "only unknown": ("愁云", False),
    "some unknown": ("to be é or 愁 not", True),
    "long": ("To be, or not to be. " * 952, True),
    "markup": ("<b> & `x` $y$ ![i](http://h/t.png) %{z}\n\n", True),
    "one letter": ("a" * 300, True),
}


@pytest.mark.parametrize("page", [None, SCORE_TERMS])
@pytest.mark.parametrize("memory", [0, 1])
@pytest.mark.parametrize("case", TEXTS)
def test_any_text_gives_a_picture_or_one_sentence(case, memory, page):
    text, drawn = TEXTS[case]
    app = open_app(page, m=str(memory))
    text_box(app).set_value(text[:20_000]).run()
    assert not app.exception
    assert bool(app.get("bidi_component")) == drawn and len(app.error) == (not drawn)
    if case == "long":
        shown = matrices(app)[1][0].shape
        assert shown == ((128, 256) if memory else (128, 128))
        assert any("20000 tokens" in caption.value or "19992 tokens" in caption.value for caption in app.caption)


def test_a_text_that_gets_shorter_leaves_no_cell_outside():
    app = open_app(SCORE_TERMS)
    control(app, "control_q").set_value(30)
    control(app, "control_k").set_value(60)
    app.run()
    text_box(app).set_value("short").run()
    assert healthy(app) and control(app, "control_q").value == 2


def test_the_numbers_of_a_cell_add_up_on_the_page():
    app = open_app(SCORE_TERMS, l="1", h="2")
    control(app, "control_q").set_value(5)
    control(app, "control_k").set_value(9)
    app.run()
    table = app.dataframe[0].value
    scaled = table.iloc[:, 2]
    assert scaled[:4].sum() == pytest.approx(scaled[4], abs=1e-9)
    header, panels = matrices(app)
    assert header["pin"] == [5, 9] and panels[2][5, 9] == pytest.approx(scaled[4], abs=1e-3)


def test_a_preset_leads_to_its_head():
    app = open_app(SCORE_TERMS)
    button = next(button for button in app.button if str(button.key).startswith("preset_"))
    layer, head = button.label.rsplit("L", 1)[1].split("H")
    button.click().run()
    assert (
        healthy(app) and control(app, "control_l").value == int(layer) and control(app, "control_h").value == int(head)
    )


def test_every_figure_has_a_label_that_says_what_it_shows_and_a_table_twin():
    app = open_app(SCORE_TERMS)
    charts, views = app.get("plotly_chart"), app.get("bidi_component")
    assert len(charts) == 4 and all(len(chart.proto.alt) > 20 for chart in charts)
    assert len(views) == 2 and all(len(matrices(app, view)[0]["label"]) > 20 for view in (0, 1))
    toggles = [toggle for toggle in app.toggle if str(toggle.key).startswith("table_")]
    assert len(toggles) == len(charts) + len(views)
    tables = len(app.dataframe)
    for toggle in toggles:
        toggle.set_value(True)
    app.run()
    assert healthy(app) and len(app.dataframe) == tables + len(toggles)


@pytest.mark.parametrize(
    "term, panels", [("content_position", 8), ("u_bias", 8), ("v_bias", 8), ("sum", 8), ("all", 32)]
)
def test_every_term_can_be_seen_for_all_heads(term, panels):
    app = open_app(SCORE_TERMS, t=term, l="1", h="3")
    header, shown = matrices(app, 1)
    assert healthy(app) and len(shown) == panels and header["chosen"] == 3
    assert len({scale["limit"] for scale in header["scales"]}) == 1
    assert header["bits"] == 8


def test_the_table_of_all_heads_holds_what_is_drawn():
    app = open_app(SCORE_TERMS, t="all", l="1", h="3", q="7", k="20")
    control(app, "table_heads").set_value(True).run()
    header, shown = matrices(app, 1)
    table = app.dataframe[-1].value
    assert [panel["title"] for panel in header["panels"] if panel["chosen"]] == [f"({x}) L1H3" for x in "abcd"]
    for place, panel in enumerate(header["panels"]):
        term, head = divmod(place, 8)
        assert abs(shown[place][7, 20] - float(table.iloc[head, 1 + term])) <= panel["step"]


def test_an_unpinned_cell_is_not_explained():
    app = open_app(SCORE_TERMS, c="0")
    assert healthy(app) and matrices(app)[0]["pin"] is None and len(app.get("plotly_chart")) == 3
    control(app, "control_q").set_value(3).run()
    assert matrices(app)[0]["pin"][0] == 3 and len(app.get("plotly_chart")) == 4


def test_a_broken_checkpoint_is_one_sentence_and_the_page_stays(monkeypatch, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    monkeypatch.setattr("relxl.ui.library.BUNDLED", tmp_path)
    app = open_app()
    assert not app.exception and len(app.error) == 1 and "has no model" in app.error[0].value.replace("\\", "")
    monkeypatch.setattr("relxl.ui.library.BUNDLED", tmp_path / "empty")
    app = open_app()
    assert not app.exception and "make train" in app.error[0].value.replace("\\", "")


def test_a_model_with_nan_weights_is_shown_as_what_it_is(monkeypatch, tmp_path):
    folder = ROOT / "checkpoints/shakespeare-learned"
    checkpoint = open_checkpoint(folder)
    state = checkpoint.model.state_dict()
    state["layers.0.attn.w_q.weight"] = torch.full_like(state["layers.0.attn.w_q.weight"], torch.nan)
    checkpoint.model.load_state_dict(state, assign=True)
    save_checkpoint(tmp_path / "broken", checkpoint.model, checkpoint.vocab, {})
    monkeypatch.setattr("relxl.ui.library.BUNDLED", tmp_path)
    app = open_app(SCORE_TERMS, l="0")
    assert healthy(app) and any("not exact" in str(badge.proto) for badge in app.main)
