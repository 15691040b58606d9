"""The registry of long jobs: order, cancelling, failures, limits, lost sessions, and the end of the process."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from dataclasses import FrozenInstanceError, dataclass, field
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

from relxl.jobs import Jobs, Progress, size_of
from tests.conftest import ROOT

PATIENCE = 30  # seconds until a test gives up


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


@dataclass
class Until:
    """A job that takes steps until it is told to end; it says what happened to it."""

    result: object = "so far"
    begun: Event = field(default_factory=Event)
    told: Event = field(default_factory=Event)
    closed: Event = field(default_factory=Event)
    runs: int = 0

    def __call__(self):
        self.runs += 1
        try:
            while not self.told.wait(0.005):
                yield Progress(0.25, "Waiting", self.result)
                self.begun.set()
            yield Progress(1.0, "Ready", self.result)
        finally:
            self.closed.set()


def steps(*values, message="Counting"):
    return lambda: (Progress((i + 1) / len(values), message, value) for i, value in enumerate(values))


def fails():
    yield Progress(0.5, "Dividing", 7)
    raise ZeroDivisionError("by\n  nought")


@pytest.fixture
def jobs():
    jobs = Jobs()
    yield jobs
    jobs.close()


def state(jobs, key, owner="me"):
    job = jobs.get(owner, key)
    return job and job.state


def finish(jobs, key, owner="me"):
    wait_for(lambda: not jobs.get(owner, key).alive)
    return jobs.get(owner, key)


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "relxl jobs"]


def test_a_job_runs_and_its_last_progress_is_kept(jobs):
    job = jobs.submit("me", "key", "Title", steps(1, 2, 3))
    assert (job.key, job.title, job.owners, job.alive) == ("key", "Title", {"me"}, True)
    job = finish(jobs, "key")
    assert (job.state, job.progress, job.error) == ("done", Progress(1.0, "Counting", 3), "")
    assert job.place is None and job.eta_seconds is None and job.seconds >= 0 and job.started <= time.time()
    assert jobs.get("me", "other") is None and jobs.running() is None


def test_a_job_without_a_step_is_done_without_a_result(jobs):
    jobs.submit("me", "key", "Title", lambda: iter(()))
    assert finish(jobs, "key").state == "done" and jobs.get("me", "key").progress is None


def test_jobs_run_one_at_a_time_in_their_order_and_know_their_place(jobs):
    works = {name: Until() for name in "abc"}
    for name, work in works.items():
        jobs.submit(name, name, name.upper(), work)
    for name, waiting in (("a", "bc"), ("b", "c"), ("c", "")):
        assert works[name].begun.wait(PATIENCE)
        assert jobs.running().title == name.upper() and jobs.get("x", name).place is None
        assert [jobs.get("x", other).place for other in waiting] == list(range(1, len(waiting) + 1))
        assert not any(works[other].runs for other in waiting)
        works[name].told.set()
        assert finish(jobs, name).state == "done"


def test_progress_and_the_time_left_can_be_read_while_it_runs(jobs):
    work = Until(result=(1, 2))
    jobs.submit("me", "key", "Title", work)
    assert jobs.get("me", "key").eta_seconds is None
    assert work.begun.wait(PATIENCE)
    job = jobs.get("me", "key")
    assert (job.state, job.progress) == ("running", Progress(0.25, "Waiting", (1, 2)))
    assert job.eta_seconds > 0 and job.eta_seconds + job.seconds <= job.seconds / 0.25 + 1e-9
    with pytest.raises(FrozenInstanceError):
        job.state = "done"
    work.told.set()
    finish(jobs, "key")
    assert job.state == "running"  # what was read does not change


def test_a_running_job_is_cancelled_long_before_its_end_and_cleans_up(jobs):
    work = Until()
    jobs.submit("me", "key", "Title", work)
    assert work.begun.wait(PATIENCE)
    jobs.cancel("me", "key")
    job = jobs.get("me", "key")
    assert (job.state, job.progress.result) == ("cancelled", "so far")
    assert work.closed.wait(1) and not work.told.is_set()  # the one time that is asserted: this job has no end
    assert jobs.get("me", "key") == job


def test_a_waiting_job_is_dropped_at_once_and_the_others_move_up(jobs):
    first, dropped = Until(), Until()
    jobs.submit("me", "first", "", first)
    jobs.submit("me", "dropped", "", dropped)
    jobs.submit("me", "last", "", steps(1))
    assert first.begun.wait(PATIENCE) and jobs.get("me", "last").place == 2
    jobs.cancel("me", "dropped")
    assert jobs.get("me", "dropped") is None and jobs.get("me", "last").place == 1
    first.told.set()
    assert finish(jobs, "last").state == "done" and dropped.runs == 0


def test_cancelling_what_is_not_there_or_not_ones_own_does_nothing(jobs):
    work = Until()
    jobs.submit("me", "key", "", work)
    for owner, key in (("you", "key"), ("me", "other")):
        jobs.cancel(owner, key)
    jobs.cancel_owner("you")
    assert work.begun.wait(PATIENCE) and state(jobs, "key") == "running"
    work.told.set()
    finish(jobs, "key")
    jobs.cancel("me", "key")
    assert state(jobs, "key") == "done"


def no_progress():
    yield 0.5


def too_far():
    yield Progress(1.5, "Too far")


def gives_up():
    raise SystemExit(3)
    yield


def long_sentence():
    raise ValueError("word " * 1000)
    yield


FAILURES = {
    fails: "ZeroDivisionError: by nought",
    no_progress: "TypeError: a job must yield Progress, and this one yielded float",
    too_far: "ValueError: done is 1.5, but must lie from 0 to 1: give the share of the work that is done",
    gives_up: "SystemExit: 3",
    long_sentence: ("ValueError: " + "word " * 1000)[:300],
    lambda: None: "TypeError: 'NoneType' object is not iterable",
}


def test_a_failure_is_one_sentence_and_the_worker_goes_on(jobs):
    jobs.most_alive = len(FAILURES) + 1
    blocker = Until()
    jobs.submit("me", "blocker", "", blocker)
    for place, work in enumerate(FAILURES):
        jobs.submit("me", str(place), "", work)
    (worker,) = threads()
    blocker.told.set()
    for place, sentence in enumerate(FAILURES.values()):
        job = finish(jobs, str(place))
        assert (job.state, job.error) == ("failed", sentence)
    assert jobs.get("me", "0").progress.result == 7
    wait_for(lambda: not worker.is_alive())
    jobs.submit("me", "0", "", steps(1))
    assert finish(jobs, "0").state == "done" and jobs.get("me", "0").error == ""


def test_a_generator_that_does_not_want_to_close_harms_nobody(jobs):
    def stubborn():
        try:
            while True:
                yield Progress(0.5, "Working")
        finally:
            yield Progress(0.5, "And on")  # close() raises RuntimeError

    jobs.submit("me", "stubborn", "", stubborn)
    jobs.submit("me", "next", "", steps(1))
    wait_for(lambda: jobs.get("me", "stubborn").progress)
    jobs.cancel("me", "stubborn")
    assert finish(jobs, "next").state == "done" and state(jobs, "stubborn") == "cancelled"


def test_a_double_click_is_one_job(jobs):
    work, other = Until(), Until()
    first = jobs.submit("me", "key", "Title", work)
    assert jobs.submit("me", "key", "Title", other).id == first.id
    assert work.begun.wait(PATIENCE)
    assert jobs.submit("me", "key", "Title", other, again=True).id == first.id and len(jobs.jobs("me")) == 1
    work.told.set()
    finish(jobs, "key")
    assert (work.runs, other.runs) == (1, 0)


def test_a_result_is_for_whoever_asks_for_the_same(jobs):
    work = Until(result=5)
    work.told.set()
    first = jobs.submit("me", "key", "", work)
    finish(jobs, "key")
    assert jobs.get("you", "key").progress.result == 5
    assert jobs.submit("you", "key", "", work).id == first.id and work.runs == 1
    assert jobs.submit("you", "key", "", work, again=True).id != first.id
    assert finish(jobs, "key", "you").state == "done" and work.runs == 2


def test_a_second_run_that_is_cancelled_leaves_the_first_result(jobs):
    jobs.submit("me", "key", "", steps(1, 2))
    finish(jobs, "key")
    work = Until()
    jobs.submit("me", "key", "", work, again=True)
    assert work.begun.wait(PATIENCE) and state(jobs, "key") == "running"
    jobs.cancel("me", "key")
    assert work.closed.wait(PATIENCE)
    assert jobs.get("me", "key").progress.result == 2 and state(jobs, "key") == "done"


def test_what_failed_or_was_cancelled_is_for_those_who_asked(jobs):
    jobs.submit("me", "failed", "", fails)
    finish(jobs, "failed")
    work = Until()
    jobs.submit("me", "cancelled", "", work)
    assert work.begun.wait(PATIENCE)
    jobs.cancel("me", "cancelled")
    assert [job.state for job in jobs.jobs("me")] == ["failed", "cancelled"]
    assert jobs.get("you", "failed") is None and jobs.get("you", "cancelled") is None and jobs.jobs("you") == []


def test_two_who_want_the_same_share_it_and_the_last_to_leave_ends_it(jobs):
    work = Until()
    job = jobs.submit("me", "key", "", work)
    assert jobs.submit("you", "key", "", work).id == job.id
    assert work.begun.wait(PATIENCE) and jobs.get("you", "key").owners == {"me", "you"}
    jobs.cancel("me", "key")
    assert jobs.get("me", "key").owners == {"you"} and state(jobs, "key") == "running"
    jobs.cancel("you", "key")
    assert state(jobs, "key", "you") == "cancelled" and work.closed.wait(PATIENCE) and work.runs == 1


def test_too_many_jobs_are_refused_with_one_sentence(jobs):
    works = [Until() for _ in range(4)]
    for place in range(3):
        jobs.submit("me", str(place), "", works[place])
    sentence = r"^3 jobs of this session wait or run, and no more than 3 may: wait for one to end, or cancel one$"
    with pytest.raises(ValueError, match=sentence):
        jobs.submit("me", "3", "", works[3])
    assert len(jobs.jobs("me")) == 3
    jobs.submit("me", "1", "", works[1])  # it is there already
    jobs.submit("you", "3", "", works[3])
    jobs.cancel("me", "2")
    jobs.submit("me", "4", "", steps(1))
    assert works[0].begun.wait(PATIENCE)
    jobs.cancel_owner("me")
    assert works[0].closed.wait(PATIENCE) and works[3].begun.wait(PATIENCE)


def test_the_oldest_results_go_when_there_are_too_many_or_they_are_too_large():
    jobs = Jobs(most_alive=9, most_ended=3, most_bytes=4000)
    for name in "abcd":
        jobs.submit("me", name, "", steps(name))
        finish(jobs, name)
    assert [job.key for job in jobs.jobs("me")] == ["b", "c", "d"]
    jobs.submit("me", "large", "", steps(np.zeros(400)))
    finish(jobs, "large")
    jobs.submit("me", "b", "", steps("anew"), again=True)  # now it is the latest
    finish(jobs, "b")
    assert [job.key for job in jobs.jobs("me")] == ["d", "large", "b"]
    jobs.submit("me", "larger", "", steps(np.zeros(900)))
    assert finish(jobs, "larger").state == "done"
    assert [job.key for job in jobs.jobs("me")] == ["larger"]  # the latest stays, whatever its size


def test_the_size_of_a_result_is_that_of_its_arrays():
    @dataclass
    class Curve:
        loss: np.ndarray
        more: dict

    result = Curve(np.zeros(1000), {"a": [np.zeros(500), np.zeros(500)], "b": (np.zeros(1000, np.float32), 1, "text")})
    assert 20_000 <= size_of(result) < 21_000
    assert size_of([result, result]) < 21_000 and size_of(pd.DataFrame({"x": np.zeros(1000)})) >= 8000
    endless = []
    endless.append(endless)
    assert size_of(endless) < 200
    assert size_of(None) < 100 and size_of([1.0] * 1000) >= 8000


def test_the_worker_ends_when_nothing_is_left_and_starts_again(jobs):
    assert not threads()
    for _time in range(2):
        work = Until()
        jobs.submit("me", "key", "", work, again=True)
        assert work.begun.wait(PATIENCE) and len(threads()) == 1 and threads()[0].daemon
        work.told.set()
        wait_for(lambda: not threads())
        assert state(jobs, "key") == "done"


def test_all_jobs_of_a_closed_session_are_cancelled(jobs):
    mine, waiting, yours, shared = Until(), Until(), Until(), Until()
    jobs.submit("me", "mine", "", mine)
    jobs.submit("me", "waiting", "", waiting)
    jobs.submit("me", "shared", "", shared)
    jobs.submit("you", "shared", "", shared)
    jobs.submit("you", "yours", "", yours)
    assert mine.begun.wait(PATIENCE)
    jobs.cancel_owner("me")
    assert mine.closed.wait(PATIENCE) and shared.begun.wait(PATIENCE)
    assert jobs.get("you", "shared").owners == {"you"} and jobs.get("you", "yours").place == 1 and waiting.runs == 0


def test_a_session_that_is_gone_loses_its_jobs_and_the_next_one_runs():
    alive = {"me", "you"}
    jobs = Jobs(alive.__contains__, grace=0)
    mine, waiting, yours = Until(), Until(), Until()
    jobs.submit("me", "mine", "", mine)
    jobs.submit("me", "waiting", "", waiting)
    jobs.submit("you", "yours", "", yours)
    assert mine.begun.wait(PATIENCE)
    alive.remove("me")
    assert mine.closed.wait(PATIENCE) and yours.begun.wait(PATIENCE) and waiting.runs == 0
    jobs.close()


def test_a_session_that_is_gone_for_a_moment_keeps_its_job():
    alive = {"me"}
    jobs = Jobs(alive.__contains__, grace=PATIENCE)
    work = Until()
    jobs.submit("me", "key", "", work)
    assert work.begun.wait(PATIENCE)
    alive.clear()
    jobs.submit("you", "other", "", steps(1))  # it sweeps
    assert jobs.get("you", "key").owners == {"me", "you"}  # after a reload: it goes over to who looks
    alive.add("you")
    assert jobs.get("they", "key").owners == {"me", "you"}
    jobs.cancel("you", "key")  # nobody else is there any more
    assert work.closed.wait(PATIENCE) and state(jobs, "key", "you") == "cancelled"


def test_close_cancels_everything_and_waits_for_the_worker():
    jobs = Jobs()
    work, waiting = Until(), Until()
    jobs.submit("me", "key", "", work)
    jobs.submit("me", "waiting", "", waiting)
    assert work.begun.wait(PATIENCE)
    jobs.close()
    assert work.closed.is_set() and not threads() and waiting.runs == 0
    jobs.close()


def test_many_threads_at_once_leave_nothing_behind(jobs):
    problems = []

    def visit(owner):
        chance = random.Random(owner)
        try:
            for _time in range(60):
                key = str(chance.randrange(6))
                with suppress(ValueError):  # too many
                    jobs.submit(owner, key, "", chance.choice([steps(1, 2), fails, Until()]), chance.random() < 0.5)
                chance.choice([jobs.cancel, jobs.get])(owner, str(chance.randrange(6)))
                assert len([job for job in jobs.jobs(owner) if job.state == "running"]) <= 1
            jobs.cancel_owner(owner)
        except BaseException as problem:
            problems.append(problem)

    visitors = [Thread(target=visit, args=(str(number),)) for number in range(6)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert not problems
    wait_for(lambda: not threads())
    assert not jobs.queue


PROCESS = """
import signal, subprocess, sys, time
from pathlib import Path
from subprocess import DEVNULL
from relxl.jobs import Jobs, Progress

def work():
    import torch
    child, file = subprocess.Popen(["sleep", "60"], stdout=DEVNULL, stderr=DEVNULL), Path(sys.argv[1])
    file.write_text(str(child.pid))
    x = torch.ones(300, 300, requires_grad=True)
    try:
        while True:
            for _ in range(10):
                (x @ x).softmax(-1).sum().backward()
            yield Progress(0.5, "Training")
            print("stepped", flush=True)
    finally:
        child.kill()
        child.wait()
        file.unlink()

def stop(number, frame):
    raise SystemExit(0)

if sys.argv[2] == "server":
    signal.signal(signal.SIGTERM, stop)  # as a Streamlit server does: it ends its loop, and the interpreter goes
jobs = Jobs()
jobs.submit("me", "key", "", work)
while True:
    time.sleep(60)
"""


@pytest.mark.parametrize("kind, code", [("server", 0), ("plain", -signal.SIGTERM)])
def test_a_process_that_is_told_to_end_in_the_middle_of_a_job_ends(kind, code, tmp_path):
    file = tmp_path / "child"
    command = [sys.executable, "-c", textwrap.dedent(PROCESS), str(file), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "stepped\n"
        child = int(file.read_text())
        process.terminate()
        assert process.wait(PATIENCE) == code  # the job itself has no end; an abort inside torch would be -6
        assert process.stderr.read() == ""
    if kind == "server":
        assert not file.exists()
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
    else:
        os.kill(child, signal.SIGKILL)  # nothing of a process that is killed runs any more
