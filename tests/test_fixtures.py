"""Golden numbers of the article's layer, from two independent writings that are not ours (tests/fixtures/seed)."""

import json

import pytest
import torch
from safetensors.torch import load_file

from relxl.masking import expand_mask, masked_softmax
from relxl.model import RelMultiheadAttention
from relxl.split import to_numpy
from tests.conftest import ROOT

CASES = sorted((ROOT / "tests/fixtures/seed").iterdir())
LETTERS = {"content": "A", "content_position": "B", "u_bias": "C", "v_bias": "D"}


def test_all_four_cases_are_here():
    assert [case.name for case in CASES] == [
        "cross_q10_k5",
        "self_L10_max64",
        "self_L12_max8_padmask",
        "self_L20_max6_clamped",
    ]


@pytest.mark.parametrize("dtype, atol", [(torch.float64, 1e-10), (torch.float32, 2e-5)], ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_terms_logits_probs_and_output_equal_the_golden_numbers(case, dtype, atol):
    config = json.loads((case / "meta.json").read_text())["config"]
    expected = {name: value.to(dtype) for name, value in load_file(case / "expected.safetensors").items()}
    attention = RelMultiheadAttention(**config)
    attention.load_state_dict(load_file(case / "weights.safetensors"), strict=True)
    attention.to(dtype)
    x = expected["seg0.input.x"]
    keys = expected.get("seg0.input.kv", x)
    mask = expected.get("seg0.input.mask_keep")
    if mask is not None:
        mask = expand_mask(mask, x.shape[0], attention.n_heads, x.shape[1], keys.shape[1])
    valid = expected["seg0.valid"].bool().expand(expected["seg0.layer0.scores"].shape)

    terms = attention.terms(x, keys)
    logits = terms.logits()
    for name, term in terms.dense().items():
        torch.testing.assert_close(term, expected[f"seg0.layer0.term_{LETTERS[name]}"], rtol=0, atol=atol)
    torch.testing.assert_close(logits[valid], expected["seg0.layer0.scores"][valid], rtol=0, atol=atol)
    torch.testing.assert_close(masked_softmax(logits, mask), expected["seg0.layer0.probs"], rtol=0, atol=atol)
    torch.testing.assert_close(attention(x, keys, keys, mask), expected["seg0.out"], rtol=0, atol=atol)
    assert (to_numpy(terms.pairs.distance) == expected["seg0.distance"].numpy()).all()
