"""ESPnet's RelPositionMultiHeadedAttention, latest and legacy: the same names and shapes, other distances.

Legacy takes the first T rows of a reversed table of pos_max_len rows and shifts them as the paper does, so a cell of
the past reads distance d + pos_max_len - T, and one of the future what is left over of the next row. A Conformer's
config without rel_pos_type means legacy. Source: github.com/espnet/espnet, transformer/attention.py, embedding.py.
"""

from relxl.canonical import AttentionModel
from relxl.families.conformer import Called, attention_model, evidence
from relxl.families.family import Ask, Family, Reader, Shapes
from relxl.masking import MaskRule

CALLED = Called(
    heads=("attention_heads", "n_head", "aheads", "encoder_num_attention_heads"),
    width=("output_size", "n_feat", "adim", "hidden_size"),
    layers=("num_blocks", "elayers", "encoder_layers"),
)


def known_by(shapes: Shapes) -> str | None:
    return evidence(shapes, "espnet")


def plain_config(config: dict) -> dict:
    """Read ESPnet's own config, whose encoder_conf says it, or espnet1's flat one."""
    encoder = config.get("encoder_conf")
    flat = config | (encoder if isinstance(encoder, dict) else {})
    if isinstance(flat.get("legacy"), bool):
        flat["rel_pos_type"] = "legacy" if flat["legacy"] else "latest"
    elif isinstance(encoder, dict) and config.get("encoder") == "conformer":
        flat.setdefault("rel_pos_type", "legacy")  # the encoder's own default
    return flat


def build(reader: Reader, told: dict[str, object]) -> AttentionModel:
    legacy = told["rel_pos_type"] == "legacy"
    reader.config = plain_config(reader.config)
    return attention_model(
        "espnet",
        reader,
        MaskRule(fill="min", sees="both", zero=True),
        CALLED,
        legacy_len=told["pos_max_len"] if legacy else None,
        zero_future=told["zero_triu"],
    )


FAMILY = Family(
    "espnet",
    "ESPnet, Conformer and its relatives",
    "espnet/espnet",
    known_by,
    build,
    (
        Ask("rel_pos_type", "latest", options=("latest", "legacy")),
        Ask("zero_triu", False),
        Ask("pos_max_len", 5000, least=1),
    ),
    plain_config,
)
