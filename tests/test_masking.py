"""The masks, how a rule lays them on the scores, and what leaks: closed forms, and the dtypes really computed in."""

import math

import pytest
import torch

from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.masking import (
    RIGHT_RULE,
    MaskRule,
    causal_mask,
    expand_mask,
    fill_margin,
    first_not_finite,
    forbidden_mass,
    leak_at,
    leak_offset,
    mask_scores,
    masked_softmax,
    row_outcomes,
    safe_fill,
    shift_mask,
)
from relxl.relative import relative_pairs, score_terms
from relxl.trace import run
from tests.conftest import ROOT, tiny_model

QUERY_LEN, KEY_LEN, MEM_LEN = 5, 7, 2


def random_terms(dtype=torch.float64, query_len=QUERY_LEN, mem_len=MEM_LEN):
    generator = torch.Generator().manual_seed(0)
    key_len = query_len + mem_len
    pairs = relative_pairs(query_len, key_len, mem_len)
    sizes = [(2, 3, query_len, 4), (2, 3, key_len, 4), (3, len(pairs.distances), 4), (3, 4), (3, 4)]
    tensors = [torch.randn(size, generator=generator, dtype=torch.float64).to(dtype) for size in sizes]
    return score_terms(*tensors, pairs, 1.0)


def test_causal_mask_sees_memory_itself_and_the_past():
    assert causal_mask(2, 5, 3).tolist() == [[True] * 4 + [False], [True] * 5]
    assert causal_mask(3, 3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_forbidden_keys_get_exactly_nothing_and_rows_add_up_to_one():
    logits = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    mask = causal_mask(5, 7, 2)
    probs = masked_softmax(logits, mask)
    assert probs[..., ~mask].abs().max() == 0
    torch.testing.assert_close(probs.sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))


def test_a_row_without_a_visible_key_is_nan_and_leaves_the_others_alone():
    mask = torch.tensor([[False, False], [True, False]])
    probs = masked_softmax(torch.zeros(1, 1, 2, 2), mask)
    assert probs[0, 0, 0].isnan().all() and probs[0, 0, 1].tolist() == [1, 0]


@pytest.mark.parametrize("mask", [torch.tensor([[0.0, -torch.inf]]), torch.tensor([[255, 254]], dtype=torch.uint8)])
def test_an_additive_or_inverted_mask_is_refused(mask):
    with pytest.raises(ValueError, match="the mask holds values from"):
        expand_mask(mask, batch=1, n_head=3, query_len=1, key_len=2)


def test_a_mask_of_a_batch_gets_its_head_axis():
    mask = torch.tensor([[[1, 0]], [[1, 1]]])
    assert expand_mask(mask, batch=2, n_head=3, query_len=1, key_len=2).shape == (2, 1, 1, 2)


@pytest.mark.parametrize("fault, rows", [
    ("none", ["110..", "111.."]),
    ("sees_next", ["111..", "1111."]),
    ("misses_itself", ["1....", "11..."]),
    ("memory_forgotten", ["1....", "11..."]),
    ("inverted", ["..111", "...11"]),
    ("no_mask", ["11111", "11111"]),
    ("window_short", [".1...", "..1.."]),
])  # fmt: skip
def test_every_fault_opens_and_shuts_the_cells_that_its_name_says(fault, rows):
    window = 2 if fault == "window_short" else None
    expected = [[cell == "1" for cell in row] for row in rows]
    mem_len = 1
    assert MaskRule(fault=fault, window=window).applied(2, 5, mem_len).tolist() == expected


def test_a_window_counts_the_token_itself_as_the_reference_codes_do():
    """Keys a row sees, 3 queries after 4 of memory: 4 each in the original (mem_len), 5 in its TensorFlow version."""
    assert MaskRule(window=5).allowed(3, 7, 4).sum(-1).tolist() == [5, 5, 5]
    assert MaskRule(window=5, fault="window_short").applied(3, 7, 4).sum(-1).tolist() == [4, 4, 4]
    assert MaskRule(window=1, fault="window_short").applied(3, 3, 0).sum().item() == 0


def test_a_mask_laid_before_the_shift_lands_elsewhere():
    """4 x 4: four allowed cells are filled, and all six of the future stay open."""
    filled = shift_mask(~causal_mask(4, 4))
    allowed = causal_mask(4, 4)
    assert int((filled & allowed).sum()) == 4 and int((filled & ~allowed).sum()) == 0
    assert filled.tolist() == [
        [True, False, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, False, False, False],
    ]


@pytest.mark.parametrize("mem_len", [0, 2])
def test_the_right_rule_is_the_masked_softmax_of_the_sum(mem_len):
    terms = random_terms(mem_len=mem_len)
    scores = mask_scores(terms, RIGHT_RULE, mem_len)
    mask = causal_mask(QUERY_LEN, QUERY_LEN + mem_len, mem_len)
    assert torch.equal(scores.probs, masked_softmax(terms.logits(), mask))
    assert torch.equal(scores.allowed, mask) and torch.equal(scores.filled, ~mask)


def test_with_minus_infinity_the_order_makes_no_difference():
    terms = random_terms()
    after, before = (mask_scores(terms, MaskRule(order=order), MEM_LEN) for order in ("after", "before"))
    assert torch.equal(after.probs, before.probs)
    assert forbidden_mass(before.probs, before.allowed).max() == 0


FILLS = [0.0, -1.0, -10.0, 1e-9, "multiply", -30.0]


@pytest.mark.parametrize("order", ["after", "before"])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_leak_of_a_finite_fill_is_the_closed_form(order, fill, dtype):
    terms = random_terms(dtype)
    scores = mask_scores(terms, MaskRule(order, fill), MEM_LEN)
    leak = forbidden_mass(scores.probs, scores.allowed)
    offset = leak_offset(scores.total, terms.content, scores.allowed, order)
    expected = leak_at(offset, 0.0 if fill == "multiply" else fill)
    torch.testing.assert_close(leak.double(), expected, rtol=0, atol=1e-6)
    assert leak[..., :-1].min() > 0 and leak[..., -1].max() == 0  # the last row has no future

    content, rest = terms.content, scores.total - terms.content  # and once more, cell by cell
    value = 0.0 if fill == "multiply" else fill
    filled = (value + rest) if order == "before" else torch.full_like(rest, value)
    logits = torch.where(scores.allowed, content + rest, filled)
    torch.testing.assert_close(leak, (logits.softmax(-1) * ~scores.allowed).sum(-1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("order", ["after", "before"])
def test_the_safe_fill_is_where_the_worst_row_reaches_the_tolerance(order):
    terms = random_terms()
    total, allowed = terms.logits(), causal_mask(QUERY_LEN, KEY_LEN, MEM_LEN)
    fills = safe_fill(leak_offset(total, terms.content, allowed, order), 1e-3)
    for batch in range(2):
        for head in range(3):
            leaks = []
            for nudge in (-0.01, 0.01):
                rule = MaskRule(order, fills[batch, head].item() + nudge)
                probs = mask_scores(terms, rule, MEM_LEN).probs[batch, head]
                leaks.append(forbidden_mass(probs, allowed).max().item())
            assert leaks[0] < 1e-3 < leaks[1]


def test_the_margin_says_whether_a_forbidden_key_wins():
    terms = random_terms()
    lowest = terms.logits().min().item()
    assert fill_margin(mask_scores(terms, MaskRule(fill=lowest - 1), MEM_LEN)).min() >= 1
    beaten = fill_margin(mask_scores(terms, MaskRule(fill=100.0), MEM_LEN))
    assert beaten[..., :-1].max() < 0 and beaten[..., -1].isinf().all()
    assert fill_margin(mask_scores(terms, RIGHT_RULE, MEM_LEN)).isinf().all()


def test_before_the_shift_the_position_scores_alone_are_filled():
    terms = random_terms()
    scores = mask_scores(terms, MaskRule("before_shift", -7.0), MEM_LEN)
    filled = shift_mask(~causal_mask(QUERY_LEN, KEY_LEN, MEM_LEN))
    expected = terms.content + terms.u_bias[..., None, :] - 7
    torch.testing.assert_close(scores.masked[..., filled], expected[..., filled])
    assert torch.equal(scores.masked[..., ~filled], scores.total[..., ~filled]) and torch.equal(scores.filled, filled)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_rule_is_really_computed_in_its_dtype(dtype):
    scores = mask_scores(random_terms(torch.float32), MaskRule(fill="min", dtype=dtype), MEM_LEN)
    wanted = getattr(torch, dtype)
    assert (
        {part.dtype for part in scores.terms}
        == {scores.total.dtype, scores.masked.dtype, scores.probs.dtype}
        == {wanted}
    )
    assert scores.masked[..., ~scores.allowed].eq(torch.finfo(wanted).min).all()


def single_row(content, rest, rule):
    """Mask one query over three keys whose scores are content, plus the same `rest` from u_bias."""
    pairs = relative_pairs(1, 3, 2)
    terms = random_terms(torch.float32, 1, 2)
    zeros = torch.zeros_like(terms.content[:1, :1])
    terms = type(terms)(
        zeros + torch.tensor(content), zeros, torch.full((1, 1, 3), rest), torch.zeros(1, len(pairs.distances)), pairs
    )
    return mask_scores(terms, rule, 2)


def test_half_precision_pushes_its_lowest_number_over_the_edge():
    assert torch.finfo(torch.float16).min + torch.tensor(-20.0, dtype=torch.float16) == -torch.inf
    rule = MaskRule("before", "min", "float16", fault="inverted")
    scores = single_row([1.0, 2.0, 3.0], -20.0, rule)
    assert scores.masked.isinf().all() and first_not_finite(scores, rule) == "mask"
    assert row_outcomes(scores).nan.all() and row_outcomes(scores).empty.all()


@pytest.mark.parametrize("fill, outcome", [(-math.inf, "nan"), ("min", "uniform"), (-1e4, "uniform")])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_row_without_a_key_becomes_nan_or_uniform(fill, outcome, dtype):
    rule = MaskRule(fill=fill, dtype=dtype, fault="inverted")
    scores = single_row([1.0, 2.0, 3.0], 0.0, rule)
    rows = row_outcomes(scores)
    assert rows.empty.all() and rows.nan.all() == (outcome == "nan") and rows.uniform.all() == (outcome == "uniform")
    assert first_not_finite(scores, rule) == ("softmax" if outcome == "nan" else None)


def test_a_fill_that_does_not_fit_the_dtype_is_named():
    rule = MaskRule(fill=-1e9, dtype="float16")
    scores = mask_scores(random_terms(torch.float32), rule, MEM_LEN)
    assert first_not_finite(scores, rule) == "fill" and not scores.probs.isnan().any()
    assert first_not_finite(mask_scores(random_terms(), RIGHT_RULE, MEM_LEN), RIGHT_RULE) is None
    broken = random_terms()
    broken.content[0, 0, 0, 0] = torch.nan
    assert first_not_finite(mask_scores(broken, RIGHT_RULE, MEM_LEN), RIGHT_RULE) == "terms"


@pytest.mark.parametrize("wrong, says", [
    ({"order": "during"}, "order must be one of after, before, before_shift, got 'during'"),
    ({"fault": "tired"}, "fault must be one of none, sees_next"),
    ({"fill": "big"}, "fill must be a number, 'min' or 'multiply', got 'big'"),
    ({"fill": math.nan}, "fill must be a number"),
    ({"dtype": "int8"}, "dtype must be one of float32"),
    ({"window": 0}, "window must be a whole number from 1"),
    ({"fault": "window_short"}, "needs a window"),
])  # fmt: skip
def test_a_rule_that_can_not_be_is_refused_in_one_sentence(wrong, says):
    with pytest.raises(ValueError, match=says):
        MaskRule(**wrong)


def test_absolute_positions_have_no_shift(tokens):
    model = tiny_model("absolute")
    with pytest.raises(ValueError, match="absolute ones have no shift"):
        model(tokens, rule=MaskRule("before_shift"))


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_a_rule_for_one_layer_changes_nothing_before_it(positions, tokens):
    model = tiny_model(positions)
    right, wrong = model(tokens), model(tokens, rule=[RIGHT_RULE, MaskRule(fault="no_mask")])
    assert torch.equal(right.hidden[1], wrong.hidden[1]) and not torch.equal(right.output_logits, wrong.output_logits)
    with pytest.raises(ValueError):
        model(tokens, rule=[RIGHT_RULE])


@pytest.mark.parametrize("name", list_checkpoints(ROOT / "checkpoints"))
def test_minus_infinity_leaks_nothing_in_any_head_of_the_bundled_models(name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids[:96]
    trace = run(checkpoint.model, torch.tensor([ids]), mem_len=32)
    for order in ("after", "before"):
        for layer, block in enumerate(checkpoint.model.layers):
            hidden = trace.hidden[layer]
            with torch.no_grad():
                scores = mask_scores(block.attn.terms(hidden[:, 32:], hidden, 32), MaskRule(order), 32)
            assert forbidden_mass(scores.probs, scores.allowed).max().item() == 0.0
            assert not row_outcomes(scores).nan.any()
