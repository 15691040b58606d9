"""Run a model once on a text and answer, on demand, what the scores of a layer are made of. torch ends here.

A `Trace` keeps each layer's hidden input and nothing quadratic; `terms` computes the matrices of one layer and the
heads that are looked at, and hands out read-only numpy arrays.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from relxl.definition import absolute_cell, relative_cell
from relxl.masking import (
    MaskRule,
    causal_mask,
    fill_margin,
    first_not_finite,
    forbidden_mass,
    leak_at,
    leak_offset,
    mask_scores,
    masked_softmax,
    row_outcomes,
    safe_fill,
)
from relxl.model import AbsoluteMultiheadAttention, RelMultiheadAttention, TransformerXL, join_mems
from relxl.relative import ScoreTerms

PIECE_LEN = 128  # 64 to 256 are three times as fast as one piece of 2,048


@dataclass(frozen=True)
class HeadTerms:
    """Hold the split scores of one head and one batch entry; [query key] unless noted. See LayerTerms."""

    terms: dict[str, np.ndarray]
    logits: np.ndarray
    probs: np.ndarray
    mask: np.ndarray
    distance: np.ndarray
    distances: np.ndarray  # [distance]
    u_bias: np.ndarray | None  # [key]
    v_bias: np.ndarray | None  # [distance]


@dataclass(frozen=True)
class LayerTerms:
    """Hold the split scores of some heads of one layer as read-only arrays; [batch head query key] unless noted.

    `terms` goes from a term's name to its matrix, already scaled, in the order (a) (b) (c) (d). `logits` is their sum
    before the mask: forbidden cells keep their value and are marked by `mask`, for the future is where leaks are.
    """

    heads: tuple[int, ...]
    terms: dict[str, np.ndarray]
    logits: np.ndarray
    probs: np.ndarray
    mask: np.ndarray  # [query key] bool, True where the query may attend
    distance: np.ndarray  # [query key] tokens, positive is the past
    distances: np.ndarray  # [distance] tokens, descending
    u_bias: np.ndarray | None  # [batch head key], None for absolute positions
    v_bias: np.ndarray | None  # [head distance], None for absolute positions

    def head(self, head: int, batch: int = 0) -> HeadTerms:
        """Give one of the heads that were split, by its number in the layer."""
        place = self.heads.index(head)
        return HeadTerms(
            {name: term[batch, place] for name, term in self.terms.items()},
            self.logits[batch, place],
            self.probs[batch, place],
            self.mask,
            self.distance,
            self.distances,
            None if self.u_bias is None else self.u_bias[batch, place],
            None if self.v_bias is None else self.v_bias[place],
        )


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
    """Hold one run of a model: memory tokens, then the segment whose tokens are the queries."""

    model: TransformerXL
    tokens: np.ndarray  # [batch key] ids of memory and segment
    mem_len: int
    clamp_len: int | None
    hidden: tuple[Tensor, ...]  # the input of each layer, memory included, [batch key d_model]
    output_logits: np.ndarray  # [batch query n_token]

    @property
    def key_len(self) -> int:
        return self.tokens.shape[1]

    @property
    def query_len(self) -> int:
        return self.key_len - self.mem_len

    def terms(self, layer: int, heads: list[int] | None = None, queries: int | None = None) -> LayerTerms:
        """Split the scores of one layer, for `heads` or all of them, and the last `queries` or all of them.

        Raises ValueError for a layer that is not there.
        """
        if not 0 <= layer < len(self.hidden):
            raise ValueError(f"layer {layer} was asked for, but the model has layers 0 to {len(self.hidden) - 1}")
        query_len = self.query_len if queries is None else min(queries, self.query_len)
        return layer_terms(self.model, layer, self.hidden[layer], self.key_len - query_len, heads, self.clamp_len)

    @torch.no_grad()
    def masked(self, layer: int, head: int, rule: MaskRule) -> MaskedHead:
        """Send the scores of one head and the first batch entry through a rule; the layer's input is the right one."""
        attn, hidden = self.model.layers[layer].attn, self.hidden[layer][:1]
        terms = attn.terms(hidden[:, self.mem_len :], hidden, self.mem_len, self.clamp_len, [head])
        scores = mask_scores(terms, rule, self.mem_len)
        rows = row_outcomes(scores)
        parts = (scores.content, scores.total, scores.masked, scores.probs)
        measures = (forbidden_mass(scores.probs, scores.allowed), fill_margin(scores))
        return MaskedHead(
            *(to_numpy(part[0, 0]) for part in parts),
            to_numpy(scores.allowed),
            to_numpy(scores.filled),
            *(to_numpy(part[0, 0].float()) for part in measures),
            *(to_numpy(mark[0, 0]) for mark in (rows.empty, rows.nan, rows.uniform)),
            first_not_finite(scores, rule),
        )

    @torch.no_grad()
    def leaks(self, rule: MaskRule, queries: int) -> np.ndarray:
        """Give the mean leak of every head under a rule over the last `queries` rows, NaN rows left out: [layer head].

        One layer at a time, each on its right input.
        """
        mem_len = self.key_len - min(queries, self.query_len)
        means = []
        for layer, hidden in enumerate(self.hidden):
            attn, x = self.model.layers[layer].attn, hidden[:1]
            scores = mask_scores(attn.terms(x[:, mem_len:], x, mem_len, self.clamp_len), rule, mem_len)
            means.append(forbidden_mass(scores.probs, scores.allowed)[0].float().nanmean(-1))
        return to_numpy(torch.stack(means))

    @torch.no_grad()
    def frontier(
        self, layer: int, order: str, fills: np.ndarray, queries: int, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Say what every fill leaks, and which is deep enough: mean leak [head fill], largest safe fill [head].

        The last `queries` rows of every head count; with the safe fill none of them leaks more than `tolerance`.
        """
        attn, hidden = self.model.layers[layer].attn, self.hidden[layer][:1]
        mem_len = self.key_len - min(queries, self.query_len)
        terms = attn.terms(hidden[:, mem_len:], hidden, mem_len, self.clamp_len)
        allowed = causal_mask(self.key_len - mem_len, self.key_len, mem_len, hidden.device)
        offset = leak_offset(terms.logits(), terms.content, allowed, order)[0]
        leaks = [leak_at(offset, float(fill)).mean(-1) for fill in fills]
        return to_numpy(torch.stack(leaks, dim=1).float()), to_numpy(safe_fill(offset, tolerance))

    @torch.no_grad()
    def cell(self, layer: int, head: int, query: int, key: int) -> dict[str, np.ndarray]:
        """Explain one cell in float64 by the definition: what each dimension adds to each term, [d_head].

        A term is the sum over its dimensions, the logit the sum of the four terms. `query` counts from 0 in the
        segment, `key` from 0 in the memory.
        """
        attn, hidden = self.model.layers[layer].attn, self.hidden[layer][0]
        query_hidden, key_hidden = hidden[self.mem_len + query], hidden[key]
        if self.model.config.positions == "absolute":
            cell = absolute_cell(attn, query_hidden, key_hidden, head)
        else:
            distance = self.mem_len + query - key
            cell = relative_cell(attn, query_hidden, key_hidden, distance, head, self.clamp_len)
        return {name: value.cpu().numpy() for name, value in cell.items()}

    @torch.no_grad()
    def forward_logits(self, layer: int, queries: int) -> np.ndarray:
        """Give the logits that the model's own attention makes of the last `queries`, before the mask, all heads."""
        attn, hidden = self.model.layers[layer].attn, self.hidden[layer]
        mem_len = self.key_len - queries
        return to_numpy(attn.terms(hidden[:, mem_len:], hidden, mem_len, self.clamp_len).logits())


@torch.no_grad()
def run(model: TransformerXL, tokens: Tensor, mem_len: int = 0, clamp_len: int | None = None) -> Trace:
    """Run a model on tokens [batch key]: the first `mem_len` are read as memory, the others are the queries.

    `clamp_len` replaces the config's. Raises ValueError when no query would be left.
    """
    if tokens.dim() != 2 or not 0 <= mem_len < tokens.shape[1]:
        raise ValueError(
            f"a run needs at least one token after the memory, got tokens of shape {list(tokens.shape)} and "
            f"mem_len={mem_len}: give a longer text or a shorter memory"
        )
    clamp_len = model.config.clamp_len if clamp_len is None else clamp_len
    hidden: list[Tensor] | None = None
    output_logits = []
    for start, end in pieces(model, tokens.shape[1], mem_len):
        output = model(tokens[:, start:end], hidden, clamp_len)
        hidden = join_mems(hidden, output.hidden)
        if start >= mem_len:
            output_logits.append(output.output_logits)
    return Trace(model, to_numpy(tokens), mem_len, clamp_len, tuple(hidden), to_numpy(torch.cat(output_logits, dim=1)))


def pieces(model: TransformerXL, key_len: int, mem_len: int) -> list[tuple[int, int]]:
    """Cut memory and segment into the pieces that a run reads one after another, each (start, end).

    With relative positions a piece whose memory is everything before it gives what one long segment gives, without the
    future half of the scores and never more than [head PIECE_LEN key] at once. Absolute positions count from 0 in
    every segment, so there a segment is read whole.
    """
    step = key_len if model.config.positions == "absolute" else PIECE_LEN
    starts = [*range(0, mem_len, step), *range(mem_len, key_len, step)]
    return list(zip(starts, [*starts[1:], key_len], strict=True))


@torch.no_grad()
def layer_terms(
    model: TransformerXL,
    layer: int,
    hidden: Tensor,
    mem_len: int = 0,
    heads: list[int] | None = None,
    clamp_len: int | None = None,
) -> LayerTerms:
    """Split the scores of one layer on its input `hidden` [batch key d_model], whose first mem_len rows are memory."""
    return attention_terms(model.layers[layer].attn, hidden, mem_len, heads, clamp_len)


@torch.no_grad()
def attention_terms(
    attn: RelMultiheadAttention | AbsoluteMultiheadAttention,
    hidden: Tensor,
    mem_len: int = 0,
    heads: list[int] | None = None,
    clamp_len: int | None = None,
) -> LayerTerms:
    """Do the same for an attention that stands by itself."""
    n_head = attn.n_heads
    if bad := [head for head in heads or [] if not 0 <= head < n_head]:
        raise ValueError(f"head {bad[0]} was asked for, but the model has heads 0 to {n_head - 1}")
    key_len = hidden.shape[1]
    query_len = key_len - mem_len
    terms = attn.terms(hidden[:, mem_len:], hidden, mem_len, clamp_len, heads)
    mask = causal_mask(query_len, key_len, mem_len, hidden.device)
    logits = terms.logits()
    distances = np.arange(key_len - 1, -query_len, -1)  # mem_len + query_len - 1 is key_len - 1
    relative = isinstance(terms, ScoreTerms)
    if relative:
        shape = tuple(terms.content.shape)
        u_bias, v_bias = to_numpy(terms.u_bias), to_numpy(terms.v_bias)
        dense = {
            "content": to_numpy(terms.content),
            "content_position": to_numpy(terms.content_position),
            "u_bias": np.broadcast_to(u_bias[..., None, :], shape),
            "v_bias": np.broadcast_to(along_diagonals(v_bias, key_len), shape),
        }
    else:
        u_bias = v_bias = None
        dense = {name: to_numpy(value) for name, value in terms.dense().items()}
    return LayerTerms(
        heads=tuple(range(n_head)) if heads is None else tuple(heads),
        terms=dense,
        logits=to_numpy(logits),
        probs=to_numpy(masked_softmax(logits, mask)),
        mask=to_numpy(mask),
        distance=along_diagonals(distances, key_len),
        distances=distances,
        u_bias=u_bias,
        v_bias=v_bias,
    )


def along_diagonals(curve: np.ndarray, key_len: int) -> np.ndarray:
    """View a curve over descending distance as the matrix that repeats it: [... distance] -> [... query key]."""
    return np.lib.stride_tricks.sliding_window_view(curve, key_len, axis=-1)[..., ::-1, :]


def to_numpy(x: Tensor) -> np.ndarray:
    """Give a read-only array; half precision becomes float32, which numpy and plotly understand."""
    x = x.detach().cpu()
    array = (x.float() if x.dtype in (torch.bfloat16, torch.float16) else x).numpy()
    array.flags.writeable = False
    return array


def split_memory(n_tokens: int, segment_len: int, mem_len: int) -> tuple[int, int]:
    """Say how a text of n_tokens is looked at: how many of its last tokens are used, and how many of those are memory.

    The last half of the text, at most one segment, are the queries; what comes before, at most mem_len, is memory.
    With mem_len = 0 the queries are the last segment.
    """
    query_len = min(segment_len, n_tokens if mem_len == 0 else -(-n_tokens // 2))
    used_memory = min(mem_len, n_tokens - query_len)
    return query_len + used_memory, used_memory
