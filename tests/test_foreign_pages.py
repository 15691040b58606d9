"""Every page on models of other families: nothing crashes, and what is said is true of them."""

import numpy as np
import pytest
import torch

from relxl.experiments.max_len import score_change
from relxl.figures.shift import grouped
from relxl.masking import MaskRule
from relxl.reading import Reading
from relxl.trace import run_hidden
from tests.decode import decode
from tests.foreign import CASES, foreign
from tests.test_pages import control, healthy, matrices, open_app, text_box

MASKING, SHIFT, INIT, MAX_LEN = (
    f"pages/{name}.py" for name in ("4_Masking", "5_Shift", "6_Initialisation", "7_Max_len")
)
BOTH = ("xlnet_bi", "wav2vec2_conformer", "espnet", "espnet_legacy", "nemo", "speechbrain", "article")
HIDDEN = ("wav2vec2_conformer", "labml", "espnet", "espnet_legacy", "nemo", "speechbrain", "article")


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


@pytest.mark.parametrize("page", [None, MASKING, SHIFT, INIT, MAX_LEN, "pages/8_Checkpoint.py"])
def test_every_page_shows_the_bundled_foreign_checkpoint(page):
    app = open_app(page, ck="txl-official")
    assert healthy(app)
    if page != SHIFT:
        assert control(app, "control_ck").value == "txl-official"


@pytest.mark.parametrize("page", [MASKING, INIT, MAX_LEN])
@pytest.mark.parametrize("name", CASES)
def test_every_page_shows_every_family(name, page, library):
    app = open_app(page, ck=f"folder/{name}", l="0", h="1")
    assert healthy(app) and control(app, "control_ck").value == f"folder/{name}"
    assert not app.toast and len(app.get("bidi_component")) >= 1


@pytest.mark.parametrize("page", [INIT, MAX_LEN, MASKING])
def test_a_session_may_go_from_one_family_to_another(page, library):
    app = open_app(page)
    for name in (
        "folder/labml",
        "txl-official",
        "folder/wav2vec2_conformer",
        "shakespeare-absolute",
        "folder/xlnet_bi",
    ):
        control(app, "control_ck").set_value(name).run()
        assert healthy(app), name


# Max len -------------------------------------------------------------------------------------------------------------


def trace_of(name):
    """Give the run that the pages look at where nobody gave hidden states."""
    checkpoint = foreign(name, torch.float32)
    frames = 64 if checkpoint.config.positions == "sinusoid" else checkpoint.config.max_len
    x = torch.randn(1, frames, checkpoint.config.d_model, generator=torch.Generator().manual_seed(0))
    return run_hidden(checkpoint.model, x)


@pytest.mark.parametrize("wall, direction", [(8, "i-j"), (0, "i-j"), (5, "j-i")])
@pytest.mark.parametrize("name", ["wav2vec2_conformer", "nemo", "speechbrain", "labml"])
def test_the_wall_stands_on_every_side_that_is_seen(name, wall, direction, library):
    app = open_app(MAX_LEN, ck=f"folder/{name}", l="0", h="1", xr=str(wall), xd=direction)
    assert healthy(app)
    change = score_change(trace_of(name), 0, 1, Reading(clamp_len=wall, flip=direction == "j-i"))
    header, panels = matrices(app)
    np.testing.assert_allclose(panels[1], change.after, atol=np.abs(change.after).max() / 60_000)
    past, n = name == "labml", len(change.mask)
    assert header["wall"] == wall and header["two_walls"] == (not past)
    distance = np.arange(n)[:, None] - np.arange(n)
    beyond = (distance > wall) if past else (np.abs(distance) > wall)
    assert np.array_equal(change.beyond(wall), beyond)
    assert direction == "j-i" or not (change.changed & change.mask & ~beyond).any()
    cells = n * (n + 1) // 2 if past else n * n
    assert f"**{grouped(int(beyond.sum()))} of {grouped(cells)}** visible cells" in words(app)
    smallest = "0" if past else f"−{n - 1}"
    assert f"the distances {smallest} to {n - 1}." in words(app)
    assert ("a wall stands on either" in words(app)) == (not past)
    assert "predicts no token, so there is no loss" in words(app) and "goes from" not in words(app)


def test_a_sinusoid_of_the_absolute_distance_can_not_be_flipped(library):
    app = open_app(MAX_LEN, ck="folder/speechbrain", xr="none", xd="j-i")
    assert healthy(app) and "is bit-equal" in words(app)


def test_a_table_of_the_past_alone_offers_no_other_direction(library):
    app = open_app(MAX_LEN, ck="folder/txl_learned", xd="j-i")
    assert not app.exception and "xd=j-i" in app.toast[0].value and "only transposes" not in words(app)
    assert "says neither which rows got a gradient" in words(app)
    app = open_app(MAX_LEN, ck="folder/txl_learned", xr="none")
    assert "the end of the model’s own reach, 12" in words(app)  # the text has 13


def test_both_sides_of_a_language_model_leave_no_loss(library):
    app = open_app(MAX_LEN, ck="folder/xlnet_bi")
    assert "so a loss on the next token would say nothing" in words(app) and "goes from" not in words(app)
    assert healthy(app) and "the checkpoint does not say" in words(app)


def test_a_window_of_the_models_own_ends_what_is_seen(library):
    app = open_app(MAX_LEN, ck="folder/txl_same_length", xr="3")
    assert healthy(app) and "the distances 0 to 5." in words(app) and "lie beyond the wall at 3" in words(app)


def test_a_reversed_table_has_no_wall_to_move(library):
    app = open_app(MAX_LEN, ck="folder/espnet_legacy")
    assert healthy(app) and "have no wall of their own" in words(app) and len(matrices(app)[1]) == 2
    assert not [slider for slider in app.select_slider if slider.key == "control_xr"]


def test_the_bundled_foreign_model_reads_its_text_at_the_training_length():
    app = open_app(MAX_LEN, ck="txl-official", xr="none")
    assert "on the distances 0 to 191." in words(app)
    last = [button for button in app.button if str(button.key).startswith("max_len_preset")][-1]
    assert last.label.startswith("Wall at the training length")
    last.click().run()
    assert healthy(app) and matrices(app)[0]["wall"] == 191 and len(text_box(app).value) > 1000


# Masking -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOTH)
def test_where_both_sides_are_seen_a_causal_mask_is_an_experiment(name, library):
    app = open_app(MASKING, ck=f"folder/{name}", l="0", h="1", mf="-3")
    assert healthy(app) and "This model sees both sides:" in words(app)
    assert "before_shift" not in control(app, "control_mo").options
    if name in HIDDEN:
        zero = foreign(name).model.rule.zero
        head = trace_of(name).masked(0, 1, MaskRule(fill=-3.0, zero=zero))
        _header, panels = matrices(app)
        np.testing.assert_allclose(panels[3], head.probs, atol=1 / 60_000)
        assert ("They are set to 0 after the softmax" in words(app)) == zero
        assert (head.leak.max() > 0) == (not zero)


def test_the_models_own_rule_is_where_the_page_starts(library):
    for name, fill, window, zero in (
        ("hf_transfoxl", "min", None, False),
        ("hf_same_length", "min", 7, False),
        ("txl_same_length", "-inf", 6, False),
        ("nemo", "-10000", None, True),
        ("xlnet_uni", "-1e+30", None, False),
    ):
        app = open_app(MASKING, ck=f"folder/{name}")
        assert healthy(app) and "This model’s way" in words(app) and control(app, "control_mf").value == fill
        assert "exactly 0.0" in words(app) and control(app, "control_mw").value == 0
        assert (f"A query sees {window} keys" in words(app)) == (window is not None)
        assert ("its probability is set to 0" in words(app)) == zero


@pytest.mark.parametrize(
    "name", ["txl_official", "txl_learned", "hf_transfoxl", "hf_same_length", "xlnet_uni", "labml"]
)
def test_a_fault_in_one_layer_of_another_family_is_found_there(name, library):
    app = open_app(MASKING, ck=f"folder/{name}", l="0", mx="sees_next", ml="one")
    assert healthy(app) and "The leak enters in **L0**" in words(app)
    table = app.dataframe[-1].value
    assert list(table.iloc[:, 1]) == ["sees the next key", "right"][: len(table)]
    app = open_app(MASKING, ck=f"folder/{name}")
    assert "Every output before the changed token stays the same" in words(app)
    assert set(app.dataframe[-1].value.iloc[:, 1]) == {"right"}


@pytest.mark.parametrize("name", ["txl_same_length", "hf_same_length"])
def test_a_click_on_an_exhibit_keeps_the_models_window(name, library):
    app = open_app(MASKING, ck=f"folder/{name}")
    pills = next(group for group in app.get("button_group") if group.key == "mask_preset")
    pills.set_value("weak").run()
    assert healthy(app) and control(app, "control_mf").value == "-10" and control(app, "control_mw").value == 0
    window = foreign(name).model.rule_at(0).window
    _header, _panels, hidden = decode(app.get("bidi_component")[0].proto.bytes)
    assert "A fill of −10" in words(app) and (~hidden).sum(1).max() == window


def test_convolutions_and_attention_alone_are_told_apart(library):
    app = open_app(MASKING, ck="folder/wav2vec2_conformer")
    assert "convolutions mix neighbouring frames" in words(app)
    assert set(app.dataframe[-1].value.iloc[:, 1]) == {"right"}
    app = open_app(MASKING, ck="folder/espnet")
    assert "the attention alone is known" in words(app) and len(app.get("bidi_component")) == 1


# Initialisation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["txl-official", "folder/xlnet_uni", "folder/hf_transfoxl"])
def test_the_embedded_text_of_another_family_is_read(name, library):
    app = open_app(INIT, ck=name, ii="text")
    assert healthy(app) and control(app, "control_ii").value == "text"
    before = matrices(app)[1][0]
    control(app, "control_ii").set_value("normal").run()
    assert healthy(app) and (matrices(app)[1][0].shape != before.shape or not np.allclose(matrices(app)[1][0], before))


def test_a_model_of_hidden_states_has_no_text_to_read(library):
    app = open_app(INIT, ck="folder/nemo", ii="text")
    assert not app.exception and "ii=text" in app.toast[0].value
    assert list(control(app, "control_ii").options) == ["unit normal"]
