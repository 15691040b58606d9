"""A long job in a real Chromium: it ticks by itself, ends by itself, outlives a reload and ends with its session."""

import time

import pytest
from playwright.sync_api import expect

from relxl.bench.chromium import serve
from tests.conftest import ROOT

SCRIPT = """
import time
from pathlib import Path

import streamlit as st

from relxl.jobs import Progress
from relxl.ui.jobs import jobs, show_job

FOLDER = Path(__file__).parent


def note(what):
    with (FOLDER / "log").open("a") as log:
        log.write(what + "\\n")


def count():
    n = 0
    try:
        while not (FOLDER / "told").exists():
            n += 1
            time.sleep(0.02)
            yield Progress(0.5, "Counting", n)
    finally:
        note("closed")


def draw(result):
    note("drawn")
    st.markdown(f"Counted to {result}")


jobs().grace = 4.0
show_job("count", "Counting", count, draw)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "page.py").write_text(SCRIPT)
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with serve(folder / "page.py", ROOT) as address:
        yield address


@pytest.fixture
def page(browser, address, folder):
    (folder / "told").unlink(missing_ok=True)
    (folder / "log").write_text("")
    context = browser.new_context()
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert not problems


def press(page, label):
    page.get_by_role("button", name=label).click()


def log(folder):
    return (folder / "log").read_text().split()


def test_it_ticks_by_itself_ends_by_itself_and_then_rests(page, folder):
    press(page, "Start")
    counted = page.get_by_text("Counted to")
    before = counted.text_content()
    expect(counted).not_to_have_text(before)
    expect(page.get_by_text("Counting · 50 %")).to_be_visible()
    (folder / "told").touch()
    expect(page.get_by_text("Done in")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.wait_for_timeout(500)
    rested = len(log(folder))
    page.wait_for_timeout(2000)
    assert len(log(folder)) == rested
    page.reload()
    expect(page.get_by_text("Done in")).to_be_visible()
    expect(counted).to_be_visible()


def test_it_outlives_a_reload_can_then_be_cancelled_and_ends_with_its_session(page, folder):
    press(page, "Run again")
    expect(page.get_by_text("Counting · 50 %")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    assert "closed" not in log(folder)
    press(page, "Cancel")
    expect(page.get_by_text("Done in")).to_be_visible()  # the result of before, which is kept
    press(page, "Run again")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    assert log(folder).count("closed") == 1
    page.close()
    end = time.monotonic() + 30
    while log(folder).count("closed") < 2:
        assert time.monotonic() < end, "the job went on without its session"
        time.sleep(0.1)
