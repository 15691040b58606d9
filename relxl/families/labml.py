"""labml's annotated Transformer-XL: the rows and v_bias are learned for each distance, without W_kR and without v.

Row P - d of `key_pos_embeddings` [2P head d_head] belongs to distance d; `query_pos_bias` is u. Pre-norm; the memory is
what entered the layers in the last segment. Source: github.com/labmlai/annotated_deep_learning_paper_implementations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from relxl.canonical import Block, CanonicalModel, FeedForward, LearnedPositions, Norm, RelativeAttention
from relxl.config import Sizes
from relxl.families.family import Ask, Family, FamilyError, Reader, Shapes, layer_prefixes, stem_of
from relxl.masking import MaskRule

ANCHOR = "self_attn.key_pos_embeddings"


@dataclass(frozen=True)
class LabmlModel(CanonicalModel):
    """Hold the layers of labml's TransformerXL, which reads embedded tokens and gives hidden states."""

    norm: Norm | None = None

    def finish(self, x: Tensor) -> Tensor:
        return self.norm(x)

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        return [x.detach() for x in hidden[:-1]]


def known_by(shapes: Shapes) -> str | None:
    if any(name.endswith(ANCHOR) for name in shapes) and any(name.endswith("query_pos_bias") for name in shapes):
        return "key_pos_embeddings, key_pos_bias and query_pos_bias"
    return None


def build(reader: Reader, told: dict[str, object]) -> LabmlModel:
    blocks = []
    layers = layer_prefixes(reader.shapes, ANCHOR)
    for name in layers:
        attn = f"{name}self_attn."
        n_row, n_head, d_head = (reader.size(f"{attn}key_pos_embeddings", axis) for axis in range(3))
        if n_row % 2:
            raise FamilyError(f"{attn}key_pos_embeddings has {n_row} rows, but a table of labml has 2P: it is damaged")
        size, d_model = n_head * d_head, reader.size(f"{attn}query.linear.weight", 1)
        rows = reader.take(f"{attn}key_pos_embeddings", n_row, n_head, d_head).flip(0).transpose(0, 1)
        curve = reader.take(f"{attn}key_pos_bias", n_row, n_head).flip(0).T
        first = reader.linear(f"{name}feed_forward.layer1", None, d_model)
        blocks.append(
            Block(
                RelativeAttention(
                    *(reader.linear(f"{attn}{part}.linear", size, d_model, bias=False) for part in ("query", "key")),
                    reader.linear(f"{attn}value.linear", size, d_model),
                    out_proj=reader.linear(f"{attn}output", d_model, size),
                    n_heads=n_head,
                    u=reader.take(f"{attn}query_pos_bias", n_head, d_head),
                    v=None,
                    positions=LearnedPositions(rows, 1 - n_row // 2, curve, clamps=False),
                    scale=d_head**-0.5,
                    norm=reader.norm(f"{name}norm_self_attn", d_model),
                ),
                FeedForward(first, reader.linear(f"{name}feed_forward.layer2", d_model, len(first.weight))),
                before_ff=reader.norm(f"{name}norm_ff", d_model),
            )
        )
    attn, n_row = blocks[0].attn, blocks[0].attn.positions.rows.shape[1]
    d_model = attn.w_q.weight.shape[1]
    reader.agree("heads", "n_heads", found=attn.n_heads)
    reader.agree("d_model", found=d_model)
    reader.agree("n_layers", found=len(blocks))
    sizes = Sizes(len(blocks), attn.n_heads, d_model, attn.u.shape[1], positions="learned", max_len=n_row // 2)
    rule = MaskRule(sees="past" if told["causal"] else "both")
    return LabmlModel("labml", sizes, tuple(blocks), rule, reader.norm(f"{stem_of(layers[0])}norm", d_model))


FAMILY = Family(
    "labml",
    "labml, annotated Transformer-XL",
    "labmlai/annotated_deep_learning_paper_implementations",
    known_by,
    build,
    (Ask("causal", True),),  # its code takes the mask with every call
)
