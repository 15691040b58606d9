"""A sweep that is killed goes on where it stopped, ends with the same table, and leaves no process."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from relxl import cli_relative_absolute
from relxl.cli import main
from tests.conftest import ROOT
from tests.test_experiments_init import of_session, wait_until

OPTIONS = ["--lengths", "16,32", "--seeds", "0", "--steps", "2", "--step-tokens", "64", "--scored", "96"]


def test_a_killed_sweep_resumes_and_ends_equal(tmp_path, monkeypatch):
    text = tmp_path / "little.txt"
    text.write_text((ROOT / "data/tinyshakespeare.txt").read_text()[:12000])
    options = ["sweep", "relative-vs-absolute", "--texts", str(text), *OPTIONS, "--out"]
    command = [sys.executable, "-m", "relxl", *options, str(tmp_path / "killed.csv"), "--workers", "1"]
    journal = tmp_path / "killed.csv.journal"

    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
        assert process.poll() is None
        time.sleep(0.02)
    workers = of_session(process.pid) - {process.pid}
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = [json.loads(line)["run"] for line in journal.read_text().splitlines()[1:] if line.endswith("}")]
    assert 3 <= len(done) < 12 and not (tmp_path / "killed.csv").exists()
    assert workers
    wait_until(lambda: not of_session(process.pid))

    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    monkeypatch.setattr(cli_relative_absolute, "chosen_executor", lambda *_args: ThreadPoolExecutor(1))
    assert main([*options, str(tmp_path / "whole.csv")]) == 0
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
