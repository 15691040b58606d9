"""Make the names and tensors of whole checkpoints: attention of known numbers, and around it what else they hold."""

import torch
from torch import Tensor

GENERATOR = torch.Generator().manual_seed(11)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=GENERATOR) / 3


def linear(name: str, n_out: int, n_in: int, bias: bool = True) -> dict[str, Tensor]:
    return {f"{name}.weight": random(n_out, n_in)} | ({f"{name}.bias": random(n_out)} if bias else {})


def norm(name: str, size: int) -> dict[str, Tensor]:
    return {f"{name}.weight": 1 + random(size), f"{name}.bias": random(size)}


def attention(name: str, n_head: int, d_head: int, bias: bool = True) -> dict[str, Tensor]:
    """Give the parts that ESPnet, NeMo and WeNet share."""
    size = n_head * d_head
    tensors = linear(f"{name}.linear_pos", size, size, bias=False)
    for part in ("q", "k", "v", "out"):
        tensors |= linear(f"{name}.linear_{part}", size, size, bias)
    return tensors | {f"{name}.pos_bias_{part}": random(n_head, d_head) for part in "uv"}


def encoder(
    layers: str,
    norms: tuple[str, ...],
    n_layer: int,
    n_head: int = 2,
    d_head: int = 5,
    attn: str = "self_attn",
    bias=True,
) -> dict[str, Tensor]:
    """Give the layers of an encoder, `layers` with {} for the number, each with its norms and a feed-forward."""
    size, tensors = n_head * d_head, {}
    for i in range(n_layer):
        layer = layers.format(i)
        tensors |= attention(f"{layer}.{attn}", n_head, d_head, bias) | linear(f"{layer}.feed_forward.w_1", 7, size)
        for name in norms:
            tensors |= norm(f"{layer}.{name}", size)
    return tensors


def espnet(attn: str = "self_attn", n_layer: int = 12) -> dict[str, Tensor]:
    norms = ("norm_ff_macaron", "norm_mha", "norm_conv", "norm_ff", "norm_final")
    tensors = encoder("encoder.encoders.{}", norms, n_layer, attn=attn) | norm("encoder.after_norm", 10)
    decoder = linear("decoder.decoders.0.self_attn.linear_q", 10, 10) | linear(
        "decoder.decoders.0.src_attn.linear_q", 10, 10
    )
    return tensors | decoder | {"normalize.mean": random(80), "ctc.ctc_lo.weight": random(9, 10)}


def nemo(bias: bool = True) -> dict[str, Tensor]:
    norms = ("norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out")
    tensors = encoder("encoder.layers.{}", norms, 3, bias=bias)
    front = {"preprocessor.featurizer.window": random(400), "preprocessor.featurizer.fb": random(1, 80, 257)}
    return tensors | front | linear("encoder.pre_encode.out", 10, 40) | linear("decoder.decoder_layers.0", 9, 10)


def speechbrain(n_head: int = 2, d_head: int = 5) -> dict[str, Tensor]:
    size, tensors = n_head * d_head, {"1.positional_encoding.inv_freq": random(5)}
    for i in range(2):
        layer = f"1.encoder.layers.{i}."
        tensors |= {f"{layer}mha_layer.in_proj_weight": random(3 * size, size)}
        tensors |= {f"{layer}mha_layer.pos_bias_{part}": random(d_head, n_head) for part in "uv"}
        tensors |= linear(f"{layer}mha_layer.linear_pos", size, size, bias=False)
        tensors |= linear(f"{layer}mha_layer.out_proj", size, size) | norm(f"{layer}norm1.norm", size)
    decoder = {"1.decoder.layers.0.self_attn.att.in_proj_weight": random(3 * size, size)}
    return tensors | decoder | linear("0.w", size, 40)


def wenet() -> dict[str, Tensor]:
    cmvn = {"encoder.global_cmvn.mean": random(80), "encoder.global_cmvn.istd": random(80)}
    return encoder("encoder.encoders.{}", ("norm_mha", "norm_ff"), 2) | cmvn


def fastspeech2() -> dict[str, Tensor]:
    norms = ("ff_layer_norm", "self_attn_layer_norm", "conv_layer_norm", "final_layer_norm")
    tensors = encoder("decoder.conformer_layers.{}", norms, 4) | encoder("encoder.conformer_layers.{}", norms, 4)
    return tensors | {"encoder.embed.weight": random(20, 10), "duration_predictor.linear.weight": random(1, 10)}


STRANGERS = {  # a word of the reason -> names that such a file has
    "torchaudio": "conformer_layers.0.self_attn.in_proj_weight conformer_layers.0.ffn1.sequential.0.weight",
    "BERT-like": "bert.encoder.layer.0.attention.self.query.weight bert.embeddings.position_embeddings.weight",
    "Shaw-like": "layers.0.self_attn.distance_embedding.weight layers.0.self_attn.linear_q.weight",
    "DeBERTa": "deberta.encoder.rel_embeddings.weight encoder.layer.0.attention.self.query_proj.weight",
    "T5-like": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight shared.weight",
    "GPT-2-like": "transformer.h.0.attn.c_attn.weight transformer.wpe.weight",
    "rotary or absolute": "model.layers.0.self_attn.q_proj.weight model.embed_tokens.weight",
    "Funnel": "funnel.encoder.blocks.0.0.attention.r_kernel funnel.encoder.blocks.0.0.attention.seg_embed",
    "attn_type 2 or 3": "layers.0.dec_attn.kv_net.weight layers.0.dec_attn.q_net.weight crit.out_layers.0.bias",
    "rotary, absolute": "encoder.layers.0.self_attn.linear_q.weight encoder.layers.0.ffn1_layer_norm.weight",
    "icefall": "encoder.layers.0.self_attn.in_proj.weight encoder.layers.0.self_attn.pos_bias_u",
    "Enformer": "transformer.0.fn.rel_pos_bias transformer.0.fn.rel_content_bias",
    "lucidrains": "attn_layers.0.fn.to_kv.weight pos_emb",
    "sooftware": "layers.0.attention.pos_proj.linear.weight layers.0.attention.u_bias",
    "no family": "features.0.weight classifier.6.bias layEr a².b " + "9" * 60,
}
