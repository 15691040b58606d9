"""The proof badge must be green on what is exact and red on what is not."""

import dataclasses

import numpy as np
import pytest
import torch

from relxl.proof import prove
from relxl.trace import run
from tests.conftest import tiny_model


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_an_exact_split_is_proved(positions, dtype, tokens):
    trace = run(tiny_model(positions, dtype), tokens[:1], 6)
    proof = prove(trace, 1, trace.terms(1, [2]))
    assert proof.holds and proof.cells == 48 and proof.dtype == str(dtype).removeprefix("torch.")
    assert proof.tolerance < (1e-12 if dtype == torch.float64 else 1e-3)


@pytest.mark.parametrize("damage", ["scale", "swap", "shift", "nan"])
def test_a_wrong_split_is_not_proved(damage, tokens):
    trace = run(tiny_model(dtype=torch.float32), tokens[:1], 6)
    shown = trace.terms(1, [2])
    terms = dict(shown.terms)
    if damage == "scale":
        terms["content"] = terms["content"] * np.float32(1.001)
    elif damage == "swap":  # the sum stays right: only the definition can see it
        terms["u_bias"], terms["v_bias"] = terms["v_bias"], terms["u_bias"]
    elif damage == "shift":
        terms["content_position"] = np.roll(terms["content_position"], 1, axis=-1)
    else:
        terms["content"] = np.full_like(terms["content"], np.nan)
    proof = prove(trace, 1, dataclasses.replace(shown, terms=terms))
    assert not proof.holds
    if damage == "swap":
        assert proof.forward_error <= proof.tolerance < proof.definition_error
