"""A trace gives what the model's own forward used, for any layer and heads, with and without memory."""

import numpy as np
import pytest
import torch

from relxl.split import attention_terms, to_numpy
from relxl.trace import run, split_memory
from tests.conftest import tiny_model

ALL_POSITIONS = ["learned", "sinusoid", "absolute"]


@pytest.mark.parametrize("mem_len", [0, 6])
@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_terms_add_up_to_the_logits_of_the_models_own_forward(positions, mem_len, tokens):
    trace = run(tiny_model(positions), tokens, mem_len)
    for layer in range(2):
        terms = trace.terms(layer, [2, 0])
        total = sum(terms.terms.values())
        assert terms.heads == (2, 0) and total.shape == (2, 2, 19 - mem_len, 19)
        np.testing.assert_allclose(total, trace.forward_logits(layer, 19 - mem_len)[:, [2, 0]], rtol=0, atol=1e-12)
        np.testing.assert_allclose(terms.probs.sum(-1), 1, atol=1e-12)


@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_the_shown_probabilities_are_those_that_made_the_next_layers_input(positions, tokens):
    """Rebuild the forward's own hidden state from the probabilities on screen: nothing else can have been used."""
    model = tiny_model(positions)
    trace = run(model, tokens, 6)
    probs = torch.from_numpy(trace.terms(0).probs.copy())
    block, x = model.layers[0], trace.hidden[0]
    whole = x.sum(2) if positions == "absolute" else x
    mixed = block.ln1(whole[:, 6:] + block.attn.attend(probs, whole))
    expected = block.ln2(mixed + block.ff(mixed))
    got = trace.hidden[1][:, 6:]
    torch.testing.assert_close(got.sum(2) if positions == "absolute" else got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_memory_changes_nothing_but_which_queries_are_shown(positions, tokens):
    model = tiny_model(positions)
    whole, joined = run(model, tokens), run(model, tokens, 6)
    for layer in range(2):
        all_rows, last_rows = whole.terms(layer), joined.terms(layer)
        np.testing.assert_allclose(last_rows.logits, all_rows.logits[:, :, 6:], rtol=0, atol=1e-10)
        np.testing.assert_allclose(last_rows.probs, all_rows.probs[:, :, 6:], rtol=0, atol=1e-10)
    np.testing.assert_allclose(joined.output_logits, whole.output_logits[:, 6:], rtol=0, atol=1e-10)


@pytest.mark.parametrize("mem_len", [0, 6])
@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_a_run_read_in_pieces_gives_what_one_piece_gives(positions, mem_len, tokens, monkeypatch):
    model = tiny_model(positions)
    whole = run(model, tokens, mem_len)
    monkeypatch.setattr("relxl.trace.PIECE_LEN", 5)
    pieces = run(model, tokens, mem_len)
    for got, expected in zip(pieces.hidden, whole.hidden, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(pieces.output_logits, whole.output_logits, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mem_len", [0, 6])
@pytest.mark.parametrize("clamp_len", [None, 3])
@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_a_cell_explained_by_the_definition_equals_the_matrix(positions, clamp_len, mem_len, tokens):
    trace = run(tiny_model(positions), tokens, mem_len, clamp_len)
    terms = trace.terms(1).head(2)
    for query, key in [(0, 0), (3, 18), (12 - mem_len, 5), (18 - mem_len, 2)]:
        for name, contributions in trace.cell(1, 2, query, key).items():
            assert contributions.sum() == pytest.approx(terms.terms[name][query, key], abs=1e-12)


@pytest.mark.parametrize("positions", ALL_POSITIONS)
@pytest.mark.parametrize("queries", [3, 13, 30])
def test_the_last_queries_have_the_same_scores_and_probabilities(queries, positions, tokens):
    trace = run(tiny_model(positions), tokens, 6)
    whole, tail = trace.terms(1), trace.terms(1, queries=queries)
    query_len = min(queries, 13)
    assert tail.mask.shape == (query_len, 19)
    for name, term in tail.terms.items():
        np.testing.assert_allclose(term, whole.terms[name][:, :, -query_len:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(tail.probs, whole.probs[:, :, -query_len:], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(tail.distance, whole.distance[-query_len:])


@pytest.mark.parametrize("layer", [-1, 2])
def test_a_layer_that_is_not_there_is_refused(layer, tokens):
    with pytest.raises(ValueError, match=f"layer {layer} was asked for, but the model has layers 0 to 1"):
        run(tiny_model(), tokens).terms(layer)


def test_biases_come_as_a_strip_and_a_curve(tokens):
    terms = run(tiny_model(), tokens, 6).terms(1).head(1)
    assert terms.u_bias.shape == (19,) and terms.v_bias.shape == terms.distances.shape
    np.testing.assert_array_equal(terms.terms["u_bias"], np.broadcast_to(terms.u_bias, (13, 19)))
    np.testing.assert_array_equal(terms.terms["v_bias"], terms.v_bias[terms.distances[0] - terms.distance])
    assert run(tiny_model("absolute"), tokens).terms(1).head(1).u_bias is None


def test_arrays_are_read_only_and_half_precision_becomes_float32(tokens):
    terms = run(tiny_model(dtype=torch.bfloat16), tokens, 6).terms(0)
    for array in (*terms.terms.values(), terms.logits, terms.probs):
        assert array.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert to_numpy(torch.zeros(1, dtype=torch.float64)).dtype == np.float64


@pytest.mark.parametrize("mem_len", [19, 20, -1])
def test_a_run_without_a_query_is_refused_with_the_numbers(mem_len, tokens):
    with pytest.raises(ValueError, match=rf"\[2, 19\] and mem_len={mem_len}"):
        run(tiny_model(), tokens, mem_len)


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="head 3 was asked for, but the model has heads 0 to 2"):
        attention_terms(tiny_model().layers[0].attn, torch.zeros(1, 4, 12, dtype=torch.float64), heads=[0, 3])


@pytest.mark.parametrize(
    "n_tokens, mem_len, used, memory",
    [
        (1, 128, 1, 0), (2, 128, 2, 1), (5, 128, 5, 2), (5, 0, 5, 0),
        (256, 128, 256, 128), (20_000, 128, 256, 128), (20_000, 0, 128, 0), (300, 100, 228, 100),
    ],
)  # fmt: skip
def test_the_last_half_of_a_text_asks_and_what_comes_before_is_memory(n_tokens, mem_len, used, memory):
    assert split_memory(n_tokens, 128, mem_len) == (used, memory)
