"""ESPnet's RelPositionMultiHeadedAttention, latest and legacy: the same names and shapes, other distances.

Legacy takes the first T rows of a reversed table of pos_max_len rows and shifts them as the paper does, so a cell of
the past reads distance d + pos_max_len - T, and one of the future what is left over of the next row. A Conformer's
config without rel_pos_type means legacy. Source: github.com/espnet/espnet, transformer/attention.py, embedding.py.
"""

from relxl.canonical import AttentionModel
from relxl.families.conformer import anchors, attention_model, bare
from relxl.families.family import Ask, Family, Reader, Shapes
from relxl.masking import MaskRule


def known_by(shapes: Shapes) -> str | None:
    found = anchors(shapes)
    if any(".encoders." in f".{name}" for name in found):
        return "encoders.{i} with linear_pos, pos_bias_u and pos_bias_v"
    if bare(shapes) and "linear_q.bias" in shapes:
        return "linear_q with bias, linear_pos, pos_bias_u and pos_bias_v: one attention module by itself"
    return None


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
        ("attention_heads", "n_head", "aheads"),
        ("output_size", "n_feat", "adim"),
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
