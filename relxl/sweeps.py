"""What every sweep needs: lists of numbers from a command line, processes or a Dask scheduler, and one table out.

No process outlives the block that started it: at Ctrl-C it ends its workers itself, and a worker whose parent is gone,
killed even, ends by itself.
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
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

SUFFIXES = (".parquet", ".csv")
ANSWER_SECONDS = 10  # a scheduler, and one worker of it, must be there by then


# What is asked for ----------------------------------------------------------------------------------------------------


def add_where(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a sweep runs."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, help="processes, each with one torch thread (default: a core each)")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers have relxl"
    )


def check_out(path: Path) -> None:
    """Make sure that a table can be written, before anything is measured. Raises ValueError."""
    if path.suffix not in SUFFIXES or path.is_dir():
        raise ValueError(f"--out {path}: give a file that ends in {' or '.join(SUFFIXES)}")
    path.parent.mkdir(parents=True, exist_ok=True)


def numbers(name: str, text: str, kind: type) -> list:
    """Read numbers apart by commas, each once, in the order given. Raises ValueError that names the option."""
    try:
        return list(dict.fromkeys(kind(part) for part in text.split(",")))
    except ValueError:
        whole, example = ("whole numbers", "0,1,2") if kind is int else ("numbers", "0.002,0.02,0.2")
        raise ValueError(f"--{name} {text[:40]!r}: give {whole} apart by commas, such as {example}") from None


# Where it runs --------------------------------------------------------------------------------------------------------


def chosen_executor(scheduler: str | None, workers: int | None, items: int) -> AbstractContextManager[Executor]:
    """Run on a scheduler where one is given, else on so many processes of this machine, no more than there are items.

    Raises ValueError for less than one worker.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"--workers must be 1 or more, got {workers}")
    return scheduler_executor(scheduler) if scheduler else local_executor(max(1, min(workers or usable_cores(), items)))


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_items(executor: Executor, function: Callable, items: Sequence) -> Iterator[tuple[int, object]]:
    """Map a function over items: (place of the item, result) as they are done, telling on stderr how many are."""
    with interrupts_held():  # a process that is started now starts with Ctrl-C held, and keeps it so
        places = {executor.submit(function, item): place for place, item in enumerate(items)}
    for done, future in enumerate(as_completed(places), start=1):
        yield places[future], future.result()
        print(f"\rrelxl: {done}/{len(items)} measured ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


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
