"""Measure the evaluation of a text with memory beside that with recomputed windows: time and loss of the same tokens.

The ways run interleaved, a segment and its windows a round, so that whatever else the machine does hits them alike.
"""

import hashlib
import json
import shlex
import sys
import time
from pathlib import Path

import torch
from torch import Tensor

import relxl
from relxl.bench.engine import describe_machine
from relxl.bench.lengths import read_lengths
from relxl.checkpoint import Checkpoint, open_checkpoint
from relxl.experiments.max_len_cli import show_progress, validation_streams
from relxl.experiments.recurrence import Measured, counted_cost, lead_of, measure_recurrence, window_losses
from relxl.files import write_atomic

LONGEST_ABSOLUTE = 512  # tokens: places that were never trained say nothing, and reading them costs most
HOW = (
    "A text is read in segments of {segment} with a memory of `context` tokens, or through windows. window: `context` "
    "tokens recomputed for every token, and their last output used; strided: context + {segment} recomputed for every "
    "segment, and the last {segment} outputs used, so that every token sees exactly the keys that it sees with memory. "
    "ms: median {clock} of an evaluated token over {rounds} rounds, in which the ways take turns; all windows of one "
    "length cost the same, so one of a segment's {segment} is timed. ratio: to memory, round by round, then the "
    "median. counted: the same ratio in multiplications of matrix products. Losses: nats per token over the same "
    "{tokens} tokens for every row, of which {lead} tokens were read before; difference: strided minus memory, with "
    "its standard error over segments. every_token_loss: with a window for every token."
)


def bench_memory(
    folders: list[Path],
    contexts: str,
    segment_len: int,
    rounds: int,
    threads: int | None,
    text_file: Path,
    json_file: Path | None,
) -> int:
    """Measure every checkpoint at every context, print the table and write the file."""
    wanted, began = read_lengths(contexts, "--contexts"), time.monotonic()
    if threads:
        torch.set_num_threads(threads)
    text, machine = text_file.read_text(encoding="utf-8"), describe_machine()
    checkpoints = [open_checkpoint(folder) for folder in folders]
    alone = torch.get_num_threads() == 1  # then the time that others take on a busy machine can be left out
    name, clock = ("CPU time", time.thread_time) if alone else ("time", time.perf_counter)
    plan = [(it, context) for it in checkpoints for context in wanted if measurable(it, context)]
    lead, scored, rows = lead_of(max(wanted), segment_len), rounds * segment_len, []
    for place, (checkpoint, context) in enumerate(plan):
        tokens = validation_streams(checkpoint, text, lead + scored, streams=1)
        for done, so_far in measure_recurrence(checkpoint.model, tokens, context, segment_len, rounds, lead, clock):
            measured = so_far
            show_progress((place + done) / len(plan), f"{checkpoint.name}, context {context}", began)
        every = every_token_loss(checkpoint, tokens, context, lead) if context <= segment_len else None
        rows.append(row_of(checkpoint, measured) | {"every_token_loss": every})
    result = {
        "command": "python -m relxl " + shlex.join(sys.argv[1:]),
        "text": {"name": text_file.name, "sha256": hashlib.sha256(text.encode()).hexdigest()},
        "checkpoints": {checkpoint.name: checkpoint.digest for checkpoint in checkpoints},
        "how": HOW.format(segment=segment_len, rounds=rounds, tokens=scored, lead=lead, clock=name),
        "clock": name,
        "segment_len": segment_len,
        "rounds": rounds,
        "lead": lead,
        "tokens": scored,
        "machine": machine | {"relxl": relxl.__version__},
        "seconds": round(time.monotonic() - began),
        "rows": rows,
    }
    print(file=sys.stderr)
    print(table(result))
    if json_file:
        write_atomic(json_file, (json.dumps(result, ensure_ascii=False, indent=1) + "\n").encode())
    return 0


def measurable(checkpoint: Checkpoint, context: int) -> bool:
    return checkpoint.config.positions != "absolute" or context <= LONGEST_ABSOLUTE


def every_token_loss(checkpoint: Checkpoint, tokens: Tensor, window: int, lead: int) -> float:
    """Give the mean loss of the tokens after `lead` with a window recomputed for every one of them."""
    steps = window_losses(checkpoint.model, tokens, window, first=lead)
    return round(float(torch.cat([loss for *_place, loss in steps if loss is not None], dim=1).mean()), 5)


def row_of(checkpoint: Checkpoint, measured: Measured) -> dict:
    """Put what was measured of a checkpoint at one context into plain numbers."""
    counted = counted_cost(checkpoint.model, measured.context, measured.segment_len)
    difference, error = measured.difference
    row = {"checkpoint": checkpoint.name, "positions": checkpoint.config.positions, "context": measured.context}
    row |= {f"{way}_ms": round(measured.ms(way), 4) for way in measured.seconds}
    for way in ("window", "strided"):
        row[f"{way}_ratio"] = round(measured.ratio(way), 2)
        row[f"{way}_counted"] = round(counted[way] / counted["memory"], 2)
    losses = {f"{way}_loss": round(loss, 5) for way, loss in measured.loss.items()}
    missing = {"difference_error": None} if error != error else {"difference_error": round(error, 5)}
    return row | losses | {"difference": round(difference, 5)} | missing


def table(result: dict) -> str:
    """Write the rows as text, and what they say."""
    every = {row["checkpoint"]: row for row in result["rows"] if row["every_token_loss"] is not None}
    lines = [
        f"An evaluated token with `context` tokens before it, segments of {result['segment_len']}, batch 1, float32.",
        f"ms: median {result['clock']}, a token; x: times what memory costs, in time and (counted) in multiplications.",
        f"window: recomputed for every token; strided: for every {result['segment_len']} tokens, the same keys as with",
        f"memory. loss: nats per token, {result['tokens']} tokens; change: strided minus memory, +- a standard error.",
        "",
        f"{'checkpoint':21}{'context':>8}{'memory':>10}{'window':>11}{'x':>8}{'counted':>9}{'strided':>10}{'x':>7}"
        f"{'counted':>9}{'loss':>8}{'change':>20}",
    ]
    for row in result["rows"]:
        error = "-" if row["difference_error"] is None else f"{row['difference_error']:.4f}"
        lines.append(
            f"{row['checkpoint']:21}{row['context']:8}{row['memory_ms']:7.3f} ms{row['window_ms']:8.2f} ms"
            f"{row['window_ratio']:8.1f}{row['window_counted']:9.1f}{row['strided_ms']:7.3f} ms"
            f"{row['strided_ratio']:7.2f}{row['strided_counted']:9.2f}{row['memory_loss']:8.4f}"
            f"{row['difference']:+11.4f} +- {error}"
        )
    for name, row in every.items():
        lines.append(
            f"{name}: a window of {row['context']} for every token {row['every_token_loss']:.4f}, "
            f"a memory of {row['context']} {row['memory_loss']:.4f}"
        )
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    return "\n".join([*lines, "", f"{machine}, {result['seconds']} seconds"])
