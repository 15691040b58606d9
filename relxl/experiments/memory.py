"""Read a text segment by segment with cached memory, and measure what a shorter memory costs.

`segment_trace` gives any segment as the model meets it, `loss_by_memory` yields after every piece that is read: whoever
drives it shows progress, or stops.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.experiments.max_len_losses import LengthLoss, first_memory, length_losses, mean_and_error
from relxl.model import TransformerXL, join_mems
from relxl.split import to_numpy
from relxl.trace import NO_TOKEN, PIECE_LEN, Trace
from relxl.training import token_loss

MEMORIES = (0, *(1 << n for n in range(11)))  # 0 to 1,024
SURE = 2  # standard errors that a difference must have to be called one


def segment_starts(n_tokens: int, segment_len: int) -> list[int]:
    """Cut a text into segments that end with it: the first token of each; the first segment may be shorter."""
    first = n_tokens % segment_len or min(segment_len, n_tokens)
    return [0, *range(first, n_tokens, segment_len)]


@torch.no_grad()
def segment_trace(
    model: TransformerXL | CanonicalModel, tokens: Tensor, segment: int, segment_len: int, mem_len: int
) -> Trace:
    """Read tokens [batch token] segment by segment, and give the run of one: its memory is what the others left.

    A layer's memory is made of the layer below, so only as many segments are read before it as there are layers (times
    the segments that a memory spans); what came earlier can not change a number. Raises ValueError for a segment that
    is not there, and for a model that reads hidden states.
    """
    starts = segment_starts(tokens.shape[1], segment_len)
    if not model.config.n_token:
        raise ValueError("this model reads hidden states, so there is no text to cut into segments: use run_hidden")
    if not 0 <= segment < len(starts):
        raise ValueError(f"segment {segment} was asked for, but this text has the segments 0 to {len(starts) - 1}")
    ends = [*starts[1:], tokens.shape[1]]
    depth = model.config.n_layer * max(-(-mem_len // segment_len), 1)
    begun = max(segment - depth, 0)
    hidden = first_memory(model, len(tokens), mem_len)
    shown = np.full((len(tokens), 0 if hidden is None else mem_len), NO_TOKEN)
    for start, end in zip(starts[begun : segment + 1], ends[begun : segment + 1], strict=True):
        kept = max(shown.shape[1] - mem_len, 0)
        mems = hidden if hidden is None else [layer[:, kept:] for layer in hidden]
        before = shown.shape[1] - kept
        hidden, output_logits = read_segment(model, tokens[:, start:end], mems, before)
        shown = np.concatenate([shown[:, kept:], to_numpy(tokens[:, start:end])], axis=1)
    return Trace(model, shown, before, model.config.clamp_len, tuple(hidden), output_logits)


def read_segment(
    model: TransformerXL | CanonicalModel, tokens: Tensor, mems: Sequence[Tensor] | None, mem_len: int
) -> tuple[list[Tensor], np.ndarray]:
    """Read one segment [batch query] over a memory: what each layer reads, memory included, and the output logits.

    In pieces where a text read in pieces is the same text: never more than [head PIECE_LEN key] scores at once.
    """
    x, rule, output_logits = model.embed(tokens), model.rule_at(mem_len), []
    step = PIECE_LEN if model.config.piecewise else x.shape[1]
    hidden = [x[:, :0]] * len(model.layers) if mems is None else mems
    for begin in range(0, x.shape[1], step):
        output = model.read(x[:, begin : begin + step], hidden, rule=rule)
        hidden = join_mems(hidden, output.hidden)
        output_logits.append(output.output_logits)
    return hidden, to_numpy(torch.cat(output_logits, dim=1))


@torch.no_grad()
def token_losses(trace: Trace, targets: Tensor) -> np.ndarray:
    """Give the loss of every query of a run whose next token is known, in nats: targets [batch query'] -> the same."""
    logits = torch.from_numpy(np.array(trace.output_logits[:, : targets.shape[1]]))
    return to_numpy(token_loss(logits, targets))


def loss_by_memory(
    model: TransformerXL | CanonicalModel,
    tokens: Tensor,
    lengths: Sequence[int] = MEMORIES,
    segment_len: int | None = None,
    lead: int | None = None,
) -> Iterator[tuple[float, LengthLoss | None]]:
    """Measure a model on tokens [stream token] with its memory cut to each of `lengths`, on the same tokens.

    Yields (done, None) after every piece and (done, row) after every length; see `length_losses`, which measures. The
    segment is the model's own where none is given.
    """
    segment_len = model.config.segment_len if segment_len is None else segment_len
    yield from length_losses(model, tokens, [segment_len], lengths, lead=lead)


def effective_memory(rows: Sequence[LengthLoss], tolerance: float = 0.005) -> int:
    """Give the shortest measured memory that a longer one does not improve by more than `tolerance` nats a token.

    An improvement that is below two standard errors, token by token, counts as none.
    """
    rows = sorted(rows, key=lambda row: row.mem_len)
    for place, row in enumerate(rows):
        gains = [mean_and_error(row.losses - longer.losses) for longer in rows[place + 1 :]]
        if all(gain <= max(tolerance, SURE * np.nan_to_num(error)) for gain, error in gains):
            return row.mem_len
    return rows[-1].mem_len
