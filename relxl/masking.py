"""Which key a query may attend to, and the softmax over what is left.

A mask is a boolean tensor, True where a query may attend, that broadcasts to [batch head query key].
"""

import torch
from torch import Tensor


def causal_mask(query_len: int, key_len: int, mem_len: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Allow the token itself and the past, mem_len + i - j >= 0: [query key] bool."""
    row = torch.arange(query_len, device=device)[:, None]
    return mem_len + row >= torch.arange(key_len, device=device)


def expand_mask(mask: Tensor, batch: int, n_head: int, query_len: int, key_len: int) -> Tensor:
    """Bring a mask to [batch or 1, head or 1, query key] bool; true or 1 means that the query may attend.

    Takes [query key], [batch query key] or [batch head query key]. Raises ValueError for any other shape or values.
    """
    shape = tuple(mask.shape)
    front = {2: [()], 3: [(1,), (batch,)], 4: [(b, h) for b in (1, batch) for h in (1, n_head)]}
    if shape[-2:] == (query_len, key_len) and shape[:-2] in front.get(mask.dim(), []):
        if mask.dtype != torch.bool and not ((mask == 0) | (mask == 1)).all():
            raise ValueError(
                f"the mask holds values from {mask.min().item():g} to {mask.max().item():g}, but it must say true or 1 "
                "where a query may attend, false or 0 elsewhere: an additive mask is not one"
            )
        mask = mask.bool()
        return mask if mask.dim() == 4 else mask[None, None] if mask.dim() == 2 else mask[:, None]
    raise ValueError(
        f"the mask has shape {shape}, but {query_len} queries and {key_len} keys in a batch of {batch} need "
        f"[{query_len} {key_len}], [{batch} {query_len} {key_len}] or [{batch} {n_head} {query_len} {key_len}]"
    )


def masked_softmax(logits: Tensor, mask: Tensor | None) -> Tensor:
    """Fill forbidden cells with -inf **after** the sum of the terms, then take the softmax over keys.

    logits [batch head query key] -> probs of the same shape. A row with no visible key is NaN, as the formula says.
    """
    if mask is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
    return logits.softmax(dim=-1)
