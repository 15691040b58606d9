"""Transformer-XL as Hugging Face carried it up to transformers 4.57: the same layers, its own memory and softmax.

u and v lie under every layer, and once more at the top if they are shared (untie_r false). The memory starts with
mem_len zero vectors, which are attended to.
"""

from relxl.families.family import Ask, Family, Reader, Shapes, layer_prefixes
from relxl.families.txl_official import TransformerXLModel, build_language_model

ANCHOR = "dec_attn.qkv_net.weight"


def known_by(shapes: Shapes) -> str | None:
    if any(name.endswith("dec_attn.r_net.weight") and "layers." in name for name in shapes) and any(
        name.endswith("dec_attn.r_w_bias") for name in shapes
    ):
        return "r_w_bias and r_r_bias under every layers.{i}.dec_attn"
    return None


def build(reader: Reader, told: dict[str, object]) -> TransformerXLModel:
    layers = layer_prefixes(reader.shapes, ANCHOR)
    prefix = layers[0].split("layers.")[0]
    n_head, d_head = (reader.size(f"{layers[0]}dec_attn.r_w_bias", axis) for axis in (0, 1))
    biases = [
        tuple(reader.take(f"{name}dec_attn.{bias}", n_head, d_head) for bias in ("r_w_bias", "r_r_bias"))
        for name in layers
    ]
    reader.ignore(f"{prefix}r_w_bias", f"{prefix}r_r_bias")
    clamp_len = told["clamp_len"] if told["clamp_len"] > 0 else None
    return build_language_model(reader, prefix, layers, None, biases, told, clamp_len, hf=True)


FAMILY = Family(
    "hf_transfoxl",
    "Transformer-XL in Hugging Face transformers",
    "huggingface/transformers, TransfoXLLMHeadModel",
    known_by,
    build,
    (
        Ask("clamp_len", -1, least=-1),
        Ask("same_length", False),
        Ask("pre_lnorm", False),
        Ask("mem_len", 0),
        Ask("tgt_len", 128, least=1),
        Ask("cutoffs", None),
    ),
)
