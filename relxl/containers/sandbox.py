"""Start the child process, give it the bytes of a file, and take no more from it than it may answer."""

import contextlib
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from relxl.containers.errors import Refused, show
from relxl.containers.limits import MAX_FACTS, MAX_HEADER, MIB, START_SECONDS, most_seconds, most_unfolded

ROOT = Path(__file__).resolve().parents[2]
START = "import sys; sys.path[:] = sys.argv[3:]; from relxl.containers.child import main; main()"
# Nothing else of the environment reaches the child; one thread, since each would map memory of its own.
PASSED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Answer:
    """Hold what the child said of a file."""

    digest: str  # sha256 of the bytes that the child was given, taken here
    container: str
    config: dict
    notes: tuple[str, ...]
    weights: bytes  # of a safetensors file that nobody has checked yet


def ask_child(job: str, file: BinaryIO, size: int) -> Answer:
    """Let the child do `job` on the next `size` bytes of `file`. Raises Refused, whatever becomes of the child."""
    with start_child(START, job, str(size)) as process:
        # The clock of the file starts here, so that a busy machine, on which an import takes long, refuses no file.
        with deadline(process, most_seconds(size)):
            digest = send(process.stdin, file, size)
            facts, weights = receive(process.stdout, most_unfolded(size) + MAX_HEADER)
        return make_answer(digest, facts, weights)


@contextlib.contextmanager
def start_child(start: str, *arguments: str) -> Iterator[subprocess.Popen]:
    """Start a process that has given up its rights and waits for a file; whatever becomes of it, it ends with this."""
    environment = {name: os.environ[name] for name in PASSED if name in os.environ} | ONE_THREAD
    paths = [str(ROOT), *(path for path in sys.path if path)]
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", start, *arguments, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
        start_new_session=True,
    )
    try:
        with deadline(process, START_SECONDS):
            if process.stdout.read(1) != b"R":
                raise Refused("can not be opened now, since the process that reads such files did not start: try again")
        yield process
    finally:
        kill(process)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what it still holds for a process that is no more
                pipe.close()


@contextlib.contextmanager
def deadline(process: subprocess.Popen, seconds: float) -> Iterator[None]:
    """Kill the process when the time is over, which ends every read from it, and say so."""
    over = threading.Event()
    timer = threading.Timer(seconds, lambda: (over.set(), kill(process, wait=False)))
    timer.daemon = True
    timer.start()
    try:
        yield
    except EOFError:
        raise Refused("took too long to read" + UNSAFE if over.is_set() else describe_end(process)) from None
    finally:
        timer.cancel()


TOO_LONG = "would unfold to more bytes than a file of its size may: it is damaged or made to do harm, do not use it"
UNSAFE = ", longer than any good file of its size: it is damaged or made to do harm, do not use it"


def describe_end(process: subprocess.Popen) -> str:
    """Say how a child ended that gave no answer."""
    try:
        code = process.wait(1)
    except subprocess.TimeoutExpired:
        return "can not be read, since its contents are not what they seem: do not use it"
    if code == -signal.SIGXCPU:
        return "took too long to read" + UNSAFE
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else "broke off"
    return f"can not be read, the process that read it {how}: it is damaged or made to do harm, do not use it"


def kill(process: subprocess.Popen, wait: bool = True) -> None:
    """End the process and all that it may have started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if wait:
        process.wait()


def send(pipe: BinaryIO, file: BinaryIO, size: int) -> str:
    """Copy the file to the child and give its sha256; the parent never holds it whole."""
    digest, left = hashlib.sha256(), size
    try:
        while left:
            chunk = file.read(min(left, MIB))
            if not chunk:
                raise Refused("became shorter while it was read: open it again when it is written")
            digest.update(chunk)
            pipe.write(chunk)
            left -= len(chunk)
        pipe.close()
    except BrokenPipeError:
        raise EOFError from None
    return digest.hexdigest()


def receive(pipe: BinaryIO, most: int) -> tuple[dict, bytes]:
    """Read the child's answer, which is believed as little as a file from outside. Raises EOFError if it breaks off."""
    (length,) = struct.unpack("<Q", read_exactly(pipe, 8))
    if length > MAX_FACTS:
        raise EOFError
    try:
        facts = json.loads(read_exactly(pipe, length))
        size, error = facts["bytes"], facts.get("error")
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        raise EOFError from None
    if error is not None:
        raise Refused(error if isinstance(error, str) and error.isprintable() else show(error))
    if type(size) is not int or not 0 <= size <= most:
        raise Refused(TOO_LONG)
    weights = read_exactly(pipe, size)
    if pipe.read(1):
        raise Refused(TOO_LONG)
    return facts, weights


def make_answer(digest: str, facts: dict, weights: bytes) -> Answer:
    """Check the kinds of what the child said. Raises Refused."""
    container, config, notes = facts.get("container", ""), facts.get("config", {}), facts.get("notes", [])
    if not (isinstance(container, str) and isinstance(config, dict) and isinstance(notes, list)):
        raise Refused("can not be read, since its contents are not what they seem: do not use it")
    notes = (note if isinstance(note, str) and note.isprintable() else show(note, 200) for note in notes)
    return Answer(digest, container, config, tuple(notes), weights)


def read_exactly(pipe: BinaryIO, size: int) -> bytes:
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError
    return data
