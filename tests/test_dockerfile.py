"""The image holds what the app needs and nothing else, and runs as nobody in particular."""

import re

from tests.conftest import ROOT

TEXT = (ROOT / "Dockerfile").read_text()


def test_every_file_that_is_copied_is_there_and_is_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE) for word in line.split()[:-1]]
    assert {"app.py", "asgi.py", "pages", "relxl", "data", "checkpoints", ".streamlit"} <= set(copied)
    for name in copied:
        assert (ROOT / name).exists() and f"!{name}" in ignored, name


def test_it_runs_without_root_behind_the_hardened_server_with_a_health_check():
    last = TEXT.rsplit("FROM", 1)[1]
    assert re.search(r"^USER 1000$", last, re.MULTILINE) and "HEALTHCHECK" in last and "asgi:app" in last
    assert "--read-only" in TEXT and "pip install" not in last


def test_the_python_is_the_one_that_is_tested():
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text() and "python:3.11" in TEXT
