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
    CanonicalModel,
    FeedForward,
    LearnedPositions,
    Linear,
    Output,
    RelativeAttention,
    SinusoidPositions,
)
from relxl.config import Sizes
from relxl.families.adaptive import AdaptiveEmbedding, AdaptiveSoftmax, read_adaptive
from relxl.families.family import Ask, Family, FamilyError, Reader, Shapes, heads_first, layer_prefixes
from relxl.masking import MaskRule

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
class TransformerXLModel(CanonicalModel):
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

    def __call__(
        self,
        tokens: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
    ) -> Output:
        """Read one segment of tokens [batch query]."""
        return self.read(self.embed(tokens), mems, clamp_len, rule)

    def first_mems(self, batch: int) -> list[Tensor] | None:
        if not self.starts_with_zeros or not self.config.mem_len:
            return None
        zeros = self.embedding.tables[0].new_zeros(batch, self.config.mem_len, self.config.d_model)
        return [zeros] * len(self.layers)

    def output_logits(self, last_hidden: Tensor) -> Tensor:
        """Give log-probabilities, which are output logits of themselves."""
        return self.softmax(last_hidden)

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
    qkv = any(name.endswith("dec_attn.qkv_net.weight") for name in shapes)
    if qkv and "r_w_bias" in shapes and "r_emb" in shapes and "r_bias" in shapes:
        return "r_emb, r_bias and r_w_bias at the top beside dec_attn.qkv_net: attn_type 1, learned positions"
    if qkv and "r_w_bias" in shapes and any(name.endswith("dec_attn.r_net.weight") for name in shapes):
        return "r_w_bias and r_r_bias at the top beside dec_attn.qkv_net and dec_attn.r_net: shared by all layers"
    return None


def build(reader: Reader, told: dict[str, object]) -> TransformerXLModel:
    learned = "r_emb" in reader.tensors
    layers = layer_prefixes(reader.shapes, "dec_attn.qkv_net.weight")
    n_head, d_head = reader.size("r_w_bias", -2), reader.size("r_w_bias", -1)
    clamp_len = told["clamp_len"] if told["clamp_len"] > 0 else None
    if learned:  # [layer row head d_head], [layer head d_head], [layer row head]; the last row is distance 0
        n_row = reader.size("r_emb", 1)
        emb = reader.take("r_emb", len(layers), n_row, n_head, d_head).flip(1).transpose(1, 2)
        bias = reader.take("r_bias", len(layers), n_row, n_head).flip(1).transpose(1, 2)
        u = reader.take("r_w_bias", len(layers), n_head, d_head)
        places = [LearnedPositions(rows, 0, curve) for rows, curve in zip(emb, bias, strict=True)]
        biases = [(one, None) for one in u]
        clamp_len = None if clamp_len is None else clamp_len - 1  # the last clamp_len rows: distances below it
    else:
        u, v = reader.take("r_w_bias", n_head, d_head), reader.take("r_r_bias", n_head, d_head)
        places, biases = None, [(u, v)] * len(layers)
    return build_language_model(reader, "", layers, places, biases, told, clamp_len)


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
    """Build what both codes share; `places` are the layers' learned positions, or None for a sinusoid."""
    n_head, d_head = biases[0][0].shape
    d_model = reader.size(f"{layers[0]}dec_attn.qkv_net.weight", 1)
    blocks = []
    for i, name in enumerate(layers):
        qkv = reader.take(f"{name}dec_attn.qkv_net.weight", 3 * n_head * d_head, d_model)
        if places is None:
            w_k_pos = heads_first(reader.take(f"{name}dec_attn.r_net.weight", n_head * d_head, d_model), n_head)
            positions = SinusoidPositions(w_k_pos)
        else:
            positions = places[i]
        attn_norm = reader.norm(f"{name}dec_attn.layer_norm", d_model)
        ff_norm = reader.norm(f"{name}pos_ff.layer_norm", d_model)
        pre = told["pre_lnorm"]
        first = reader.linear(f"{name}pos_ff.CoreNet.0", None, d_model)
        attn = RelativeAttention(
            *map(Linear, qkv.chunk(3)),
            out_proj=reader.linear(f"{name}dec_attn.o_net", d_model, n_head * d_head),
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
    embedding, softmax = read_adaptive(reader, prefix, d_model, told["cutoffs"], reversed_clusters=not hf)
    reader.ignore(f"{prefix}pos_emb.inv_freq")
    sizes = Sizes(
        n_layer=len(layers),
        n_head=n_head,
        d_model=d_model,
        d_head=d_head,
        n_token=sum(len(weight) for weight in softmax.weights),
        positions="sinusoid" if places is None else "learned",
        max_len=1 if places is None else places[0].last + 1,
        clamp_len=clamp_len,
        segment_len=min(told["tgt_len"], 512),
        mem_len=told["mem_len"],
    )
    for name in ("n_layer", "n_head", "d_model", "d_head"):
        reader.agree(name, getattr(sizes, name))
    reader.agree("n_token", sizes.n_token, "vocab_size")
    reader.agree("d_inner", len(blocks[0].ff.first.weight))
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
