"""SpeechBrain's RelPosMHAXL: one in_proj for query, key and value, whose rows mean two different things.

Where query, key and value are the same tensor the rows are [head][q, k, v]; where they are not, [q; k; v][head]. The
scale is 1 / sqrt(d_model), pos_bias_u and pos_bias_v are stored [d_head head] and read by a view as [head d_head], and
the table is a sinusoid of |d|: the sign of the distance is lost. Source: github.com/speechbrain/speechbrain,
nnet/attention.py.
"""

from relxl.canonical import AttentionLayer, AttentionModel, Linear, RelativeAttention, SinusoidPositions
from relxl.config import Sizes
from relxl.families.family import Ask, Family, FamilyError, Reader, Shapes, heads_first, layer_prefixes, sines_first
from relxl.masking import MaskRule

ANCHOR = "pos_bias_u"


def anchors(shapes: Shapes) -> list[str]:
    found = layer_prefixes(shapes, ANCHOR)
    return found if any(f"{name}in_proj_weight" in shapes for name in found) else []


def known_by(shapes: Shapes) -> str | None:
    if anchors(shapes):
        return "in_proj_weight beside linear_pos, pos_bias_u and pos_bias_v"
    return None


def build(reader: Reader, told: dict[str, object]) -> AttentionModel:
    attns = [attention(reader, name, told["cross"]) for name in anchors(reader.shapes)]
    n_head, d_model = attns[0].n_heads, attns[0].w_q.weight.shape[1]
    reader.agree("num_heads", "nhead", found=n_head)
    reader.agree("embed_dim", "d_model", found=d_model)
    reader.agree("num_encoder_layers", found=len(attns))
    sizes = Sizes(len(attns), n_head, d_model, d_model // n_head, piecewise=False)
    rule = MaskRule(sees="both", zero=True)
    return AttentionModel("speechbrain", sizes, tuple(map(AttentionLayer, attns)), rule, ends_align=True)


def attention(reader: Reader, name: str, cross: bool) -> RelativeAttention:
    d_head, n_head = (reader.size(f"{name}{ANCHOR}", axis) for axis in (0, 1))
    d_model = reader.size(f"{name}in_proj_weight", 1)
    if n_head * d_head != d_model:
        raise FamilyError(
            f"{name}{ANCHOR} has {d_head} x {n_head} numbers, but d_model is {d_model}: the file is damaged"
        )
    packed = reader.take(f"{name}in_proj_weight", 3 * d_model, d_model)
    rows = packed.unflatten(0, (3, d_model) if cross else (n_head, 3, d_head))
    q, k, v = rows if cross else (rows[:, part].flatten(0, 1) for part in range(3))
    has_bias = reader.config.get("vbias") is True or reader.has("value_bias_weight")
    value_bias = reader.take(f"{name}value_bias_weight", d_model) if has_bias else None
    u, v_bias = (reader.take(f"{name}pos_bias_{part}", d_head, n_head).reshape(n_head, d_head) for part in "uv")
    w_k_pos = heads_first(reader.take(f"{name}linear_pos.weight", d_model, d_model), n_head)
    return RelativeAttention(
        Linear(q),
        Linear(k),
        Linear(v, value_bias),
        reader.linear(f"{name}out_proj", d_model, d_model),
        n_head,
        u,
        v_bias,
        SinusoidPositions(sines_first(w_k_pos), mirrored=True),
        scale=d_model**-0.5,
    )


FAMILY = Family(
    "speechbrain",
    "SpeechBrain, RelPosMHAXL",
    "speechbrain/speechbrain",
    known_by,
    build,
    (Ask("cross", False),),
    mask_marks="hide",
)
