"""XLNet as Hugging Face carries it: distances of both signs, a segment term, two streams, permutations.

Projections are [d_model head d_head], W_kR is `r`. A memory counts as segment 0 and is seen by all. Source: Yang et al.
2019, "XLNet"; github.com/zihangdai/xlnet, modeling.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.canonical import (
    Block,
    CanonicalModel,
    FeedForward,
    Linear,
    Output,
    RelativeAttention,
    Segments,
    SinusoidPositions,
)
from relxl.config import Sizes
from relxl.families.family import ACTIVATIONS, Ask, Family, Reader, Shapes, layer_prefixes, stem_of
from relxl.masking import MaskRule, attention_probs

ANCHOR = "rel_attn.r_s_bias"


@dataclass(frozen=True)
class QueryStream:
    """Hold what the query stream of a two-stream run gives, one entry a layer."""

    hidden: tuple[Tensor, ...]  # [batch target d_model], the input of each layer
    queries: tuple[Tensor, ...]  # [batch query d_model], the same put at the places of their targets, 0 elsewhere
    keep: Tensor | None  # [batch 1 query key] bool
    last_hidden: Tensor  # [batch target d_model]
    output_logits: Tensor  # [batch target n_token]


@dataclass(frozen=True)
class XLNetModel(CanonicalModel):
    """Hold an XLNet language model. With attn_type "uni" a query sees the past, with "bi" both sides.

    A mem_len of 0 means a memory without a limit, as it does in HF's code; `use_mems` false that there is none.
    """

    word_emb: Tensor | None = None  # [n_token d_model]
    mask_emb: Tensor | None = None  # [d_model], the first input of the query stream
    output: Linear | None = None
    same_length: bool = False
    reuse_len: int = 0
    use_mems: bool = True

    @property
    def has_segments(self) -> bool:
        return self.layers[0].attn.segments is not None

    def embed(self, tokens: Tensor) -> Tensor:
        """Look tokens up: [batch query] -> [batch query d_model]."""
        return F.embedding(tokens, self.word_emb)

    def __call__(
        self,
        tokens: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        mix: Tensor | None = None,
        segments: Tensor | None = None,
        visible: Tensor | None = None,
        perm_mask: Tensor | None = None,
    ) -> Output:
        """Read one segment of tokens [batch query].

        segments [batch query] int: without them there is no segment term. visible [batch query] is false for padding,
        perm_mask [batch query key] true where a query must not see a token of the segment.
        """
        mem_len = 0 if mems is None else mems[0].shape[1]
        keep, differ = self.sides(tokens.shape, mem_len, segments, visible, perm_mask)
        return self.read(self.embed(tokens), mems, clamp_len, rule, keep, differ, mix)

    def sides(
        self,
        shape: Sequence[int],
        mem_len: int,
        segments: Tensor | None = None,
        visible: Tensor | None = None,
        perm_mask: Tensor | None = None,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Say which cells the content stream keeps, a token always itself, and which pairs differ in segment."""
        keep = self.keep(shape, mem_len, visible, perm_mask)
        if keep is not None:
            keep = keep | F.pad(torch.eye(shape[1], dtype=torch.bool, device=keep.device), (mem_len, 0))
        return keep, differs(segments, mem_len)

    def rule_at(self, mem_len: int) -> MaskRule:
        """Give the rule over a memory: with same_length each query sees itself and as many keys as the memory has."""
        return replace(self.rule, window=mem_len + 1) if self.same_length and self.rule.sees == "past" else self.rule

    def keep(
        self, shape: Sequence[int], mem_len: int, visible: Tensor | None, perm_mask: Tensor | None
    ) -> Tensor | None:
        """Say which cells padding and permutation leave: [batch 1 query key] bool, or None for all."""
        if visible is None and perm_mask is None:
            return None
        keep = torch.ones(shape[0], 1, shape[1], shape[1], dtype=torch.bool, device=self.word_emb.device)
        if visible is not None:
            keep = keep & visible.bool()[:, None, None, :]
        if perm_mask is not None:
            keep = keep & ~perm_mask.bool()[:, None]
        return F.pad(keep, (mem_len, 0), value=True)

    def query_stream(
        self,
        run: Output,
        target_mapping: Tensor,
        mems: Sequence[Tensor] | None = None,
        segments: Tensor | None = None,
        visible: Tensor | None = None,
        perm_mask: Tensor | None = None,
    ) -> QueryStream:
        """Run the query stream beside a run: it knows the places of its targets and not their tokens.

        target_mapping [batch target query] is 1 at the place of each target. The other arguments are those of the run.
        """
        batch, query_len = run.hidden[0].shape[:2]
        mem_len = 0 if mems is None else mems[0].shape[1]
        keep = self.keep((batch, query_len), mem_len, visible, perm_mask)
        mapping, rule = target_mapping.to(self.dtype), self.rule_at(mem_len)
        g = self.mask_emb.expand(batch, mapping.shape[1], -1)
        hidden, queries = [], []
        for i, (layer, x) in enumerate(zip(self.layers, run.hidden, strict=True)):
            keys = x if mems is None else torch.cat([mems[i], x], dim=1)
            spread = mapping.mT @ g
            hidden.append(g)
            queries.append(spread)
            terms = layer.attn.terms(spread, keys, mem_len, self.config.clamp_len, differs=differs(segments, mem_len))
            g = layer.leave(g, mapping @ layer.attn.attend(attention_probs(terms, rule, mem_len, keep), keys))
        return QueryStream(tuple(hidden), tuple(queries), keep, g, self.output(g))

    def output_logits(self, last_hidden: Tensor) -> Tensor:
        return self.output(last_hidden)

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        """Keep the last mem_len inputs of each layer; with reuse_len, only the first so many of a segment are kept."""
        if not self.use_mems:
            return []
        new = [x[:, : self.reuse_len] if self.reuse_len else x for x in hidden[:-1]]
        joined = new if mems is None else [torch.cat(pair, dim=1) for pair in zip(mems, new, strict=True)]
        return [x[:, -self.config.mem_len :].detach() for x in joined]


def differs(segments: Tensor | None, mem_len: int) -> Tensor | None:
    """Mark pairs of different segments, the memory being segment 0: [batch query] -> [batch query key]."""
    return None if segments is None else segments[:, :, None] != F.pad(segments, (mem_len, 0))[:, None, :]


def known_by(shapes: Shapes) -> str | None:
    layers = layer_prefixes(shapes, ANCHOR)
    if any(f"{name}rel_attn.seg_embed" in shapes for name in layers):
        return "rel_attn.r_s_bias, rel_attn.seg_embed and three-dimensional rel_attn.q, k, v, o, r"
    return None


def build(reader: Reader, told: dict[str, object]) -> XLNetModel:
    layers = layer_prefixes(reader.shapes, ANCHOR)
    prefix = stem_of(layers[0])
    head = f"{prefix.removesuffix('transformer.')}lm_loss."
    n_head, d_head = (reader.size(f"{layers[0]}{ANCHOR}", axis) for axis in (0, 1))
    d_model = reader.size(f"{layers[0]}rel_attn.q", 0)
    eps, blocks = told["layer_norm_eps"], []
    for name in layers:
        attn = f"{name}rel_attn."
        q, k, v, o, r = (reader.take(f"{attn}{part}", d_model, n_head, d_head) for part in "qkvor")
        u, v_bias, s_bias = (reader.take(f"{attn}r_{part}_bias", n_head, d_head) for part in "wrs")
        first = reader.linear(f"{name}ff.layer_1", None, d_model)
        blocks.append(
            Block(
                RelativeAttention(
                    *(Linear(w.flatten(1).T) for w in (q, k, v)),
                    out_proj=Linear(o.flatten(1)),
                    n_heads=n_head,
                    u=u,
                    v=v_bias,
                    positions=SinusoidPositions(r.transpose(0, 1)),
                    scale=d_head**-0.5,
                    bi_data=told["bi_data"],
                    segments=Segments(reader.take(f"{attn}seg_embed", 2, n_head, d_head), s_bias),
                ),
                FeedForward(
                    first,
                    reader.linear(f"{name}ff.layer_2", d_model, len(first.weight)),
                    ACTIVATIONS[told["ff_activation"]],
                ),
                after_attn=reader.norm(f"{attn}layer_norm", d_model, eps),
                after_ff=reader.norm(f"{name}ff.layer_norm", d_model, eps),
            )
        )
    word_emb = reader.take(f"{prefix}word_embedding.weight", None, d_model)
    mask_emb = reader.take(f"{prefix}mask_emb", 1, 1, d_model)
    tied = reader.config.get("tie_word_embeddings") is not False
    own = reader.tied(f"{head}weight", word_emb, tied or not reader.has(f"{head}bias"))
    bias = reader.take(f"{head}bias", len(word_emb)) if reader.has(f"{head}weight", f"{head}bias") else None
    sizes = Sizes(
        n_layer=len(layers),
        n_head=n_head,
        d_model=d_model,
        d_head=d_head,
        n_token=len(word_emb),
        clamp_len=told["clamp_len"] if told["clamp_len"] > 0 else None,
        mem_len=told["mem_len"],
        piecewise=False,  # a query may see both sides, or a window that depends on the memory
    )
    for name in ("n_layer", "n_head", "d_model", "d_head"):
        reader.agree(name, found=getattr(sizes, name))
    reader.agree("vocab_size", found=sizes.n_token)
    reader.agree("d_inner", found=len(blocks[0].ff.first.weight))
    return XLNetModel(
        "xlnet",
        sizes,
        tuple(blocks),
        MaskRule(fill=-1e30, sees="past" if told["attn_type"] == "uni" else "both"),
        word_emb,
        mask_emb[0, 0],
        Linear(own, bias),
        told["same_length"],
        told["reuse_len"],
        told["use_mems"],
    )


FAMILY = Family(
    "xlnet",
    "XLNet in Hugging Face transformers",
    "huggingface/transformers, XLNetModel; zihangdai/xlnet",
    known_by,
    build,
    (
        Ask("attn_type", "bi", options=("bi", "uni")),
        Ask("clamp_len", -1, least=-1),
        Ask("bi_data", False),
        Ask("same_length", False),
        Ask("mem_len", 0),
        Ask("reuse_len", 0),
        Ask("use_mems", True, aliases=("use_mems_eval",)),
        Ask("ff_activation", "gelu", options=tuple(ACTIVATIONS)),
        Ask("layer_norm_eps", 1e-12),
    ),
)
