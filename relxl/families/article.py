"""The article's own layer by itself, or under any prefix: w_q, w_k, w_v, w_k_pos, u, v, out_proj, pos_enc.pos_table.

A layer without a table has the paper's sinusoid. Source: `relxl.model.RelMultiheadAttention`, of the same names.
"""

from relxl.canonical import AttentionLayer, AttentionModel, LearnedPositions, RelativeAttention, SinusoidPositions
from relxl.config import Sizes
from relxl.families.family import Ask, Family, Reader, Shapes, layer_prefixes
from relxl.masking import MaskRule
from relxl.positions import project_positions, table_max_len

ANCHOR = "w_k_pos"


def known_by(shapes: Shapes) -> str | None:
    if any(f"{name}w_{part}.weight" in shapes for name in layer_prefixes(shapes, ANCHOR) for part in "qkv"):
        return "w_q, w_k, w_v, w_k_pos, u and v"
    return None


def build(reader: Reader, told: dict[str, object]) -> AttentionModel:
    attns, bias = [], reader.has("w_q.bias", "w_k.bias", "w_v.bias", "out_proj.bias")
    for name in layer_prefixes(reader.shapes, ANCHOR):
        n_head, d_pos, d_head = (reader.size(f"{name}{ANCHOR}", axis) for axis in range(3))
        d_model = n_head * d_head
        w_k_pos = reader.take(f"{name}{ANCHOR}", n_head, d_pos, d_head)
        if d_pos == d_model and f"{name}pos_enc.pos_table" not in reader.tensors:
            positions = SinusoidPositions(w_k_pos)
        else:  # a table has rows of d_head
            table = reader.take(f"{name}pos_enc.pos_table", None, d_pos)
            positions = LearnedPositions(project_positions(table, w_k_pos), 1 - table_max_len(table))
        attns.append(
            RelativeAttention(
                *(reader.linear(f"{name}w_{part}", d_model, d_model, bias) for part in "qkv"),
                out_proj=reader.linear(f"{name}out_proj", d_model, d_model, bias),
                n_heads=n_head,
                u=reader.take(f"{name}u", n_head, d_head),
                v=reader.take(f"{name}v", n_head, d_head),
                positions=positions,
                scale=d_head**-0.5,
            )
        )
    learned = isinstance(attns[0].positions, LearnedPositions)
    max_len = attns[0].positions.last + 1 if learned else 1
    reader.agree("n_heads", found=attns[0].n_heads)
    reader.agree("d_model", found=attns[0].w_q.weight.shape[1])
    sizes = Sizes(
        len(attns),
        attns[0].n_heads,
        attns[0].w_q.weight.shape[1],
        attns[0].u.shape[1],
        positions="learned" if learned else "sinusoid",
        max_len=max_len,
        piecewise=False,
    )
    rule = MaskRule(sees="past" if told["causal"] else "both")
    return AttentionModel("article", sizes, tuple(map(AttentionLayer, attns)), rule)


FAMILY = Family(
    "article",
    "the article's RelMultiheadAttention",
    "relxl.model",
    known_by,
    build,
    (Ask("causal", False),),
)
