"""Relative against absolute: the same small model three times, trained on the same batches, at several segment lengths.

    rows = map(measure_run, sweep_runs(settings, texts, lengths, seeds))

A run is small and frozen and its measure is columns of numbers and short texts: both go through pickle, to a process or
a machine. `train_beside` trains the three step by step in turn, to be watched. Source of the question: the article,
sections 4.6 and 5.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from relxl.config import POSITIONS, ModelConfig, TrainConfig
from relxl.experiments.init_sweep import one_thread
from relxl.experiments.max_len_losses import LengthLoss, length_losses, mean_and_error
from relxl.training import TrainState, split_tokens, start, train_steps
from relxl.vocab import Vocab

TIMES = (1, 2, 4, 8)  # the training's segment length
LAST_STEPS = 50  # whose mean loss is the training loss of a run
FIRST_EDGE = 8  # positions of the first bin; every later one is twice as long
DIGITS = 5  # that a table keeps of a number
DRAWING = Lock()  # torch's generator belongs to the process, and threads may share one


@dataclass(frozen=True)
class SweepSettings:
    """Say what all runs have in common. A step reads `step_tokens` tokens whatever the segment length."""

    n_layer: int = 2
    n_head: int = 4
    d_model: int = 64
    d_inner: int = 256
    steps: int = 800
    step_tokens: int = 512
    lr: float = 4e-3
    warmup: int = 100
    scored: int = 8192  # characters of the validation text that every measure is about
    streams: int = 2  # that they are spread over

    def model_config(self, n_token: int, positions: str, segment_len: int, memory: bool) -> ModelConfig:
        """Size a model: a learned table has a row for every distance of the training, and no more.

        Nothing is dropped out: so all three see the same numbers, and no draw depends on what else runs.
        """
        return ModelConfig(
            n_token,
            self.n_layer,
            self.n_head,
            self.d_model,
            self.d_inner,
            positions,
            max_len=segment_len * (1 + memory),
            segment_len=segment_len,
            mem_len=segment_len * memory,
            dropout=0.0,
        )

    def train_config(self, segment_len: int, seed: int) -> TrainConfig:
        """Say how to train. Raises ValueError for a segment that does not divide the tokens of a step."""
        if self.step_tokens % segment_len:
            raise ValueError(
                f"a segment must divide the {self.step_tokens} tokens of a step, got {segment_len}: give 64 or 128, say"
            )
        return TrainConfig(self.steps, self.step_tokens // segment_len, self.lr, self.warmup, seed=seed)


@dataclass(frozen=True)
class SweepText:
    """Hold a text as token ids of at most 16 bits, cut into training and validation part."""

    name: str
    n_token: int
    train: bytes
    validation: bytes


def sweep_text(name: str, text: str) -> SweepText:
    """Cut a text into tokens, a character each. Raises ValueError for more than 65,536 different characters."""
    vocab = Vocab.from_text(text)
    if len(vocab.tokens) > 1 << 16:
        raise ValueError(f"{name} has {len(vocab.tokens)} different characters, and a sweep takes up to 65536")
    parts = split_tokens(torch.tensor(vocab.encode(text).ids))
    return SweepText(name, len(vocab.tokens), *(part.numpy().astype(np.uint16).tobytes() for part in parts))


@dataclass(frozen=True)
class SweepRun:
    """Be one training of the sweep, and what is measured after it."""

    settings: SweepSettings
    text: SweepText
    positions: str
    memory: bool
    segment_len: int
    seed: int

    @property
    def facts(self) -> dict[str, str | int]:
        """Give what tells this run from the others: the first columns of its rows."""
        return {
            "text": self.text.name,
            "positions": self.positions,
            "mem_len": self.segment_len * self.memory,
            "segment_len": self.segment_len,
            "seed": self.seed,
        }


def sweep_runs(
    settings: SweepSettings, texts: Sequence[SweepText], lengths: Sequence[int], seeds: Sequence[int]
) -> list[SweepRun]:
    """List the trainings: each seed, then each text and length, without memory and with, each kind of positions.

    Raises ValueError, before anything is trained, for a length that does not fit into a step, for a text whose
    validation part is too short for TIMES of it, and for one that is too short to train on.
    """
    for text in texts:
        for length in lengths:
            settings.train_config(length, 0)
            streams, n_validation, n_train = settings.streams, len(text.validation) // 2, len(text.train) // 2
            needed = streams * (max(TIMES) * length + settings.scored // streams + 1)
            if n_validation < needed:
                raise ValueError(
                    f"{text.name}: segments of {length} need a validation part of {needed} tokens, but it has "
                    f"{n_validation}: use a longer text or a shorter segment"
                )
            if n_train < settings.step_tokens * 3:
                raise ValueError(
                    f"{text.name}: its training part has {n_train} tokens, but a step takes {settings.step_tokens} "
                    "and there must be three: use a longer text"
                )
    return [
        SweepRun(settings, text, positions, memory, length, seed)
        for seed in seeds
        for text in texts
        for length in lengths
        for memory in (False, True)
        for positions in POSITIONS
    ]


def measure_run(run: SweepRun) -> dict[str, list]:
    """Train one model and measure it at TIMES its segment length: the columns of a table.

    A row is about the positions begin .. end of a segment; the first of each length is about all of it. The memory
    stays as long as it was in training. All rows of a text score the same characters. The same run gives the same bits
    in any process, thread or executor on one kind of machine.
    """
    with one_thread():
        state = trained(run)
        losses = [row for _, row in length_losses_of(run, state.model) if row]
    rows = [row for loss in losses for row in position_rows(loss)]
    facts = run.facts | {"train_loss": round(float(np.mean(state.losses[-LAST_STEPS:])), DIGITS)}
    facts = {name: [value] * len(rows) for name, value in facts.items()}
    return facts | {name: [row[name] for row in rows] for name in rows[0]}


def trained(run: SweepRun) -> TrainState:
    train = run.settings.train_config(run.segment_len, run.seed)
    state = drawn(run.settings.model_config(run.text.n_token, run.positions, run.segment_len, run.memory), train)
    for _ in train_steps(state, ids_of(run.text.train), train):
        pass
    state.model.eval()
    return state


def drawn(config: ModelConfig, train: TrainConfig) -> TrainState:
    """Make a fresh model from the seed, whatever other threads draw, and leave torch's generator as it was."""
    with DRAWING, torch.random.fork_rng(devices=[]):
        return start(config, train)


def ids_of(data: bytes) -> Tensor:
    return torch.from_numpy(np.frombuffer(data, np.uint16).astype(np.int64))


def length_losses_of(run: SweepRun, model: torch.nn.Module) -> Iterator[tuple[float, LengthLoss | None]]:
    """Measure a model at TIMES its segment on the last characters of each stream, whatever its length."""
    settings, length = run.settings, run.segment_len
    tokens = ids_of(run.text.validation)
    stream_len = len(tokens) // settings.streams
    lead, scored = max(TIMES) * length, settings.scored // settings.streams
    streams = tokens[: stream_len * settings.streams].view(settings.streams, stream_len)[:, -(lead + scored + 1) :]
    lengths = [times * length for times in TIMES]
    return length_losses(model, streams, lengths, [length * run.memory], lead=lead)


def position_rows(loss: LengthLoss) -> list[dict[str, float | int]]:
    """Put the loss of one segment length into rows: all positions, then bins of positions that double."""
    length, position = loss.segment_len, loss.position
    edges = [0, *(FIRST_EDGE << n for n in range(length.bit_length()) if FIRST_EDGE << n < length), length]
    rows = []
    for begin, end in [(0, length), *pairwise(edges)]:
        selected = (position >= begin) & (position < end)
        if selected.any():
            mean, error = mean_and_error(loss.losses, selected)
            numbers = {"loss": mean, "loss_error": error, "perplexity": math.exp(mean)}
            places = {"eval_len": length, "begin": begin, "end": end}
            places |= {"characters": int(selected.sum()) * len(loss.losses)}
            rows.append(places | {name: round(value, DIGITS) for name, value in numbers.items()})
    return rows


# Side by side, to be watched -----------------------------------------------------------------------------------------


def train_beside(
    settings: SweepSettings, text: SweepText, segment_len: int, memory: bool, seed: int = 0
) -> Iterator[dict[str, TrainState]]:
    """Train the three kinds on the same batches step by step in turn, yielding their states after every step of one.

    Each is, to the bit, what `measure_run` trains. Raises ValueError before the first step as `sweep_runs` does.
    """
    sweep_runs(settings, [text], [segment_len], [seed])
    train = settings.train_config(segment_len, seed)
    states = {kind: drawn(settings.model_config(text.n_token, kind, segment_len, memory), train) for kind in POSITIONS}
    tokens = ids_of(text.train)

    def steps() -> Iterator[dict[str, TrainState]]:
        turns = [train_steps(state, tokens, train) for state in states.values()]
        for _ in range(settings.steps):
            for turn in turns:
                next(turn)
                yield states

    return steps()
