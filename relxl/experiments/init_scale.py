"""Measure what the initial standard deviations make of a layer: the size of each term, and what softmax makes of them.

One attention layer as a fresh model has it, biases 0, reads x [1 length d_model]: a unit normal input, or the
embeddings of a text. Everything is drawn from the seed alone by a generator of its own, so a measurement neither needs
nor moves the generator that all of torch shares, and may run in any thread or process.

A scale of 0.02 leaves the settings as they are; another one multiplies the chosen standard deviations by scale / 0.02,
so that with the article's settings the scale is the standard deviation (the article, section 4.4).
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from relxl.config import ModelConfig, check_fields
from relxl.masking import causal_mask, masked_softmax
from relxl.model import INIT_STD, RelMultiheadAttention, SinusoidPositionEncoding
from relxl.positions import sinusoid_rows
from relxl.split import HeadTerms, attention_terms, to_numpy

PARAMETERS = ("table", "w_k_pos", "u", "v", "qk")  # qk: the weights of w_q and of w_k
POSITIONS = ("learned", "sinusoid")
PEAKED_BELOW = 0.5  # of the entropy that is possible: a row then spreads over less than the root of its keys
FLAT_ABOVE = 0.999  # a row then weighs its keys as a plain average, to about 10 %; at the start that alone is no fault


@dataclass(frozen=True)
class InitSettings:
    """Say how a layer is initialised and measured. Raises ValueError for a bad field."""

    std_table: float = INIT_STD  # the learned table; a sinusoid has none
    std_w_k_pos: float = INIT_STD
    std_u: float = INIT_STD
    std_v: float = INIT_STD
    std_qk: float = INIT_STD  # the weights of w_q and of w_k
    d_model: int = 128
    n_head: int = 8
    length: int = 128  # queries and keys, without memory
    seed: int = 0
    positions: str = "learned"  # "learned" (the article) or "sinusoid" (the paper)

    def __post_init__(self):
        check_fields(self, may_be_zero=("seed",))
        if self.positions not in POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(POSITIONS)}, got {str(self.positions)[:40]}")
        ModelConfig(1, n_head=self.n_head, d_model=self.d_model, positions=self.positions)  # refuses what can not be
        if self.length < 2:
            raise ValueError(f"length must be 2 or more, for one key leaves nothing to choose, got {self.length}")

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_head

    @property
    def stds(self) -> dict[str, float]:
        """Give the standard deviation of each of PARAMETERS."""
        return {name: getattr(self, f"std_{name}") for name in PARAMETERS}


def scale_settings(settings: InitSettings, scale: float, scaled: Sequence[str] = PARAMETERS) -> InitSettings:
    """Multiply the standard deviations of `scaled` by scale / 0.02. Raises ValueError for a name that is not there."""
    if unknown := [name for name in scaled if name not in PARAMETERS]:
        raise ValueError(f"only {', '.join(PARAMETERS)} can be scaled, got {unknown[0][:40]!r}")
    return replace(settings, **{f"std_{name}": settings.stds[name] * scale / INIT_STD for name in scaled})


# By formula -----------------------------------------------------------------------------------------------------------


def predicted_std(settings: InitSettings, mean_square: float) -> dict[str, float]:
    """Predict how far the cells of each term spread, for an input whose features have this mean square.

    content           s_qk^2 d_model m2
    content_position  s_qk s_W sqrt(d_model m2) sqrt(d_head) s_R     sinusoid: ... sqrt(d_model / 2)
    u_bias            s_u s_qk sqrt(d_model m2)
    v_bias            s_v s_W sqrt(d_head) s_R                       sinusoid: ... sqrt(d_model / 2 - |mean R|^2)

    s_R is that of the table, s_W that of w_k_pos; every row of a sinusoid has the length sqrt(d_model / 2). A variance
    is expected, over draws of the weights and of the input; so is the measured one when its mean over seeds is taken.

    Assumed: biases 0, weights independent of each other and of x, and rows of x that are independent of each other with
    one length. Rows that have something in common (tokens that repeat, the output of a layer) give all cells something
    in common, which this counts and a spread over cells does not: there the measured content, content_position and
    u_bias stay below the formula. So does the curve of a sinusoid, whose slow waves hardly move within `length`;
    that much is known beforehand, and mean R, over the visible cells, takes it out. What a draw of finite length has in
    common by chance is left in: about 2 / (3 length) of each bias.
    """
    d_model, d_head, std = settings.d_model, settings.d_head, settings.stds
    query = std["qk"] * (d_model * mean_square) ** 0.5  # of one feature of a query, and of a key
    if settings.positions == "learned":
        row = spread = std["table"] * d_head**0.5
    else:
        row, spread = (d_model / 2) ** 0.5, (d_model / 2 - common_square(settings.length, d_model)) ** 0.5
    return {
        "content": query**2,
        "content_position": query * std["w_k_pos"] * row,
        "u_bias": std["u"] * query,
        "v_bias": std["v"] * std["w_k_pos"] * spread,
    }


def common_square(length: int, d_model: int) -> float:
    """Give |mean R|^2 of a sinusoid over the visible cells of a causal mask, length - d of which are at distance d."""
    distance = torch.arange(length)
    weight = (length - distance).double() / (length * (length + 1) / 2)
    return (weight @ sinusoid_rows(distance, d_model, dtype=torch.float64)).square().sum().item()


def std_formulas(positions: str) -> dict[str, str]:
    """Write what `predicted_std` computes as LaTeX, a formula a term; m_2 is the mean square of the input."""
    learned = positions == "learned"
    row = r"\sigma_R \sqrt{d_\mathrm{head}}" if learned else r"\sqrt{d_\mathrm{model} / 2}"
    spread = row if learned else r"\sqrt{d_\mathrm{model} / 2 - \lVert \bar R \rVert^2}"
    query = r"\sqrt{d_\mathrm{model}\, m_2}"
    return {
        "content": r"\sigma_{qk}^2\, d_\mathrm{model}\, m_2",
        "content_position": rf"\sigma_{{qk}} {query} \cdot \sigma_W {row}",
        "u_bias": rf"\sigma_u \cdot \sigma_{{qk}} {query}",
        "v_bias": rf"\sigma_v \cdot \sigma_W {spread}",
    }


# As drawn -------------------------------------------------------------------------------------------------------------


def rescale_init(model: nn.Module, stds: Mapping[str, float]) -> nn.Module:
    """Give a copy of a fresh model in which the parameters named in `stds` have these standard deviations instead.

    The names are those of PARAMETERS. The draws stay: each is multiplied by std / 0.02, so 0.02 gives the model itself,
    bit by bit, two scales differ in nothing else, and everything not named is untouched. `model` must be as its
    constructor drew it: a TransformerXL or one RelMultiheadAttention. Raises ValueError for a model without relative
    attention.
    """
    model = copy.deepcopy(model)
    layers = [module for module in model.modules() if isinstance(module, RelMultiheadAttention)]
    if not layers:
        raise ValueError(f"an initial scale belongs to relative attention, and this {type(model).__name__} has none")
    with torch.no_grad():
        for layer in layers:
            groups = {"w_k_pos": [layer.w_k_pos], "u": [layer.u], "v": [layer.v]}
            groups |= {"qk": [layer.w_q.weight, layer.w_k.weight], "table": list(layer.pos_enc.parameters())}
            for name, std in stds.items():
                for parameter in groups[name]:
                    parameter.mul_(std / INIT_STD)
    return model


def draw_attention(settings: InitSettings) -> RelMultiheadAttention:
    """Draw one attention layer from the seed as a fresh model has it: biases 0, w_v and out_proj with 0.02."""
    with torch.device("meta"):  # on a real device the constructor would draw from the generator that torch shares
        pos_enc = SinusoidPositionEncoding(settings.d_model) if settings.positions == "sinusoid" else None
        attn = RelMultiheadAttention(settings.d_model, settings.n_head, settings.length, pos_enc)
    attn.to_empty(device="cpu").requires_grad_(False)
    generator = own_generator(settings.seed, 1)
    for name, parameter in attn.named_parameters():  # the table is the last: no other draw depends on the length
        if name.endswith(".bias"):
            parameter.zero_()
        else:
            parameter.normal_(std=INIT_STD, generator=generator)
    return rescale_init(attn, settings.stds)


def unit_input(settings: InitSettings) -> Tensor:
    """Draw x [1 length d_model] from the seed, every feature N(0, 1)."""
    return torch.randn(1, settings.length, settings.d_model, generator=own_generator(settings.seed, 2))


def own_generator(seed: int, stream: int) -> torch.Generator:
    """Make a generator that shares no draw with the other stream, nor with an input drawn from the seed itself."""
    return torch.Generator().manual_seed(seed + (stream << 21))  # seeds end at 1 << 20


@dataclass(frozen=True)
class InitMeasures:
    """Hold what was measured of a layer at its start as read-only arrays [head], and what was predicted."""

    std: dict[str, np.ndarray]  # of each term over its visible cells
    predicted: dict[str, float]
    mean_square: float  # of the input
    entropy: np.ndarray  # see `normalised_entropy`
    gradient_norm: np.ndarray  # see `score_gradient`
    terms: HeadTerms | None  # of the head that was asked for

    @property
    def peaked(self) -> np.ndarray:
        """Mark the heads that look at too little to learn from: [head] bool."""
        return self.entropy < PEAKED_BELOW

    @property
    def flat(self) -> np.ndarray:
        """Mark the heads that do no more than average: [head] bool."""
        return self.entropy > FLAT_ABOVE

    @property
    def degenerate_share(self) -> float:
        """Give the share of heads that are too peaked or too flat."""
        return float((self.peaked | self.flat).mean())


def measure_init(settings: InitSettings, x: Tensor | None = None, head: int | None = None) -> InitMeasures:
    """Draw a layer from the seed, let it read x [1 length d_model] (None: `unit_input`), and measure its heads.

    `head` asks for the terms of one head as well. Raises ValueError for an x of another shape.
    """
    x = unit_input(settings) if x is None else x.detach()
    if tuple(x.shape) != (1, settings.length, settings.d_model):
        raise ValueError(
            f"x has shape {list(x.shape)}, but length={settings.length} and d_model={settings.d_model} need "
            f"{[1, settings.length, settings.d_model]}"
        )
    attn = draw_attention(settings)
    terms, mask = attn.terms(x, x), causal_mask(settings.length, settings.length)
    logits = terms.logits()
    mean_square = x.double().square().mean().item()
    return InitMeasures(
        std={name: to_numpy(term[0][:, mask].double().std(-1, correction=0)) for name, term in terms.dense().items()},
        predicted=predicted_std(settings, mean_square),
        mean_square=mean_square,
        entropy=to_numpy(normalised_entropy(masked_softmax(logits, mask)[0], mask)),
        gradient_norm=to_numpy(score_gradient(attn, x, logits, mask)[0].double().flatten(1).norm(dim=-1)),
        terms=None if head is None else attention_terms(attn, x, heads=[head]).head(head),
    )


def normalised_entropy(probs: Tensor, mask: Tensor) -> Tensor:
    """Give H(row) / log(visible keys), the mean over the rows with two keys or more: [head query key] -> [head].

    1 is a plain average of the visible keys, 0 one key alone. Taken in float64.
    """
    visible = mask.sum(-1)
    rows = visible >= 2
    entropy = torch.special.entr(probs[:, rows].double().masked_fill(~mask[rows], 0)).sum(-1)
    return (entropy / visible[rows].double().log()).mean(-1)


def score_gradient(attn: RelMultiheadAttention, x: Tensor, logits: Tensor, mask: Tensor) -> Tensor:
    """Give d loss / d logits [batch head query key]: what of a gradient gets through the softmax to the scores.

    loss = mean over batch and queries of the attention output along one fixed random direction of length 1. It is
    linear in the output: a square would mix in how large the output is, which is no matter of the softmax.
    """
    direction = torch.randn(x.shape[-1], generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        output = attn.attend(masked_softmax(logits, mask), x)
        loss = (output @ (direction / direction.norm()).to(output.dtype)).mean()
        return torch.autograd.grad(loss, logits)[0]
