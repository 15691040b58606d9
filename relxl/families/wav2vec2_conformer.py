"""Wav2Vec2-Conformer in Hugging Face transformers: the encoder is run from the hidden states that enter it.

A layer: half a feed-forward, attention, convolution, half a feed-forward, each with its norm before and a residual.
Source: github.com/huggingface/transformers, modeling_wav2vec2_conformer.py.
"""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional as F

from relxl.canonical import CanonicalModel, FeedForward, Linear, Norm, RelativeAttention
from relxl.families.conformer import Called, anchors, attention, evidence, sizes_of
from relxl.families.family import ACTIVATIONS, Ask, Family, FamilyError, Reader, Shapes, stem_of
from relxl.masking import MaskRule

CALLED = Called(heads=("num_attention_heads",), width=("hidden_size",), layers=("num_hidden_layers",))


@dataclass(frozen=True)
class BatchNorm:
    """Hold a batch norm that no longer learns."""

    weight: Tensor
    bias: Tensor
    mean: Tensor
    variance: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return F.batch_norm(x, self.mean, self.variance, self.weight, self.bias)


@dataclass(frozen=True)
class Convolution:
    """Hold a convolution module: norm, pointwise with a gate, depthwise, batch norm, activation, pointwise."""

    norm: Norm
    widen: Tensor  # [2 d_model, d_model, 1]
    depthwise: Tensor  # [d_model, 1, kernel]
    batch_norm: BatchNorm
    narrow: Tensor  # [d_model, d_model, 1]
    activation: object

    def __call__(self, x: Tensor) -> Tensor:
        """Mix neighbours, those of padding too: x [batch len d_model]."""
        x = F.glu(F.conv1d(self.norm(x).mT, self.widen), dim=1)
        padding = (self.depthwise.shape[2] - 1) // 2
        x = self.batch_norm(F.conv1d(x, self.depthwise, padding=padding, groups=len(self.depthwise)))
        return F.conv1d(self.activation(x), self.narrow).mT


@dataclass(frozen=True)
class ConformerBlock:
    """Hold a Conformer layer; see the module's first lines."""

    attn: RelativeAttention
    first_ff: FeedForward
    first_norm: Norm
    convolution: Convolution
    second_ff: FeedForward
    second_norm: Norm
    last_norm: Norm

    def enter(self, x: Tensor) -> Tensor:
        """Apply the first half of a feed-forward: what attention reads, before its own norm."""
        return x + 0.5 * self.first_ff(self.first_norm(x))

    def leave(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + attended
        x = x + self.convolution(x)
        return self.last_norm(x + 0.5 * self.second_ff(self.second_norm(x)))


@dataclass(frozen=True)
class Wav2Vec2ConformerModel(CanonicalModel):
    """Hold the encoder, whose input is what the feature projection gives."""

    last_norm: Norm | None = None

    def read(self, x, mems=None, clamp_len=None, rule=None, keep=None, differs=None, mix=None):
        """Read hidden states x [batch len d_model]; those of padding, where keep [batch 1 1 len] is false, become 0."""
        if mems is not None or (keep is not None and keep.shape[-2:] != (1, x.shape[1])):
            raise ValueError(
                "a Wav2Vec2-Conformer has no memory and a mask of one mark a frame, [batch len]: give such"
            )
        x = x if keep is None else x * keep[:, 0, 0, :, None]
        return super().read(x, mems, clamp_len, rule, keep, differs, mix)

    def finish(self, x: Tensor) -> Tensor:
        return self.last_norm(x)


def known_by(shapes: Shapes) -> str | None:
    return evidence(shapes, "wav2vec2_conformer")


def build(reader: Reader, told: dict[str, object]) -> Wav2Vec2ConformerModel:
    kind = reader.config.get("position_embeddings_type", "relative")
    if kind != "relative":
        raise FamilyError(
            f"the config says position_embeddings_type={str(kind)[:40]!r}, but only 'relative' positions have the four "
            "terms: open another model"
        )
    activation = ACTIVATIONS[told["hidden_act"]]
    blocks = []
    for name in anchors(reader.shapes):
        layer = name.removesuffix("self_attn.")
        d_model = reader.size(f"{name}linear_q.weight", 1)

        def feed_forward(part: str, layer=layer, d_model=d_model) -> FeedForward:
            first = reader.linear(f"{layer}{part}.intermediate_dense", None, d_model)
            second: Linear = reader.linear(f"{layer}{part}.output_dense", d_model, len(first.weight))
            return FeedForward(first, second, activation)

        conv, batch_norm = f"{layer}conv_module.", f"{layer}conv_module.batch_norm."
        parts = ("weight", "bias", "running_mean", "running_var")
        reader.ignore(f"{batch_norm}num_batches_tracked")
        blocks.append(
            ConformerBlock(
                attn=attention(reader, name, reader.norm(f"{layer}self_attn_layer_norm", d_model)),
                first_ff=feed_forward("ffn1"),
                first_norm=reader.norm(f"{layer}ffn1_layer_norm", d_model),
                convolution=Convolution(
                    norm=reader.norm(f"{conv}layer_norm", d_model),
                    widen=reader.take(f"{conv}pointwise_conv1.weight", 2 * d_model, d_model, 1),
                    depthwise=reader.take(f"{conv}depthwise_conv.weight", d_model, 1, None),
                    batch_norm=BatchNorm(*(reader.take(f"{batch_norm}{part}", d_model) for part in parts)),
                    narrow=reader.take(f"{conv}pointwise_conv2.weight", d_model, d_model, 1),
                    activation=activation,
                ),
                second_ff=feed_forward("ffn2"),
                second_norm=reader.norm(f"{layer}ffn2_layer_norm", d_model),
                last_norm=reader.norm(f"{layer}final_layer_norm", d_model),
            )
        )
    stem = stem_of(anchors(reader.shapes)[0])
    sizes = sizes_of([block.attn for block in blocks], reader, CALLED)
    rule = MaskRule(fill="min", sees="both")
    last_norm = reader.norm(f"{stem}layer_norm", sizes.d_model, told["layer_norm_eps"])  # the layers have their own
    return Wav2Vec2ConformerModel("wav2vec2_conformer", sizes, tuple(blocks), rule, last_norm)


FAMILY = Family(
    "wav2vec2_conformer",
    "Wav2Vec2-Conformer in Hugging Face transformers",
    "huggingface/transformers, Wav2Vec2ConformerModel",
    known_by,
    build,
    (Ask("hidden_act", "gelu", options=tuple(ACTIVATIONS)), Ask("layer_norm_eps", 1e-5)),
)
