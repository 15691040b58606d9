"""The sections of the page "Checkpoint": numbers by identities, pictures by their data, and no file breaks the page."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from relxl import tensor_view, weights_only
from relxl.canonical import RelativeAttention
from relxl.census import census, row
from relxl.checkpoint import open_checkpoint, save_checkpoint
from relxl.families import FAMILIES, open_tensors
from relxl.figures import checkpoint as figures
from relxl.split import along_diagonals, attention_terms
from relxl.style import RELATIVE_TERMS
from relxl.ui.checkpoint.settings import effects, whole_numbers
from relxl.ui.checkpoint.tensors import csv_bytes
from relxl.ui.show import shown
from relxl.vocab import Vocab
from tests.conftest import ROOT, tiny_model

FIXTURES = ROOT / "tests/fixtures"
BARE = FIXTURES / "espnet/legacy_causal/weights.safetensors"
FILES = {
    "relxl": ROOT / "checkpoints/shakespeare-learned",
    "absolute": ROOT / "checkpoints/shakespeare-absolute",
    "txl_official": ROOT / "checkpoints/txl-official",
    "txl_official, open": FIXTURES / "txl_official/nomem/state_dict.pt",
    "txl_official, learned": FIXTURES / "txl_official/attn_type1_mem/state_dict.pt",
    "hf_transfoxl": FIXTURES / "hf_transfoxl/tied_r_nomem/hf",
    "xlnet": FIXTURES / "xlnet/bi_nomem_seg/hf",
    "labml": FIXTURES / "labml/mem_2seg/weights.safetensors",
    "bare": BARE,
    "speechbrain": FIXTURES / "speechbrain/self_nomask/weights.safetensors",
    "wav2vec2_conformer": FIXTURES / "wav2vec2_conformer/nomask/hf",
    "article": FIXTURES / "seed/self_L10_max64/weights.safetensors",
}
RELATIVE = [name for name in FILES if name != "absolute"]
EVIL = {
    "<img src=x onerror=alert(1)>": torch.ones(2, 3),
    "![x](http://h/t.png) # title | cell": torch.full((3,), float("nan")),
    "`" * 3 + "</style><script>alert(1)</script>": torch.zeros(0, 4),
    "=cmd|' /C calc'!A0": torch.tensor(3),
    "x" * 1000: torch.full((2, 3, 5, 7), -float("inf")),
}


def frames(checkpoint, n=9):
    attn = checkpoint.model.layers[0].attn
    return torch.randn(1, n, attn.w_q.weight.shape[1], generator=torch.Generator().manual_seed(1))


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RELATIVE)
def test_the_curve_from_weights_is_that_of_a_run(name):
    checkpoint = open_checkpoint(FILES[name])
    attn, clamp_len = checkpoint.model.layers[0].attn, checkpoint.config.clamp_len
    terms = attention_terms(attn, frames(checkpoint), clamp_len=clamp_len)
    curves = weights_only.v_bias_curves(attn, torch.as_tensor(terms.distances.copy()), clamp_len)
    np.testing.assert_allclose(curves, terms.v_bias, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["relxl", "bare", "wav2vec2_conformer", "labml", "article"])
def test_a_bias_on_the_query_is_an_addition_to_u_and_v(name):
    attn = open_checkpoint(FILES[name], torch.float64).model.layers[0].attn
    if not isinstance(attn, RelativeAttention):
        attn = canonical(attn)
    if attn.w_q.bias is None:  # labml's, whose v_bias is a learned curve and has no v
        attn = replace(attn, w_q=replace(attn.w_q, bias=torch.randn(attn.u.numel()).double()))
    bias, x = weights_only.query_bias(attn), frames(open_checkpoint(FILES[name]), 7).double()
    v = None if attn.v is None else attn.v + bias
    folded = replace(attn, w_q=replace(attn.w_q, bias=None), u=attn.u + bias, v=v)
    before, after = attention_terms(attn, x), attention_terms(folded, x)
    curves = weights_only.folded_curves(attn, torch.as_tensor(before.distances.copy()))
    content, place = (
        before.terms[i] + before.terms[j] for i, j in (("content", "u_bias"), ("content_position", "v_bias"))
    )
    np.testing.assert_allclose(content, after.terms["content"] + after.terms["u_bias"], atol=1e-12)
    np.testing.assert_allclose(place, after.terms["content_position"] + along_diagonals(curves, 7), atol=1e-6)
    if attn.v is not None:
        np.testing.assert_allclose(after.logits, before.logits, atol=1e-12)
        np.testing.assert_allclose(curves, after.v_bias, atol=1e-6)
    sizes = weights_only.gauge(attn)
    np.testing.assert_allclose(sizes["u + b_q"], (attn.u + bias).norm(dim=-1), atol=1e-12)
    assert ("v" in sizes) == (attn.v is not None) and all(len(size) == attn.n_heads for size in sizes.values())


def canonical(attn):
    """Bring our own attention into the canonical form, as the article's family does."""
    return open_tensors(attn.state_dict(), {}, dtype=torch.float64).model.layers[0].attn


def test_a_model_without_the_bias_is_free_of_the_choice():
    assert weights_only.gauge(open_checkpoint(FILES["txl_official"]).model.layers[0].attn) is None
    assert weights_only.query_bias(open_checkpoint(FILES["absolute"]).model.layers[0].attn) is None


@pytest.mark.parametrize("name, biases, embedding", [
    ("relxl", {"u": "apart", "v": "apart"}, "one"),
    ("absolute", {}, "one"),
    ("txl_official", {"u": "one", "v": "one"}, "equal"),
    ("txl_official, learned", {"u": "apart"}, "equal"),
    ("hf_transfoxl", {"u": "equal", "v": "equal"}, "equal"),
    ("xlnet", {"u": "apart", "v": "apart"}, "one"),
    ("labml", {"u": "apart"}, None),
])  # fmt: skip
def test_what_is_shared_is_found_by_numbers(name, biases, embedding):
    model = open_checkpoint(FILES[name]).model
    assert weights_only.shared_biases(model) == biases and weights_only.shared_embedding(model) == embedding


def test_one_changed_number_is_not_shared():
    a = torch.randn(3, 5)
    a[1, 1] = float("nan")
    assert weights_only.same([a, a]) == "one" and weights_only.same([a, a.clone()]) == "equal"
    b = a.clone()
    b[2, 4] += 1
    assert weights_only.same([a, b]) == "apart" == weights_only.same([a, a[:2]])


def test_cutoffs_of_one_table_are_still_one_matrix():
    model = open_checkpoint(FIXTURES / "hf_transfoxl/pre_lnorm_cutoffs_div1/hf").model
    assert len(model.softmax.weights) == 3 and weights_only.shared_embedding(model) == "one"


# Open questions ------------------------------------------------------------------------------------------------------


def all_answers(name, question, size=8):
    checkpoint = open_checkpoint(FILES[name])
    distance = torch.arange(-size, size + 1)
    return checkpoint, {
        str(answer.changes): answer for answer in weights_only.answers(checkpoint, question, 0, 1, distance)
    }


def test_whose_file_it_is_is_asked_with_every_answer():
    checkpoint, found = all_answers("bare", "family")
    assert weights_only.open_questions(checkpoint.opened) == ["family"] and len(found) == 3
    nemo, latest, legacy = found.values()
    assert nemo.is_now and not latest.is_now and np.array_equal(nemo.curve, latest.curve)
    assert nemo.reads.right.all() and not legacy.reads.right.any() and legacy.reads.distance[7, 0] == 4999
    assert legacy.reads.row[0, 1] == -1 and legacy.reads.row[0, 2] == 1  # a pad, then what is left of the next row
    read = weights_only.v_bias_curves(checkpoint.model.layers[0].attn, torch.arange(9) + 5000 - 9)[1]
    np.testing.assert_allclose(legacy.curve[8:], read, atol=1e-6)
    assert np.isnan(legacy.curve[:8]).all()  # cells of the future do not read one row a diagonal


def test_a_clamp_levels_the_curve_behind_it():
    checkpoint, found = all_answers("txl_official, open", "clamp_len", 200)
    assert weights_only.open_questions(checkpoint.opened) == ["clamp_len", "same_length", "pre_lnorm"]
    free, near, far = found.values()
    assert free.is_now and [answer.changes["clamp_len"] for answer in found.values()] == [-1, 64, 128]
    for answer, clamp in ((near, 64), (far, 128)):
        past = answer.curve[200:]
        np.testing.assert_allclose(past[: clamp + 1], free.curve[200 : 201 + clamp], atol=1e-6)
        np.testing.assert_allclose(past[clamp:], past[clamp], atol=1e-6)


def test_the_mask_answers_say_who_sees_what():
    _, found = all_answers("article", "causal")
    free, causal = found.values()
    assert free.reads.mask.all() and np.array_equal(causal.reads.mask, np.tril(np.ones((8, 8), bool)))
    _, found = all_answers("txl_official, open", "same_length")
    off, on = found.values()
    assert off.reads.mask.shape == (8, 12) and (on.reads.mask.sum(1) == 4).all() and off.reads.mask.sum(1)[-1] == 12


def test_packing_and_norm_change_what_queries_are_made_of_and_no_position():
    for name, question in (("speechbrain", "cross"), ("txl_official, open", "pre_lnorm")):
        _, found = all_answers(name, question)
        one, other = found.values()
        assert np.array_equal(one.curve, other.curve) and one.sizes != other.sizes
    _, found = all_answers("speechbrain", "cross")
    assert (next(iter(found.values())).reads.distance >= 0).all()  # the sign is lost


def test_an_answer_that_does_not_fit_is_a_sentence():
    checkpoint = open_checkpoint(FILES["txl_official, open"])
    found = weights_only.answers(checkpoint, "clamp_len", 0, 0, torch.arange(3))
    assert not any(answer.refused for answer in found)
    with pytest.raises(ValueError, match="leaves every query without a key"):
        weights_only.reopen(checkpoint, {"same_length": True, "mem_len": 0})


def test_every_setting_of_every_family_is_explained():
    names = {ask.name for family in FAMILIES for ask in family.asks} | {"family"}
    assert names <= set(effects()) and set(weights_only.SCORE_SETTINGS) <= names


def test_reach_marks_what_is_known_and_stays_in_a_table_that_ends():
    own = weights_only.reach(open_checkpoint(FILES["relxl"]).opened)
    assert (own.low, own.trained, own.table) == (0, 255, 255) and own.high > 255
    labml = weights_only.reach(open_checkpoint(FILES["labml"]).opened)
    assert labml.high == 32 and labml.trained is None
    encoder = weights_only.reach(open_checkpoint(FILES["bare"]).opened)
    assert encoder.low == -encoder.high


@pytest.mark.parametrize("text, numbers", [("1, 2", (1, 2)), ("[20000, 40000]", (20000, 40000)), ("", ())])
def test_a_list_is_read_as_it_is_typed(text, numbers):
    assert whole_numbers(text) == numbers


# Tensors -------------------------------------------------------------------------------------------------------------


def test_a_small_picture_is_the_tensor():
    matrix = torch.randn(13, 17)
    matrix[2, 3], matrix[5, 7], matrix[6, 1] = float("nan"), float("inf"), -float("inf")
    matrix[9, 11], matrix[0, 0] = -50.0, 0.0
    seen = tensor_view.picture(matrix)
    expected = np.where(np.isfinite(matrix.numpy()), matrix.numpy(), np.nan)
    np.testing.assert_array_equal(seen.values, expected)
    assert seen.counts == (1, 1, 1) and seen.largest == (-50.0, 9, 11) and seen.limit == 50 and seen.zeros == 1
    assert [seen.kind[2, 3], seen.kind[5, 7], seen.kind[6, 1], seen.kind[1, 1]] == [1, 2, 3, 0]
    figure = figures.tensor_figure(seen.values, seen.kind, seen.first, seen.block, seen.limit, ("row", "column"))
    np.testing.assert_array_equal(figure.data[0].z, expected)
    assert figure.data[0].zmax == 50 == -figure.data[0].zmin
    assert [trace.name for trace in figure.data[1:] if trace.type == "scatter"] == ["NaN", "∞", "−∞"]


def test_a_large_picture_keeps_the_largest_of_each_block_and_every_odd_number():
    matrix = torch.randn(1000, 3001)
    matrix[777, 2047], matrix[999, 2000] = -99.0, float("nan")
    seen = tensor_view.picture(matrix, (0, 1), (5000, 5000))
    assert seen.cells == 1000 * 2048 and seen.block == (4, 4) and seen.values.shape == (250, 512)
    assert seen.largest == (-99.0, 777, 2047) and seen.values[777 // 4, 2046 // 4] == -99
    assert seen.kind[999 // 4, 1999 // 4] == 1 and seen.counts[0] == 1
    block = matrix[4:8, 5:9].flatten()
    assert seen.values[1, 1] == block[block.abs().argmax()]


@pytest.mark.parametrize("value", [0.0, 1e38, -1e300, float("nan"), float("inf")])
def test_level_and_odd_tensors_have_a_picture_and_a_histogram(value):
    tensor = torch.full((5, 7), value, dtype=torch.float64)
    seen, spread = tensor_view.picture(tensor), tensor_view.histogram(tensor)
    finite = math.isfinite(value)
    assert (seen.largest is not None) == finite == bool(len(spread.counts)) and spread.odd == 35 * (not finite)
    if finite:
        assert spread.counts.sum() == 35 and seen.limit == (abs(value) or 1)
        figures.histogram_figure(spread.counts, spread.edges)
    figures.tensor_figure(seen.values, seen.kind, seen.first, seen.block, seen.limit, ("row", "column"))


def test_a_histogram_counts_every_number_of_a_tensor_and_says_when_it_does_not():
    values = torch.randn(101, 97)
    spread = tensor_view.histogram(values)
    counts, _ = np.histogram(values.numpy().astype(np.float64), spread.edges)
    np.testing.assert_array_equal(spread.counts, counts)
    assert len(counts) <= 200 and spread.counted == spread.total == 101 * 97
    large = tensor_view.histogram(torch.zeros(tensor_view.COUNTED * 3))
    assert large.counted <= tensor_view.COUNTED < large.total


def test_the_range_of_a_histogram_may_be_wider_than_a_float():
    spread = tensor_view.histogram(torch.tensor([-1.7e308, 1.7e308, 0.0], dtype=torch.float64))
    assert spread.counts.sum() == 3 and np.isfinite(spread.edges).all()


@pytest.mark.parametrize("tensor", [
    torch.randn(300_001) * 3 + 7, torch.tensor([1.0, float("nan"), -float("inf"), 0.0]), torch.full((7,), 1e38),
    torch.tensor(3), torch.tensor([True, False, False]), torch.zeros(0, 3), torch.full((3,), float("nan")),
])  # fmt: skip
def test_the_census_measures_in_pieces_what_numpy_measures_at_once(tensor):
    found, values = row("x", tensor, True), tensor.double().numpy()
    finite = values[np.isfinite(values)]
    if len(finite):
        expected = {"mean": finite.mean(), "std": finite.std(), "min": finite.min(), "max": finite.max()}
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert found["mean"] is found["std"] is found["min"] is None
    assert found["nan"] == np.isnan(values).sum() and found["infinite"] == np.isinf(values).sum()
    assert found["zero_share"] == ((values == 0).mean() if values.size else None)


def test_a_name_is_no_formula_in_the_csv(tmp_path):
    checkpoint = evil_checkpoint(tmp_path)
    lines = list(csv.DictReader(io.StringIO(csv_bytes(census(checkpoint)).decode("utf-8-sig"))))
    names = [line["name"] for line in lines]
    assert len(lines) == len(checkpoint.weights.tensors) and "'=cmd|' /C calc'!A0" in names
    assert {line["shape"] for line in lines} >= {"2x3x5x7", "", "0x4"}


def test_figures_leave_out_what_is_not_finite():
    curves = np.array([[1, np.inf, np.nan, 2], [np.nan] * 4], np.float32)
    figure = figures.heads_figure(curves, np.arange(4), 0, RELATIVE_TERMS["v_bias"], {"training": 2, "table ends": 3})
    assert [trace.name for trace in figure.data] == ["H1", "H0"] and figure.data[1].line.width == 3
    np.testing.assert_array_equal(figure.data[1].y, [1, np.nan, np.nan, 2])
    assert [note.text for note in figure.layout.annotations] == ["training", "table ends", "<b>H0</b>"]


# The page ------------------------------------------------------------------------------------------------------------


def script(path, layer, head):
    import streamlit as st

    from relxl.checkpoint import open_checkpoint
    from relxl.ui.checkpoint import answers, sections, tensors, weights
    from relxl.ui.checkpoint import settings as asked
    from relxl.ui.library import kept_answers

    checkpoint = open_checkpoint(path, chosen=dict(kept_answers()))
    st.caption(str(kept_answers()))
    weights.weights_only(checkpoint, layer, head, False)
    sections.identity(checkpoint)
    asked.settings(checkpoint)
    answers.both_results(checkpoint, layer, head, True)
    weights.q_bias_gauge(checkpoint, layer, head, False)
    tensors.census(checkpoint, True)
    sections.matched(checkpoint)
    sections.how()


def open_sections(path, layer=0, head=1):
    return AppTest.from_function(script, default_timeout=60, args=(str(path), layer, head)).run()


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


def control(app, name):
    kinds = ("selectbox", "number_input", "toggle", "text_input")
    return next(widget for kind in kinds for widget in getattr(app, kind) if widget.key == f"control_{name}")


@pytest.mark.parametrize("name", FILES)
def test_every_section_shows_every_family(name):
    app = open_sections(FILES[name])
    assert not app.exception and not app.error
    checkpoint = open_checkpoint(FILES[name])
    text = words(app)
    assert checkpoint.digest[:16] in text and "are part of the model or follow from it" in text
    assert ("absolute positions" in text) == (name == "absolute")
    assert len(app.dataframe[-1].value) == len(checkpoint.weights.tensors)
    assert len(app.tabs) == len(weights_only.open_questions(checkpoint.opened))


def evil_checkpoint(folder, change=None):
    tensors = {name: change(tensor) if change else tensor for name, tensor in load_file(BARE).items()}
    save_file(tensors | EVIL, folder / "weights.safetensors")
    return open_checkpoint(folder / "weights.safetensors")


def test_names_from_a_file_are_shown_and_never_obeyed(tmp_path):
    checkpoint = evil_checkpoint(tmp_path)
    assert set(checkpoint.opened.unmatched) == set(EVIL)
    app = open_sections(tmp_path / "weights.safetensors")
    assert not app.exception and not app.error
    text = words(app) + " ".join(caption.value for caption in app.caption)
    assert "![x](" not in text and "<img" not in text.replace("\\<", "") and "<script" not in text.replace("\\<", "")
    assert r"\!\[x\]\(http\:\/\/h\/t\.png\)" in text and "x" * 200 not in text
    assert "5 play no part here" in text and "**Not finite: 213 numbers in 2 of them**" in text
    control(app, "census_rest").set_value(True).run()
    assert set(app.dataframe[-1].value["name"]) == set(EVIL)
    for name in EVIL:
        control(app, "tensor").set_value(name).run()
        assert not app.exception and not app.error


def test_a_line_break_in_a_text_from_a_file_ends_no_row():
    assert shown("a\n\n# b | c\u2028`") == r"a \# b \| c \`"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, 1e38])
@pytest.mark.parametrize("part", ["all", "some"])
@pytest.mark.parametrize("name", ["bare", "relxl", "hf_transfoxl", "labml", "xlnet", "speechbrain"])
def test_weights_that_are_not_finite_zero_or_huge_are_drawn(name, part, value, tmp_path):
    path = broken(name, part, value, tmp_path)
    app = open_sections(path)
    assert not app.exception and not app.error
    text = words(app)
    if not math.isfinite(value):
        assert "**Not finite: " in text
    elif value == 0 and part == "all":
        assert "All zero: " in text and ("is level" in text or "no finite" in text)


def broken(name, part, value, folder):
    """Put a value into all or some numbers of every tensor of floats."""
    if name == "relxl":
        model = tiny_model(dtype=torch.float32)
        save_checkpoint(folder / "tiny", model, Vocab(tuple("abcdefghijk")), {})
        source = folder / "tiny"
    else:
        source = FILES[name]
    weights = open_checkpoint(source).weights
    tensors = {}
    for key, tensor in weights.tensors.items():
        tensor = tensor.clone()
        if tensor.is_floating_point():
            tensor.view(-1)[:: 1 if part == "all" else 7] = value
        tensors[key] = tensor
    if name == "relxl":
        save_file(tensors, source / "model.safetensors")
        return source
    config = source / "config.json"
    target = folder / "model.safetensors"
    save_file(tensors, target)
    if config.exists():
        (folder / "config.json").write_bytes(config.read_bytes())
        return folder
    return target


def test_a_switch_answers_and_can_be_taken_back():
    app = open_sections(FILES["bare"])
    assert "questions open" in words(app) and len(app.tabs) == 1
    control(app, "set family").set_value("espnet").run()
    assert not app.exception and "('family', 'espnet')" in app.caption[0].value
    control(app, "set rel_pos_type").set_value("legacy").run()
    control(app, "set pos_max_len").set_value(40).run()
    assert "('rel_pos_type', 'legacy')" in app.caption[0].value and "ESPnet" in words(app)
    assert control(app, "set pos_max_len").value == 40 and "you chose this" in words(app)
    control(app, "set family").set_value("nemo").run()  # which asks none of these
    assert not app.exception and app.caption[0].value == "(('family', 'nemo'),)"
    next(button for button in app.button if button.key == "back family").click().run()
    assert app.caption[0].value == "()" and len(app.tabs) == 1


def test_a_text_that_is_no_answer_is_one_sentence_and_changes_nothing():
    app = open_sections(FILES["txl_official, open"])
    control(app, "set cutoffs").set_value("many").run()
    assert "'many' is not one" in app.error[0].value.replace("\\", "") and app.caption[0].value == "()"
    control(app, "set cutoffs").set_value("9, 3").run()
    assert "rising whole numbers" in app.error[0].value and app.caption[0].value == "()"
    app.run()
    assert not app.error


def test_a_tensor_of_many_axes_is_cut_and_a_large_one_has_a_window(tmp_path):
    tensors = load_file(BARE) | {
        "deep": torch.randn(2, 3, 5, 7),
        "wide": torch.randn(300, 5),
        "long": torch.randn(9000),
    }
    save_file(tensors, tmp_path / "weights.safetensors")
    app = open_sections(tmp_path / "weights.safetensors")
    control(app, "tensor").set_value("deep").run()
    control(app, "axis 0").set_value(1).run()
    assert not app.exception and "[5 7] at this place" in " ".join(caption.value for caption in app.caption)
    control(app, "tensor").set_value("wide").run()
    assert "2 × 1" in " ".join(caption.value for caption in app.caption)
    control(app, "first 0").set_value(100).run()
    control(app, "count 0").set_value(50).run()
    assert not app.exception and "window of 250" in " ".join(caption.value for caption in app.caption)
    control(app, "tensor").set_value("long").run()
    assert not app.exception and not app.error
