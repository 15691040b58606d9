"""The sizes of a model and of a training run. Free of torch, so that a command line or a page can read them at once."""

import math
from dataclasses import dataclass

POSITIONS = ("learned", "sinusoid", "absolute")


@dataclass(frozen=True)
class ModelConfig:
    """Say everything that is needed to build a language model; lengths in tokens."""

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

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_head


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

    def lr_at(self, step: int) -> float:
        """Give the learning rate of a step: linear up over `warmup` steps, then cosine to final_lr_share * lr."""
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        done = (step - self.warmup) / max(self.steps - self.warmup, 1)
        return self.lr * (self.final_lr_share + (1 - self.final_lr_share) * 0.5 * (1 + math.cos(math.pi * done)))
