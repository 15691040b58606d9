"""Split one layer: its attention and its input in, read-only arrays out. torch ends here.

The terms of a layer are tensors in `relative.ScoreTerms`; here they become the matrices that a page, a table or a file
shows, for one layer and the heads that are looked at.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from relxl.masking import RIGHT_RULE, MaskRule, mask_scores
from relxl.relative import PairMap, RelativePairs, ScoreTerms


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
    diagonal: bool


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
    mask: np.ndarray  # [query key] bool, True where the query may attend ([batch head query key] where they differ)
    distance: np.ndarray  # [query key] tokens, m + i - j: positive is the past
    distances: np.ndarray  # [distance] tokens, descending: the rows of v_bias
    u_bias: np.ndarray | None  # [batch head key], None for absolute positions
    v_bias: np.ndarray | None  # [head distance] or [batch head distance], None for absolute positions
    diagonal: bool  # whether v_bias repeats along the diagonals, as it does under the right map

    def head(self, head: int, batch: int = 0) -> HeadTerms:
        """Give one of the heads that were split, by its number in the layer."""
        place = self.heads.index(head)
        return HeadTerms(
            {name: term[batch, place] for name, term in self.terms.items()},
            self.logits[batch, place],
            self.probs[batch, place],
            self.mask if self.mask.ndim == 2 else np.broadcast_to(self.mask, self.logits.shape)[batch, place],
            self.distance,
            self.distances,
            None if self.u_bias is None else self.u_bias[batch, place],
            None
            if self.v_bias is None
            else np.broadcast_to(self.v_bias, self.probs.shape[:2] + self.v_bias.shape[-1:])[batch, place],
            self.diagonal,
        )


def last_rows(
    attn,
    hidden: Tensor,
    mem_len: int,
    clamp_len: int | None,
    heads: list[int] | None,
    differs: Tensor | None,
    queries: int,
    mix: Tensor | None = None,
):
    """Split the scores of the last `queries` rows; hidden [batch key d_model], whose first mem_len are memory.

    A map that is not the right one may depend on how many queries there are: its terms are made of all, and then cut.
    """
    first = hidden.shape[1] - queries
    whole = first > mem_len and not isinstance(pairs_of(attn, hidden.shape[1], mem_len), RelativePairs)
    begin = mem_len if whole else first
    more = {} if differs is None else {"differs": differs[:, begin - mem_len :]}
    terms = attn.terms(hidden[:, begin:], hidden, begin, clamp_len, heads, **more)
    if mix is not None:
        terms = terms.mixed(mix if heads is None else mix[heads])
    if not whole:
        return terms
    pairs = terms.pairs
    return replace(
        terms,
        content=terms.content[..., -queries:, :],
        content_position=terms.content_position[..., -queries:, :],
        pairs=PairMap(pairs.query_row[-queries:], pairs.distance[-queries:], pairs.distances),
    )


def pairs_of(attn, key_len: int, mem_len: int) -> PairMap | RelativePairs | None:
    """Give the map of an attention over a memory; the article's has the right one, and absolute positions none."""
    make = getattr(attn, "pairs", None)
    return (
        RelativePairs(key_len - mem_len, key_len, mem_len)
        if make is None
        else make(key_len - mem_len, key_len, mem_len)
    )


@torch.no_grad()
def attention_terms(
    attn,
    hidden: Tensor,
    mem_len: int = 0,
    heads: list[int] | None = None,
    clamp_len: int | None = None,
    rule: MaskRule = RIGHT_RULE,
    keep: Tensor | None = None,
    differs: Tensor | None = None,
    queries: int | None = None,
    mix: Tensor | None = None,
) -> LayerTerms:
    """Split the scores of an attention on its input `hidden` [batch key d_model], whose first mem_len rows are memory.

    For `heads` or all of them, and the last `queries` or all of them. `rule` says how it masks; `keep` and `differs`
    are those of `CanonicalModel.read`, with a row for every query; `mix` [head term] multiplies the terms.
    """
    check_heads(attn.n_heads, heads)
    query_len = hidden.shape[1] - mem_len
    queries = query_len if queries is None else min(queries, query_len)
    keep = keep if keep is None or keep.shape[-2] == 1 else keep[..., -queries:, :]
    terms = last_rows(attn, hidden, mem_len, clamp_len, heads, differs, queries, mix)
    return layer_arrays(terms, attn.n_heads, heads, hidden.shape[1] - queries, rule, keep)


def check_heads(n_head: int, heads: list[int] | None) -> None:
    if bad := [head for head in heads or [] if not 0 <= head < n_head]:
        raise ValueError(f"head {bad[0]} was asked for, but the model has heads 0 to {n_head - 1}")


def layer_arrays(
    terms, n_head: int, heads: list[int] | None, mem_len: int, rule: MaskRule = RIGHT_RULE, keep: Tensor | None = None
) -> LayerTerms:
    """Turn split scores into arrays, masked by a rule: query i and key j are mem_len + i - j apart."""
    scores = mask_scores(terms, rule, mem_len, keep)
    query_len, key_len = scores.total.shape[-2:]
    right = np.arange(mem_len + query_len - 1, mem_len - key_len, -1)
    distances, diagonal = right, True
    if isinstance(terms, ScoreTerms):
        shape = tuple(terms.content.shape)
        u_bias, v_bias = to_numpy(terms.u_bias), to_numpy(terms.v_bias)
        diagonal = isinstance(terms.pairs, RelativePairs)
        distances = right if diagonal else to_numpy(terms.pairs.distances)
        cells = along_diagonals(v_bias, key_len) if diagonal else to_numpy(terms.pairs.read_curve(terms.v_bias))
        dense = {
            "content": to_numpy(terms.content),
            "content_position": to_numpy(terms.content_position),
            "u_bias": np.broadcast_to(u_bias[..., None, :], shape),
            "v_bias": np.broadcast_to(cells, shape),
        }
        if terms.segment_content is not None:
            dense |= {name: to_numpy(getattr(terms, name)) for name in ("segment_content", "segment_bias")}
    else:
        u_bias = v_bias = None
        dense = {name: to_numpy(value) for name, value in terms.dense().items()}
    mask = to_numpy(scores.allowed)
    return LayerTerms(
        heads=tuple(range(n_head)) if heads is None else tuple(heads),
        terms=dense,
        logits=to_numpy(scores.total),
        probs=to_numpy(scores.probs),
        mask=mask[0, 0] if mask.shape[:-2] == (1, 1) else mask,
        distance=along_diagonals(right, key_len),
        distances=distances,
        u_bias=u_bias,
        v_bias=v_bias,
        diagonal=diagonal,
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
