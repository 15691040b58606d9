"""Measure the four-term split: time and peak memory of relxl, of its bound and of the forms that others use.

`bound` is the two matrix products that any exact split by whole products must do, into fresh outputs. Methods run
interleaved (A B C A B C), so that whatever else the machine does hits them alike. Linux only, for the peak memory.
"""

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from relxl.bench.lengths import read_lengths
from relxl.bench.methods import D_HEAD, METHODS, N_HEAD, Inputs, largest_difference, make_inputs

TOLERANCE = 1e-3  # of the largest score
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Row:
    """Hold what was measured of one method at one length."""

    method: str
    length: int
    ms: float  # median
    ratio_to_bound: float  # median over rounds of (this method / the bound in the same round)
    peak_mb: float
    max_difference: float  # from relxl, in any term


def bench_engine(
    lengths: str, rounds: int | None, threads: int | None, json_file: Path | None, plot_file: Path | None
) -> int:
    """Measure at `lengths`, print the table and write the files; 1 if a method's numbers are not relxl's."""
    wanted = read_lengths(lengths)
    if threads:
        torch.set_num_threads(threads)
    machine, rows, wrong = describe_machine(), [], []
    for length in wanted:
        print(f"measuring length {length} ...", file=sys.stderr, flush=True)
        measured, largest_score = measure(length, rounds or default_rounds(length))
        rows += measured
        wrong += [row for row in measured if not row.max_difference <= TOLERANCE * largest_score]
    print("\n".join([*table(rows, wanted), "", ", ".join(f"{name} {value}" for name, value in machine.items())]))
    if json_file:
        json_file.write_text(json.dumps({"rows": [asdict(row) for row in rows], "machine": machine}, indent=1) + "\n")
    if plot_file:
        write_plot(plot_file, rows, machine)
    for row in wrong:
        print(f"relxl: {row.method} at {row.length} differs from relxl by {row.max_difference:.2g}", file=sys.stderr)
    return int(bool(wrong))


def default_rounds(length: int) -> int:
    """Give short lengths, which are noisy, many rounds: 200 at 128, 16 at 512, 5 from 1024 on."""
    return max(5, min(200, 2**22 // length**2))


def methods_at(length: int) -> list[str]:
    return [name for name, method in METHODS.items() if length <= method.longest]


@torch.inference_mode()
def measure(length: int, rounds: int) -> tuple[list[Row], float]:
    """Measure every method at one length: the rows, and relxl's largest score."""
    x = make_inputs(length)
    inputs = {name: METHODS[name].prepare(x) for name in methods_at(length)}
    differences, largest_score = {}, 0.0
    for name in inputs:
        differences[name], largest_score = largest_difference(METHODS[name].split(inputs[name]), x)
    seconds = time_rounds(inputs, rounds)
    return [
        Row(
            method=name,
            length=length,
            ms=1000 * statistics.median(seconds[name]),
            ratio_to_bound=statistics.median(a / b for a, b in zip(seconds[name], seconds["bound"], strict=True)),
            peak_mb=peak_in_fresh_process(name, length),
            max_difference=differences[name],
        )
        for name in inputs
    ], largest_score


def time_rounds(inputs: dict[str, Inputs], rounds: int) -> dict[str, list[float]]:
    """Time every method once a round: {method: seconds of each round}.

    A method runs twice and the second run counts, so that nobody pays for the caches that another one left behind.
    """
    settle_allocator()
    seconds = {name: [] for name in inputs}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, x in inputs.items():
                split = METHODS[name].split
                split(x)
                start = time.perf_counter()
                out = split(x)
                seconds[name].append(time.perf_counter() - start)
                del out  # after the clock: freeing is not splitting
    finally:
        gc.enable()
    return seconds


def settle_allocator() -> None:
    """Bring glibc to its final state: it learns from what is freed, up to 32 MB, which blocks to keep for reuse.

    Without this the first method to free a large block changes what all later ones cost.
    """
    torch.empty(31 * 2**20, dtype=torch.uint8)


def peak_in_fresh_process(method: str, length: int) -> float:
    """Measure in a process of its own how far one split raises its memory: MB, outputs included."""
    code = f"from relxl.bench.engine import print_peak; print_peak({method!r}, {length}, {torch.get_num_threads()})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


@torch.inference_mode()
def print_peak(method: str, length: int, threads: int) -> None:
    """Print how far one split raises the high-water mark of this process, MB."""
    torch.set_num_threads(threads)
    split, prepare = METHODS[method].split, METHODS[method].prepare
    x = prepare(make_inputs(length))
    split(prepare(make_inputs(17)))  # threads and the buffers of the matrix library are there once and for all
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from what is resident now
    before = memory_mb("VmRSS")
    out = split(x)
    print(memory_mb("VmHWM") - before)
    del out


def memory_mb(field: str) -> float:
    """Read VmRSS (now) or VmHWM (highest) of this process from /proc, MB of 10^6 bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[field].split()[0]) * 1024 / 1e6


def describe_machine() -> dict:
    """Say where and with what it was measured, and how busy the machine was at the start."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "cpu": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def table(rows: Iterable[Row], lengths: list[int]) -> list[str]:
    """Lay the rows out as text: a line a method, three columns a length."""
    at = {(row.method, row.length): row for row in rows}
    lines = [
        f"Four-term split, {N_HEAD} heads x {D_HEAD}, batch 1, float32, query_len = key_len = L, positions projected.",
        "ms: median; ratio: to the bound, round by round; MB: peak above the inputs, in a fresh process.",
        "",
        " " * 16 + "".join(f"{f'L = {length}':>26}" for length in lengths) + "      largest",
        "method".ljust(16) + f"{'ms':>11}{'ratio':>8}{'MB':>7}" * len(lengths) + "   difference",
    ]
    for name, method in METHODS.items():
        found = [at.get((name, length)) for length in lengths]
        cells = "".join(
            f"{row.ms:11.3f}{row.ratio_to_bound:8.2f}{row.peak_mb:7.1f}" if row else f"{'-':>11}{'-':>8}{'-':>7}"
            for row in found
        )
        largest = max((row.max_difference for row in found if row), default=None)
        lines.append(f"{name:16}{cells}" + (f"{'-':>13}" if largest is None else f"{largest:13.1e}"))
        if None in found:
            lines.append(f"{'':16}  ({name}: up to {method.longest} only, it needs memory for [head query key d_head])")
    return lines


def write_plot(path: Path, rows: list[Row], machine: dict) -> None:
    """Draw time against length, a line a method, as one HTML file that needs no network."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name in METHODS:
        mine = [row for row in rows if row.method == name]
        figure.add_scatter(
            x=[row.length for row in mine],
            y=[row.ms for row in mine],
            customdata=[(row.ratio_to_bound, row.peak_mb) for row in mine],
            hovertemplate="L = %{x}: %{y:.3g} ms, %{customdata[0]:.2f} x bound, %{customdata[1]:.1f} MB",
            name=name,
            mode="lines+markers",
        )
    lengths = sorted({row.length for row in rows})
    figure.update_layout(
        title=f"Four-term split, {N_HEAD} heads x {D_HEAD}, float32, {machine['threads']} threads, {machine['cpu']}",
        xaxis={"type": "log", "title": "length", "tickvals": lengths, "ticktext": [str(n) for n in lengths]},
        yaxis={"type": "log", "title": "ms, median"},
        template="plotly_white",
    )
    figure.write_html(path, include_plotlyjs=True)
