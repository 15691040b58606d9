"""Transformer-XL as Hugging Face carried it up to transformers 4.57: the same layers, its own memory and softmax.

u and v lie under every layer; if they are shared (untie_r false), once more beside the layers, or only there. The
memory starts with mem_len zero vectors, which are attended to. Source: github.com/huggingface/transformers,
modeling_transfo_xl.py.
"""

from relxl.families.family import Ask, Family, Reader, Shapes, layer_prefixes, stem_of
from relxl.families.txl_official import ANCHOR, TransformerXLModel, build_language_model, has_softmax, own_biases


def known_by(shapes: Shapes) -> str | None:
    layers = layer_prefixes(shapes, ANCHOR)
    if not layers or not any(f"{name}dec_attn.r_net.weight" in shapes for name in layers):
        return None
    if own_biases(shapes):
        return "dec_attn.qkv_net, dec_attn.r_net, r_w_bias and r_r_bias under every layers.{i}"
    if not has_softmax(shapes, stem_of(layers[0])):
        return "dec_attn.qkv_net and dec_attn.r_net, r_w_bias and r_r_bias beside the layers, crit. not among them"
    return None


def build(reader: Reader, told: dict[str, object]) -> TransformerXLModel:
    layers = layer_prefixes(reader.shapes, ANCHOR)
    stem, names = stem_of(layers[0]), ("r_w_bias", "r_r_bias")
    places = [f"{name}dec_attn." for name in layers] if own_biases(reader.shapes) else [stem] * len(layers)
    n_head, d_head = (reader.size(f"{places[0]}r_w_bias", axis) for axis in (0, 1))
    biases = [tuple(reader.take(f"{place}{name}", n_head, d_head) for name in names) for place in places]
    reader.ignore(*(f"{stem}{name}" for name in names))
    clamp_len = told["clamp_len"] if told["clamp_len"] > 0 else None
    return build_language_model(reader, stem, layers, None, biases, told, clamp_len, hf=True)


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
        Ask("layer_norm_epsilon", 1e-5),
    ),
)
