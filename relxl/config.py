"""The sizes of a model and of a training run. Free of torch, so that a command line or a page can read them at once."""

import math
from dataclasses import dataclass, fields

POSITIONS = ("learned", "sinusoid", "absolute")
LARGEST = {"n_layer": 256, "n_head": 1024}  # what a file may ask for; all other sizes: LARGEST_SIZE
LARGEST_SIZE = 1 << 20


def check_fields(config: object, may_be_zero: tuple[str, ...]) -> None:
    """Refuse a field whose value is not of its kind: whole numbers from 1 (some from 0), finite floats from 0.

    Raises ValueError that names the field and what came.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if field.type is int:
            least, most = int(field.name not in may_be_zero), LARGEST.get(field.name, LARGEST_SIZE)
            wanted, fits = f"a whole number from {least} to {most}", type(value) is int and least <= value <= most
        elif field.type is float:
            wanted = "a finite number, 0 or more"
            fits = type(value) in (int, float) and 0 <= value < math.inf
        else:
            continue
        if not fits:
            raise ValueError(f"{field.name} must be {wanted}, got {str(value)[:40]}")


@dataclass(frozen=True)
class ModelConfig:
    """Say everything that is needed to build a language model; lengths in tokens. Raises ValueError for a bad field."""

    n_token: int
    n_layer: int = 4
    n_head: int = 8
    d_model: int = 128
    d_inner: int = 512
    positions: str = "learned"  # "learned" (the article), "sinusoid" (the paper) or "absolute" (the baseline)
    max_len: int = 256  # half width of the learned table
    clamp_len: int | None = None
    segment_len: int = 128
    mem_len: int = 128
    dropout: float = 0.05

    def __post_init__(self):
        check_fields(self, may_be_zero=("mem_len",))
        if self.positions not in POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(POSITIONS)}, got {str(self.positions)[:40]}")
        if self.clamp_len is not None and not (type(self.clamp_len) is int and self.clamp_len >= 0):
            raise ValueError(f"clamp_len must be a whole number from 0, or absent, got {str(self.clamp_len)[:40]}")
        if self.d_model % self.n_head:
            raise ValueError(
                f"d_model must be a multiple of n_head, got d_model={self.d_model} and n_head={self.n_head}"
            )
        if self.positions != "learned" and self.d_model % 2:
            raise ValueError(f"a sinusoid needs an even d_model, got {self.d_model}")
        if self.dropout >= 1:
            raise ValueError(f"dropout must be below 1, got {self.dropout}")

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_head

    @property
    def piecewise(self) -> bool:
        """Say whether a text read in pieces, each with all before it as memory, is the same text."""
        return self.positions != "absolute"

    @property
    def n_parameters(self) -> int:
        """Count the parameters of the model, so that a file can be held to it before anything is allocated."""
        d_model, d_inner = self.d_model, self.d_inner
        layer = 4 * (d_model + 1) * d_model + (d_model + 1) * d_inner + (d_inner + 1) * d_model + 4 * d_model
        if self.positions != "absolute":  # u, v, w_k_pos, and a table that is learned
            d_pos = self.d_head if self.positions == "learned" else d_model
            layer += 2 * d_model + d_pos * d_model
        if self.positions == "learned":
            layer += (2 * self.max_len - 1) * self.d_head
        return self.n_layer * layer + self.n_token * (d_model + 1)


@dataclass(frozen=True)
class Sizes:
    """Say of a model of any family what everything that looks at it must know; lengths in tokens.

    n_token is 0 for a model that reads hidden states and not tokens. `max_len` is the half width of a learned table.
    """

    n_layer: int
    n_head: int
    d_model: int
    d_head: int
    n_token: int = 0
    positions: str = "sinusoid"
    max_len: int = 1
    clamp_len: int | None = None
    segment_len: int = 128
    mem_len: int = 0
    piecewise: bool = True  # whether a text read in pieces, each with all before it as memory, is the same text

    def __post_init__(self):
        check_fields(self, may_be_zero=("n_token", "mem_len"))


@dataclass(frozen=True)
class TrainConfig:
    """Say how to train; `batch` counts parallel streams of the text."""

    steps: int = 4000
    batch: int = 16
    lr: float = 4e-3
    warmup: int = 200
    final_lr_share: float = 0.02
    weight_decay: float = 0.1
    clip: float = 1.0
    seed: int = 0
    mask_order: str = "after"  # these three are the parts of a MaskRule: a model can be trained with a mask that leaks
    mask_fill: str = "-inf"
    mask_fault: str = "none"

    def __post_init__(self):
        check_fields(self, may_be_zero=("warmup", "seed"))

    def lr_at(self, step: int) -> float:
        """Give the learning rate of a step: linear up over `warmup` steps, then cosine to final_lr_share * lr."""
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        done = (step - self.warmup) / max(self.steps - self.warmup, 1)
        return self.lr * (self.final_lr_share + (1 - self.final_lr_share) * 0.5 * (1 + math.cos(math.pi * done)))
