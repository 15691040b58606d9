"""The canonical form: attention and model of any family, as data. What a file holds becomes this and stays this.

A family (`families/`) fills these classes from its tensors; from there on nobody asks where a model came from. They
have the same face as the article's layers and `TransformerXL` in `model.py`: `attn.terms` splits, `attn.attend` mixes
the values, a model has `config`, `layers`, `rule_at`, `read`. Whatever a family does to its positions ends up in one
table, `position_key` [head distance d_head], and in a map that says which cell reads which row of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.config import Sizes
from relxl.masking import RIGHT_RULE, MaskRule, attention_probs
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


@dataclass(frozen=True)
class FeedForward:
    """Hold two linear maps with an activation between them."""

    first: Linear
    second: Linear
    activation: Callable[[Tensor], Tensor] = F.relu

    def __call__(self, x: Tensor) -> Tensor:
        return self.second(self.activation(self.first(x)))


@dataclass(frozen=True)
class Block:
    """Hold a layer of attention and feed-forward with residuals; the norms that a family lacks are None.

    Post-norm: after_attn and after_ff. Pre-norm: attn.norm and before_ff.
    """

    attn: RelativeAttention
    ff: FeedForward
    after_attn: Norm | None = None
    before_ff: Norm | None = None
    after_ff: Norm | None = None

    def enter(self, x: Tensor) -> Tensor:
        """Turn the layer's input into what its attention reads, which is what memory and trace keep."""
        return x

    def leave(self, x: Tensor, attended: Tensor) -> Tensor:
        """Finish the layer: x as `enter` gave it and what attention made of it, both [batch query d_model]."""
        x = optional(self.after_attn, x + attended)
        return optional(self.after_ff, x + self.ff(optional(self.before_ff, x)))


def optional(norm: Norm | None, x: Tensor) -> Tensor:
    return x if norm is None else norm(x)


@dataclass(frozen=True)
class Output:
    """Hold what one forward over one segment gives; every part is per token, nothing is quadratic."""

    output_logits: Tensor | None  # [batch query n_token], None for a model without tokens
    hidden: tuple[Tensor, ...]  # what the attention of each layer reads, [batch query d_model]
    mems: list[Tensor]  # the memory for the next segment, gradient stopped, [batch mem d_model] a layer
    last_hidden: Tensor  # [batch query d_model]


@dataclass(frozen=True)
class CanonicalModel:
    """Hold the layers of a model that reads hidden states. Families with tokens, memory or a last norm say how."""

    family: str
    config: Sizes
    layers: tuple[Block, ...]
    rule: MaskRule = RIGHT_RULE

    @property
    def dtype(self) -> torch.dtype:
        return self.layers[0].attn.u.dtype

    @property
    def device(self) -> torch.device:
        return self.layers[0].attn.u.device

    def eval(self) -> "CanonicalModel":
        """Be what `nn.Module.eval` gives: there is no dropout to switch off."""
        return self

    def rule_at(self, mem_len: int) -> MaskRule:
        """Say how the model masks over a memory of mem_len."""
        return self.rule

    def first_mems(self, batch: int) -> list[Tensor] | None:
        """Give the memory before the first segment: none, in most families."""
        return None

    def read(
        self,
        x: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        keep: Tensor | None = None,
        differs: Tensor | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Read one segment of hidden states x [batch query d_model].

        `clamp_len` and `rule` (one, or one a layer) replace the model's own for this call. `keep` (bool, broadcast to
        [batch head query key]) forbids cells, `differs` [batch query key] marks pairs of different segments, `mix`
        [layer head term] multiplies the terms of the scores.
        """
        clamp_len = self.config.clamp_len if clamp_len is None else clamp_len
        mems = self.first_mems(len(x)) if mems is None else mems
        rule = self.rule_at(0 if mems is None else mems[0].shape[1]) if rule is None else rule
        rules = [rule] * len(self.layers) if isinstance(rule, MaskRule) else rule
        hidden = []
        for i, (layer, its_rule) in enumerate(zip(self.layers, rules, strict=True)):
            x = layer.enter(x)
            hidden.append(x)
            keys = x if mems is None else torch.cat([mems[i], x], dim=1)
            mem_len = keys.shape[1] - x.shape[1]
            terms = layer.attn.terms(x, keys, mem_len, clamp_len, differs=differs)
            terms = terms if mix is None else terms.mixed(mix[i])
            x = layer.leave(x, layer.attn.attend(attention_probs(terms, its_rule, mem_len, keep), keys))
        last = self.finish(x)
        return Output(self.output_logits(last), tuple(hidden), self.next_mems(mems, [*hidden, last]), last)

    def finish(self, x: Tensor) -> Tensor:
        """Do what stands between the last layer and the output."""
        return x

    def output_logits(self, last_hidden: Tensor) -> Tensor | None:
        """Turn the last hidden state into output logits: [batch query d_model] -> [batch query n_token]."""
        return None

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        """Make the memory for the next segment from the old one, what entered each layer, and the last output."""
        return []


@dataclass(frozen=True)
class AttentionLayer:
    """Hold a layer of which attention alone is known; the rest of it is not read."""

    attn: RelativeAttention


@dataclass(frozen=True)
class AttentionModel(CanonicalModel):
    """Hold the attention layers of an encoder that is not run itself: each is given its own input."""

    layers: tuple[AttentionLayer, ...]
    ends_align: bool = False  # in cross attention: the last query stands at the last key; else the first at the first

    def cross_mem_len(self, query_len: int, key_len: int) -> int:
        """Say how many keys stand before the first query's place in cross attention.

        Raises ValueError where the ends align and there are more queries than keys: a shift then gives some cells what
        is left over of the next row.
        """
        if self.ends_align and query_len > key_len:
            raise ValueError(
                f"{query_len} queries and {key_len} keys were given, but in cross attention {self.family} has places "
                "for no more queries than keys: give as many keys, or fewer queries"
            )
        return key_len - query_len if self.ends_align else 0

    def read(
        self,
        x: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        keep: Tensor | None = None,
        differs: Tensor | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Take x [batch query d_model] for the input of every attention; last_hidden is what the last one gives."""
        clamp_len = self.config.clamp_len if clamp_len is None else clamp_len
        rule = self.rule if rule is None else rule
        its_rule = rule if isinstance(rule, MaskRule) else rule[-1]
        attn, keys = self.layers[-1].attn, x if mems is None else torch.cat([mems[-1], x], dim=1)
        mem_len = keys.shape[1] - x.shape[1]
        terms = attn.terms(x, keys, mem_len, clamp_len, differs=differs)
        terms = terms if mix is None else terms.mixed(mix[-1])
        probs = attention_probs(terms, its_rule, mem_len, keep)
        return Output(None, (x,) * len(self.layers), [], attn.attend(probs, keys))
