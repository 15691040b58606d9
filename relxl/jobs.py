"""Run what takes longer than half a second: one job at a time in a process, watched and cancelled from any thread.

The work of a job is a callable that returns a generator of `Progress`; between two yields lies at most a fraction of a
second. There is one thread, which starts with the first job and ends with the last. A job's key says all that its
result depends on: who asks for the same key gets the same job, while it runs and when it is done.
"""

import atexit
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from threading import Lock, Thread

CLOSE_SECONDS = 5.0  # at most so long the end of the process waits for the running job to come to its next yield
LONGEST_ERROR = 300


@dataclass(frozen=True)
class Progress:
    """Say how far a job is, from 0 to 1, what it does (a fixed English text, which the page translates) and its result.

    The result is what there is so far, arrays and numbers, and nobody changes it. Raises ValueError.
    """

    done: float
    message: str
    result: object = None

    def __post_init__(self) -> None:
        if not 0 <= self.done <= 1:
            raise ValueError(f"done is {self.done}, but must lie from 0 to 1: give the share of the work that is done")


Work = Callable[[], Iterable[Progress]]


@dataclass(frozen=True)
class Job:
    """Show a job as it stood when it was asked for."""

    id: int
    key: str
    title: str
    owners: frozenset[str] = frozenset()  # the sessions that asked for it
    state: str = "waiting"  # then running, then done, cancelled or failed
    place: int | None = None  # in the queue, from 1, while it waits
    progress: Progress | None = None  # the last one, kept after the end
    error: str = ""  # one sentence, when it failed
    started: float | None = None  # seconds since 1970
    seconds: float = 0.0  # that it ran
    eta_seconds: float | None = None  # that it will still run; None while nobody can know

    @property
    def alive(self) -> bool:
        return self.state in ("waiting", "running")


@dataclass
class Record:
    """Hold a job while it changes; only `Jobs` sees it."""

    job: Job
    work: Work | None
    owners: dict[str, float]  # when each was last seen
    at: float = 0.0  # when `job` was true
    size: int = 0


class Jobs:
    """Hold the jobs of a process: a queue with one worker, and what ended, up to a number of jobs and of bytes.

    `is_alive(owner)` tells whether a session is still there, quickly and without calling back. One that is gone for
    `grace` seconds loses its jobs.
    """

    def __init__(
        self,
        is_alive: Callable[[str], bool] = lambda owner: True,
        *,
        grace: float = 30.0,
        most_alive: int = 3,
        most_ended: int = 64,
        most_bytes: int = 2**28,
    ) -> None:
        self.is_alive, self.grace = is_alive, grace
        self.most_alive, self.most_ended, self.most_bytes = most_alive, most_ended, most_bytes
        self.lock, self.ids = Lock(), count(1)
        self.queue: dict[str, Record] = {}  # what runs or waits, in its order
        self.ended: dict[str, Record] = {}  # the latest stands last
        self.worker: Thread | None = None

    def submit(self, owner: str, key: str, title: str, work: Work, again: bool = False) -> Job:
        """Ask for a job. Where one of this key waits, runs or (unless `again`) is done, it is given instead.

        Raises ValueError when too many jobs of the owner wait or run.
        """
        with self.lock:
            self.sweep()
            record = self.queue.get(key)
            if record is None:
                ended = self.ended.get(key)
                if ended and ended.job.state == "done" and not again:
                    return self.shown(ended)
                alive = sum(owner in other.owners for other in self.queue.values())
                if alive >= self.most_alive:
                    raise ValueError(
                        f"{alive} jobs of this session wait or run, and no more than {self.most_alive} may: wait for "
                        "one to end, or cancel one"
                    )
                record = self.queue[key] = Record(Job(next(self.ids), key, title), work, {})
            record.owners[owner] = time.monotonic()
            if self.worker is None:
                worker = Thread(target=self.work_off, name="relxl jobs", daemon=True)
                worker.start()  # it waits for the lock
                self.worker = worker
                atexit.register(self.close)
            return self.shown(record)

    def get(self, owner: str, key: str) -> Job | None:
        """Give the job of a key: what waits or runs, else what ended.

        What was cancelled or failed is for its owners only. A living job whose owners are all gone, as after a reload
        of the page, goes over to whoever looks.
        """
        with self.lock:
            record = self.queue.get(key)
            if record and not any(map(self.is_alive, record.owners)):
                record.owners[owner] = time.monotonic()
            record = record or self.ended.get(key)
            hidden = record and record.job.state in ("cancelled", "failed") and owner not in record.owners
            return self.shown(record) if record and not hidden else None

    def jobs(self, owner: str) -> list[Job]:
        """Give all jobs of an owner: those that ended, then what runs, then what waits."""
        with self.lock:
            records = [*self.ended.values(), *self.queue.values()]
            return [self.shown(record) for record in records if owner in record.owners]

    def running(self) -> Job | None:
        """Give the job that runs, whoever asked for it."""
        with self.lock:
            return next((self.shown(it) for it in self.queue.values() if it.job.state == "running"), None)

    def cancel(self, owner: str, key: str) -> None:
        """End a job of an owner at once; where another living owner wants it too, only this one leaves it."""
        with self.lock:
            if key in self.queue:
                self.leave(self.queue[key], owner)

    def cancel_owner(self, owner: str) -> None:
        """Cancel all jobs of an owner, whose session was closed."""
        with self.lock:
            for record in list(self.queue.values()):
                self.leave(record, owner)

    def close(self) -> None:
        """Cancel everything, and give the worker a moment to clean up.

        It is called at the end of the process, which a thread that is still inside torch would abort.
        """
        with self.lock:
            for record in list(self.queue.values()):
                self.end(record, "cancelled")
            worker = self.worker
        if worker:
            worker.join(CLOSE_SECONDS)

    # From here to `shown` all is called with the lock held.

    def leave(self, record: Record, owner: str) -> None:
        if owner in record.owners and any(self.is_alive(other) for other in record.owners if other != owner):
            del record.owners[owner]
        elif owner in record.owners:
            self.end(record, "cancelled")

    def sweep(self) -> None:
        """Let go of owners that have been gone for too long, and of the jobs that nobody is left to want."""
        now = time.monotonic()
        for record in list(self.queue.values()):
            seen = {owner: now if self.is_alive(owner) else last for owner, last in record.owners.items()}
            record.owners = {owner: last for owner, last in seen.items() if now - last <= self.grace}
            if not record.owners:
                self.end(record, "cancelled")

    def end(self, record: Record, state: str, error: str = "") -> None:
        """Move a job from the queue to what ended, and drop the oldest of that when it gets too much."""
        key, progress = record.job.key, record.job.progress
        record.job = replace(self.shown(record), state=state, error=error, place=None, eta_seconds=None)
        record.work = None  # it may hold a model
        del self.queue[key]
        former = self.ended.get(key)
        if state == "cancelled" and (progress is None or (former and former.job.state == "done")):
            return  # nothing to keep, or something better
        self.ended.pop(key, None)
        self.ended[key] = record
        record.size = size_of(progress.result) if progress else 0
        while len(self.ended) > self.most_ended or (
            len(self.ended) > 1 and sum(other.size for other in self.ended.values()) > self.most_bytes
        ):
            del self.ended[next(iter(self.ended))]

    def shown(self, record: Record) -> Job:
        job = replace(record.job, owners=frozenset(record.owners))
        if job.state == "waiting":
            waiting = [key for key, other in self.queue.items() if other.job.state == "waiting"]
            return replace(job, place=1 + waiting.index(job.key))
        if job.state == "running":
            late = time.monotonic() - record.at
            eta = None if job.eta_seconds is None else max(0.0, job.eta_seconds - late)
            return replace(job, seconds=job.seconds + late, eta_seconds=eta)
        return job

    def work_off(self) -> None:
        """Run what waits until there is nothing left; this is the worker."""
        while True:
            with self.lock:
                record = next(iter(self.queue.values()), None)
                if record is None:
                    self.worker = None
                    atexit.unregister(self.close)
                    return
                record.job = replace(record.job, state="running", started=time.time())
                record.at, work = time.monotonic(), record.work
            error = self.run(record, work)
            with self.lock:
                if record.job.state == "running":
                    self.end(record, "failed" if error else "done", error)

    def run(self, record: Record, work: Work) -> str:
        """Take the steps of a job until it ends or is cancelled; give the sentence of its failure."""
        begun = record.at
        try:
            steps = iter(work())
            try:
                for progress in steps:
                    if not isinstance(progress, Progress):
                        raise TypeError(f"a job must yield Progress, and this one yielded {type(progress).__name__}")
                    with self.lock:
                        self.sweep()
                        if record.job.state != "running":
                            break
                        record.at = time.monotonic()
                        seconds, done = record.at - begun, progress.done
                        eta = seconds / done - seconds if done else None
                        record.job = replace(record.job, progress=progress, seconds=seconds, eta_seconds=eta)
            finally:
                if isinstance(steps, Generator):
                    steps.close()
        except BaseException as problem:  # a library may raise what is no Exception, and the worker must go on
            return " ".join(f"{type(problem).__name__}: {problem}".split())[:LONGEST_ERROR]
        return ""


def size_of(result: object) -> int:
    """Estimate the bytes of arrays and tables, and of lists, tuples, dicts and dataclasses of them."""
    size, seen, todo = 0, set(), [result]
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        size += int(getattr(value, "nbytes", None) or sys.getsizeof(value))
        if isinstance(value, Mapping):
            todo += value.values()
        elif isinstance(value, list | tuple):
            todo += value
        elif is_dataclass(value):
            todo += [getattr(value, it.name, None) for it in fields(value)]
    return size
