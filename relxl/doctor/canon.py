"""A model of ours in the canonical form, so that what is asked of one model can be asked of all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch import Tensor
from torch.nn import functional as F

from relxl.canonical import (
    Block,
    CanonicalModel,
    FeedForward,
    LanguageModel,
    LearnedPositions,
    Linear,
    Norm,
    RelativeAttention,
    SinusoidPositions,
)
from relxl.model import RelMultiheadAttention, TransformerXL, update_mems
from relxl.positions import project_positions


@dataclass(frozen=True)
class OwnModel(LanguageModel):
    """Hold relxl's own language model as data; it computes what `TransformerXL` computes."""

    word_emb: Tensor | None = None  # [n_token d_model]
    out_bias: Tensor | None = None
    input_scale: float = 1.0

    def embed(self, tokens: Tensor) -> Tensor:
        return F.embedding(tokens, self.word_emb) * self.input_scale

    def output_logits(self, last_hidden: Tensor) -> Tensor:
        return F.linear(last_hidden, self.word_emb, self.out_bias)

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        return update_mems(mems, list(hidden[:-1]), self.config.mem_len)


def canonical(model: TransformerXL | CanonicalModel) -> CanonicalModel | None:
    """Give a model in the canonical form, sharing its tensors; None for absolute positions, which have none."""
    if isinstance(model, CanonicalModel):
        return model
    if model.config.positions == "absolute":
        return None
    blocks = tuple(
        Block(
            attention(layer.attn),
            FeedForward(linear(layer.ff[0]), linear(layer.ff[3])),
            after_attn=norm(layer.ln1),
            after_ff=norm(layer.ln2),
        )
        for layer in model.layers
    )
    return OwnModel(
        "relxl",
        model.config,
        blocks,
        model.rule_at(0),
        model.word_emb.weight.detach(),
        model.out_bias.detach(),
        model.config.d_model**0.5,
    )


def attention(attn: RelMultiheadAttention) -> RelativeAttention:
    w_k_pos, table = attn.w_k_pos.detach(), getattr(attn.pos_enc, "pos_table", None)
    if table is None:
        positions = SinusoidPositions(w_k_pos)
    else:
        positions = LearnedPositions(project_positions(table.detach(), w_k_pos), 1 - attn.pos_enc.max_len)
    return RelativeAttention(
        *(linear(w) for w in (attn.w_q, attn.w_k, attn.w_v, attn.out_proj)),
        attn.n_heads,
        attn.u.detach(),
        attn.v.detach(),
        positions,
        attn.scale,
    )


def linear(module) -> Linear:
    return Linear(module.weight.detach(), module.bias.detach())


def norm(module) -> Norm:
    return Norm(module.weight.detach(), module.bias.detach(), module.eps)


def with_attention(
    model: CanonicalModel, change: Callable[[RelativeAttention], RelativeAttention], layer: int | None = None
) -> CanonicalModel:
    """Change the attention of one layer, or of all; the model itself stays as it is."""
    layers = tuple(
        replace(block, attn=change(block.attn)) if layer in (None, i) else block for i, block in enumerate(model.layers)
    )
    return replace(model, layers=layers)
