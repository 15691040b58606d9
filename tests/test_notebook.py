"""relxl as a library: load, trace, terms, figure; a live module is split as its file would be."""

import re

import numpy as np
import pytest
import torch

import relxl
from relxl.model import RelMultiheadAttention
from relxl.notebook import Run
from relxl.trace import on_hidden, run
from tests.conftest import ROOT, tiny_model

TEXT = "To be, or not to be"


@pytest.fixture(scope="module")
def model():
    return relxl.load(ROOT / "checkpoints/shakespeare-learned")


@pytest.fixture(scope="module")
def trace(model):
    return model.trace(TEXT, mem_len=7)


def test_a_run_is_the_run_of_the_core(model, trace):
    ids = torch.tensor([model.checkpoint.vocab.encode(TEXT).ids])
    expected = run(model.checkpoint.model, ids, 7).terms(1, [3]).head(3)
    head = trace.head(1, 3)
    for name, term in expected.terms.items():
        np.testing.assert_array_equal(head.terms[name], term)
    assert "".join(trace.names) == TEXT.replace(" ", "␣")
    np.testing.assert_array_equal(trace.terms(1, heads=[3]).logits[0, 0], expected.logits)


def test_token_ids_and_text_are_the_same(model, trace):
    ids = model.checkpoint.vocab.encode(TEXT).ids
    for tokens in (ids, torch.tensor(ids), torch.tensor([ids])):
        np.testing.assert_array_equal(model.trace(tokens=tokens, mem_len=7).head(0, 0).logits, trace.head(0, 0).logits)


def test_shares_add_up_and_a_row_is_a_table(trace):
    assert sum(trace.shares(1, 3).values()) == pytest.approx(1)
    table, head = trace.table(1, 3, query=-1), trace.head(1, 3)
    np.testing.assert_array_equal(table["probability"], head.probs[-1])
    assert trace.proof(1, 3).holds


def test_a_figure_holds_the_numbers(trace):
    figure, head = trace.figure(1, 3, query=-1), trace.head(1, 3)
    heatmaps = [part for part in figure.data if part.type == "heatmap"]
    np.testing.assert_allclose(heatmaps[0].z, head.terms["content"], rtol=1e-6)
    np.testing.assert_allclose(heatmaps[-1].z, head.probs, rtol=1e-6)
    with pytest.raises(ValueError, match="more than the"):
        relxl.load(ROOT / "checkpoints/shakespeare-learned").trace(TEXT * 40).figure(0, 0)


def test_what_a_notebook_shows_is_escaped(model):
    assert "4 layers × 8 heads" in model._repr_html_() and model.checkpoint.digest in model._repr_html_()
    shown = Run(model.trace("ab").trace, ("<b>", "&"))._repr_html_()
    assert "&lt;b&gt;&amp;" in shown and not re.search(r"<code>.*<b>", shown)


def test_what_can_not_be_traced_is_one_sentence(model, family_folder):
    for arguments in ({}, {"text": "a", "tokens": [1]}):
        with pytest.raises(ValueError, match="give one of text, tokens and hidden"):
            model.trace(**arguments)
    with pytest.raises(ValueError, match="no token that"):
        model.trace("山")
    reads_hidden = next(path for path in sorted(family_folder.iterdir()) if path.name.startswith("espnet"))
    with pytest.raises(ValueError, match="reads hidden states and not tokens"):
        relxl.load(reads_hidden).trace("a")


def test_a_live_attention_is_split_as_it_attends():
    torch.manual_seed(0)
    attention = RelMultiheadAttention(d_model=14, n_heads=7, max_len=11).eval()
    hidden, before = torch.randn(1, 5, 14), {name: value.clone() for name, value in attention.state_dict().items()}
    split = relxl.from_module(attention, hidden, causal=True)
    expected = attention.terms(hidden, hidden)
    np.testing.assert_allclose(split.terms(0).logits, expected.logits().detach(), atol=1e-6)
    np.testing.assert_allclose(split.terms(0).terms["content"], expected.content.detach(), atol=1e-6)
    assert all(torch.equal(before[name], value) for name, value in attention.state_dict().items())


def test_a_live_model_inside_another_module_keeps_its_dtype():
    torch.manual_seed(0)
    attention = RelMultiheadAttention(d_model=14, n_heads=7, max_len=11).double()
    wrapped = torch.nn.ModuleDict({"layer": torch.nn.ModuleDict({"attn": attention})})
    hidden = torch.randn(1, 5, 14)
    split = relxl.from_module(wrapped, hidden)
    assert split.terms(0).logits.dtype == np.float64
    np.testing.assert_allclose(
        split.terms(0).logits, attention.terms(hidden.double(), hidden.double()).logits().detach()
    )


def test_a_live_language_model_of_ours_reads_tokens():
    model = tiny_model().eval()
    tokens = torch.tensor([[1, 2, 3, 0, 1]])
    split = relxl.from_module(model, tokens=tokens)
    np.testing.assert_array_equal(split.head(1, 0).logits, run(model, tokens).terms(1).head(0).logits)
    with pytest.raises(ValueError, match="give either hidden"):
        relxl.from_module(model)


def module_of(tensors):
    """Build a module that has tensors by these names, as the peer's own class would."""
    root = torch.nn.Module()
    for name, value in tensors.items():
        *path, last = name.split(".")
        here = root
        for part in path:
            if part not in dict(here.named_children()):
                here.add_module(part, torch.nn.Module())
            here = getattr(here, part)
        here.register_buffer(last, value)
    return root


@pytest.mark.parametrize("family", ["espnet", "wav2vec2_conformer", "xlnet"])
def test_a_live_peer_is_split_as_its_file(family, family_folder):
    folder = next(path for path in sorted(family_folder.iterdir()) if path.name.startswith(family))
    opened = relxl.load(folder).checkpoint
    module = module_of(opened.weights.tensors)
    module.config = dict(opened.weights.config)
    hidden = torch.randn(1, 7, opened.config.d_model, generator=torch.Generator().manual_seed(1))
    if opened.config.n_token:
        tokens = torch.tensor([[1, 2, 0, 1, 2]])
        split, expected = relxl.from_module(module, tokens=tokens), run(opened.model, tokens)
    else:
        split, expected = relxl.from_module(module, hidden), on_hidden(opened.model, hidden)
    np.testing.assert_array_equal(split.terms(0).logits, expected.terms(0).logits)


def test_a_module_of_no_family_is_refused():
    with pytest.raises(ValueError, match="no family is known"):
        relxl.from_module(torch.nn.Linear(3, 3), torch.randn(1, 2, 3))
