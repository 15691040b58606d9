"""The core: a relative attention score and its four additive terms. Read this file first.

For one head, query i, key j, memory length m and distance d = m + i - j (0 is the token itself, positive is the past):

    logit(i, j) = scale * ( q_i . k_j     content            [batch head query key]
                          + q_i . p_d     content_position   [batch head query key]
                          + u . k_j       u_bias             [batch head key]       one strip a head
                          + v . p_d )     v_bias             [head distance]        one curve a head

Two facts carry everything else:

1. Position is one table. `position_key` [head distance d_head] holds p_d = W_kR R_d, however R_d came about
   (`positions.py`). It is projected once, so no [query key d_head] tensor is ever made.
2. A shift is a map. Which query row and which distance the cell (i, j) reads is a `PairMap`. The right map is
   (i, m + i - j), and it can be read out of the product q . p as a view, without a copy.

Source: Dai et al. 2019, "Transformer-XL", section 3.3 (the four terms) and appendix B (project first, then shift).
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class PairMap:
    """Say which query row and which distance each cell (query, key) of a score matrix reads: any map, by gathering.

    `distances` [distance] names the rows of the position table that goes with the map: descending, without gaps.
    A cell may read nothing, the zero that a pad put there: its query row is -1, and its distance means nothing.
    """

    query_row: Tensor  # [query key] int
    distance: Tensor  # [query key] int, tokens
    distances: Tensor  # [distance] int, descending

    def read(self, product: Tensor) -> Tensor:
        """Pick product[query_row, distance] for each cell, 0 for a pad: [... query distance] -> [... query key]."""
        return product[..., self.query_row.clamp(min=0), self.column].where(self.query_row >= 0, 0)

    def read_curve(self, curve: Tensor) -> Tensor:
        """Spread a curve over distance onto the cells, 0 for a pad: [... distance] -> [... query key]."""
        return curve[..., self.column].where(self.query_row >= 0, 0)

    @property
    def n_distance(self) -> int:
        return len(self.distances)

    @property
    def column(self) -> Tensor:
        """Give the column of the product that each cell reads, any one for a pad: [query key] int."""
        return (self.distances[0] - self.distance).where(self.query_row >= 0, 0)


@dataclass(frozen=True)
class RelativePairs:
    """Be the right map, (i, m + i - j): its cells lie at constant strides, so it is read as a view, without a copy.

    What a `PairMap` holds is made only when somebody asks for it: at length 2048 one of its tables is 34 MB.
    """

    query_len: int
    key_len: int
    mem_len: int
    device: torch.device | str | None = None

    @property
    def n_distance(self) -> int:
        return self.query_len + self.key_len - 1

    @property
    def distances(self) -> Tensor:
        """Name the rows of the position table, descending: [distance] int, tokens."""
        return torch.arange(self.mem_len + self.query_len - 1, self.mem_len - self.key_len, -1, device=self.device)

    @property
    def query_row(self) -> Tensor:
        """Give the query row of each cell, i: [query key] int."""
        row = torch.arange(self.query_len, device=self.device)
        return row[:, None].expand(self.query_len, self.key_len)

    @property
    def distance(self) -> Tensor:
        """Give the distance of each cell, m + i - j: [query key] int, tokens."""
        return self.mem_len + self.query_row - torch.arange(self.key_len, device=self.device)

    def read(self, product: Tensor) -> Tensor:
        """Pick product[i, m + i - j] for each cell, as a view: [... query distance] -> [... query key].

        Row i of the product holds distance distances[0] - c in column c. Column 0 of the answer starts at
        c = query_len - 1 - i, one step to the left a row, which is the same as a row stride that is one shorter:

            . . a b c        a b c
            . d e f .   ->   d e f
            g h i . .        g h i
        """
        product = product.contiguous()
        *stride, row, _ = product.stride()
        return product.as_strided(
            (*product.shape[:-2], self.query_len, self.key_len),
            (*stride, row - 1, 1),
            product.storage_offset() + self.query_len - 1,
        )

    def read_curve(self, curve: Tensor) -> Tensor:
        """Spread a curve over distance onto the cells: [... distance] -> [... query key]."""
        return curve.unfold(-1, self.key_len, 1).flip(-2)  # window s holds the row whose first column is s


def relative_pairs(
    query_len: int, key_len: int, mem_len: int = 0, device: torch.device | str | None = None
) -> RelativePairs:
    """Make the right map: cell (i, j) reads query row i at distance mem_len + i - j.

    `key_len` need not be mem_len + query_len: in cross attention queries and keys count from 0 on both sides.
    Raises ValueError for a length below 1 or a negative memory.
    """
    if query_len < 1 or key_len < 1 or mem_len < 0:
        raise ValueError(
            f"attention needs at least one query and one key and no negative memory, got query_len={query_len}, "
            f"key_len={key_len}, mem_len={mem_len}"
        )
    return RelativePairs(query_len, key_len, mem_len, device)


@dataclass(frozen=True)
class ScoreTerms:
    """Hold the four terms of a relative score, each already multiplied by the scale."""

    content: Tensor  # [batch head query key]
    content_position: Tensor  # [batch head query key]
    u_bias: Tensor  # [batch head key]
    v_bias: Tensor  # [head distance] (or [batch head distance]), rows named by pairs.distances
    pairs: PairMap | RelativePairs
    segment_content: Tensor | None = None  # [batch head query key], XLNet's q_i . s, as is the next, r . s
    segment_bias: Tensor | None = None

    def dense(self) -> dict[str, Tensor]:
        """Spread every term over the cells: four of [batch head query key], or six where there are segments."""
        shape = self.content.shape
        terms = {
            "content": self.content,
            "content_position": self.content_position,
            "u_bias": self.u_bias[..., None, :].expand(shape),
            "v_bias": self.pairs.read_curve(self.v_bias).expand(shape),
        }
        if self.segment_content is not None:
            terms |= {"segment_content": self.segment_content, "segment_bias": self.segment_bias}
        return terms

    def mixed(self, mix: Tensor) -> "ScoreTerms":
        """Multiply each term of each head by a factor: mix [head term], in the order of `dense`; 0 mutes a term."""
        content, content_position, u_bias, v_bias, *segments = mix.to(self.content).T
        terms = replace(
            self,
            content=self.content * content[:, None, None],
            content_position=self.content_position * content_position[:, None, None],
            u_bias=self.u_bias * u_bias[:, None],
            v_bias=self.v_bias * v_bias[:, None],
        )
        if self.segment_content is None:
            return terms
        one, two = (factor[:, None, None] for factor in segments)
        return replace(terms, segment_content=self.segment_content * one, segment_bias=self.segment_bias * two)

    def logits(self) -> Tensor:
        """Add the terms: [batch head query key], before any mask."""
        total = self.content + self.content_position
        total = total.add_(self.u_bias[..., None, :]).add_(self.pairs.read_curve(self.v_bias))
        if self.segment_content is not None:
            total = total.add_(self.segment_content).add_(self.segment_bias)
        return total


def score_terms(
    query: Tensor,
    key: Tensor,
    position_key: Tensor,
    u: Tensor,
    v: Tensor | None,
    pairs: PairMap | RelativePairs,
    scale: float,
    v_curve: Tensor | None = None,
) -> ScoreTerms:
    """Split the score of every (query, key) pair into its four terms.

    logit = scale * (q_i . k_j + q_i . p_d + u . k_j + v . p_d), d = pairs.distance[i, j]

    query [batch head query d_head], key [batch head key d_head], position_key [head distance d_head] with one row
    for each of `pairs.distances` (or [batch head distance d_head]), u and v [head d_head]. A family that learns the
    curve v . p_d by itself, one number a distance, gives it as `v_curve` [head distance] in the place of v.
    Source: Dai et al. 2019, section 3.3, terms (a) to (d).
    """
    expected = (query.shape[1], pairs.n_distance, query.shape[3])
    if tuple(position_key.shape[-3:]) != expected:
        raise ValueError(
            f"position_key has shape {tuple(position_key.shape)}, but {expected[0]} heads, the {expected[1]} distances "
            f"of the pair map and d_head {expected[2]} need {expected}"
        )
    if v_curve is None:
        v_curve = (v[:, None] @ position_key.mT).squeeze(-2)
    query, u = query * scale, u * scale  # scaling here is cheaper than scaling four matrices
    return ScoreTerms(
        content=query @ key.mT,
        content_position=pairs.read(query @ position_key.mT),
        u_bias=(u[:, None] @ key.mT).squeeze(-2),
        v_bias=v_curve * scale,
        pairs=pairs,
    )
