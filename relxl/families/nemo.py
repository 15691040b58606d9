"""NVIDIA NeMo's RelPositionMultiHeadAttention: Conformer, FastConformer, Parakeet, Canary.

A cache is put before the keys, as a memory. Source: github.com/NVIDIA/NeMo, multi_head_attention.py.
"""

from relxl.canonical import AttentionModel
from relxl.families.conformer import Called, attention_model, evidence
from relxl.families.family import Family, Reader, Shapes
from relxl.masking import MaskRule

CALLED = Called(heads=("n_heads", "n_head"), width=("d_model", "n_feat"), layers=("n_layers",))


def known_by(shapes: Shapes) -> str | None:
    return evidence(shapes, "nemo")


def plain_config(config: dict) -> dict:
    encoder = config.get("encoder")
    return config | (encoder if isinstance(encoder, dict) else {})


def build(reader: Reader, told: dict[str, object]) -> AttentionModel:
    reader.config = plain_config(reader.config)
    rule = MaskRule(fill=-10000.0, sees="both", zero=True)
    bias = reader.has(*(f"linear_{part}.bias" for part in ("q", "k", "v", "out")))
    return attention_model("nemo", reader, rule, CALLED, bias=bias)


FAMILY = Family(
    "nemo",
    "NVIDIA NeMo, Conformer and FastConformer",
    "NVIDIA/NeMo",
    known_by,
    build,
    plain_config=plain_config,
    mask_marks="hide",
)
