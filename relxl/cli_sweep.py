"""The command `relxl sweep`: many measurements on many processes, or on the machines of a Dask scheduler; one table.

No process outlives the command: at Ctrl-C it ends its workers itself, and a worker whose parent is gone, killed even,
ends by itself.
"""

import argparse
import io
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

from relxl.experiments.max_len_cli import add_max_len

SUFFIXES = (".parquet", ".csv")
ANSWER_SECONDS = 10  # a scheduler, and one worker of it, must be there by then


def add_sweep(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("sweep", help="measure many variants of a model, on all cores or on a Dask cluster")
    subjects = parser.add_subparsers(required=True, metavar="WHAT")
    scale = subjects.add_parser("init-scale", help="what the initial standard deviations make of a layer's scores")
    scale.add_argument(
        "--scales",
        required=True,
        help="standard deviations apart by commas, such as 0.002,0.02,0.2 (the article: 0.02)",
    )
    scale.add_argument("--seeds", default="0", help="seeds apart by commas (default: %(default)s)")
    scale.add_argument("--lengths", default="128", help="tokens, apart by commas (default: %(default)s)")
    scale.add_argument("--d-model", type=int, default=128, help="width of the input (default: %(default)s)")
    scale.add_argument("--n-head", type=int, default=8, help="heads (default: %(default)s)")
    scale.add_argument(
        "--positions", choices=("learned", "sinusoid"), default="learned", help="the table (default: %(default)s)"
    )
    scale.add_argument(
        "--scaled",
        default="table,w_k_pos,u,v,qk",
        help="what gets the scale, apart by commas; all else keeps 0.02 (default: %(default)s)",
    )
    scale.add_argument("--out", type=Path, required=True, help=f"{' or '.join(SUFFIXES)} to write, a row a head")
    where = scale.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, help="processes, each with one torch thread (default: a core each)")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers have relxl"
    )
    scale.set_defaults(run=run_init_scale)
    add_max_len(subjects)


def run_init_scale(options: argparse.Namespace) -> int:
    if options.out.suffix not in SUFFIXES or options.out.is_dir():
        raise ValueError(f"--out {options.out}: give a file that ends in {' or '.join(SUFFIXES)}")
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers must be 1 or more, got {options.workers}")
    scales, seeds, lengths = (
        numbers(options, name, kind) for name, kind in (("scales", float), ("seeds", int), ("lengths", int))
    )

    from relxl.experiments.init_scale import InitSettings
    from relxl.experiments.init_sweep import sweep_item, sweep_rows

    settings = InitSettings(d_model=options.d_model, n_head=options.n_head, positions=options.positions)
    items = sweep_rows(settings, scales, seeds, lengths, options.scaled.split(","))
    options.out.parent.mkdir(parents=True, exist_ok=True)  # what can not be written shall not be found out at the end
    if options.scheduler:
        executor = scheduler_executor(options.scheduler)
    else:
        executor = local_executor(min(options.workers or usable_cores(), len(items)))
    with executor as executor:
        parts = run_items(executor, sweep_item, items)
    n_rows = write_table(options.out, parts)
    print(f"{options.out}: {n_rows} rows, {len(items)} measurements of {options.n_head} heads")
    return 0


def numbers(options: argparse.Namespace, name: str, kind: type) -> list:
    """Read numbers apart by commas, each once, in the order given. Raises ValueError."""
    text = getattr(options, name)
    try:
        return list(dict.fromkeys(kind(part) for part in text.split(",")))
    except ValueError:
        whole, example = ("whole numbers", "0,1,2") if kind is int else ("numbers", "0.002,0.02,0.2")
        raise ValueError(f"--{name} {text[:40]!r}: give {whole} apart by commas, such as {example}") from None


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_items(executor: Executor, function: Callable, items: Sequence) -> list:
    """Map a function over items, telling on stderr how many are done; results in the order of the items."""
    with interrupts_held():  # a process that is started now starts with Ctrl-C held, and keeps it so
        futures = [executor.submit(function, item) for item in items]
    for done, future in enumerate(as_completed(futures), start=1):
        future.result()
        print(f"\rrelxl: {done}/{len(items)} measured ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [future.result() for future in futures]


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep a Ctrl-C for after the block, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Where it runs --------------------------------------------------------------------------------------------------------


@contextmanager
def local_executor(workers: int) -> Iterator[Executor]:
    """Run on processes of this machine; whatever ends the block ends them."""
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), start_worker)
    try:
        yield executor
    except BaseException as error:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise ValueError(
                "a worker process was ended from outside, perhaps for want of memory: try fewer --workers"
            ) from None
        raise
    finally:
        executor.shutdown()


def start_worker() -> None:
    """Prepare a process for work: it ends when its parent does, leaves Ctrl-C to it, and has one torch thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=end_with, args=(multiprocessing.parent_process().sentinel,), daemon=True).start()
    import torch

    torch.set_num_threads(1)


def end_with(sentinel: int) -> None:
    """End this process as soon as the one behind the sentinel is gone."""
    wait([sentinel])
    os._exit(1)


@contextmanager
def scheduler_executor(address: str) -> Iterator[Executor]:
    """Run on the workers of a Dask scheduler; what is not done when the block ends is cancelled.

    Raises ValueError where dask, the scheduler or its workers are not there, or an item fails on a worker.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs Dask, which is not installed: pip install 'dask[distributed]'") from None
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler {address}: no Dask scheduler answers there ({first_line(error)})") from None
    with client:
        executor = client.get_executor()
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
            yield executor
        except Exception as error:
            raise ValueError(
                f"--scheduler {address}: {type(error).__name__}, {first_line(error)}: its workers must be running and "
                "have this version of relxl"
            ) from None
        finally:
            executor.shutdown(wait=False)


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:120]


# What is written ------------------------------------------------------------------------------------------------------


def write_table(path: Path, parts: Sequence[dict[str, list]]) -> int:
    """Write columns that come in parts as one table, whole or not at all, by the ending of the name; give its rows."""
    import pandas as pd

    from relxl.files import write_atomic

    table = pd.DataFrame({name: [value for part in parts for value in part[name]] for name in parts[0]})
    if path.suffix == ".csv":
        data = table.to_csv(index=False).encode()
    else:
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        data = buffer.getvalue()
    write_atomic(path, data)
    return len(table)
