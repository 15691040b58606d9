"""Run a model once on a text, or on hidden states, and answer on demand what the scores of a layer are made of.

A `Trace` keeps each layer's hidden input and nothing quadratic; `terms` computes the matrices of one layer and the
heads that are looked at (`split.py`), and hands out read-only numpy arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import AttentionModel, CanonicalModel
from relxl.definition import absolute_cell, relative_cell
from relxl.masking import (
    MaskedScores,
    MaskRule,
    fill_margin,
    first_not_finite,
    forbidden_mass,
    leak_at,
    leak_offset,
    mask_scores,
    row_outcomes,
    safe_fill,
)
from relxl.model import TransformerXL, join_mems
from relxl.relative import RelativePairs
from relxl.split import LayerTerms, attention_terms, check_heads, last_rows, pairs_of, to_numpy
from relxl.vocab import show_token

PIECE_LEN = 128  # 64 to 256 are three times as fast as one piece of 2,048
ZERO = "∅"  # how NO_TOKEN is shown
NO_TOKEN = -1  # in the place of a token: a zero vector, or a frame of hidden states


@dataclass(frozen=True)
class MaskedHead:
    """Hold one head's scores on their way through a rule as read-only arrays, and what leaked; see MaskedScores."""

    content: np.ndarray  # [query key], as are total, masked, probs
    total: np.ndarray
    masked: np.ndarray
    probs: np.ndarray
    allowed: np.ndarray  # [query key] bool
    filled: np.ndarray  # [query key] bool
    leak: np.ndarray  # [query] probability on keys that must not be seen
    margin: np.ndarray  # [query] how far the best forbidden score stays below the best allowed one
    empty: np.ndarray  # [query] bool: the mask leaves no key
    nan: np.ndarray  # [query] bool
    uniform: np.ndarray  # [query] bool
    not_finite: str | None  # the first step with a number that is not finite though nobody asked for it


@dataclass(frozen=True)
class Trace:
    """Hold one run of a model: memory tokens, then the segment whose tokens are the queries.

    `model` is a `TransformerXL` or a `CanonicalModel` of any family.
    """

    model: TransformerXL
    tokens: np.ndarray  # [batch key] ids of memory and segment, NO_TOKEN where there is none
    mem_len: int
    clamp_len: int | None
    hidden: tuple[Tensor, ...]  # the input of each layer, memory included, [batch key d_model]
    output_logits: np.ndarray | None  # [batch query n_token]
    keep: Tensor | None = None  # [batch 1 query key] or [batch 1 1 key] bool, false where padding is
    differs: Tensor | None = None  # [batch query key] bool, true where the segments differ
    mix: Tensor | None = None  # [layer head term] the factor of each term, None for the model as it is

    @property
    def key_len(self) -> int:
        return self.tokens.shape[1]

    @property
    def query_len(self) -> int:
        return self.key_len - self.mem_len

    def names(self, vocab: object | None) -> list[str]:
        """Give memory and segment of the first batch entry in visible form; without a vocabulary a frame's number."""
        if vocab is None:
            return [str(frame - self.mem_len) for frame in range(self.key_len)]
        return [ZERO if i == NO_TOKEN else show_token(vocab.tokens[i]) for i in self.tokens[0]]

    @property
    def rule(self) -> MaskRule:
        """Say how the model masks."""
        return self.model.rule_at(self.mem_len)

    def terms(self, layer: int, heads: list[int] | None = None, queries: int | None = None) -> LayerTerms:
        """Split the scores of one layer, for `heads` or all of them, and the last `queries` or all of them.

        Raises ValueError for a layer that is not there.
        """
        if not 0 <= layer < len(self.hidden):
            raise ValueError(f"layer {layer} was asked for, but the model has layers 0 to {len(self.hidden) - 1}")
        attn, sides = self.model.layers[layer].attn, (self.rule, self.keep, self.differs)
        mix = None if self.mix is None else self.mix[layer]
        return attention_terms(attn, self.hidden[layer], self.mem_len, heads, self.clamp_len, *sides, queries, mix)

    def tensors(self, layer: int, queries: int, heads: list[int] | None = None, batch: int | None = None):
        """Give the split scores of the last `queries` of one layer as tensors, for one batch entry or all."""
        attn = self.model.layers[layer].attn
        check_heads(attn.n_heads, heads)
        pick = slice(None) if batch is None else slice(batch, batch + 1)
        differs = None if self.differs is None else self.differs[pick]
        mix = None if self.mix is None else self.mix[layer]
        return last_rows(attn, self.hidden[layer][pick], self.mem_len, self.clamp_len, heads, differs, queries, mix)

    def scores(self, layer: int, queries: int, rule: MaskRule, heads: list[int] | None = None) -> MaskedScores:
        """Send the first batch entry's last `queries` rows of a layer through a rule."""
        keep = None if self.keep is None else self.keep[:1]
        keep = keep if keep is None or keep.shape[-2] == 1 else keep[..., -queries:, :]
        return mask_scores(self.tensors(layer, queries, heads, batch=0), rule, self.key_len - queries, keep)

    @torch.no_grad()
    def masked(self, layer: int, head: int, rule: MaskRule) -> MaskedHead:
        """Send the scores of one head and the first batch entry through a rule; the layer's input is the right one."""
        scores = self.scores(layer, self.query_len, rule, [head])
        rows = row_outcomes(scores)
        parts = (scores.content, scores.total, scores.masked, scores.probs)
        measures = (forbidden_mass(scores.probs, scores.allowed), fill_margin(scores))
        cells = self.query_len, self.key_len
        return MaskedHead(
            *(to_numpy(part[0, 0]) for part in parts),
            *(to_numpy(part.reshape(cells)) for part in (scores.allowed, scores.filled)),
            *(to_numpy(part[0, 0].float()) for part in measures),
            *(to_numpy(mark[0, 0]) for mark in (rows.empty, rows.nan, rows.uniform)),
            first_not_finite(scores, rule),
        )

    @torch.no_grad()
    def leaks(self, rule: MaskRule, queries: int) -> np.ndarray:
        """Give the mean leak of every head under a rule over the last `queries` rows, NaN rows left out: [layer head].

        One layer at a time, each on its right input.
        """
        means = []
        for layer in range(len(self.hidden)):
            scores = self.scores(layer, min(queries, self.query_len), rule)
            means.append(forbidden_mass(scores.probs, scores.allowed)[0].float().nanmean(-1))
        return to_numpy(torch.stack(means))

    @torch.no_grad()
    def frontier(
        self, layer: int, order: str, fills: np.ndarray, queries: int, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Say what every fill leaks, and which is deep enough: mean leak [head fill], largest safe fill [head].

        The last `queries` rows of every head count; with the safe fill none of them leaks more than `tolerance`.
        """
        scores = self.scores(layer, min(queries, self.query_len), MaskRule(window=self.rule.window))
        offset = leak_offset(scores.total, scores.content, scores.allowed, order)[0]
        leaks = [leak_at(offset, float(fill)).mean(-1) for fill in fills]
        return to_numpy(torch.stack(leaks, dim=1).float()), to_numpy(safe_fill(offset, tolerance))

    @torch.no_grad()
    def cell(self, layer: int, head: int, query: int, key: int) -> dict[str, np.ndarray]:
        """Explain one cell in float64 by the definition: what each dimension adds to each term, [d_head].

        A term is the sum over its dimensions, the logit the sum of the terms. `query` counts from 0 in the segment,
        `key` from 0 in the memory.
        """
        attn, hidden = self.model.layers[layer].attn, self.hidden[layer][0]
        query_hidden, key_hidden = hidden[self.mem_len + query], hidden[key]
        if self.model.config.positions == "absolute":
            cell = absolute_cell(attn, query_hidden, key_hidden, head)
        else:
            row, distance = self.read_by(layer, query, key)
            reader = None if row < 0 else hidden[self.mem_len + row]
            differs = None if self.differs is None else bool(self.differs[0, query, key])
            cell = relative_cell(attn, query_hidden, key_hidden, distance, head, self.clamp_len, reader, differs)
        factors = [1.0] * len(cell) if self.mix is None else self.mix[layer, head].tolist()
        return {name: value.cpu().numpy() * f for (name, value), f in zip(cell.items(), factors, strict=False)}

    def read_by(self, layer: int, query: int, key: int) -> tuple[int, int]:
        """Say which query row (-1: none) and which distance the position terms of a cell read."""
        pairs = pairs_of(self.model.layers[layer].attn, self.key_len, self.mem_len)
        if isinstance(pairs, RelativePairs):
            return query, self.mem_len + query - key
        return int(pairs.query_row[query, key]), int(pairs.distance[query, key])

    @torch.no_grad()
    def forward_logits(self, layer: int, queries: int) -> np.ndarray:
        """Give the logits that the model's own attention makes of the last `queries`, before the mask, all heads."""
        return to_numpy(self.tensors(layer, queries).logits())


@torch.no_grad()
def run(
    model: TransformerXL,
    tokens: Tensor,
    mem_len: int = 0,
    clamp_len: int | None = None,
    segments: Tensor | None = None,
    mix: Tensor | None = None,
) -> Trace:
    """Run a model on tokens [batch key]: the first `mem_len` are read as memory, the others are the queries.

    `clamp_len` replaces the config's; `segments` [batch query] are XLNet's; `mix` [layer head term] multiplies the
    terms of every score. Where a family starts with a memory of
    zeros, as much of it as the given memory leaves is put before the tokens. Raises ValueError when no query would be
    left.
    """
    if tokens.dim() != 2 or not 0 <= mem_len < tokens.shape[1]:
        raise ValueError(
            f"a run needs at least one token after the memory, got tokens of shape {list(tokens.shape)} and "
            f"mem_len={mem_len}: give a longer text or a shorter memory"
        )
    clamp_len = model.config.clamp_len if clamp_len is None else clamp_len
    hidden = model.first_mems(len(tokens))
    if hidden is not None:
        hidden = [zeros[:, min(mem_len, zeros.shape[1]) :] for zeros in hidden]
    zeros = 0 if hidden is None else hidden[0].shape[1]
    output_logits = []
    for start, end in pieces(model, tokens.shape[1], mem_len):
        its_segments = {} if segments is None or start < mem_len else {"segments": segments}
        output = model(tokens[:, start:end], hidden, clamp_len, mix=mix, **its_segments)
        hidden = join_mems(hidden, output.hidden)
        if start >= mem_len:
            output_logits.append(output.output_logits)
    shown = np.concatenate([np.full((len(tokens), zeros), NO_TOKEN), to_numpy(tokens)], axis=1)
    differs = None
    if segments is not None:
        all_segments = torch.nn.functional.pad(segments, (mem_len + zeros, 0))
        differs = segments[:, :, None] != all_segments[:, None, :]
    logits = None if output_logits[0] is None else to_numpy(torch.cat(output_logits, dim=1))
    return Trace(model, shown, mem_len + zeros, clamp_len, tuple(hidden), logits, differs=differs, mix=mix)


@torch.no_grad()
def run_hidden(
    model: CanonicalModel,
    hidden: Tensor,
    mems: Sequence[Tensor] | None = None,
    clamp_len: int | None = None,
    visible: Tensor | None = None,
    mix: Tensor | None = None,
) -> Trace:
    """Run a model on hidden states [batch query d_model], as its first layer reads them.

    A family of which the attention alone is known takes them for the input of every layer. mems: one [batch mem
    d_model] a layer. visible, true where a frame is real: [batch key], or [batch query key]; a memory of zeros, which
    some families start with, is.
    """
    mems = model.first_mems(len(hidden)) if mems is None else mems
    keep = keep_of(visible, hidden.shape[1] + (0 if mems is None else mems[0].shape[1]))
    clamp_len = model.config.clamp_len if clamp_len is None else clamp_len
    output = model.read(hidden, mems, clamp_len, keep=keep, mix=mix)
    joined = tuple(join_mems(mems, output.hidden))
    logits = None if output.output_logits is None else to_numpy(output.output_logits)
    tokens = np.full(joined[0].shape[:2], NO_TOKEN)
    return Trace(model, tokens, joined[0].shape[1] - hidden.shape[1], clamp_len, joined, logits, keep, mix=mix)


def take_hidden(
    model: TransformerXL | CanonicalModel,
    hidden: Tensor,
    mems: Sequence[Tensor] | None = None,
    clamp_len: int | None = None,
    visible: Tensor | None = None,
) -> Trace:
    """Take hidden states [batch query d_model] for the input of every layer, and run none; see `run_hidden`."""
    joined = tuple(join_mems(mems, [hidden] * len(model.layers)))
    tokens, clamp_len = (
        np.full(joined[0].shape[:2], NO_TOKEN),
        model.config.clamp_len if clamp_len is None else clamp_len,
    )
    keep = keep_of(visible, joined[0].shape[1])
    return Trace(model, tokens, joined[0].shape[1] - hidden.shape[1], clamp_len, joined, None, keep)


def on_hidden(
    model: TransformerXL | CanonicalModel,
    hidden: Tensor,
    mems: Sequence[Tensor] | None = None,
    mem_len: int = 0,
    clamp_len: int | None = None,
    visible: Tensor | None = None,
) -> Trace:
    """Run a model on hidden states [batch len d_model], or take them for the input of every layer.

    The latter where the attention alone is known, and for a model of ours, which reads tokens. The first `mem_len` of
    them become the memory, unless `mems` is one. Raises ValueError for a mask over frames that become a memory.
    """
    runs = isinstance(model, CanonicalModel) and not isinstance(model, AttentionModel)
    if mem_len:
        if runs and visible is not None:
            raise ValueError(f"--mem-len {mem_len}: with a mask give the memory of each layer as `mems`")
        before, hidden = hidden[:, :mem_len], hidden[:, mem_len:]
        mems = read_ahead(model, before, clamp_len) if runs else [before] * model.config.n_layer
        visible = visible[:, mem_len:] if visible is not None and visible.dim() == 3 else visible
    return (run_hidden if runs else take_hidden)(model, hidden, mems, clamp_len, visible)


@torch.no_grad()
def read_ahead(model: CanonicalModel, hidden: Tensor, clamp_len: int | None = None) -> list[Tensor]:
    """Make the memory of every layer out of hidden states [batch mem d_model] that come before the segment.

    Raises ValueError for a model whose frames see both sides: what comes before depends on what comes after.
    """
    if not model.config.piecewise:
        raise ValueError(
            f"{model.family} reads a segment whole, so no memory can be made of its first frames: give the memory of "
            "each layer itself"
        )
    mems = model.first_mems(len(hidden))
    mems = None if mems is None else [zeros[:, min(hidden.shape[1], zeros.shape[1]) :] for zeros in mems]
    mems = [hidden[:, :0]] * len(model.layers) if mems is None else mems
    return join_mems(mems, model.read(hidden, mems, clamp_len).hidden)


def keep_of(visible: Tensor | None, key_len: int) -> Tensor | None:
    """Bring what is visible, [batch key] or [batch query key], to [batch 1 query-or-1 key]; what is before it is."""
    if visible is None:
        return None
    keep = visible[:, None, None, :] if visible.dim() == 2 else visible[:, None]
    return torch.nn.functional.pad(keep, (key_len - keep.shape[-1], 0), value=True)


def pieces(model: TransformerXL, key_len: int, mem_len: int) -> list[tuple[int, int]]:
    """Cut memory and segment into the pieces that a run reads one after another, each (start, end).

    With relative positions and a causal mask a piece whose memory is everything before it gives what one long segment
    gives, without the future half of the scores and never more than [head PIECE_LEN key] at once. Absolute positions
    count from 0 in every segment and an encoder sees both sides, so there a segment is read whole.
    """
    step = PIECE_LEN if model.config.piecewise else key_len
    starts = [*range(0, mem_len, step), *range(mem_len, key_len, step)]
    return list(zip(starts, [*starts[1:], key_len], strict=True))


def split_memory(n_tokens: int, segment_len: int, mem_len: int) -> tuple[int, int]:
    """Say how a text of n_tokens is looked at: how many of its last tokens are used, and how many of those are memory.

    The last half of the text, at most one segment, are the queries; what comes before, at most mem_len, is memory.
    With mem_len = 0 the queries are the last segment.
    """
    query_len = min(segment_len, n_tokens if mem_len == 0 else -(-n_tokens // 2))
    used_memory = min(mem_len, n_tokens - query_len)
    return query_len + used_memory, used_memory
