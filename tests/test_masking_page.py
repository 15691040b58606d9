"""The page "Masking": what it shows is what the library returns, for every exhibit and for bad input."""

import math

import numpy as np
import pytest
import torch

from relxl.causality import causality_test, layer_leaks, model_stages
from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.config import TrainConfig
from relxl.masking import RIGHT_RULE, MaskRule
from relxl.style import number
from relxl.trace import run, split_memory
from relxl.training import evaluate, mask_rule, split_tokens
from relxl.ui.masking.gallery import fill_text, gallery
from tests.conftest import ROOT, tiny_model
from tests.test_pages import control, healthy, matrices, open_app, text_box

MASKING = "pages/4_Masking.py"
GALLERY = gallery()
LINK = {"l": "1", "h": "2"}


def open_masking(rule=RIGHT_RULE, **link):
    values = {"mo": rule.order, "mf": fill_text(rule.fill), "mx": rule.fault, "md": rule.dtype or "model"}
    return open_app(MASKING, **LINK, **values, mw=str(rule.window or 0), **link)


def masked_head(app, rule, name="shakespeare-learned", layer=1, head=2):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    return run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len).masked(layer, head, rule)


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


@pytest.mark.parametrize("name", GALLERY)
def test_an_exhibit_shows_the_scores_and_the_leak_that_the_library_returns(name):
    rule = GALLERY[name].rule
    app = open_masking(rule)
    assert healthy(app) and GALLERY[name].text in words(app)
    expected = masked_head(app, rule)
    header, panels = matrices(app)
    assert header["cells"] == list(expected.allowed.shape)
    for shown, matrix in zip(panels, (expected.content, expected.total, expected.masked, expected.probs), strict=True):
        finite = matrix[np.isfinite(matrix)]
        np.testing.assert_allclose(shown, matrix, atol=np.abs(finite).max(initial=0) / 60_000)
    leak = expected.leak[~expected.nan]
    said = "exactly 0.0" if not len(leak) or leak.max() == 0 else f"**{number(float(leak.mean()))}**"
    assert said in words(app)
    if expected.nan.any():
        assert f"Rows that are NaN: {expected.nan.sum()}**" in words(app)


def test_the_table_of_heads_holds_the_mean_leak_of_each():
    rule = GALLERY["multiply"].rule
    app = open_masking(rule)
    table = app.dataframe[0].value
    assert list(table.columns) == ["layer", *(f"H{head}" for head in range(8))] and len(table) == 4
    assert table.iloc[1, 3] == pytest.approx(masked_head(app, rule).leak.mean(), abs=1e-6)


def test_a_click_on_an_exhibit_sets_every_control():
    app = open_masking()
    pills = next(group for group in app.get("button_group") if group.key == "mask_preset")
    pills.set_value("window").run()
    assert healthy(app) and control(app, "control_mx").value == "window_short"
    assert control(app, "control_mw").value == 16 and control(app, "control_mf").value == "-inf"


@pytest.mark.parametrize("name", list_checkpoints(ROOT / "checkpoints"))
@pytest.mark.parametrize("layers", ["all", "one"])
def test_every_checkpoint_can_be_masked(name, layers):
    app = open_app(MASKING, ck=name, mo="before", mf="multiply", ml=layers)
    assert healthy(app) and "forbidden keys get" in words(app) and "the right one" in words(app)


def test_absolute_positions_offer_no_mask_before_the_shift():
    app = open_app(MASKING, ck="shakespeare-absolute", mo="before_shift")
    assert healthy(app) and control(app, "control_mo").value == "after"
    assert "before_shift" not in control(app, "control_mo").options


@pytest.mark.parametrize("fill", ["-7", "-1e3", "0"])
def test_any_number_can_be_a_fill(fill):
    app = open_app(MASKING, **LINK, mf=fill)
    leak = masked_head(app, MaskRule(fill=float(fill))).leak
    said = f"**{number(float(leak.mean()))}**" if leak.max() > 0 else "exactly 0.0"
    assert healthy(app) and said in words(app)


@pytest.mark.parametrize("link", [{"mf": "deep"}, {"mf": "nan"}, {"mf": "deep", "mx": "window_short"}])
def test_a_fill_that_is_none_is_one_sentence_and_the_page_stays(link):
    app = open_app(MASKING, **link)
    assert not app.exception and "is not one" in app.error[0].value and len(app.get("bidi_component")) == 2


@pytest.mark.parametrize("link", [{"mo": "never"}, {"mx": "tired"}, {"md": "int4"}, {"mw": "-3"}, {"ml": "some"}])
def test_a_bad_link_falls_back(link):
    app = open_app(MASKING, **link)
    assert not app.exception and not app.error and "exactly 0.0" in words(app)


def test_a_fault_in_one_layer_is_found_there():
    app = open_masking(MaskRule(fault="sees_next"), ml="one")
    assert "The leak enters in **L1**" in words(app)
    table = app.dataframe[-1].value
    assert list(table.iloc[:, 1]) == ["right", "sees the next key", "right", "right"]


def test_a_text_of_one_token_is_not_a_crash():
    app = open_masking(MaskRule("before", "multiply"))
    text_box(app).set_value("a").run()
    assert healthy(app)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", GALLERY)
def test_the_fault_of_every_exhibit_is_located_at_its_layer(name, layer):
    """In one layer of a random model: the causality test finds the layer, the test of each layer names the fault."""
    rule, model = GALLERY[name].rule, tiny_model(n_token=19, dtype=torch.float32)
    right = RIGHT_RULE if rule.window is None else MaskRule(window=rule.window)
    rules = [right, right]
    rules[layer] = rule
    tokens = torch.randint(19, (23,), generator=torch.Generator().manual_seed(1))
    forward = model_stages(model, rules)
    causality = causality_test(forward, tokens, (tokens + 1) % 19)
    found = layer_leaks(model, forward(tokens[None])[:-1], 5, rules)
    assert causality.entry in (None, f"stage {layer + 1}")
    assert (causality.entry is None) == (
        name in ("right", "early_inf", "beaten", "half", "misses_itself", "memory_forgotten", "window")
    )
    named = found[layer].mechanism
    if rule.fault != "none":
        assert named == rule.fault
    elif rule.order == "before_shift":
        assert named == "before_shift"
    elif causality.entry is None:
        assert named == "none"
    else:
        assert named == ("weak_fill_before" if rule.order == "before" else "weak_fill_after")
    assert all(leak.mechanism in ("none", "not_finite") for leak in found if leak.layer != layer)


def test_the_recorded_leak_is_what_the_model_has():
    """Its loss with the training mask is impossibly low and collapses under the right one, recorded and recomputed."""
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-leaky")
    recorded = checkpoint.training["validation"]
    text = (ROOT / "data/tinyshakespeare.txt").read_text(encoding="utf-8")
    _, validation = split_tokens(torch.tensor(checkpoint.vocab.encode(text).ids))
    rule = mask_rule(TrainConfig(**checkpoint.training["train"]))
    assert rule == GALLERY["multiply"].rule
    leaky, right = evaluate(checkpoint.model, validation, rule=rule), evaluate(checkpoint.model, validation)
    assert leaky == pytest.approx(recorded["loss_with_training_mask"], abs=1e-3) and leaky < 0.1
    assert right == pytest.approx(recorded["loss"], abs=1e-3) and right > 2
    assert f"{leaky:.3f}" in words(open_masking()) and not math.isnan(right)
