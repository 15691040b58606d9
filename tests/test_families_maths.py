"""What families do to positions, by identities, and every family's split against the definition in float64."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from relxl.canonical import Linear, RelativeAttention, SinusoidPositions
from relxl.families.family import Reader, heads_first, layer_prefixes, sines_first, stem_of
from relxl.positions import sinusoid_rows
from relxl.proof import prove
from relxl.relative import relative_pairs
from relxl.shift import pair_map
from relxl.trace import run, run_hidden
from tests.fixture_files import CASES, FIXTURES, case_id, meta_of, open_case

CHEAP = settings(max_examples=25, deadline=None)
sizes = st.integers(1, 4)


def tensor(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float64)


def attention(n_head: int, d_head: int, d_model: int, **changes) -> RelativeAttention:
    maps = [Linear(tensor(n_head * d_head, d_model, seed=i)) for i in range(3)]
    w_k_pos = tensor(n_head, d_model, d_head)
    return RelativeAttention(
        *maps,
        out_proj=Linear(tensor(d_model, n_head * d_head)),
        n_heads=n_head,
        u=tensor(n_head, d_head, seed=5),
        v=tensor(n_head, d_head, seed=6),
        scale=d_head**-0.5,
        **{"positions": SinusoidPositions(w_k_pos)} | changes,
    )


@CHEAP
@given(sizes, sizes, sizes, st.lists(st.integers(-3000, 3000), min_size=1, max_size=7))
def test_an_interleaved_sinusoid_and_its_halves_give_the_same_position_keys(n_head, d_head, half, distances):
    distance, d_model = torch.tensor(distances), 2 * half
    weight = tensor(n_head * d_head, d_model)
    f = 10000.0 ** (-2 * torch.arange(half, dtype=torch.float64) / d_model)
    phases = distance[:, None] * f
    interleaved = torch.stack([phases.sin(), phases.cos()], dim=-1).flatten(1)
    expected = (interleaved @ weight.T).unflatten(-1, (n_head, d_head)).transpose(0, 1)
    found = SinusoidPositions(sines_first(heads_first(weight, n_head))).table(distance)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-11)
    mirrored = SinusoidPositions(sines_first(heads_first(weight, n_head)), mirrored=True)
    assert torch.equal(mirrored.table(distance), mirrored.table(-distance))


@CHEAP
@given(st.integers(1, 9), st.integers(1, 30), st.booleans())
def test_the_legacy_map_is_that_of_the_papers_shift_further_along(length, table, zero_future):
    pairs = attention(2, 3, 4, legacy_len=table, zero_future=zero_future).pairs(length, length, 0)
    paper, ahead = pair_map("pad_and_view", length, 0), max(table - length, 0)
    right = relative_pairs(length, length)
    future = right.distance < 0
    assert torch.equal(pairs.distance, paper.distance + ahead) and torch.equal(pairs.distances, paper.distances + ahead)
    assert torch.equal(pairs.distance[~future], right.distance[~future] + ahead)
    assert torch.equal(pairs.query_row[~future], right.query_row[~future])
    if zero_future:
        assert (pairs.query_row[future] == -1).all()
    else:
        assert torch.equal(pairs.query_row, paper.query_row)


@CHEAP
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 3))
def test_bi_data_reads_the_second_half_of_a_batch_backwards(batch, length, clamp_len):
    """Backwards: as the same model reads the tokens from the last to the first."""
    x, cut = tensor(batch, length, 4), batch - batch // 2
    both = attention(2, 3, 4, bi_data=True).terms(x, x, clamp_len=clamp_len).dense()
    forward = attention(2, 3, 4).terms(x, x, clamp_len=clamp_len).dense()
    backward = attention(2, 3, 4).terms(x.flip(1), x.flip(1), clamp_len=clamp_len).dense()
    for name, term in both.items():
        torch.testing.assert_close(term[:cut], forward[name][:cut])
        torch.testing.assert_close(term[cut:], backward[name].flip(2, 3)[cut:])


@CHEAP
@given(st.integers(2, 8), st.integers(0, 5), st.integers(1, 7))
def test_a_clamp_is_a_shorter_table(length, mem_len, clamp_len):
    attn = attention(2, 3, 4)
    x = tensor(1, mem_len + length, 4)
    terms = attn.terms(x[:, mem_len:], x, mem_len, clamp_len)
    distance = relative_pairs(length, mem_len + length, mem_len).distance.clamp(-clamp_len, clamp_len)
    rows = sinusoid_rows(distance.flatten(), 4, dtype=torch.float64) @ attn.positions.w_k_pos[1]
    v_bias = (rows @ attn.v[1]).view(distance.shape) * attn.scale
    torch.testing.assert_close(terms.dense()["v_bias"][0, 1], v_bias)


@CHEAP
@given(st.text("a.0179", max_size=12), st.integers(0, 40), st.sampled_from(["", "attn.", "rel_attn.core."]))
def test_layers_are_counted_under_any_prefix(before, last, tail):
    stem = f"{before}.layers." if before else "layers."
    names = dict.fromkeys((f"{stem}{i}.{tail}anchor" for i in range(last + 1)), ())
    found = layer_prefixes(names, "anchor")
    assert found == [f"{stem}{i}.{tail}" for i in range(last + 1)]
    assert stem_of(found[-1]) == stem.removesuffix("layers.")


def test_a_reader_names_all_that_is_missing_and_holds_no_memory_for_it():
    reader = Reader({"a.weight": torch.ones(3, 2)}, torch.float32)
    linear = reader.linear("b", 1 << 40, 1 << 20)
    assert linear.weight.device.type == "meta" and reader.missing == ["b.weight", "b.bias"]
    assert reader.linear("a", 3, 2, bias=False).bias is None and reader.taken == {"a.weight"}


def trace_of(case, dtype: torch.dtype):
    """Run the model of a case on what the case was given, without its masks."""
    opened, meta = open_case(case, dtype), meta_of(case)
    given = load_file(case / "expected.safetensors")
    tokens = next((given[name] for name in ("seg0.input.ids", "seg0.input.input_ids") if name in given), None)
    if tokens is not None:
        segments = given.get("seg0.input.token_type_ids")
        return run(opened.model, tokens[:1], clamp_len=None, segments=None if segments is None else segments[:1])
    x = next(given[name] for name in ("seg0.input.x", "seg0.input.hidden_states") if name in given)[:1].to(dtype)
    cache = given.get("seg0.input.cache")
    mems = None if cache is None else [cache[:1].to(dtype)] * meta["config"].get("n_layer", 1)
    return run_hidden(opened.model, x, mems)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_definition_agrees_with_every_model(case, dtype):
    trace = trace_of(case, dtype)
    for layer in range(len(trace.hidden)):
        proof = prove(trace, layer, trace.terms(layer), cells=4)
        assert proof.holds, (layer, proof)
        assert proof.dtype == str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("name", ["xlnet/uni_mems_seg", "hf_transfoxl/untied_mem_2seg", "txl_official/same_length"])
def test_the_definition_agrees_over_a_memory(name):
    model = open_case(FIXTURES / name).model
    tokens = torch.randint(model.config.n_token, (1, 11), generator=torch.Generator().manual_seed(2))
    segments = (torch.arange(7) > 3)[None].long() if name.startswith("xlnet") else None
    trace = run(model, tokens, 4, segments=segments)
    assert trace.mem_len == (6 if name.startswith("hf") else 4)
    shown = trace.terms(1)
    assert prove(trace, 1, shown).holds and (len(shown.terms) == 6) == (segments is not None)


def test_the_definition_agrees_on_padded_batches():
    case = FIXTURES / "wav2vec2_conformer/padded"
    model = open_case(case).model
    x, visible = tensor(3, 8, model.config.d_model), torch.arange(8) < torch.tensor([[8], [5], [2]])
    trace = run_hidden(model, x, visible=visible)
    assert prove(trace, 1, trace.terms(1)).holds


def test_a_model_without_a_softmax_gives_terms_and_no_output_logits():
    model = open_case(FIXTURES / "hf_transfoxl/no_softmax_epsilon").model
    trace = run(model, torch.arange(7)[None], 2)
    assert trace.output_logits is None and trace.terms(0).logits.shape[-1] == 2 + 2 + 5
