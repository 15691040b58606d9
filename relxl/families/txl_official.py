"""Transformer-XL as its authors wrote it in PyTorch: github.com/kimiyoung/transformer-xl, mem_transformer.py.

u and v (`r_w_bias`, `r_r_bias`) are shared by all layers. attn_type 0 has a sinusoid; attn_type 1 learns the rows and
v_bias itself (`r_emb`, `r_bias`), and its row N - 1 - d belongs to distance d.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from relxl.canonical import (
    Block,
    FeedForward,
    LanguageModel,
    LearnedPositions,
    Linear,
    RelativeAttention,
    SinusoidPositions,
)
from relxl.config import Sizes
from relxl.families.adaptive import AdaptiveEmbedding, AdaptiveSoftmax, read_embedding, read_softmax
from relxl.families.family import Ask, Family, FamilyError, Reader, Shapes, heads_first, layer_prefixes, stem_of
from relxl.masking import MaskRule

ANCHOR = "dec_attn.qkv_net.weight"
ASKS = (
    Ask("clamp_len", -1, least=-1),
    Ask("same_length", False),
    Ask("pre_lnorm", False),
    Ask("mem_len", 0),
    Ask("tgt_len", 128, least=1),
    Ask("ext_len", 0),
    Ask("cutoffs", None),
)


@dataclass(frozen=True)
class TransformerXLModel(LanguageModel):
    """Hold a Transformer-XL language model with adaptive embedding and softmax.

    `starts_with_zeros`: HF's code fills the memory with zeros before the first segment, which are attended to. The
    authors' code starts with none, keeps the last hidden state in the memory too, and leaves out the newest `ext_len`
    steps, though only once there is a memory: two arguments of its update are swapped.
    """

    embedding: AdaptiveEmbedding | None = None
    softmax: AdaptiveSoftmax | None = None
    ext_len: int = 0
    starts_with_zeros: bool = False

    def embed(self, tokens: Tensor) -> Tensor:
        """Look tokens up: [batch query] -> [batch query d_model]."""
        return self.embedding(tokens)

    def first_mems(self, batch: int) -> list[Tensor] | None:
        if not self.starts_with_zeros or not self.config.mem_len:
            return None
        zeros = self.embedding.tables[0].new_zeros(batch, self.config.mem_len, self.config.d_model)
        return [zeros] * len(self.layers)

    def output_logits(self, last_hidden: Tensor) -> Tensor | None:
        """Give log-probabilities, which are output logits of themselves; None for a file without a softmax."""
        return None if self.softmax is None else self.softmax(last_hidden)

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        if not self.config.mem_len:
            return []
        kept = hidden[:-1] if self.starts_with_zeros else hidden
        mem_len = 0 if mems is None else mems[0].shape[1]
        old = [x[:, :0] for x in kept] if mems is None else list(mems)
        if len(old) < len(kept):  # a memory that was given without that of the last hidden state
            old.append(kept[-1].new_zeros(len(kept[-1]), mem_len, kept[-1].shape[2]))
        end = kept[0].shape[1] + max(mem_len - self.ext_len, 0)
        begin = max(end - self.config.mem_len, 0)
        return [torch.cat(pair, dim=1)[:, begin:end].detach() for pair in zip(old, kept, strict=True)]


def known_by(shapes: Shapes) -> str | None:
    layers = layer_prefixes(shapes, ANCHOR)
    stem = stem_of(layers[0]) if layers else ""
    if not layers or own_biases(shapes) or not has_softmax(shapes, stem):
        return None
    if f"{stem}r_emb" in shapes or f"{stem}r_bias" in shapes:
        return "r_emb, r_bias and r_w_bias beside the layers: attn_type 1, learned positions"
    if any(f"{name}dec_attn.r_net.weight" in shapes for name in layers):
        return "dec_attn.qkv_net and dec_attn.r_net, with r_w_bias and r_r_bias beside the layers: shared by all"
    return None


def own_biases(shapes: Shapes) -> bool:
    """Say whether layers have their own u and v."""
    return any(name.endswith(("dec_attn.r_w_bias", "dec_attn.r_r_bias")) for name in shapes)


def has_softmax(shapes: Shapes, prefix: str) -> bool:
    return any(name.startswith(f"{prefix}crit.") for name in shapes)


def build(reader: Reader, told: dict[str, object]) -> TransformerXLModel:
    layers = layer_prefixes(reader.shapes, ANCHOR)
    stem = stem_of(layers[0])
    n_head, d_head = (reader.size(f"{stem}r_w_bias", axis) for axis in (-2, -1))
    clamp_len = told["clamp_len"] if told["clamp_len"] > 0 else None
    if reader.has(f"{stem}r_emb", f"{stem}r_bias"):  # [layer row head d_head], [layer head d_head], [layer row head]
        n_row = reader.size(f"{stem}r_emb", 1)  # the last row is distance 0
        emb = reader.take(f"{stem}r_emb", len(layers), n_row, n_head, d_head).flip(1).transpose(1, 2)
        bias = reader.take(f"{stem}r_bias", len(layers), n_row, n_head).flip(1).transpose(1, 2)
        u = reader.take(f"{stem}r_w_bias", len(layers), n_head, d_head)
        places = [LearnedPositions(rows, 0, curve) for rows, curve in zip(emb, bias, strict=True)]
        biases = [(one, None) for one in u]
        clamp_len = None if clamp_len is None else clamp_len - 1  # the last clamp_len rows: distances below it
    else:
        u, v = (reader.take(f"{stem}{bias}", n_head, d_head) for bias in ("r_w_bias", "r_r_bias"))
        places, biases = None, [(u, v)] * len(layers)
    return build_language_model(reader, stem, layers, places, biases, told, clamp_len)


def build_language_model(
    reader: Reader,
    prefix: str,
    layers: list[str],
    places: list[LearnedPositions] | None,
    biases: list[tuple[Tensor, Tensor | None]],
    told: dict[str, object],
    clamp_len: int | None,
    hf: bool = False,
) -> TransformerXLModel:
    """Build what both codes share; `places` are the layers' learned positions, or None for a sinusoid.

    The softmax stands beside the layers, in HF's code outside of the "transformer." that they are in.
    """
    n_head, d_head = biases[0][0].shape
    d_model, eps = reader.size(f"{layers[0]}{ANCHOR}", 1), told.get("layer_norm_epsilon", 1e-5)
    blocks = []
    for i, name in enumerate(layers):
        qkv = reader.take(f"{name}dec_attn.qkv_net.weight", 3 * n_head * d_head, d_model)
        if places is None:
            w_k_pos = heads_first(reader.take(f"{name}dec_attn.r_net.weight", n_head * d_head, d_model), n_head)
            positions = SinusoidPositions(w_k_pos)
        else:
            positions = places[i]
        attn_norm = reader.norm(f"{name}dec_attn.layer_norm", d_model, eps)
        ff_norm = reader.norm(f"{name}pos_ff.layer_norm", d_model, eps)
        pre = told["pre_lnorm"]
        first = reader.linear(f"{name}pos_ff.CoreNet.0", None, d_model)
        attn = RelativeAttention(
            *map(Linear, qkv.chunk(3)),
            out_proj=reader.linear(f"{name}dec_attn.o_net", d_model, n_head * d_head, bias=False),
            n_heads=n_head,
            u=biases[i][0],
            v=biases[i][1],
            positions=positions,
            scale=d_head**-0.5,
            norm=attn_norm if pre else None,
        )
        ff = FeedForward(first, reader.linear(f"{name}pos_ff.CoreNet.3", d_model, len(first.weight)))
        after = (None, ff_norm, None) if pre else (attn_norm, None, ff_norm)
        blocks.append(Block(attn, ff, *after))
    embedding, softmax = read_embedding(reader, prefix, d_model), None
    outside = prefix.removesuffix("transformer.") if hf else prefix
    if has_softmax(reader.shapes, outside):
        softmax = read_softmax(reader, outside, embedding, d_model, told["cutoffs"], reversed_clusters=not hf)
    reader.ignore(f"{prefix}pos_emb.inv_freq")
    sizes = Sizes(
        n_layer=len(layers),
        n_head=n_head,
        d_model=d_model,
        d_head=d_head,
        n_token=sum(len(table) for table in embedding.tables),
        positions="sinusoid" if places is None else "learned",
        max_len=1 if places is None else places[0].last + 1,
        clamp_len=clamp_len,
        segment_len=min(told["tgt_len"], 512),
        mem_len=told["mem_len"],
    )
    for name in ("n_layer", "n_head", "d_model", "d_head"):
        reader.agree(name, found=getattr(sizes, name))
    reader.agree("n_token", "vocab_size", found=sizes.n_token)
    reader.agree("d_inner", found=len(blocks[0].ff.first.weight))
    if told["same_length"] and not told["mem_len"]:
        raise FamilyError(
            "same_length with mem_len=0 leaves every query without a key: give the mem_len it is used with"
        )
    window = told["mem_len"] if told["same_length"] else None
    rule = MaskRule(fill="min", window=window) if hf else MaskRule(window=window)
    family = "hf_transfoxl" if hf else "txl_official"
    return TransformerXLModel(
        family, sizes, tuple(blocks), rule, embedding, softmax, told.get("ext_len", 0), starts_with_zeros=hf
    )


FAMILY = Family(
    "txl_official",
    "Transformer-XL, the authors' PyTorch code",
    "kimiyoung/transformer-xl",
    known_by,
    build,
    ASKS,
)
