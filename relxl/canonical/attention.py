"""One attention layer of any family, as data: projections, positions, the map, the terms."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.positions import clamp_distance, project_positions, sinusoid_rows
from relxl.relative import PairMap, RelativePairs, ScoreTerms, relative_pairs, score_terms
from relxl.shift import pair_map


@dataclass(frozen=True)
class Linear:
    """Hold a linear map: weight [out in], bias [out] or none."""

    weight: Tensor
    bias: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True)
class Norm:
    """Hold a LayerNorm over the last axis."""

    weight: Tensor
    bias: Tensor
    eps: float = 1e-5

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True)
class SinusoidPositions:
    """Hold W_kR of positions that are a sinusoid: p_d = W_kR R(d).

    w_k_pos [head d_pos d_head] has the rows of the sines first, then those of the cosines: a family that interleaves
    them has its rows put in this order. `mirrored` reads R(|d|), as SpeechBrain does. Raises ValueError for an odd
    d_pos: every sine has its cosine.
    """

    w_k_pos: Tensor
    mirrored: bool = False

    def __post_init__(self):
        if self.w_k_pos.shape[1] % 2:
            raise ValueError(f"a sinusoid needs an even number of dimensions, got {self.w_k_pos.shape[1]}")

    def table(self, distance: Tensor, clamp_len: int | None = None) -> Tensor:
        """Compute p_d: [distance] -> [head distance d_head]."""
        distance = distance.abs() if self.mirrored else distance
        rows = sinusoid_rows(distance, self.w_k_pos.shape[1], clamp_len, dtype=self.w_k_pos.dtype)
        return project_positions(rows, self.w_k_pos)

    def curve(self, distance: Tensor, clamp_len: int | None = None) -> None:
        """Say that v_bias is v . p_d."""


@dataclass(frozen=True)
class LearnedPositions:
    """Hold positions that are a learned table: p_d itself, [head row d_head], for the distances first, first + 1, ...

    Some families learn v_bias by itself too, one number a distance: v_curve [head row]. Beyond the table a distance
    shares its last row where the family `clamps`; else it is an error.
    """

    rows: Tensor
    first: int
    v_curve: Tensor | None = None
    clamps: bool = True

    @property
    def last(self) -> int:
        return self.first + self.rows.shape[1] - 1

    def table(self, distance: Tensor, clamp_len: int | None = None) -> Tensor:
        """Read p_d: [distance] -> [head distance d_head]."""
        return self.rows[:, self.row(distance, clamp_len)]

    def curve(self, distance: Tensor, clamp_len: int | None = None) -> Tensor | None:
        """Read the learned v_bias, if there is one: [distance] -> [head distance]."""
        return None if self.v_curve is None else self.v_curve[:, self.row(distance, clamp_len)]

    def row(self, distance: Tensor, clamp_len: int | None) -> Tensor:
        """Name the row of each distance. Raises ValueError where the table has none and the family does not clamp."""
        distance = clamp_distance(distance, clamp_len)
        if not self.clamps and distance.numel() and not self.first <= distance.min() <= distance.max() <= self.last:
            raise ValueError(
                f"the table has rows for the distances {self.first} to {self.last}, but {int(distance.min())} to "
                f"{int(distance.max())} are asked for: give a shorter input, or clamp the distances"
            )
        return distance.clamp(self.first, self.last) - self.first


@dataclass(frozen=True)
class Segments:
    """Hold what XLNet knows of segments: an embedding of "same" and one of "other", and the bias r_s."""

    embedding: Tensor  # [2 head d_head]
    bias: Tensor  # [head d_head]

    def terms(self, query: Tensor, differs: Tensor, pick: slice | list[int], scale: float) -> tuple[Tensor, Tensor]:
        """Compute scale * q_i . s and scale * r_s . s, [batch head query key]; `differs` [batch query key] picks s.

        Source: Yang et al. 2019, "XLNet", section 2.5.
        """
        same, other = self.embedding[:, pick]
        bias = self.bias[pick]
        content = [torch.einsum("bhqe,he->bhq", query, s * scale)[..., None] for s in (same, other)]
        biases = [(bias * s * scale).sum(-1)[:, None, None] for s in (same, other)]
        differs = differs[:, None]
        return torch.where(differs, content[1], content[0]), torch.where(differs, biases[1], biases[0])


@dataclass(frozen=True)
class RelativeAttention:
    """Hold one attention layer of any family.

    The score is that of `relative.score_terms`; what differs between families is data: a norm before the projections
    (`norm`), how positions are filled (`positions`), the scale, and which cell reads what. `legacy_len` is the length
    of ESPnet's reversed table: its T first rows are shifted like the paper's, so a cell of the past reads distance
    d + legacy_len - T, and one of the future what is left over of the next row. `zero_future` lets cells of the
    future read no position (ESPnet's zero_triu). `bi_data` reads R(-d) in the second half of a batch (XLNet).
    """

    w_q: Linear
    w_k: Linear
    w_v: Linear
    out_proj: Linear
    n_heads: int
    u: Tensor  # [head d_head]
    v: Tensor | None  # [head d_head]; None where v_bias is learned as a curve
    positions: SinusoidPositions | LearnedPositions
    scale: float
    norm: Norm | None = None
    legacy_len: int | None = None
    zero_future: bool = False
    bi_data: bool = False
    segments: Segments | None = None

    def pairs(
        self, query_len: int, key_len: int, mem_len: int, device: torch.device | str | None = None
    ) -> PairMap | RelativePairs:
        """Say which query row and which distance each cell reads."""
        right = relative_pairs(query_len, key_len, mem_len, device)
        if self.legacy_len is None and not self.zero_future:
            return right
        if self.legacy_len is None:
            pairs = PairMap(right.query_row, right.distance, right.distances)
        else:
            paper, ahead = pair_map("pad_and_view", query_len, mem_len), max(self.legacy_len - key_len, 0)
            pairs = PairMap(*(t.to(device) for t in (paper.query_row, paper.distance + ahead, paper.distances + ahead)))
        if self.zero_future:
            pairs = replace(pairs, query_row=pairs.query_row.where(right.distance >= 0, -1))
        return pairs

    def position_key(self, distance: Tensor, batch: int, clamp_len: int | None = None) -> Tensor:
        """Give p_d: [distance] -> [head distance d_head], or [batch head distance d_head] with `bi_data`."""
        table = self.positions.table(distance, clamp_len)
        if not self.bi_data or batch < 2:
            return table
        backward = self.positions.table(-distance, clamp_len)
        return torch.stack([table] * (batch - batch // 2) + [backward] * (batch // 2))

    def terms(
        self,
        q: Tensor,
        k: Tensor,
        mem_len: int = 0,
        clamp_len: int | None = None,
        heads: list[int] | None = None,
        differs: Tensor | None = None,
    ) -> ScoreTerms:
        """Split the scores of inputs q [batch query d_model] and k [batch key d_model], for `heads` or for all.

        `differs` [batch query key] marks pairs of different segments; without it there is no segment term.
        """
        pairs = self.pairs(q.shape[1], k.shape[1], mem_len, q.device)
        pick = slice(None) if heads is None else heads
        query, key = (self.split(w(self.normed(x)))[:, pick] for w, x in ((self.w_q, q), (self.w_k, k)))
        curve = self.positions.curve(pairs.distances, clamp_len)
        position_key = self.position_key(pairs.distances, len(q), clamp_len)
        terms = score_terms(
            query=query,
            key=key,
            position_key=position_key[..., pick, :, :],
            u=self.u[pick],
            v=None if self.v is None else self.v[pick],
            pairs=pairs,
            scale=self.scale,
            v_curve=None if curve is None else curve[pick],
        )
        if self.segments is None or differs is None:
            return terms
        content, bias = self.segments.terms(query, differs, pick, self.scale)
        return replace(terms, segment_content=content, segment_bias=bias.expand_as(content))

    def attend(self, probs: Tensor, x: Tensor) -> Tensor:
        """Mix the values and project: probs [batch head query key], x [batch key d_model] -> [batch query d_model]."""
        value = self.split(self.w_v(self.normed(x)))
        return self.out_proj((probs.to(value.dtype) @ value).transpose(1, 2).flatten(2))

    def normed(self, x: Tensor) -> Tensor:
        return x if self.norm is None else self.norm(x)

    def split(self, x: Tensor) -> Tensor:
        """Split features into heads: [batch len head*d_head] -> [batch head len d_head]."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
