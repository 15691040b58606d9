"""A long job on a page as a session sees it. That it ticks by itself, and stops, is seen in Chromium."""

from threading import Event

import pytest
from streamlit import runtime
from streamlit.testing.v1 import AppTest

from relxl.jobs import Jobs, Progress
from relxl.ui import jobs as ui_jobs
from tests.test_jobs import PATIENCE, Until, fails, steps, wait_for

SESSION = "test session id"  # AppTest's own


class Held:
    """What the script of a test shows; it is filled by the test."""

    offers: list = []  # noqa: RUF012


def script():
    import streamlit as st

    from relxl.ui.jobs import show_job
    from tests.test_ui_jobs import Held

    for key, work in Held.offers:
        show_job(key, f"The *job* {key}", work, lambda result: st.code(f"result {result}"))


@pytest.fixture
def registry():
    ui_jobs.jobs.clear()
    yield ui_jobs.jobs()
    ui_jobs.jobs.clear()


def open_script(**offers):
    Held.offers = list(offers.items())
    app = AppTest.from_function(script, default_timeout=PATIENCE).run()
    assert not app.exception
    return app


def buttons(app):
    return [button.label for button in app.button]


def press(app, label, place=0):
    [button for button in app.button if button.label == label][place].click().run()
    assert not app.exception
    return app


def bars(app):
    return [(bar.proto.value, bar.proto.text) for bar in app.get("progress")]


def texts(app):
    return [text.value.replace("\\", "") for text in app.markdown]


def results(app):
    return [code.value for code in app.code]


def run_until_ended(app, registry, key, owner=SESSION):
    wait_for(lambda: not registry.get(owner, key).alive)
    app.run()
    assert not app.exception
    return app


def test_a_job_is_started_watched_and_kept(registry):
    work = Until()
    app = open_script(a=work)
    assert buttons(app) == ["Start"] and texts(app) == ["The *job* a"] and not bars(app) and work.runs == 0
    press(app, "Start")
    assert work.begun.wait(PATIENCE)
    app.run()
    ((value, text),) = bars(app)
    assert buttons(app) == ["Cancel"] and results(app) == ["result so far"]
    assert value == 25 and text.replace("\\", "").startswith("Waiting · 25 % · ") and text.endswith(" s left")
    work.told.set()
    run_until_ended(app, registry, "a")
    assert buttons(app) == ["Run again"] and results(app) == ["result so far"] and not bars(app)
    assert texts(app)[0].startswith("Done in ") and work.runs == 1
    app.run()
    assert work.runs == 1  # a rerun of the page starts nothing
    press(app, "Run again")
    run_until_ended(app, registry, "a")
    assert work.runs == 2


def test_a_job_is_cancelled_and_what_there_is_stays(registry):
    work = Until()
    app = press(open_script(a=work), "Start")
    assert work.begun.wait(PATIENCE)
    press(app, "Cancel")
    assert work.closed.wait(PATIENCE)
    assert buttons(app) == ["Run again"] and texts(app)[0].startswith("Cancelled at 25 % after ")
    assert results(app) == ["result so far"] and not bars(app)


def test_a_second_job_waits_says_for_what_and_can_be_dropped(registry):
    first, second = Until(), Until()
    app = open_script(a=first, b=second)
    press(app, "Start")
    assert first.begun.wait(PATIENCE)
    press(app, "Start")
    assert bars(app)[1][0] == 0
    assert bars(app)[1][1].replace("\\", "") == "Waiting, at place 1 in the queue. Running now: The *job* a"
    press(app, "Cancel", 1)
    assert buttons(app) == ["Cancel", "Start"] and second.runs == 0 and not first.closed.is_set()


def test_a_failure_is_one_sentence_with_what_there_was(registry):
    app = press(open_script(a=fails), "Start")
    run_until_ended(app, registry, "a")
    assert [error.value.replace("\\", "") for error in app.error] == ["ZeroDivisionError: by nought"]
    assert buttons(app) == ["Run again"] and texts(app)[0].startswith("Failed after ") and results(app) == ["result 7"]


def test_markdown_in_an_error_is_shown_and_not_obeyed(registry):
    def work():
        raise ValueError("![x](http://h/t.png)")
        yield

    app = press(open_script(a=work), "Start")
    run_until_ended(app, registry, "a")
    assert app.error[0].value == r"ValueError\: \!\[x\]\(http\:\/\/h\/t\.png\)"


def test_one_job_too_many_is_refused_once(registry):
    works = {name: Until() for name in "abcd"}
    app = open_script(**works)
    for _name in "abcd":
        press(app, "Start")
    assert [warning.value[:9] for warning in app.warning] == ["3 jobs of"] and buttons(app)[3] == "Start"
    app.run()
    assert not app.warning
    for work in works.values():
        work.told.set()


def test_another_session_finds_the_result_and_joins_what_runs(registry):
    work = Until()
    registry.submit("elsewhere", "a", "", work)
    registry.submit("elsewhere", "b", "", steps(1, 2))
    assert work.begun.wait(PATIENCE)
    app = open_script(a=work, b=steps(3))
    assert buttons(app) == ["Start", "Start"] and not bars(app)
    assert [text.value for text in app.caption] == [
        "Another session is computing this already: start it to join in."
    ] * 2
    press(app, "Start")
    assert buttons(app) == ["Cancel", "Start"] and work.runs == 1
    press(app, "Cancel")
    assert buttons(app) == ["Start", "Start"] and not work.closed.is_set()
    work.told.set()
    run_until_ended(app, registry, "b")
    assert buttons(app) == ["Run again", "Run again"] and results(app) == ["result so far", "result 2"]


def test_after_a_reload_the_job_of_the_lost_session_is_taken_over(monkeypatch):
    registry = Jobs(lambda owner: owner == SESSION)
    monkeypatch.setattr(ui_jobs, "jobs", lambda: registry)
    work = Until()
    registry.submit("lost", "a", "", work)
    assert work.begun.wait(PATIENCE)
    app = open_script(a=work)
    assert buttons(app) == ["Cancel"] and results(app) == ["result so far"]
    press(app, "Cancel")
    assert work.closed.wait(PATIENCE)


def test_a_job_that_has_not_reported_yet_and_one_without_a_result(registry):
    told = Event()

    def work():
        told.wait(PATIENCE)
        yield Progress(1.0, "Ready")

    app = press(open_script(a=work), "Start")
    wait_for(registry.running)
    assert bars(app.run()) == [(0, "Starting")]
    told.set()
    run_until_ended(app, registry, "a")
    assert buttons(app) == ["Run again"] and not results(app)


def test_a_registry_that_is_let_go_ends_its_jobs(registry):
    work = Until()
    registry.submit("me", "a", "", work)
    assert work.begun.wait(PATIENCE)
    ui_jobs.jobs.clear()
    assert work.closed.is_set() and registry.worker is None


def test_a_session_is_alive_while_the_server_knows_it(monkeypatch):
    assert ui_jobs.is_alive("whoever")  # there is no server

    class Server:
        def is_active_session(self, session):
            return session == "here"

    monkeypatch.setattr(runtime, "get_instance", Server)
    assert ui_jobs.is_alive("here") and not ui_jobs.is_alive("gone")


@pytest.mark.parametrize("seconds, text", [
    (0, "0.0 s"), (0.42, "0.4 s"), (1, "1 s"), (89, "89 s"), (100, "2 min"), (3600, "60 min"), (9000, "2.5 h"),
])  # fmt: skip
def test_a_time_is_written_as_one_says_it(seconds, text):
    assert ui_jobs.duration(seconds) == text
