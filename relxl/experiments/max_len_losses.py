"""Beyond the training length: what a trained model loses or gains at longer segments and memories, by reading.

Every cell of the grid (variant, segment_len, mem_len) is measured on the same characters, each with a full memory, so
that cells may be subtracted character by character. `length_losses` yields after every piece of a segment: whoever
drives it shows progress, or stops.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.experiments.max_len_variants import Variant, variant_of
from relxl.model import TransformerXL, join_mems
from relxl.reading import with_positions
from relxl.trace import PIECE_LEN
from relxl.training import token_loss

if TYPE_CHECKING:
    import pandas as pd

STREAMS = 4
PIECE_CELLS = 1 << 19  # scores a head that a piece may have, over the batch: some tenths of a second
BLOCK_LEN = 1024  # characters whose mean is one observation of the standard error
BIN_LEN = 32  # positions of a segment that are averaged


@dataclass(frozen=True)
class LengthLoss:
    """Hold the loss of every scored character under one variant at one segment and memory length, in nats."""

    variant: str
    segment_len: int
    mem_len: int
    lead: int  # characters of every stream that were read before the first scored one
    losses: np.ndarray  # [stream character] float32

    @property
    def loss(self) -> float:
        return float(self.losses.mean(dtype=np.float64))

    @property
    def position(self) -> np.ndarray:
        """Give the place of each character in its segment: [character] int."""
        return (self.lead + np.arange(self.losses.shape[1])) % self.segment_len


def spread_streams(tokens: Tensor, characters: int, streams: int = STREAMS) -> Tensor:
    """Take about `characters` tokens from all over a text [token]: [stream token], one more a stream as a target.

    The text is cut into equal streams, of each of which the beginning is taken.
    """
    stream_len, wanted = len(tokens) // streams, characters // streams + 1
    if wanted < 2 or wanted > stream_len:
        raise ValueError(
            f"{streams} streams of a text of {len(tokens)} tokens have {streams} to {streams * (stream_len - 1)} "
            f"tokens to score, but {characters} were asked for"
        )
    return tokens[: stream_len * streams].view(streams, stream_len)[:, :wanted]


def pieces_of(length: int, segment_len: int, mem_len: int, streams: int) -> Iterator[tuple[int, int, int]]:
    """Cut `length` tokens into the pieces that are read one after another: (begin, end, keys before it)."""
    for start in range(0, length, segment_len):
        stop, begin = min(start + segment_len, length), start
        while begin < stop:
            before = min(mem_len, start) + begin - start
            step = max(1, min(PIECE_LEN, PIECE_CELLS // (streams * (before + PIECE_LEN))))
            end = min(begin + step, stop)
            yield begin, end, before
            begin = end


def cost_of(length: int, segment_len: int, mem_len: int, streams: int) -> int:
    """Estimate the work of one cell of the grid, in scores."""
    return sum(
        (end - begin) * (before + 256) for begin, end, before in pieces_of(length, segment_len, mem_len, streams)
    )


def length_losses(
    model: TransformerXL | CanonicalModel,
    tokens: Tensor,
    eval_lengths: Sequence[int],
    mem_lens: Sequence[int],
    variants: Sequence[str] = ("as_trained",),
    lead: int | None = None,
) -> Iterator[tuple[float, LengthLoss | None]]:
    """Measure a model on tokens [stream token] for every variant, segment length and memory length.

    Yields (done, None) after every piece and (done, row) after every cell, done from 0 to 1. The first `lead`
    characters of a stream are read but not scored; without it so many that every memory is full and every segment
    length has begun anew. Cells that come to the same thing are measured once. Raises ValueError for sizes that leave
    nothing to score, for variants that the model can not have, and for a model that has no loss.
    """
    check_has_loss(model)
    lead = max(*eval_lengths, *mem_lens, 0) if lead is None else lead
    length = tokens.shape[1] - 1
    if min(eval_lengths) < 1 or min(mem_lens) < 0:
        raise ValueError(f"segments have 1 token or more and memories 0 or more, got {eval_lengths} and {mem_lens}")
    if not 0 <= lead < length:
        raise ValueError(
            f"streams of {length} characters leave nothing to score after the first {lead}, which fill the memory: "
            "give more characters, or shorter segments and memories"
        )
    grid = [(name, segment, memory) for name in variants for segment in eval_lengths for memory in mem_lens]
    cells = {}
    for name, segment, memory in grid:
        variant = variant_of(name, model.config, segment + memory - 1)
        window = variant.rule_of(model, memory).window
        cells[name, segment, memory] = (variant, segment, memory if window is None else min(memory, window - 1))
    models = {variant: with_positions(model, variant.reading) for variant, _, _ in cells.values()}  # refuses at once
    work = {cell: cost_of(length, cell[1], cell[2], len(tokens)) for cell in cells.values()}
    total, did, known = sum(work.values()), 0, {}
    for (name, segment, memory), cell in cells.items():
        if cell not in known:
            variant, _, seen = cell
            losses = torch.empty(len(tokens), length)
            for begin, end, loss in cell_losses(models[variant], tokens, segment, seen, variant):
                losses[:, begin:end] = loss
                yield (did + work[cell] * end / length) / total, None
            did += work[cell]
            known[cell] = losses[:, lead:].numpy()
            known[cell].flags.writeable = False
        yield did / total, LengthLoss(name, segment, memory, lead, known[cell])


def check_has_loss(model: TransformerXL | CanonicalModel) -> None:
    """Raise ValueError for a model without tokens, and for one that sees the token that it should predict."""
    if not model.config.n_token:
        raise ValueError(
            "this model reads hidden states and predicts no token, so it has no loss: open a language model"
        )
    if model.rule_at(0).sees == "both":
        raise ValueError(
            "this model sees both sides, the token that it should predict too, so its loss on the next token says "
            "nothing: open a causal model"
        )


@torch.no_grad()
def cell_losses(
    model: TransformerXL | CanonicalModel,
    tokens: Tensor,
    segment_len: int,
    mem_len: int,
    variant: Variant = Variant(),  # noqa: B008
) -> Iterator[tuple[int, int, Tensor]]:
    """Read tokens [stream token] in segments, piece by piece: (begin, end, loss [stream end-begin]).

    A piece whose memory is everything before it in the segment gives what the whole segment gives: absolute positions
    too, because a segment is embedded at once and so counted from its own start. A family that starts with a memory of
    zeros does so here, with mem_len of them.
    """
    length, x, rule = tokens.shape[1] - 1, None, None
    mems, zeros = first_memory(model, len(tokens), mem_len), starts_with_zeros(model)
    for begin, end, before in pieces_of(length, segment_len, mem_len, len(tokens)):
        start = begin - begin % segment_len
        before = mem_len + begin - start if zeros else before
        if begin == start:
            x = model.embed(tokens[:, start : min(start + segment_len, length)])
            mems = [x[:, :0]] * len(model.layers) if mems is None else mems
            mems = [layer[:, layer.shape[1] - before :] for layer in mems]
            rule = variant.rule_of(model, before)
        output = model.read(x[:, begin - start : end - start], mems, rule=rule)
        mems = join_mems(mems, output.hidden)
        yield begin, end, token_loss(output.output_logits, tokens[:, begin + 1 : end + 1])


def starts_with_zeros(model: TransformerXL | CanonicalModel) -> bool:
    return getattr(model, "starts_with_zeros", False)


def first_memory(model: TransformerXL | CanonicalModel, streams: int, mem_len: int) -> list[Tensor] | None:
    """Give the memory before the first segment of a model that is used with mem_len; None: an empty one."""
    if not starts_with_zeros(model) or not mem_len:
        return None
    return replace(model, config=replace(model.config, mem_len=mem_len)).first_mems(streams)


# Tables --------------------------------------------------------------------------------------------------------------


def mean_and_error(losses: np.ndarray, selected: np.ndarray | None = None) -> tuple[float, float]:
    """Give the mean of losses [stream character], and its standard error over blocks of about BLOCK_LEN characters.

    Neighbouring characters are not independent, so a block counts as one observation. `selected` [character] bool.
    """
    length = losses.shape[1]
    selected = np.ones(length, dtype=bool) if selected is None else selected
    mean = float(losses[:, selected].mean(dtype=np.float64))
    parts = np.array_split(np.arange(length), max(1, length // BLOCK_LEN))
    blocks = [losses[:, part[selected[part]]].mean(1, dtype=np.float64) for part in parts if selected[part].any()]
    blocks = np.concatenate(blocks)
    return mean, float(blocks.std(ddof=1) / math.sqrt(len(blocks))) if len(blocks) > 1 else math.nan


def loss_rows(rows: Sequence[LengthLoss], home: LengthLoss | None = None, bin_len: int | None = None) -> list[dict]:
    """Put measured cells into plain rows: one a cell, and with `bin_len` one for every bin of positions in the segment.

    begin .. end are the positions in the segment; `change` is the loss minus that of `home` on the same characters,
    with its standard error.
    """
    table = []
    for row in rows:
        length, position = row.segment_len, row.position
        bins = [(0, length)]
        if bin_len and bin_len < length:
            bins += [(begin, min(begin + bin_len, length)) for begin in range(0, length, bin_len)]
        for begin, end in bins:
            selected = (position >= begin) & (position < end)
            if not selected.any():
                continue
            loss, error = mean_and_error(row.losses, selected)
            change = (math.nan, math.nan) if home is None else mean_and_error(row.losses - home.losses, selected)
            table.append({
                "variant": row.variant,
                "segment_len": length,
                "mem_len": row.mem_len,
                "begin": begin,
                "end": end,
                "characters": int(selected.sum()) * len(row.losses),
                "loss": loss,
                "loss_error": error,
                "change": change[0],
                "change_error": change[1],
            })  # fmt: skip
    return table


def loss_table(rows: Sequence[LengthLoss], home: LengthLoss | None = None, bin_len: int | None = None) -> pd.DataFrame:
    """Put measured cells into a table for a person; see `loss_rows`."""
    import pandas as pd

    return pd.DataFrame(loss_rows(rows, home, bin_len))


def to_csv(table: list[dict]) -> bytes:
    """Write plain rows as CSV, numbers to 5 places, nothing where a number is missing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({name: cell_text(value) for name, value in row.items()})
    return text.getvalue().encode()


def cell_text(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.5f}"
    return value
