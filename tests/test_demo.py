"""A demonstration takes no file and computes nothing long, and says so where one would look for it."""

import pytest
from streamlit.testing.v1 import AppTest

from relxl.ui import demo
from relxl.zh import TEXTS
from tests.test_jobs import Until
from tests.test_library import open_app
from tests.test_ui_jobs import open_script, registry  # noqa: F401

UPLOADS = "Uploads are off in this demonstration: run relxl on your own machine."
JOBS = "Long computations are off in this demonstration: run relxl on your own machine."


@pytest.fixture
def demonstration(monkeypatch):
    monkeypatch.setenv("RELXL_DEMO", "1")


def captions(app: AppTest) -> list[str]:
    return [caption.value for caption in [*app.caption, *app.sidebar.caption]]


@pytest.mark.parametrize("page, link", [
    ("pages/8_Checkpoint.py", {}), ("pages/10_Doctor.py", {}), ("app.py", {"ck": "folder/nemo"}),
])  # fmt: skip
def test_a_demonstration_has_no_uploader(page, link, demonstration, library):
    app = open_app(page, **link)
    assert not app.exception and not app.file_uploader and UPLOADS in captions(app)


def test_a_demonstration_says_so_in_chinese_too(demonstration):
    assert TEXTS[UPLOADS] in captions(open_app("pages/8_Checkpoint.py", lang="zh"))


def test_a_demonstration_starts_no_job(registry, monkeypatch):  # noqa: F811
    work = Until()
    assert [button.label for button in open_script(a=work).button] == ["Start"]
    monkeypatch.setenv("RELXL_DEMO", "1")
    app = open_script(a=work)
    assert not app.button and captions(app) == [JOBS] and work.runs == 0


def test_without_the_variable_nothing_is_left_out(monkeypatch):
    monkeypatch.delenv("RELXL_DEMO", raising=False)
    assert not demo.no_uploads() and not demo.no_jobs()
