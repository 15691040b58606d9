"""A Streamlit server of our own on a free port, and a real Chromium to look at it; for benchmarks and browser tests."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60


@contextmanager
def serve(script: Path, folder: Path) -> Iterator[str]:
    """Run a Streamlit script from `folder` on a free port of this machine; give its address, and stop it at the end."""
    options = ["--server.headless=true", "--server.address=localhost", "--browser.gatherUsageStats=false"]
    command = ["streamlit", "run", str(script), *options, "--server.fileWatcherType=none", "--server.port"]
    with running(command, folder) as address:
        yield address


@contextmanager
def running(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a module of Python that serves the app, the port as its last argument; give its address, stop it at the end.

    Raises RuntimeError with the end of the server's output when it does not come up.
    """
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command, environment = [sys.executable, "-m", *command, str(port)], os.environ | (environment or {})
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://localhost:{port}/_stcore/health", process, log)
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait()


def wait_for(address: str, process: subprocess.Popen, log) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    log.seek(0)
    raise RuntimeError(f"the server did not answer on {address}: {log.read()[-2000:].decode(errors='replace')}")


@contextmanager
def chromium():
    """Launch the system's Chromium, else Playwright's own, headless; give the browser.

    Its first context keeps what it has compiled of an app for the next page; a new one has seen nothing. Raises
    ValueError where Playwright is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise ValueError("this needs Playwright: pip install -r requirements-dev.txt") from None
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = playwright.chromium.launch_persistent_context(profile, executable_path=path, args=FLAGS)
        try:
            yield context.browser
        finally:
            context.close()
