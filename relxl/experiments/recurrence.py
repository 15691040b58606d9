"""Evaluate with memory, or with a window that is recomputed for every token: the same losses, at what cost each?

With a memory of C tokens a text is read once, in segments of S: what every layer read at the last C tokens is kept. A
model without memory recomputes a window of C tokens and uses its last output, then moves on by one token (Dai et al.
2019, section 4.3); or it uses the last `stride` outputs and moves on by as many. A window of C + S tokens of which the
last S are used lets every token see exactly the keys that it sees with a memory of C. In a model of one layer the two
are equal. In a deeper one they are not: what lies in the memory of a layer was itself computed with a memory.

Everything yields after pieces of some tenths of a second: whoever drives it shows progress, or stops.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from relxl.canonical import CanonicalModel, SinusoidPositions
from relxl.experiments.max_len_losses import cell_losses, check_has_loss, cost_of, pieces_of
from relxl.model import AbsoluteBlock, TransformerXL
from relxl.split import to_numpy

ROUNDS = 8
PAPER = {800: 363, 1800: 773, 2800: 1409, 3800: 1874}  # table 9: context -> times slower without memory, on one GPU
WAYS = ("memory", "window", "strided")  # a window for every token; a window for every segment


def window_losses(
    model: TransformerXL | CanonicalModel, tokens: Tensor, window: int, stride: int = 1, first: int = 0
) -> Iterator[tuple[int, int, Tensor | None]]:
    """Read tokens [stream token] through windows, each from scratch, and use the last `stride` outputs of each.

    Scores the tokens after `first`, first + 1, ...: yields (begin, end, None) after every piece of a window, and after
    its last one (begin, end, loss [stream end-begin]). A window begins where the text does when there is less before
    it. Raises ValueError for a stride that is not from 1 to `window`.
    """
    if not 1 <= stride <= window:
        raise ValueError(f"a window of {window} tokens moves by 1 to {window} tokens, but {stride} were asked for")
    length = tokens.shape[1] - 1
    for begin in range(first, length, stride):
        end, start = min(begin + stride, length), max(begin + stride - window, 0)
        used = []
        for at, _end, loss in cell_losses(model, tokens[:, start : end + 1], end - start, 0):
            used.append(loss[:, max(begin - start - at, 0) :])
            yield begin, end, None
        yield begin, end, torch.cat(used, dim=1)


# Cost ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Hold what a token costs and loses with each of WAYS at one context, round by round."""

    context: int
    segment_len: int
    seconds: dict[str, np.ndarray]  # way -> [round], for each evaluated token
    losses: dict[str, np.ndarray]  # "memory" and "strided" -> [round token], the same tokens under the same keys

    def ms(self, way: str) -> float:
        """Give the median time of an evaluated token, in milliseconds."""
        return 1000 * float(np.median(self.seconds[way]))

    def ratio(self, way: str) -> float:
        """Say how many times what memory costs a way costs: the median over rounds."""
        return float(np.median(self.seconds[way] / self.seconds["memory"]))

    @property
    def loss(self) -> dict[str, float]:
        """Give the mean loss a way, in nats per token."""
        return {way: float(losses.mean(dtype=np.float64)) for way, losses in self.losses.items()}

    @property
    def difference(self) -> tuple[float, float]:
        """Give the loss of the windows minus that of the memory, and its standard error, a segment an observation."""
        rounds = (self.losses["strided"] - self.losses["memory"]).mean(1, dtype=np.float64)
        error = rounds.std(ddof=1) / len(rounds) ** 0.5 if len(rounds) > 1 else np.nan
        return float(rounds.mean()), float(error)


def lead_of(context: int, segment_len: int) -> int:
    """Give the tokens that whole segments read until a memory of `context` is full."""
    return -(-context // segment_len) * segment_len


def measure_recurrence(
    model: TransformerXL | CanonicalModel,
    tokens: Tensor,
    context: int,
    segment_len: int,
    rounds: int = ROUNDS,
    lead: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[tuple[float, Measured | None]]:
    """Time the evaluation of tokens [1 token] at one context, the ways interleaved, and compare their losses.

    A round is one segment with its memory, one window of context + segment_len tokens whose last segment_len outputs
    are used, and one of `context` tokens whose last output is used: all windows of one length cost the same, so one a
    round is timed. The memory is filled over the first `lead` tokens, which is not timed. Yields (done, None) after
    every piece and (done, what is measured so far) after every round. Raises ValueError for sizes that do not fit.
    """
    check_has_loss(model)
    lead = lead_of(context, segment_len) if lead is None else lead
    if context < 1 or segment_len < 1 or rounds < 1 or lead < context or lead % segment_len:
        raise ValueError(
            f"context, segment and rounds are 1 or more, and whole segments must fill the context, got context="
            f"{context}, segment_len={segment_len}, rounds={rounds}, lead={lead}"
        )
    length = lead + rounds * segment_len
    if len(tokens) != 1 or tokens.shape[1] < length + 1:
        raise ValueError(
            f"one text of {length + 1} tokens is needed for {rounds} segments after the first {lead}, and the shape of "
            f"the tokens is {tuple(tokens.shape)}: give a longer text, a shorter context or fewer rounds"
        )
    text, span = tokens[:, : length + 1], context + segment_len
    works = {"strided": cost_of(span, span, 0, 1), "window": cost_of(context, context, 0, 1)}
    total = (whole := cost_of(length, segment_len, context, 1)) + rounds * sum(works.values())
    did, seconds, losses = 0.0, {way: [] for way in WAYS}, {"memory": [], "strided": []}
    reading = cell_losses(model, text, segment_len, context)
    for number in range(-1, rounds):  # the first one only fills the memory
        end = lead + (number + 1) * segment_len
        steps, parts = timed(until(reading, end), clock), []
        for spent, (begin, stop, loss) in steps:
            parts.append((spent, loss))
            did += whole * (stop - begin) / length
            yield min(did / total, 1.0), None
        if number < 0:
            continue
        seconds["memory"].append(sum(spent for spent, _loss in parts) / segment_len)
        losses["memory"].append(torch.cat([loss for _spent, loss in parts], dim=1)[0])
        for way, size, stride in (("strided", span, segment_len), ("window", context, 1)):
            view, spent_all = text[:, end - size : end + 1], 0.0
            pieces = len(list(pieces_of(size, size, 0, 1))) + 1
            for spent, step in timed(window_losses(model, view, size, stride, size - stride), clock):
                spent_all, loss = spent_all + spent, step[2]
                did += works[way] / pieces
                yield min(did / total, 1.0), None
            seconds[way].append(spent_all / stride)
            if way in losses:
                losses[way].append(loss[0])
        taken = {way: np.array(values) for way, values in seconds.items()}
        scored = {way: to_numpy(torch.stack(values)) for way, values in losses.items()}
        yield min(did / total, 1.0), Measured(context, segment_len, taken, scored)


def until(steps: Iterator[tuple[int, int, Tensor]], end: int) -> Iterator[tuple[int, int, Tensor]]:
    """Take the steps of a reading up to the token `end`, and leave the rest."""
    for step in steps:
        yield step
        if step[1] >= end:
            return


def timed(steps: Iterator, clock: Callable[[], float]) -> Iterator[tuple[float, tuple]]:
    """Give the seconds that every step took, beside it; what is done with a step is not timed."""
    while True:
        start = clock()
        step = next(steps, None)
        if step is None:
            return
        yield clock() - start, step


# What it should cost -------------------------------------------------------------------------------------------------


def multiplications(model: TransformerXL | CanonicalModel, query_len: int, key_len: int) -> int:
    """Count the multiplications of the matrix products of one read of query_len queries over key_len keys.

    A layer: query_len (|W_q| + |W_o| + |FF|) + key_len (|W_k| + |W_v|) + n_distance |W_kR|, the score's four terms
    and the mixing of the values, with |W| the numbers in a matrix; then the output's n_token d_model for a query.
    """
    config, total = model.config, 0
    n_distance = query_len + key_len - 1
    for layer in model.layers:
        attn = layer.attn
        linear = [it for it in layer.ff if isinstance(it, nn.Linear)] if isinstance(layer.ff, nn.Sequential) else None
        linear = [layer.ff.first, layer.ff.second] if linear is None else linear
        w_q, w_k, w_v, w_o = (it.weight.numel() for it in (attn.w_q, attn.w_k, attn.w_v, attn.out_proj))
        width = attn.w_q.weight.shape[0]  # n_head d_head
        if isinstance(layer, AbsoluteBlock):  # content and position are projected apart: four products of them
            total += query_len * w_q + key_len * w_k + 4 * query_len * key_len * width
        else:
            total += n_distance * position_weights(attn) + query_len * (key_len + n_distance) * width
            total += key_len * width + (0 if attn.v is None else n_distance * width)
        total += query_len * (w_q + w_o + sum(it.weight.numel() for it in linear)) + key_len * (w_k + w_v)
        total += query_len * key_len * width
    return total + query_len * config.n_token * config.d_model


def position_weights(attn: nn.Module) -> int:
    """Count the numbers by which a row of R is multiplied: none where the projected rows are learned themselves."""
    positions = getattr(attn, "positions", attn)
    return positions.w_k_pos.numel() if isinstance(positions, nn.Module | SinusoidPositions) else 0


def counted_cost(model: TransformerXL | CanonicalModel, context: int, segment_len: int) -> dict[str, float]:
    """Count the multiplications of an evaluated token for each of WAYS, over the pieces in which it is read."""
    lead, span = lead_of(context, segment_len), context + segment_len
    reads = {
        "memory": [it for it in pieces_of(lead + segment_len, segment_len, context, 1) if it[0] >= lead],
        "window": list(pieces_of(context, context, 0, 1)),
        "strided": list(pieces_of(span, span, 0, 1)),
    }
    tokens = {"memory": segment_len, "window": 1, "strided": segment_len}
    return {
        way: sum(multiplications(model, end - begin, before + end - begin) for begin, end, before in pieces)
        / tokens[way]
        for way, pieces in reads.items()
    }
