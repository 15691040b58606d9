"""Terms made louder or muted: nothing at 1, permuted keys without positions, and never a changed model."""

import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.trace import run
from tests.conftest import ROOT, tiny_model


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_a_mix_of_ones_is_bit_equal_to_the_plain_forward(positions, tokens):
    model = tiny_model(positions)
    mix = torch.ones(2, 3, 4)
    plain, mixed = model(tokens), model(tokens, mix=mix)
    assert torch.equal(plain.output_logits, mixed.output_logits)
    before, after = run(model, tokens, 6), run(model, tokens, 6, mix=mix)
    for layer in range(2):
        assert (before.terms(layer).probs == after.terms(layer).probs).all()


def test_a_mix_of_ones_is_bit_equal_for_a_model_of_somebody_else():
    checkpoint = open_checkpoint(ROOT / "checkpoints/txl-official")
    ids = torch.tensor([checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids[:60]])
    plain, mixed = run(checkpoint.model, ids, 20), run(checkpoint.model, ids, 20, mix=torch.ones(4, 8, 4))
    assert (plain.output_logits == mixed.output_logits).all()
    assert (plain.terms(3).probs == mixed.terms(3).probs).all()


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_without_position_terms_permuting_the_keys_permutes_the_probabilities(positions):
    attn = tiny_model(positions).layers[0].attn
    hidden = torch.randn(1, 11, 12, dtype=torch.float64)
    order = torch.randperm(11)
    mix = torch.tensor([[1.0, 0.0, 1.0, 0.0]]).expand(3, 4)
    probs = attn.terms(hidden, hidden).mixed(mix).logits().softmax(-1)
    permuted = attn.terms(hidden, hidden[:, order]).mixed(mix).logits().softmax(-1)
    torch.testing.assert_close(permuted, probs[..., order], rtol=0, atol=1e-14)
    loud = attn.terms(hidden, hidden[:, order]).logits().softmax(-1)
    assert (loud - attn.terms(hidden, hidden).logits().softmax(-1)[..., order]).abs().max() > 1e-3


def test_a_muted_term_is_zero_in_its_head_alone_and_the_model_stays_as_it_was(tokens):
    model = tiny_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    mix = torch.ones(2, 3, 4)
    mix[1, 2, 3] = 0
    plain, muted = run(model, tokens, 6).terms(1), run(model, tokens, 6, mix=mix).terms(1)
    assert (muted.terms["v_bias"][:, 2] == 0).all() and (muted.terms["v_bias"][:, :2] != 0).any()
    assert (muted.terms["content"] == plain.terms["content"]).all()  # layer 0 was left alone
    total = sum(term for term in muted.terms.values())
    torch.testing.assert_close(torch.tensor(total), torch.tensor(muted.logits), rtol=0, atol=1e-12)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_cell_is_explained_as_it_is_mixed(tokens):
    mix = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(0)) * 2
    trace = run(tiny_model(), tokens, 6, mix=mix)
    terms = trace.terms(1, [2])
    for name, contributions in trace.cell(1, 2, 5, 7).items():
        assert contributions.sum() == pytest.approx(float(terms.terms[name][0, 0, 5, 7]), abs=1e-10)
