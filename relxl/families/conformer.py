"""What the speech encoders share: linear_q, linear_k, linear_v, linear_out, linear_pos and pos_bias_u, pos_bias_v.

The sinusoid is interleaved, distances have both signs, biases are per layer.
"""

from dataclasses import dataclass

from relxl.canonical import AttentionLayer, AttentionModel, Norm, RelativeAttention, SinusoidPositions
from relxl.config import Sizes
from relxl.families.family import Reader, Shapes, heads_first, layer_prefixes, sines_first
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


MARKS = (  # what stands in the names of a whole model, whose it is
    ("ffn1_layer_norm.", "wav2vec2_conformer"),
    ("norm_self_att.", "nemo"),
    ("encoders.", "espnet"),
    ("conformer_layers.", "espnet"),  # FastSpeech2Conformer in transformers, whose attention is ESPnet's
)


def anchors(shapes: Shapes) -> list[str]:
    """Give the prefix of every attention module of a stack that has this form, though a part or two may be lost."""
    found = layer_prefixes(shapes, ANCHOR)
    return found if any(sum(name + part in shapes for part in PARTS) >= len(PARTS) - 2 for name in found) else []


def evidence(shapes: Shapes, family: str) -> str | None:
    """Say by what a family is known, if it is. Where nothing tells whose a module is, ESPnet and NeMo are possible."""
    found = anchors(shapes)
    marks = (
        [(mark, whose) for mark, whose in MARKS if any(f".{mark}" in f".{name}" for name in shapes)] if found else []
    )
    if marks:
        mark, whose = marks[0]
        return f"{mark.rstrip('.')} beside linear_pos, pos_bias_u and pos_bias_v" if whose == family else None
    biases = any(f"{name}linear_{part}.bias" in shapes for name in found for part in ("q", "k", "v", "out"))
    if found and family in (("nemo", "espnet") if biases else ("nemo",)):
        return "linear_pos, pos_bias_u and pos_bias_v: an attention module, and nothing that tells whose"
    return None


def attention(reader: Reader, name: str, norm: Norm | None = None, bias: bool = True, **changes) -> RelativeAttention:
    """Build the attention module whose names start with `name`; all projections have a bias or none."""
    n_head, d_head = (reader.size(f"{name}{ANCHOR}", axis) for axis in (0, 1))
    d_model = reader.size(f"{name}linear_q.weight", 1)
    size = n_head * d_head
    w_k_pos = reader.take(f"{name}linear_pos.weight", size, d_model)
    return RelativeAttention(
        *(reader.linear(f"{name}linear_{part}", size, d_model, bias) for part in "qkv"),
        out_proj=reader.linear(f"{name}linear_out", d_model, size, bias),
        n_heads=n_head,
        u=reader.take(f"{name}pos_bias_u", n_head, d_head),
        v=reader.take(f"{name}pos_bias_v", n_head, d_head),
        positions=SinusoidPositions(sines_first(heads_first(w_k_pos, n_head))),
        scale=d_head**-0.5,
        norm=norm,
        **changes,
    )


@dataclass(frozen=True)
class Called:
    """Hold what the configs of a family call the sizes."""

    heads: tuple[str, ...]
    width: tuple[str, ...]
    layers: tuple[str, ...]


def sizes_of(attns: list[RelativeAttention], reader: Reader, called: Called) -> Sizes:
    """Give the sizes of an encoder and hold them to the config."""
    attn = attns[0]
    d_model = attn.w_q.weight.shape[1]
    reader.agree(*called.heads, found=attn.n_heads)
    reader.agree(*called.width, found=d_model)
    reader.agree(*called.layers, found=len(attns))
    return Sizes(len(attns), attn.n_heads, d_model, attn.u.shape[1], piecewise=False)


def attention_model(family: str, reader: Reader, rule: MaskRule, called: Called, **changes) -> AttentionModel:
    """Build an encoder of which the attention layers are known."""
    attns = [attention(reader, name, **changes) for name in anchors(reader.shapes)]
    return AttentionModel(family, sizes_of(attns, reader, called), tuple(map(AttentionLayer, attns)), rule)
