"""Find out whether, where and how a model lets the future in: change a token, and see which earlier outputs move.

Three ways, from any model to the layers of ours and of every family. All compare bits: a right model gives exactly the
same output before the changed token, so a leak of 1e-7 is still found. What is compared has the same place in a batch
of the same shape, because a product may round differently elsewhere. A model that reads hidden states has frames
[d_model] where others have tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.masking import FAULTS, MaskedScores, MaskRule, attention_probs, mask_scores, shift_mask
from relxl.model import TransformerXL

CHANGED_AT_ONCE = 16
Model = TransformerXL | CanonicalModel
Rules = MaskRule | Sequence[MaskRule] | None  # one, one a layer, or the model's own


@dataclass(frozen=True)
class Causality:
    """Hold how far each output moves when one token is changed.

    A stage is what a model hands on: its embedding, the output of each layer, its output logits. An output before the
    changed token must not move.
    """

    moved: Tensor  # [stage changed output] largest |difference|; inf where one is not a number
    stages: tuple[str, ...]

    @property
    def leaks(self) -> Tensor:
        """Mark the (stage, changed, output) in which an output before the changed token moves: bool."""
        length = self.moved.shape[-1]
        return (self.moved > 0) & torch.ones(length, length, dtype=torch.bool, device=self.moved.device).tril(-1)

    @property
    def entry(self) -> str | None:
        """Name the first stage in which an output before the changed token moves."""
        leaking = self.leaks.flatten(1).any(-1).nonzero()
        return self.stages[int(leaking[0])] if len(leaking) else None


def causality_test(
    forward: Callable[[Tensor], Tensor | Sequence[Tensor]],
    tokens: Tensor,
    changed_to: Tensor,
    stages: Sequence[str] = (),
    report: Callable[[float], None] = lambda done: None,
    at_once: int = CHANGED_AT_ONCE,
) -> Causality:
    """Change every token of a text in turn and measure which outputs of a whole model move.

    `forward` takes token ids [batch token] and gives [batch token ...], or a list of such: one a stage, the outputs
    last. tokens and changed_to are [token], or frames [token d_model], and must differ everywhere. `report` hears how
    much is done, from 0 to 1; `at_once` texts are a batch. Raises ValueError where the model is not a function of its
    tokens (dropout left on, say).
    """
    one_each = tokens.dim() in (1, 2) and tokens.shape == changed_to.shape
    if not one_each or (tokens == changed_to).view(len(tokens), -1).all(1).any():
        raise ValueError(
            f"every token needs another one to change to: tokens {list(tokens.shape)} and changed_to "
            f"{list(changed_to.shape)} must be [token], or [token d_model], and differ everywhere"
        )
    moved = [
        torch.stack([difference(a, b) for a, b in zip(before, after, strict=True)])
        for before, after in changed_pairs(forward, tokens, changed_to, report, at_once)
    ]
    moved = torch.cat(moved, dim=1)
    return Causality(moved, tuple(stages) or tuple(f"stage {i}" for i in range(len(moved))))


def changed_pairs(
    forward: Callable[[Tensor], Tensor | Sequence[Tensor]],
    tokens: Tensor,
    changed_to: Tensor,
    report: Callable[[float], None],
    at_once: int,
) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Give the stages of a batch of the text, and of the same batch with one token changed in each row."""
    for begin in range(0, len(tokens), at_once):
        place = torch.arange(begin, min(begin + at_once, len(tokens)), device=tokens.device)
        batch = tokens.repeat(len(place), *[1] * tokens.dim())
        before = stages_of(forward, batch)
        if begin == 0 and any(difference(a, b).any() for a, b in zip(before, stages_of(forward, batch), strict=True)):
            raise ValueError(
                "the model gives different outputs for the same tokens: switch dropout off (model.eval()) and fix what "
                "is random, then test again"
            )
        batch[torch.arange(len(place)), place] = changed_to[place]
        yield before, stages_of(forward, batch)
        report(float(place[-1] + 1) / len(tokens))


@torch.no_grad()
def stages_of(forward: Callable[[Tensor], Tensor | Sequence[Tensor]], batch: Tensor) -> list[Tensor]:
    output = forward(batch)
    return [output] if isinstance(output, Tensor) else list(output)


def difference(before: Tensor, after: Tensor) -> Tensor:
    """Give the largest |difference| over all but the first two axes, 0 where bits are equal: [batch token]."""
    amount = (before.double() - after.double()).abs().nan_to_num(nan=torch.inf)
    same = (before == after) | (before.isnan() & after.isnan())
    return amount.masked_fill(same, 0)[..., None].flatten(2).amax(-1)


def stage_names(model: Model) -> tuple[str, ...]:
    """Name what `model_stages` gives: the embedding, each layer's output (the last one as the output logits)."""
    first = "embedding" if model.config.n_token else "input"
    return (first, *(f"L{layer}" for layer in range(len(model.layers))))


def model_stages(model: Model, rule: Rules = None, clamp_len: int | None = None) -> Callable[[Tensor], list[Tensor]]:
    """Make the `forward` that `causality_test` takes of a model that opens: what enters each layer, then the outputs.

    A layer's input is what its attention reads. A memory of zeros is there where the family starts with one. A model
    without tokens reads frames [batch token d_model], and its outputs are its last hidden states.
    """

    def forward(tokens: Tensor) -> list[Tensor]:
        x = model.embed(tokens) if model.config.n_token else tokens
        output = model.read(x, clamp_len=clamp_len, rule=rule)
        return [*output.hidden, output.last_hidden if output.output_logits is None else output.output_logits]

    return forward


def causality_jacobian(model: Model, tokens: Tensor, rule: Rules = None) -> Tensor:
    """Give |d output_i / d embedding_j| without changing a token: [changed output], as `Causality.moved` lies.

    The outputs of each place are projected on one random direction, so the value is a size, not a norm of all.
    """
    embedded = model.embed(tokens[None]) if model.config.n_token else tokens[None]
    embedded = embedded.detach().clone().requires_grad_()
    output = model.read(embedded, rule=rule)
    output = (output.last_hidden if output.output_logits is None else output.output_logits)[0]
    direction = torch.randn(output.shape[-1], generator=torch.Generator().manual_seed(0)).to(output)
    ones = torch.eye(len(tokens), dtype=output.dtype, device=output.device)
    (gradient,) = torch.autograd.grad(output @ direction, embedded, ones, is_grads_batched=True)
    return gradient[:, 0].flatten(2).norm(dim=-1).T


@torch.no_grad()
def attention_reads(attn: object, hidden: Tensor, mem_len: int, rule: MaskRule, clamp_len: int | None = None) -> Tensor:
    """Measure how far each query's attention output moves when one key is changed: [query key].

    hidden [1 key d_model] is the input of the layer. Keys and values are changed and queries are not, so the diagonal
    tells whether a query sees itself.
    """
    step = torch.linspace(0.5, 1.5, hidden.shape[-1], dtype=hidden.dtype, device=hidden.device)  # no norm removes it
    query, changed = hidden[:, mem_len:], step - hidden.roll(1, dims=1)
    moved = []
    for begin in range(0, hidden.shape[1], CHANGED_AT_ONCE):
        place = torch.arange(begin, min(begin + CHANGED_AT_ONCE, hidden.shape[1]), device=hidden.device)
        keys = hidden.repeat(len(place), *[1] * (hidden.dim() - 1))
        queries = query.expand(len(place), *query.shape[1:])
        before = attend(attn, queries, keys, mem_len, rule, clamp_len)
        keys[torch.arange(len(place)), place] = changed[0, place]
        moved.append(difference(before, attend(attn, queries, keys, mem_len, rule, clamp_len)))
    return torch.cat(moved).T


def attend(attn: object, query: Tensor, keys: Tensor, mem_len: int, rule: MaskRule, clamp_len: int | None) -> Tensor:
    probs = attention_probs(attn.terms(query, keys, mem_len, clamp_len), rule, mem_len)
    return attn.attend(probs, keys.sum(2) if keys.dim() == 4 else keys)


@dataclass(frozen=True)
class LayerLeak:
    """Say how one layer lets the future in, or is kept from what it should see."""

    layer: int
    mechanism: str  # a fault of MaskRule, "before_shift", "weak_fill_after", "weak_fill_before", "not_finite" (it
    # cannot be told, its input is not finite), "none" or "unknown"
    forbidden: int  # cells (query, key) that are read and must not be
    unread: int  # cells that may be read and are not: shut by the mask, or of probability exactly 0
    reads: Tensor  # [query key] how far the query's output moves with the key


def layer_leaks(
    model: Model,
    hidden: Sequence[Tensor],
    mem_len: int = 0,
    rule: Rules = None,
    clamp_len: int | None = None,
) -> list[LayerLeak]:
    """Test each layer by itself on its own input, hidden [1 key d_model] a layer, and name what is wrong with it."""
    clamp_len = model.config.clamp_len if clamp_len is None else clamp_len
    rule = model.rule_at(mem_len) if rule is None else rule
    rules = [rule] * len(model.layers) if isinstance(rule, MaskRule) else rule
    found = []
    for layer, (block, its_rule, x) in enumerate(zip(model.layers, rules, hidden, strict=True)):
        reads = attention_reads(block.attn, x, mem_len, its_rule, clamp_len)
        with torch.no_grad():
            scores = mask_scores(block.attn.terms(x[:, mem_len:], x, mem_len, clamp_len), its_rule, mem_len)
        read, allowed = reads > 0, scores.allowed
        found.append(
            LayerLeak(
                layer,
                name_mechanism(read, scores, mem_len, its_rule),
                int((read & ~allowed).sum()),
                int((allowed & ~read).sum()),
                reads,
            )
        )
    return found


def name_mechanism(read: Tensor, scores: MaskedScores, mem_len: int, rule: MaskRule) -> str:
    """Name what is wrong from what is read [query key] and from the scores before and after the mask.

    A forbidden cell whose score is left as it was is open: the pattern of open cells names the fault. One that holds
    another finite score is filled too weakly: by a constant where the mask comes after the sum, else by a part.
    """
    if not scores.total.isfinite().all():
        return "not_finite"
    open_cells = (scores.masked == scores.total).flatten(0, -3).all(0)
    forbidden = ~scores.allowed
    if not (read & forbidden).any() and not (scores.allowed & ~open_cells).any():
        return "none"
    if torch.equal(open_cells, ~shift_mask(forbidden)):
        return "before_shift"
    if not torch.equal(open_cells, scores.allowed):
        sizes, meant = (*read.shape, mem_len, read.device), replace(rule, fault="none")
        for fault in FAULTS[1:] if rule.window else [fault for fault in FAULTS[1:] if fault != "window_short"]:
            if torch.equal(open_cells, replace(meant, fault=fault).applied(*sizes)):
                return fault
    values = scores.masked[..., forbidden]
    if (open_cells & forbidden).any() or not values.isfinite().all():
        return "unknown"
    return "weak_fill_after" if (values == values.flatten()[0]).all() else "weak_fill_before"
