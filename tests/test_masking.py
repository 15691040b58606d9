"""The causal mask, masks from outside, and the softmax over what is left."""

import pytest
import torch

from relxl.masking import causal_mask, expand_mask, masked_softmax


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
