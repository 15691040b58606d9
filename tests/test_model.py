"""The article's classes, the language model with memory, and the absolute baseline."""

import re

import pytest
import torch
from torch import nn

from relxl.definition import explicit_position_scores, naive_scores
from relxl.masking import causal_mask
from relxl.model import (
    AbsoluteBlock,
    RelativePositionEncoding,
    RelMultiheadAttention,
    TransformerXLBlock,
    norm_parts,
    split_heads,
    update_mems,
)
from tests.conftest import tiny_config, tiny_model

ALL_POSITIONS = ["learned", "sinusoid", "absolute"]


def test_the_article_names_every_parameter():
    attention = RelMultiheadAttention(d_model=12, n_heads=3, max_len=5)
    shapes = {name: tuple(value.shape) for name, value in attention.state_dict().items()}
    linear = {
        f"{name}.{part}": (12, 12) if part == "weight" else (12,)
        for name in ("w_q", "w_k", "w_v", "out_proj")
        for part in ("weight", "bias")
    }
    assert shapes == linear | {"pos_enc.pos_table": (9, 4), "w_k_pos": (3, 4, 4), "u": (3, 4), "v": (3, 4)}
    RelMultiheadAttention(12, 3, 5).load_state_dict(attention.state_dict(), strict=True)


def test_new_parameters_are_drawn_with_the_standard_deviation_of_the_article():
    torch.manual_seed(0)
    attention = RelMultiheadAttention(d_model=512, n_heads=8)
    for parameter in (attention.u, attention.v, attention.w_k_pos, attention.pos_enc.pos_table):
        assert parameter.std().item() == pytest.approx(0.02, rel=0.1)
    assert attention.pos_enc.pos_table.shape == (2 * 512 - 1, 64)


def test_position_encoding_gives_the_articles_explicit_tensor():
    encoding = RelativePositionEncoding(head_dim=3, max_len=4)
    rel_emb = encoding(5, 2)
    assert rel_emb.shape == (5, 2, 3)
    assert torch.equal(rel_emb[4, 0], encoding.pos_table[3 + 3])  # distance 4, clamped to 3
    assert torch.equal(rel_emb[0, 1], encoding.pos_table[-1 + 3])


@pytest.mark.parametrize("lengths", [(7, 7), (10, 5), (5, 10)])
def test_attention_equals_the_explicit_form_and_the_loops(lengths):
    query_len, key_len = lengths
    torch.manual_seed(1)
    attention = RelMultiheadAttention(d_model=15, n_heads=3, max_len=4).double()
    q, k = torch.randn(2, query_len, 15).double(), torch.randn(2, key_len, 15).double()
    query, key = split_heads(attention.w_q(q), 3), split_heads(attention.w_k(k), 3)
    rel_emb = attention.pos_enc(query_len, key_len)
    content_position, v_bias = explicit_position_scores(query, rel_emb, attention.w_k_pos, attention.v)
    terms = attention.terms(q, k).dense()
    torch.testing.assert_close(terms["content_position"], content_position * attention.scale, rtol=0, atol=1e-12)
    torch.testing.assert_close(terms["v_bias"][0], v_bias * attention.scale, rtol=0, atol=1e-12)
    naive = naive_scores(query[1], key[1], rel_emb, attention.w_k_pos, attention.u, attention.v, attention.scale)
    for name, expected in naive.items():
        torch.testing.assert_close(terms[name][1], expected, rtol=0, atol=1e-12)


def test_block_keeps_the_articles_shapes():
    block = TransformerXLBlock(d_model=128, n_heads=8, d_ff=256)
    x = torch.randn(2, 10, 128)
    assert block(x, causal_mask(10, 10)).shape == (2, 10, 128)
    names = {name.split(".")[0] for name in block.state_dict()}
    assert names == {"attn", "ln1", "ff", "ln2"}


def test_masks_of_three_shapes_mean_the_same():
    attention, x = RelMultiheadAttention(12, 3), torch.randn(2, 5, 12)
    mask = causal_mask(5, 5)
    expected = attention(x, x, x, mask)
    assert torch.equal(attention(x, x, x, mask.long()), expected)
    assert torch.equal(attention(x, x, x, mask.expand(2, 5, 5)), expected)
    assert torch.equal(attention(x, x, x, mask.expand(2, 3, 5, 5)), expected)


@pytest.mark.parametrize("shape", [(5, 4), (3, 5, 5), (5,), (1, 1, 1, 5, 5), (2, 4, 5, 5)])
def test_a_mask_of_a_wrong_shape_is_refused_with_the_numbers(shape):
    attention, x = RelMultiheadAttention(12, 3), torch.randn(2, 5, 12)
    with pytest.raises(
        ValueError, match=re.escape(f"the mask has shape {shape}, but 5 queries and 5 keys in a batch of 2")
    ):
        attention(x, x, x, torch.ones(shape))


def test_bad_sizes_are_refused_with_the_numbers():
    with pytest.raises(ValueError, match="d_model=10 and n_heads=3"):
        RelMultiheadAttention(10, 3)
    with pytest.raises(ValueError, match="d_model=10 and n_heads=0"):
        RelMultiheadAttention(10, 0)
    with pytest.raises(ValueError, match="max_len must be 1 or more, got 0"):
        RelativePositionEncoding(4, 0)
    with pytest.raises(ValueError, match="got rotary"):
        tiny_config("rotary")
    with pytest.raises(ValueError, match=r"shape \(2, 0\)"):
        tiny_model()(torch.zeros(2, 0, dtype=torch.long))


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
@pytest.mark.parametrize("clamp_len", [None, 3])
def test_one_long_segment_equals_two_joined_by_memory(positions, clamp_len, tokens):
    model = tiny_model(positions, mem_len=11)
    whole = model(tokens, clamp_len=clamp_len).output_logits
    first = model(tokens[:, :11], clamp_len=clamp_len)
    second = model(tokens[:, 11:], first.mems, clamp_len)
    joined = torch.cat([first.output_logits, second.output_logits], dim=1)
    torch.testing.assert_close(joined, whole, rtol=0, atol=1e-10)


@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_memory_keeps_the_last_tokens_and_stops_the_gradient(positions, tokens):
    model = tiny_model(positions).requires_grad_(True)
    output = model(tokens[:, :7])
    assert len(output.mems) == 2 and all(layer.shape[1] == 5 and not layer.requires_grad for layer in output.mems)
    assert torch.equal(output.mems[1], output.hidden[1][:, 2:])
    short = update_mems(output.mems, [layer[:, :3] for layer in output.hidden], mem_len=5)
    assert torch.equal(short[0], torch.cat([output.mems[0][:, 3:], output.hidden[0][:, :3]], dim=1))
    assert all(layer.shape[1] == 0 for layer in update_mems(None, list(output.hidden), mem_len=0))


@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_no_output_depends_on_the_future(positions, tokens):
    model = tiny_model(positions)
    changed = tokens.clone()
    changed[:, 9:] = (changed[:, 9:] + 1) % 11
    assert torch.equal(model(tokens).output_logits[:, :9], model(changed).output_logits[:, :9])


@pytest.mark.parametrize("positions", ALL_POSITIONS)
def test_every_parameter_of_the_model_gets_a_gradient(positions, tokens):
    model = tiny_model(positions)
    model(tokens).output_logits.square().sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().max() > 0] == []


def test_the_absolute_baseline_equals_plain_attention_over_summed_inputs(tokens):
    """Rebuild the model from torch's own layers on e + p and compare: the split stream must not change a thing."""
    model = tiny_model("absolute")
    x = model.embed(tokens).sum(2)
    mask = causal_mask(19, 19)
    for layer in model.layers:
        attention = layer.attn
        q, k, v = (split_heads(linear(x), 3) for linear in (attention.w_q, attention.w_k, attention.w_v))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = layer.ln1(x + attention.out_proj(mixed.transpose(1, 2).flatten(2)))
        x = layer.ln2(x + layer.ff(x))
    expected = x @ model.word_emb.weight.T + model.out_bias
    torch.testing.assert_close(model(tokens).output_logits, expected, rtol=0, atol=1e-10)


def test_parts_of_a_layer_norm_add_up_to_the_norm_of_the_sum():
    norm, parts = nn.LayerNorm(7).double(), torch.randn(2, 5, 2, 7).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    torch.testing.assert_close(norm_parts(norm, parts).sum(2), norm(parts.sum(2)), rtol=0, atol=1e-13)
    assert norm_parts(norm, parts * torch.tensor([1.0, 0.0])[:, None])[:, :, 1].abs().max() == 0


def test_without_positions_the_absolute_terms_of_position_are_zero():
    block, x = AbsoluteBlock(12, 3, 17), torch.randn(2, 5, 2, 12)
    x[:, :, 1] = 0
    terms = block.attn.terms(x, x).dense()
    assert [name for name, term in terms.items() if term.abs().max() > 0] == ["content"]
