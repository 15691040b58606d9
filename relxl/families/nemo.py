"""NVIDIA NeMo's RelPositionMultiHeadAttention: Conformer, FastConformer, Parakeet, Canary.

A cache is put before the keys, as a memory. Source: github.com/NVIDIA/NeMo, multi_head_attention.py.
"""

from relxl.canonical import AttentionModel
from relxl.families.conformer import anchors, attention_model, bare
from relxl.families.family import Family, Reader, Shapes
from relxl.masking import MaskRule


def known_by(shapes: Shapes) -> str | None:
    if anchors(shapes) and any("norm_self_att." in name for name in shapes):
        return "norm_self_att beside self_attn.linear_pos, pos_bias_u and pos_bias_v"
    if bare(shapes):
        return "linear_pos, pos_bias_u and pos_bias_v: one attention module by itself"
    return None


def plain_config(config: dict) -> dict:
    encoder = config.get("encoder")
    return config | (encoder if isinstance(encoder, dict) else {})


def build(reader: Reader, told: dict[str, object]) -> AttentionModel:
    reader.config = plain_config(reader.config)
    rule = MaskRule(fill=-10000.0, sees="both", zero=True)
    return attention_model("nemo", reader, rule, ("n_heads", "n_head"), ("d_model", "n_feat"))


FAMILY = Family(
    "nemo",
    "NVIDIA NeMo, Conformer and FastConformer",
    "NVIDIA/NeMo",
    known_by,
    build,
    plain_config=plain_config,
    mask_marks="hide",
)
