"""The fast form against the definition: forward and gradients, for self, cross and memory cases, clamped and not."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relxl.definition import explicit_position_scores, naive_scores
from relxl.positions import learned_rows, project_positions, sinusoid_rows
from relxl.relative import PairMap, relative_pairs, score_terms

BATCH, HEAD, D_HEAD, D_POS = 2, 3, 5, 7
CASES = {  # query_len, key_len, mem_len
    "self": (7, 7, 0),
    "cross_long_query": (10, 5, 0),
    "cross_long_key": (5, 10, 0),
    "memory": (5, 11, 6),
    "one_query": (1, 7, 6),
    "one_key": (7, 1, 0),
    "one_of_each": (1, 1, 0),
}


def make_inputs(query_len: int, key_len: int, requires_grad: bool = False) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    shapes = {
        "query": (BATCH, HEAD, query_len, D_HEAD),
        "key": (BATCH, HEAD, key_len, D_HEAD),
        "table": (2 * 13 - 1, D_POS),
        "w_k_pos": (HEAD, D_POS, D_HEAD),
        "u": (HEAD, D_HEAD),
        "v": (HEAD, D_HEAD),
    }
    return {
        name: torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_(requires_grad)
        for name, shape in shapes.items()
    }


def fast_terms(x: dict, pairs: PairMap, rows: torch.Tensor, scale: float = 0.31):
    return score_terms(x["query"], x["key"], project_positions(rows, x["w_k_pos"]), x["u"], x["v"], pairs, scale)


@pytest.mark.parametrize("clamp_len", [None, 0, 3, 100])
@pytest.mark.parametrize("case", CASES)
def test_each_term_equals_the_double_loop(case, clamp_len):
    query_len, key_len, mem_len = CASES[case]
    x = make_inputs(query_len, key_len)
    pairs = relative_pairs(query_len, key_len, mem_len)
    terms = fast_terms(x, pairs, learned_rows(x["table"], pairs.distances, clamp_len)).dense()
    for b in range(BATCH):
        rows = learned_rows(x["table"], pairs.distance, clamp_len)
        naive = naive_scores(x["query"][b], x["key"][b], rows, x["w_k_pos"], x["u"], x["v"], 0.31)
        for name, expected in naive.items():
            torch.testing.assert_close(terms[name][b], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
@pytest.mark.parametrize("case", CASES)
def test_gradients_equal_those_of_the_explicit_form(case, positions):
    query_len, key_len, mem_len = CASES[case]
    pairs = relative_pairs(query_len, key_len, mem_len)
    weight = torch.randn(
        BATCH, HEAD, query_len, key_len, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )

    def rows(x, distance):
        if positions == "learned":
            return learned_rows(x["table"], distance, 4)
        return sinusoid_rows(distance.flatten(), D_POS + 1, 4, torch.float64)[:, :D_POS].unflatten(0, distance.shape)

    fast, explicit = make_inputs(query_len, key_len, True), make_inputs(query_len, key_len, True)
    (fast_terms(fast, pairs, rows(fast, pairs.distances), scale=1.0).logits() * weight).sum().backward()
    content_position, v_bias = explicit_position_scores(
        explicit["query"], rows(explicit, pairs.distance), explicit["w_k_pos"], explicit["v"]
    )
    content = (explicit["query"] + explicit["u"][:, None]) @ explicit["key"].mT
    ((content + content_position + v_bias) * weight).sum().backward()
    for name in fast:
        if positions == "learned" or name != "table":
            torch.testing.assert_close(fast[name].grad, explicit[name].grad, rtol=0, atol=1e-11)


@pytest.mark.parametrize("clamp_len", [None, 3])
@pytest.mark.parametrize("case", ["self", "cross_long_query", "cross_long_key", "memory"])
def test_gradients_equal_those_of_the_double_loop(case, clamp_len):
    query_len, key_len, mem_len = CASES[case]
    pairs = relative_pairs(query_len, key_len, mem_len)
    fast, loops = make_inputs(query_len, key_len, True), make_inputs(query_len, key_len, True)
    rows = learned_rows(fast["table"], pairs.distances, clamp_len)
    weight = torch.randn(4, HEAD, query_len, key_len, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    terms = fast_terms(fast, pairs, rows).dense()
    sum((term[0] * w).sum() for term, w in zip(terms.values(), weight, strict=True)).backward()
    rows = learned_rows(loops["table"], pairs.distance, clamp_len)
    arguments = (loops["query"][0], loops["key"][0], rows, loops["w_k_pos"], loops["u"], loops["v"], 0.31)
    sum((term * w).sum() for term, w in zip(naive_scores(*arguments).values(), weight, strict=True)).backward()
    for name in fast:
        torch.testing.assert_close(fast[name].grad, loops[name].grad, rtol=0, atol=1e-11)


@settings(deadline=None, max_examples=60)
@given(query_len=st.integers(1, 9), key_len=st.integers(1, 9), mem_len=st.integers(0, 9))
def test_the_view_reads_what_the_map_says(query_len, key_len, mem_len):
    pairs = relative_pairs(query_len, key_len, mem_len)
    gathered = PairMap(pairs.query_row, pairs.distance, pairs.distances)
    product = torch.randn(2, 3, query_len, len(pairs.distances))
    curve = torch.randn(3, len(pairs.distances))
    assert torch.equal(pairs.read(product), gathered.read(product))
    assert torch.equal(pairs.read_curve(curve), gathered.read_curve(curve))
    assert torch.equal(pairs.read(pairs.distances.expand(query_len, -1)), pairs.distance)
    # a transposed product is not contiguous; a slice of a larger one does not start at its storage's first element
    assert torch.equal(pairs.read(product.mT.contiguous().mT), gathered.read(product))
    assert torch.equal(pairs.read(product[1]), gathered.read(product[1]))


def test_a_cell_that_reads_nothing_is_zero_and_gives_no_gradient():
    """Hold the zero of a pad apart from the distance 0, also where the value under it is not finite."""
    pairs = PairMap(torch.tensor([[0, -1], [-1, 1]]), torch.tensor([[1, 0], [99, 0]]), torch.tensor([1, 0, -1]))
    product = torch.tensor([[2.0, 3.0, 5.0], [7.0, 11.0, torch.nan]], requires_grad=True)
    curve = torch.tensor([13.0, 17.0, torch.nan], requires_grad=True)
    read, spread = pairs.read(product.expand(2, 2, 3)), pairs.read_curve(curve)
    assert read.tolist() == [[[2, 0], [0, 11]]] * 2 and spread.tolist() == [[13, 0], [0, 17]]
    (read.sum() + spread.sum()).backward()
    assert product.grad.tolist() == [[2, 0, 0], [0, 2, 0]] and curve.grad.tolist() == [1, 1, 0]
    product = torch.full((2, 3), torch.inf, requires_grad=True)
    pairs = PairMap(torch.full((2, 2), -1), torch.zeros(2, 2, dtype=torch.int64), pairs.distances)
    (pairs.read(product).sum() + pairs.read_curve(product).sum()).backward()
    assert not pairs.read(product).any() and not product.grad.any()


def test_distance_is_memory_plus_query_minus_key():
    pairs = relative_pairs(query_len=2, key_len=5, mem_len=3)
    assert pairs.distance.tolist() == [[3, 2, 1, 0, -1], [4, 3, 2, 1, 0]]
    assert pairs.distances.tolist() == [4, 3, 2, 1, 0, -1]
    assert relative_pairs(10, 5).distances.tolist() == list(range(9, -5, -1))


def test_no_tensor_on_the_path_has_query_key_and_d_head():
    """Watch every tensor that the split makes: none may be as large as [query key d_head]."""
    query_len = key_len = 67
    x = make_inputs(query_len, key_len)
    sizes = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            sizes.extend(
                t.numel() for t in (out if isinstance(out, tuple | list) else [out]) if isinstance(t, torch.Tensor)
            )
            return out

    with Watch():
        pairs = relative_pairs(query_len, key_len)
        fast_terms(x, pairs, learned_rows(x["table"], pairs.distances)).logits()
    assert max(sizes) <= BATCH * HEAD * query_len * (query_len + key_len) < HEAD * query_len * key_len * D_HEAD


@pytest.mark.parametrize("lengths", [(0, 3, 0), (3, 0, 0), (3, 3, -1)])
def test_a_length_of_zero_is_refused_with_the_numbers(lengths):
    with pytest.raises(ValueError, match=f"query_len={lengths[0]}, key_len={lengths[1]}, mem_len={lengths[2]}"):
        relative_pairs(*lengths)


def test_a_table_of_the_wrong_length_is_refused_with_the_numbers():
    x = make_inputs(3, 3)
    with pytest.raises(ValueError, match=r"\(3, 4, 5\).*\(3, 5, 5\)"):
        fast_terms(x, relative_pairs(3, 3), x["table"][:4])
