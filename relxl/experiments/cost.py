"""Measure what the explicit position tensor costs beside projecting the table first, in time and in memory.

Both make the two position terms of one self attention, content_position and v_bias, from the same table R [2L-1 d_pos]:

    explicit       copy R out for every cell, rel_emb [L L d_pos], project it, pos_proj [L L head d_head], and multiply
    table_first    project the table once, position_key [head 2L-1 d_head], multiply, and read the product as a view

Memory is what torch hands out: its profiler notes every block that its allocator gives and takes back during one call,
and the largest sum of the blocks held at a time counts. That is the same number on every machine, on Windows too.
`python -m relxl.experiments.cost 64,128` prints the rows; `measure_apart` runs just that, so that a server neither
grows nor falls with it.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import NamedTuple

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from relxl.definition import explicit_position_scores
from relxl.positions import project_positions
from relxl.relative import relative_pairs

ROOT = Path(__file__).parents[2]
N_HEAD, D_HEAD, D_POS = 8, 32, 64  # what is measured; with them rel_emb is 67 MB and pos_proj 268 MB at length 512
LENGTHS = (64, 128, 256, 512, 1024)
LONGEST_EXPLICIT = 512  # 0.6 GB there, 2.4 GB at 1024
HEARTBEAT = 0.2  # seconds


class Held(NamedTuple):
    """Hold a tensor that a method can not do without."""

    method: str
    name: str
    shape: tuple[int, ...]
    bytes: int


def held_tensors(
    length: int, n_head: int = N_HEAD, d_head: int = D_HEAD, d_pos: int = D_POS, itemsize: int = 4
) -> list[Held]:
    """Name what each method makes in one layer, by formula; the table R itself is the input of both.

    `rel_emb` is shared by the heads; what grows with them is the projected tensor.
    """
    distances = 2 * length - 1
    shapes = [
        ("explicit", "rel_emb", (length, length, d_pos)),
        ("explicit", "pos_proj", (length, length, n_head, d_head)),
        ("explicit", "content_position", (n_head, length, length)),
        ("explicit", "v_bias", (n_head, length, length)),
        ("table_first", "position_key", (n_head, distances, d_head)),
        ("table_first", "q · position_key", (n_head, length, distances)),
        ("table_first", "v_bias", (n_head, distances)),
    ]
    return [Held(method, name, shape, math.prod(shape) * itemsize) for method, name, shape in shapes]


def formula_bytes(method: str, length: int) -> int:
    return sum(held.bytes for held in held_tensors(length) if held.method == method)


class Inputs(NamedTuple):
    """Hold what both methods start from: query_len = key_len = L, batch 1."""

    query: Tensor  # [1 head query d_head]
    table: Tensor  # R [2L-1 d_pos], distances L-1 to -(L-1)
    w_k_pos: Tensor  # [head d_pos d_head]
    v: Tensor  # [head d_head]


def make_inputs(length: int) -> Inputs:
    """Draw float32 inputs of one length, the same ones every time."""
    generator = torch.Generator().manual_seed(length)
    shapes = (1, N_HEAD, length, D_HEAD), (2 * length - 1, D_POS), (N_HEAD, D_POS, D_HEAD), (N_HEAD, D_HEAD)
    return Inputs(*(torch.randn(shape, generator=generator) for shape in shapes))


def explicit(x: Inputs) -> tuple[Tensor, Tensor]:
    """Give content_position [batch head query key] and v_bias [head query key] by way of rel_emb."""
    length = x.query.shape[2]
    token = torch.arange(length)
    return explicit_position_scores(x.query, x.table[length - 1 - token[:, None] + token], x.w_k_pos, x.v)


def table_first(x: Inputs) -> tuple[Tensor, Tensor]:
    """Give content_position [batch head query key] as a view, and v_bias [head distance]."""
    position_key = project_positions(x.table, x.w_k_pos)
    pairs = relative_pairs(x.query.shape[2], x.query.shape[2])
    return pairs.read(x.query @ position_key.mT), torch.bmm(x.v[:, None], position_key.mT).squeeze(1)


METHODS: dict[str, Callable[[Inputs], tuple[Tensor, Tensor]]] = {"explicit": explicit, "table_first": table_first}


@dataclass(frozen=True)
class Row:
    """Hold what was measured of one method at one length."""

    method: str
    length: int
    ms: float  # median of rounds
    bytes_formula: int
    bytes_measured: int  # most that torch's allocator held at a time, without the inputs
    difference: float  # largest from the explicit form, in any score; NaN where that was not run
    largest_score: float


def planned(lengths: Sequence[int] = LENGTHS) -> list[tuple[str, int]]:
    """Name what is measured, in this order; the explicit form only as far as its memory allows."""
    return [(name, n) for n in lengths for name in METHODS if name == "table_first" or n <= LONGEST_EXPLICIT]


def measure_cost(lengths: Sequence[int] = LENGTHS, rounds: int = 3) -> Iterator[Row]:
    """Run both methods at `lengths`, and give a row for each as soon as it is there."""
    scores: dict[str, Tensor] = {}
    for method, length in planned(lengths):
        with torch.inference_mode():
            if method == "explicit" or length > LONGEST_EXPLICIT:
                x, scores = make_inputs(length), {}
            run = METHODS[method]
            run(x)  # buffers and threads of the matrix library are there once and for all
            peak = peak_bytes(lambda run=run, x=x: run(x))
            seconds = [clock(lambda run=run, x=x: run(x)) for _ in range(rounds)]
            scores[method] = total(run(x), length)
            known = scores.get("explicit")
            difference = math.nan if known is None else (scores[method] - known).abs().max().item()
            largest = scores[method].abs().max().item()
        ms = 1000 * statistics.median(seconds)
        yield Row(method, length, ms, formula_bytes(method, length), peak, difference, largest)


def total(terms: tuple[Tensor, Tensor], length: int) -> Tensor:
    """Add content_position and v_bias, a curve or a matrix, over the cells: [batch head query key]."""
    content_position, v_bias = terms
    return content_position + (v_bias if v_bias.dim() == 3 else relative_pairs(length, length).read_curve(v_bias))


def clock(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    made = run()
    seconds = time.perf_counter() - start
    del made  # after the clock: freeing is not computing
    return seconds


def peak_bytes(run: Callable[[], object]) -> int:
    """Give the most bytes that torch's allocator held at a time during one call, results included."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        made = run()
    del made
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["name"] == "[memory]"]
    held = highest = 0
    for event in sorted(events, key=lambda event: event["ts"]):
        held += event["args"]["Bytes"]
        highest = max(highest, held)
    return highest


def measure_apart(lengths: Sequence[int] = LENGTHS) -> Iterator[Row | None]:
    """Measure in a process of its own, on one thread: give each row as it comes, and None while none is there yet.

    Closing the generator ends the process. Raises RuntimeError when the process ends before its time.
    """
    command = [sys.executable, "-m", "relxl.experiments.cost", ",".join(map(str, lengths))]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines: Queue[str | None] = Queue()
    reader = Thread(target=pass_on, args=(process, lines), daemon=True)
    reader.start()
    try:
        while True:
            try:
                line = lines.get(timeout=HEARTBEAT)
            except Empty:
                yield None
                continue
            if line is None:
                break
            yield Row(**json.loads(line))
        if process.wait():
            raise RuntimeError(f"the measuring process ended with code {process.returncode}; was there memory enough?")
    finally:
        process.kill()
        process.wait()
        reader.join()


def pass_on(process: subprocess.Popen, lines: Queue) -> None:
    """Put every line that a process prints into a queue, and None at its end."""
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


if __name__ == "__main__":
    torch.set_num_threads(1)  # the others on this machine keep their cores
    for row in measure_cost([int(length) for length in sys.argv[1].split(",")]):
        print(json.dumps(asdict(row)), flush=True)
