"""Train the same model from several initial scales side by side, and say how much a loss oscillates.

The article (section 4.4) advises to watch the first 2,000 steps and, where the loss oscillates, to halve the scale and
try again. Here that is a measure of a curve and a comparison of two.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from relxl.config import ModelConfig, TrainConfig
from relxl.experiments.init_scale import PARAMETERS, InitSettings, rescale_init, scale_settings
from relxl.training import TrainState, make_optimizer, start, train_steps

MOST_STEPS = 2000
FEWEST_SCALES, MOST_SCALES = 2, 6
NOTICEABLE = 0.05  # of an oscillation score: another seed alone moves it by some 2 %


@dataclass(frozen=True)
class ScaleProgress:
    """Say which scale has just made a step, and what all have lost so far: nats per token, a value a step."""

    scale: float
    step: int
    losses: dict[float, tuple[float, ...]]


def train_scales(
    config: ModelConfig,
    train: TrainConfig,
    tokens: Tensor,
    scales: Sequence[float],
    scaled: Sequence[str] = PARAMETERS,
) -> Iterator[ScaleProgress]:
    """Train a model a scale on `tokens` [token], step by step in turn, yielding after every step of each.

    All have the draws of train.seed, the same batches and the same dropout; they differ in the scale of the parameters
    `scaled` alone (see `rescale_init`). A curve does not depend on what else is trained beside it: that of 0.02 is the
    one of `relxl train`. The generator that torch shares is left as it was. Raises ValueError, before the first step,
    for fewer than 2 or more than 6 scales, for one that is not above 0, for more than 2,000 steps, and for a model
    without relative attention.
    """
    scales = [float(scale) for scale in scales]
    if not FEWEST_SCALES <= len(set(scales)) == len(scales) <= MOST_SCALES:
        raise ValueError(f"give {FEWEST_SCALES} to {MOST_SCALES} different scales, got {scales}")
    if bad := [scale for scale in scales if not 0 < scale < math.inf]:
        raise ValueError(f"a scale must be a finite number above 0, got {bad[0]}")
    if train.steps > MOST_STEPS:
        raise ValueError(f"the start of a training has at most {MOST_STEPS} steps here, got steps={train.steps}")
    runs = {scale: start_scaled(config, train, scale, scaled) for scale in scales}
    return advance(runs, tokens, train)


def start_scaled(
    config: ModelConfig, train: TrainConfig, scale: float, scaled: Sequence[str] = PARAMETERS
) -> tuple[TrainState, Tensor]:
    """Make what `start` makes, rescaled, and the state of the generator with which its training goes on."""
    with torch.random.fork_rng(devices=[]):
        state = start(config, train)
        rng = torch.get_rng_state()
    model = rescale_init(state.model, scale_settings(InitSettings(), scale, scaled).stds)
    return replace(state, model=model, optimizer=make_optimizer(model, train)), rng


def advance(
    runs: dict[float, tuple[TrainState, Tensor]], tokens: Tensor, train: TrainConfig
) -> Iterator[ScaleProgress]:
    """Let every run make a step in turn, each with its own state of the generator."""
    steps = {scale: train_steps(state, tokens, train) for scale, (state, _) in runs.items()}
    rngs = {scale: rng for scale, (_, rng) in runs.items()}
    for step in range(1, train.steps + 1):
        for scale in runs:
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(rngs[scale])
                next(steps[scale])
                rngs[scale] = torch.get_rng_state()
            losses = {other: tuple(state.losses) for other, (state, _) in runs.items()}
            yield ScaleProgress(scale, step, losses)


def oscillation_score(losses: Sequence[float]) -> float:
    """Say how far a loss strays from going down only, as a share of what it went down.

    score = rms(losses - fit) / (fit[first] - fit[last]), fit the non-increasing curve nearest to the losses in squares.

    0 for a loss that never rises, however fast or slow it falls; about a / drop for one that swings by a around its
    way down, with any period. The same for losses * a + b. Noise from batch to batch counts too: compare scores of the
    same batches only. Infinite for a loss that did not fall, or that left the finite numbers; NaN for fewer than three.
    """
    losses = np.asarray(losses, dtype=np.float64)
    if len(losses) < 3:
        return math.nan
    if not np.isfinite(losses).all():
        return math.inf
    fit = falling_fit(losses)
    drop = fit[0] - fit[-1]
    return float(np.sqrt(np.mean((losses - fit) ** 2)) / drop) if drop > 0 else math.inf


def falling_fit(losses: np.ndarray) -> np.ndarray:
    """Fit the non-increasing curve nearest to the losses in squares: [step] -> [step].

    Neighbours that rise are pooled to their mean until nothing rises.
    """
    pools: list[tuple[float, int]] = []  # (mean, steps), falling
    for loss in losses:
        mean, count = float(loss), 1
        while pools and pools[-1][0] < mean:
            before, steps = pools.pop()
            mean, count = (before * steps + mean * count) / (steps + count), steps + count
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


@dataclass(frozen=True)
class Halving:
    """Say what halving an initial scale did to the oscillation of the loss, over the steps that both have made."""

    scale: float
    score: float
    half_score: float

    @property
    def lowered(self) -> bool:
        """Say whether halving took away more than another seed might."""
        return self.by > NOTICEABLE

    @property
    def by(self) -> float:
        """Give the share of the score that halving took away: negative where it added to it, NaN where unknown."""
        if math.isinf(self.score):
            return math.nan if math.isinf(self.half_score) else 1.0
        return 1 - self.half_score / self.score if self.score else math.nan


def halve_it(losses: Mapping[float, Sequence[float]], scale: float) -> Halving:
    """Check the article's advice on the losses of `scale` and of half of it: "if it oscillates, halve the scale".

    Raises ValueError where the losses of either are not there.
    """
    found = {}
    for wanted in (scale, scale / 2):
        names = [name for name in losses if math.isclose(name, wanted, rel_tol=1e-6)]
        if not names:
            raise ValueError(f"the losses of scale {wanted:g} are not there, only those of {sorted(losses)}")
        found[wanted] = losses[names[0]]
    steps = min(map(len, found.values()))
    return Halving(scale, *(oscillation_score(curve[:steps]) for curve in found.values()))
