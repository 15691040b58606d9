"""Kills, full disks, files that change under a page and lost connections: nothing is lost, and the words are clear."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from threading import Event

import pytest
import torch

from relxl import files
from relxl.checkpoint import open_checkpoint
from relxl.cli import main
from relxl.files import write_atomic
from relxl.jobs import Jobs, Progress
from relxl.ui import library
from tests import bad_texts
from tests.conftest import ROOT, tiny_model
from tests.test_jobs import PATIENCE, Until, threads, wait_for
from tests.test_library import errors, open_app, store, upload  # noqa: F401
from tests.test_server import small, streamlit_session  # noqa: F401

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/secret")
SAYS_FULL = "A file could not be read or kept here (No space left on device): try again, or ask whoever runs"


def python(code: str, **environment: str | None) -> subprocess.Popen:
    """Run code in a process of its own; a variable that is None is taken out of its environment."""
    variables = {name: value for name, value in (os.environ | environment).items() if value is not None}
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)


# Saves that are killed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_write_that_is_killed_leaves_the_old_file_or_the_new_one(seed, tmp_path):
    path, contents = tmp_path / "file", [letter * (4 << 20) for letter in (b"a", b"b")]
    with python(
        f"from itertools import cycle; from pathlib import Path; from relxl.files import write_atomic\n"
        f"for letter in cycle((b'a', b'b')):\n"
        f"    write_atomic(Path({str(path)!r}), letter * (4 << 20)); print('w', flush=True)"
    ) as child:
        child.stdout.readline()
        time.sleep(random.Random(seed).uniform(0, 0.2))
        child.send_signal(signal.SIGKILL)
    assert path.read_bytes() in contents
    write_atomic(path, b"after")
    assert path.read_bytes() == b"after" and all(other.name.startswith(".file.") for other in tmp_path.iterdir()
                                                 if other != path)  # fmt: skip


def test_a_checkpoint_whose_save_is_killed_opens_with_the_old_weights_or_the_new_ones(tmp_path):
    folder = tmp_path / "model"
    code = f"""
import itertools, torch
from pathlib import Path
from relxl.checkpoint import save_checkpoint
from relxl.vocab import Vocab
from tests.conftest import tiny_model
models = [tiny_model(dtype=torch.float32, seed=seed) for seed in (0, 1)]
for model in itertools.cycle(models):
    save_checkpoint(Path({str(folder)!r}), model, Vocab(tuple("abcdefghijk")), {{}})
    print("saved", flush=True)
"""
    with python(code) as child:
        for _save in range(3):
            child.stdout.readline()
        time.sleep(random.Random(0).uniform(0, 0.02))
        child.send_signal(signal.SIGKILL)
    found = open_checkpoint(folder).model.state_dict()
    whole = [tiny_model(dtype=torch.float32, seed=seed).state_dict() for seed in (0, 1)]
    assert any(all(torch.equal(found[name], model[name]) for name in model) for model in whole)


# Full disks: row 54 --------------------------------------------------------------------------------------------------


def test_a_write_beyond_the_limit_keeps_the_old_file_and_leaves_none_beside_it(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    code = f"""
import resource
from pathlib import Path
from relxl.files import write_atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(Path({str(path)!r}), bytes(5000))
except OSError as error:
    print(error.strerror)
"""
    with python(code) as child:
        assert child.communicate()[0] == "File too large\n"
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


TRAIN = (
    "--n-layer 1 --n-head 2 --d-model 8 --d-inner 8 --segment-len 8 --mem-len 8 --max-len 8 --batch 2 --save-every 1"
)


def test_a_training_on_a_full_disk_says_why_and_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    text, out, writes = tmp_path / "text.txt", tmp_path / "out", iter(range(99))
    text.write_text("to be or not to be, that is the question. " * 40)
    command = ["train", "--text", str(text), "--out", str(out), "--steps", "4", *TRAIN.split()]
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", lambda _file: None if next(writes) < 2 else raise_full())
        assert main(command) == 2
    assert "No space left on device" in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in out.iterdir()] == ["resume.safetensors"]
    assert main(command) == 0
    assert "resuming at step 2" in capsys.readouterr().out and open_checkpoint(out).training["train"]["steps"] == 4


def raise_full(*_arguments) -> None:
    raise FULL


def test_an_upload_to_a_full_disk_is_one_sentence_without_a_path(store, monkeypatch):  # noqa: F811
    app = open_app("pages/8_Checkpoint.py")
    monkeypatch.setattr(library.Store, "put", raise_full)
    upload(app, ("model.safetensors", b"1"))
    assert not app.exception and len(errors(app)) == 1 and errors(app)[0].startswith(SAYS_FULL)
    assert "secret" not in errors(app)[0] and not any("upload" in name for name in app.sidebar.selectbox[0].options)


def test_hidden_states_and_a_captured_run_on_a_full_disk_are_one_sentence(store, monkeypatch, library):  # noqa: F811
    monkeypatch.setattr("relxl.ui.library.Store.put", raise_full)
    app = open_app("pages/10_Doctor.py", ck="folder/nemo")
    for label in ("Hidden states", "Compare with a run of your own"):
        box = next(box for box in app.get("file_uploader") if box.label == label)
        box.set_value(("h.npz", b"1", "application/octet-stream")).run()
    assert not app.exception and len(errors(app)) == 2 and all(said.startswith(SAYS_FULL) for said in errors(app))


def test_two_servers_share_a_folder_of_which_they_change_nothing_and_need_no_home(tmp_path):
    """And no folder for temporary files either, as long as nobody uploads."""
    folder = shutil.copytree(bad_texts.GOOD, tmp_path / "models" / "mine").parent
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    code = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=120)
app.query_params["ck"] = "folder/mine"
app.run()
print([str(error.value) for error in [*app.exception, *app.error, *app.toast]], app.sidebar.selectbox[0].value)
"""
    environment = {"RELXL_CHECKPOINTS": str(folder), "HOME": None, "TMPDIR": "/nowhere", "OMP_NUM_THREADS": "1"}
    with python(code, **environment) as one, python(code, **environment) as two:
        assert [server.communicate()[0] for server in (one, two)] == ["[] folder/mine\n"] * 2
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before
    assert set(before) == {path for path in folder.rglob("*") if path.is_file()}


# Files that change while a page looks at them: row 50 ----------------------------------------------------------------


def test_weights_in_use_do_not_change_with_their_file(tmp_path):
    """A mapped file would change them, and a shortened one would end the server."""
    folder = shutil.copytree(bad_texts.GOOD, tmp_path / "mine")
    checkpoint = open_checkpoint(folder)
    before = {name: tensor.clone() for name, tensor in checkpoint.weights.tensors.items()}
    with (folder / "model.safetensors").open("r+b") as file:
        file.write(bytes(5000))
        file.truncate(100)
    assert all(torch.equal(tensor, before[name]) for name, tensor in checkpoint.weights.tensors.items())


def test_a_file_that_is_cut_replaced_or_taken_away_under_a_page(tmp_path, monkeypatch):
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    folder = shutil.copytree(bad_texts.GOOD, tmp_path / "mine")
    weights, good = folder / "model.safetensors", (bad_texts.GOOD / "model.safetensors").read_bytes()
    app = open_app(ck="folder/mine")
    assert not app.exception and not app.error and app.get("bidi_component")

    weights.write_bytes(good[:-100])
    app.run()
    assert not app.exception and len(errors(app)) == 1 and "ends too early" in errors(app)[0]
    weights.write_bytes(good)
    assert not app.run().exception and not app.error and app.get("bidi_component")

    weights.unlink()
    app.run()
    assert not app.exception and len(errors(app)) == 1 and "has no model.safetensors" in errors(app)[0]
    shutil.rmtree(folder)
    app.run()
    assert not app.exception and not app.error and app.sidebar.selectbox[0].value == library.FIRST
    assert [toast.value for toast in app.toast] == [
        "`folder/mine` is not there any more: showing `shakespeare-learned`."
    ]
    assert not app.run().toast


def test_an_upload_that_was_spoiled_is_refused_and_whole_again_when_it_comes_again(store):  # noqa: F811
    files_ = [(name, (bad_texts.GOOD / name).read_bytes()) for name in ("model.safetensors", "config.json")]
    app = upload(open_app("pages/8_Checkpoint.py"), *files_)
    (kept,) = store.folder.iterdir()
    (kept / "weights.safetensors").write_bytes(b"\0" * 50)
    app.run()
    assert not app.exception and len(errors(app)) == 1
    app.sidebar.selectbox[0].set_value("txl-official").run()  # the page of a file that can not be opened has no box
    upload(app, *files_)
    assert not app.exception and not errors(app)
    assert (kept / "weights.safetensors").read_bytes() == files_[0][1]
    shutil.rmtree(kept)
    app.run()
    assert not app.exception and not errors(app) and "is not there any more" in app.toast[0].value


# Connections and jobs: row 53 ----------------------------------------------------------------------------------------


def test_a_session_that_lost_its_connection_comes_back_as_the_same(small):  # noqa: F811
    """So it still owns its jobs; `relxl.ui.jobs` takes the session for the owner."""
    with streamlit_session(small) as (session, _token):
        pass
    with streamlit_session(small, session) as (again, _token):
        assert again == session
    with streamlit_session(small) as (other, _token):
        assert other != session


def test_a_lost_session_keeps_its_job_for_a_while_and_then_loses_it():
    here, work = Event(), Until()
    here.set()
    jobs = Jobs(lambda owner: here.is_set(), grace=0.5)
    jobs.submit("me", "key", "", work)
    assert work.begun.wait(PATIENCE)
    here.clear()
    time.sleep(0.1)
    here.set()
    time.sleep(0.6)
    assert jobs.get("me", "key").state == "running"
    here.clear()
    assert work.closed.wait(PATIENCE) and not work.told.is_set()
    jobs.close()


def test_who_clicks_twice_reloads_or_moves_a_slider_has_one_job_at_a_time():
    sessions, most = {"tab 0"}, []
    jobs = Jobs(lambda owner: owner in sessions, grace=0.0)

    def work():
        while True:
            most.append(len(threads()))
            time.sleep(0.005)
            yield Progress(0.5, "Working", 1)

    for _click in range(2):
        jobs.submit("tab 0", "scale 1", "", work)
    for reload in range(1, 21):
        sessions.add(f"tab {reload}")
        sessions.discard(f"tab {reload - 1}")
        assert jobs.get(f"tab {reload}", "scale 1").alive  # it goes over to the page as it is now
    jobs.submit("tab 20", "scale 2", "", work)
    wait_for(lambda: jobs.get("tab 20", "scale 1").state == "running")
    assert [job.key for job in jobs.jobs("tab 20")] == ["scale 1", "scale 2"]
    assert jobs.get("tab 20", "scale 2").place == 1 and len({job.id for job in jobs.jobs("tab 20")}) == 2
    sessions.clear()  # the tab is closed
    wait_for(lambda: not jobs.queue)
    wait_for(lambda: jobs.worker is None)
    assert max(most) == 1
