"""Which key a query may attend to, how a mask is applied, right or wrong, and what leaks when it is wrong.

A mask is a boolean tensor, True where a query may attend, that broadcasts to [batch head query key]. A `MaskRule` says
what a model does with it: in which order, with which fill, in which dtype, with which fault. The right rule, and the
default everywhere, is -inf after the sum of the terms.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

import torch
from torch import Tensor

from relxl.shift import SHIFTS

ORDERS = ("after", "before", "before_shift")
SIDES = ("past", "both")
DTYPES = ("float32", "bfloat16", "float16")
FAULTS = ("none", "sees_next", "misses_itself", "memory_forgotten", "inverted", "no_mask", "window_short")


def causal_mask(query_len: int, key_len: int, mem_len: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Allow the token itself and the past, mem_len + i - j >= 0: [query key] bool."""
    row = torch.arange(query_len, device=device)[:, None]
    return mem_len + row >= torch.arange(key_len, device=device)


def window_mask(
    query_len: int, key_len: int, mem_len: int, window: int | None, device: torch.device | str | None = None
) -> Tensor:
    """Allow the last `window` keys of the past, the token itself among them; all of them without a window."""
    mask = causal_mask(query_len, key_len, mem_len, device)
    return mask if window is None else mask & ~causal_mask(query_len, key_len, mem_len - window, device)


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


@dataclass(frozen=True)
class MaskRule:
    """Say how a model masks: order, fill, dtype, fault and window. The default is the right way.

    order   "after" the sum; "before" it (the content score alone is filled, the other terms are added to the fill);
            "before_shift" (the position scores alone, by a mask laid on q . p before the paper's pad-and-view shift)
    fill    a number such as -inf or -1e4, "min" (the dtype's lowest) or "multiply" (the score is multiplied by 0)
    dtype   "float32", "bfloat16" or "float16", in which sum, fill and softmax are really computed; None: the model's
    fault   "none", "sees_next" (one key of the future), "misses_itself", "memory_forgotten" (i - j >= 0 where
            m + i - j is meant), "inverted", "no_mask", "window_short" (one key less than the window)
    window  keys that a query sees, itself among them (`same_length` of the paper's code); None: all of the past
    sees    "past" (a language model) or "both" sides (a speech encoder, XLNet)
    zero    set the probabilities of forbidden cells to 0 after the softmax, as ESPnet and NeMo do: a row without a
            key is then 0 and not uniform or NaN

    Raises ValueError for anything else.
    """

    order: str = "after"
    fill: float | Literal["min", "multiply"] = -math.inf
    dtype: str | None = None
    fault: str = "none"
    window: int | None = None
    sees: str = "past"
    zero: bool = False

    def __post_init__(self):
        chosen = (("order", self.order, ORDERS), ("fault", self.fault, FAULTS), ("sees", self.sees, SIDES))
        for name, value, choices in chosen:
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {str(value)[:40]!r}")
        if self.dtype is not None and self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)} or None, got {str(self.dtype)[:40]!r}")
        number = isinstance(self.fill, (int, float)) and not math.isnan(self.fill)
        if not number and self.fill not in ("min", "multiply"):
            raise ValueError(f"fill must be a number, 'min' or 'multiply', got {str(self.fill)[:40]!r}")
        if self.window is not None and not (type(self.window) is int and self.window >= 1):
            raise ValueError(f"window must be a whole number from 1, or None, got {str(self.window)[:40]!r}")
        if self.fault == "window_short" and self.window is None:
            raise ValueError("the fault 'window_short' needs a window: give window=, the keys that a query sees")

    def allowed(self, query_len: int, key_len: int, mem_len: int, device: torch.device | str | None = None) -> Tensor:
        """Give the mask that is meant: [query key] bool."""
        if self.sees == "both":
            return torch.ones(query_len, key_len, dtype=torch.bool, device=device)
        return window_mask(query_len, key_len, mem_len, self.window, device)

    def applied(self, query_len: int, key_len: int, mem_len: int, device: torch.device | str | None = None) -> Tensor:
        """Give the mask that is laid on the scores, fault and all: [query key] bool."""
        if self.sees == "both":
            return self.allowed(query_len, key_len, mem_len, device) & (self.fault != "inverted")
        moved = {"sees_next": mem_len + 1, "misses_itself": mem_len - 1, "memory_forgotten": 0}.get(self.fault, mem_len)
        window = self.window - 1 if self.fault == "window_short" else self.window
        mask = window_mask(query_len, key_len, moved, window, device)
        return {"inverted": ~mask, "no_mask": torch.ones_like(mask)}.get(self.fault, mask)


RIGHT_RULE = MaskRule()


@dataclass(frozen=True)
class MaskedScores:
    """Hold the scores of some heads on their way through a rule; [batch head query key] unless noted."""

    terms: tuple[Tensor, ...]  # in the rule's dtype, each in its own shape
    content: Tensor  # as it enters the sum: filled where the mask comes before
    total: Tensor  # the sum of the terms, without any mask
    masked: Tensor  # what the softmax gets
    probs: Tensor
    allowed: Tensor  # [query key] bool, the mask that is meant ([batch head query key], either of them 1, with `keep`)
    filled: Tensor  # of the same shape, True where the rule puts its fill, wherever it does


def mask_scores(terms, rule: MaskRule, mem_len: int, keep: Tensor | None = None) -> MaskedScores:
    """Mask the scores of `terms` (ScoreTerms or AbsoluteTerms) as `rule` says, and take the softmax over keys.

    `keep`, bool and broadcast to [batch head query key], forbids more cells: those of padding, or of a permutation.
    Raises ValueError for the order "before_shift" on absolute positions, which know no shift.
    """
    if rule.dtype is not None:
        terms = cast(terms, getattr(torch, rule.dtype))
    total = terms.logits()
    query_len, key_len = total.shape[-2:]
    sizes = query_len, key_len, mem_len, total.device
    allowed = rule.allowed(*sizes)
    applied, content = allowed if rule.fault == "none" else rule.applied(*sizes), terms.content
    if keep is not None:
        allowed, applied = allowed & keep, applied & keep
    filled = ~applied
    if rule.order == "after":
        masked = fill_scores(total, filled, rule.fill)
    elif rule.order == "before":
        content = fill_scores(content, filled, rule.fill)
        masked = replace(terms, content=content).logits()
    else:
        if not hasattr(terms, "v_bias"):
            raise ValueError("a mask before the shift needs relative positions: absolute ones have no shift")
        filled = shift_mask(filled)
        rest = terms.content + terms.u_bias[..., None, :]
        if getattr(terms, "segment_content", None) is not None:
            rest = rest + terms.segment_content + terms.segment_bias
        masked = torch.where(filled, rest + fill_value(rule.fill, rest.dtype), total)
    parts = tuple(value for value in vars(terms).values() if isinstance(value, Tensor))
    probs = masked.softmax(dim=-1)
    if rule.zero:
        probs = probs.masked_fill(filled, 0)
    return MaskedScores(parts, content, total, masked, probs, allowed, filled)


def attention_probs(terms, mask: Tensor | MaskRule | None, mem_len: int = 0, keep: Tensor | None = None) -> Tensor:
    """Turn terms into probabilities under a mask from outside or under a rule: [batch head query key]."""
    if isinstance(mask, MaskRule):
        return mask_scores(terms, mask, mem_len, keep).probs
    logits = terms.logits()
    if mask is not None:
        batch, n_head, query_len, key_len = logits.shape
        mask = expand_mask(mask, batch, n_head, query_len, key_len)
    return masked_softmax(logits, mask)


def cast(terms, dtype: torch.dtype):
    """Round every term to a dtype, in which all that follows is computed."""
    tensors = {f.name: getattr(terms, f.name) for f in fields(terms)}
    return replace(terms, **{name: value.to(dtype) for name, value in tensors.items() if isinstance(value, Tensor)})


def read_fill(text: str) -> float | str:
    """Read a fill as it is typed: a number, "min" or "multiply". Raises ValueError for anything else."""
    try:
        return text if text in ("min", "multiply") else MaskRule(fill=float(text)).fill
    except ValueError:
        raise ValueError(f"mask_fill must be a number, 'min' or 'multiply', got {text[:40]!r}") from None


def fill_value(fill: float | str, dtype: torch.dtype) -> float:
    """Give the number that a fill really is in a dtype: -1e9 is -inf in float16; "multiply" makes a finite score 0."""
    if fill == "min":
        return torch.finfo(dtype).min
    return 0.0 if fill == "multiply" else torch.tensor(fill, dtype=torch.float64).to(dtype).item()


def fill_scores(scores: Tensor, filled: Tensor, fill: float | str) -> Tensor:
    """Put the fill into scores where `filled` [query key] is True."""
    if fill == "multiply":
        return scores * ~filled
    return scores.masked_fill(filled, fill_value(fill, scores.dtype))


def shift_mask(filled: Tensor) -> Tensor:
    """Move a mask [query key] as the paper's shift moves q . p: where it ends up, a pad is never filled."""
    return SHIFTS["pad_and_view"].steps(filled.int(), filled.shape[-1])[-1][1].bool()


# What leaks ----------------------------------------------------------------------------------------------------------


def forbidden_mass(probs: Tensor, allowed: Tensor) -> Tensor:
    """Add up the probability that each row gives to keys it must not see: [... query key] -> [... query]."""
    return probs.masked_fill(allowed, 0).sum(-1)


def fill_margin(scores: MaskedScores) -> Tensor:
    """Say how far the best forbidden score of a row stays below its best allowed one: [batch head query].

    Infinite where nothing forbidden is finite; 0 or less where a forbidden key is the row's best.
    """
    best = scores.masked.masked_fill(~scores.allowed, -torch.inf).amax(-1)
    return best - scores.masked.masked_fill(scores.allowed, -torch.inf).amax(-1)


def leak_offset(total: Tensor, content: Tensor, allowed: Tensor, order: str) -> Tensor:
    """Compress a row to one number from which its leak follows for every fill: [batch head query].

    A fill F leaks sigmoid(F + offset), offset = logsumexp over forbidden keys of what is added to the fill - logsumexp
    over allowed keys of the score. After the sum nothing is added to the fill; before it, total - content.
    """
    added = total - content if order == "before" else torch.zeros_like(total)
    forbidden = added.masked_fill(allowed, -torch.inf).logsumexp(-1)
    return forbidden - total.masked_fill(~allowed, -torch.inf).logsumexp(-1)


def leak_at(offset: Tensor, fill: float) -> Tensor:
    """Give the probability on forbidden keys that a fill leaves to rows of these offsets, in closed form."""
    return (offset.double() + fill).sigmoid()


def safe_fill(offset: Tensor, tolerance: float = 1e-6) -> Tensor:
    """Give the largest fill that leaves no row of a head more than `tolerance`: [batch head query] -> [batch head]."""
    return math.log(tolerance / (1 - tolerance)) - offset.double().amax(-1)


@dataclass(frozen=True)
class RowOutcomes:
    """Mark what became of rows, [batch head query] bool: no key left by the mask, NaN, the same for every key."""

    empty: Tensor
    nan: Tensor
    uniform: Tensor


def row_outcomes(scores: MaskedScores) -> RowOutcomes:
    """Find the rows that the mask leaves no key, and those that became NaN or uniform."""
    probs = scores.probs
    uniform = (probs == probs[..., :1]).all(-1) & (probs.shape[-1] > 1)
    return RowOutcomes(scores.filled.all(-1).expand(probs.shape[:-1]), probs.isnan().any(-1), uniform)


def first_not_finite(scores: MaskedScores, rule: MaskRule) -> str | None:
    """Name the first step at which a number is not finite though nobody asked for it: "terms", "sum", "fill",
    "mask", "softmax", or None.

    An -inf that the rule itself puts into a forbidden cell is asked for; a finite fill that does not fit the dtype
    ("fill"), or that a score pushes over its edge ("mask"), is not.
    """
    if not all(part.isfinite().all() for part in scores.terms):
        return "terms"
    if not scores.total.isfinite().all():
        return "sum"
    value = fill_value(rule.fill, scores.total.dtype)
    asked = isinstance(rule.fill, (int, float)) and math.isinf(rule.fill)
    if scores.filled.any() and not math.isfinite(value) and not asked:
        return "fill"
    odd = ~scores.masked.isfinite()
    if (odd & ~scores.filled).any() or (odd.any() and math.isfinite(value)):
        return "mask"
    return "softmax" if scores.probs.isnan().any() else None
