"""What the speech encoders share: linear_q, linear_k, linear_v, linear_out, linear_pos and pos_bias_u, pos_bias_v.

The sinusoid is interleaved, distances have both signs, biases are per layer.
"""

from relxl.canonical import AttentionLayer, AttentionModel, Norm, RelativeAttention, SinusoidPositions
from relxl.config import Sizes
from relxl.families.family import Reader, Shapes, heads_first, prefixes, sines_first
from relxl.masking import MaskRule

ANCHOR = "pos_bias_u"
PARTS = (
    "linear_q.weight",
    "linear_k.weight",
    "linear_v.weight",
    "linear_out.weight",
    "linear_pos.weight",
    "pos_bias_v",
)


def anchors(shapes: Shapes) -> list[str]:
    """Give the prefix of every attention module that has all parts of this form."""
    return [name for name in prefixes(shapes, ANCHOR) if all(name + part in shapes for part in PARTS)]


def bare(shapes: Shapes) -> bool:
    """Say whether a file is one attention module by itself: nothing in it tells whose."""
    return {name.rsplit(".", 2)[-2] if "." in name else "" for name in shapes} <= {
        "",
        "linear_q",
        "linear_k",
        "linear_v",
        "linear_out",
        "linear_pos",
    } and set(anchors(shapes)) == {""}


def attention(reader: Reader, name: str, norm: Norm | None = None, **changes) -> RelativeAttention:
    """Build the attention module whose names start with `name`."""
    n_head, d_head = (reader.size(f"{name}{ANCHOR}", axis) for axis in (0, 1))
    d_model = reader.size(f"{name}linear_q.weight", 1)
    size = n_head * d_head
    w_k_pos = reader.take(f"{name}linear_pos.weight", size, d_model)
    return RelativeAttention(
        *(reader.linear(f"{name}linear_{part}", size, d_model) for part in "qkv"),
        out_proj=reader.linear(f"{name}linear_out", d_model, size),
        n_heads=n_head,
        u=reader.take(f"{name}pos_bias_u", n_head, d_head),
        v=reader.take(f"{name}pos_bias_v", n_head, d_head),
        positions=SinusoidPositions(sines_first(heads_first(w_k_pos, n_head))),
        scale=d_head**-0.5,
        norm=norm,
        **changes,
    )


def sizes_of(attns: list[RelativeAttention], reader: Reader, heads: tuple[str, ...], width: tuple[str, ...]) -> Sizes:
    """Give the sizes of an encoder and hold them to the config, which calls them `heads` and `width`."""
    attn = attns[0]
    d_model = attn.w_q.weight.shape[1]
    reader.agree(heads[0], attn.n_heads, *heads[1:])
    reader.agree(width[0], d_model, *width[1:])
    return Sizes(len(attns), attn.n_heads, d_model, attn.u.shape[1], piecewise=False)


def attention_model(
    family: str, reader: Reader, rule: MaskRule, heads: tuple[str, ...], width: tuple[str, ...], **changes
) -> AttentionModel:
    """Build an encoder of which the attention layers are known."""
    attns = [attention(reader, name, **changes) for name in anchors(reader.shapes)]
    sizes = sizes_of(attns, reader, heads, width)
    return AttentionModel(family, sizes, tuple(map(AttentionLayer, attns)), rule)
