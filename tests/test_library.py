"""Which checkpoints a person may open, how an upload is kept, and how what a file does not say is asked for."""

import io
import json
import os

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import open_checkpoint
from relxl.containers import CheckpointError
from relxl.ui import library
from tests.conftest import ROOT

TXL = ROOT / "checkpoints/txl-official"
FIXTURES = ROOT / "tests/fixtures"
PAGE = "pages/8_Checkpoint.py"


@pytest.fixture(scope="module")
def weights() -> bytes:
    return (TXL / "model.safetensors").read_bytes()


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Keep uploads in a folder of this test."""
    kept = library.Store(tmp_path / "store")
    kept.folder.mkdir()
    monkeypatch.setattr("relxl.ui.library.store", lambda: kept)
    return kept


def open_app(page: str = "app.py", **link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    return app if page == "app.py" else app.switch_page(page).run()


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    box = next(box for box in app.file_uploader if box.label == "Open your own")
    return box.set_value([(name, data, "application/octet-stream") for name, data in files]).run()


def errors(app: AppTest) -> list[str]:
    return [error.value.replace("\\", "") for error in app.error]


def test_a_file_is_kept_once_for_all_and_the_oldest_go_first(store, monkeypatch):
    first = store.put([("weights.bin", b"abc")])
    assert store.put([("weights.bin", b"abc")]) == first and (first / "weights.bin").read_bytes() == b"abc"
    other = store.put([("weights.bin", b"abd")])
    assert other != first and other != store.put([("weights.pt", b"abd")])
    os.utime(first, (0, 0))
    monkeypatch.setattr(library, "MOST_BYTES", 9)
    last = store.put([("weights.bin", b"xyz")])
    assert not first.exists() and last.exists() and other.exists()


def test_names_of_uploads_mean_nothing_to_the_system():
    name = "../../etc/![x](http://h/t.png)<img>.pt"
    assert library.safe_names([(name, b"1"), ("config.json", b"{}")]) == [("weights.pt", b"1"), ("config.json", b"{}")]
    assert library.safe_names([("CON.exe", b"1")]) == [("weights.bin", b"1")]
    shards = [("model-00001-of-00002.safetensors", b"1"), ("model-00002-of-00002.safetensors", b"2")]
    assert library.safe_names(shards) == shards
    with pytest.raises(CheckpointError, match="holds no weights"):
        library.safe_names([("config.json", b"{}")])
    with pytest.raises(CheckpointError, match="shards are named by letters"):
        library.safe_names([("a.pt", b"1"), ("../b.pt", b"2")])


def test_the_allowed_folder_lists_nothing_hidden_and_nothing_that_leads_out(tmp_path, monkeypatch):
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir(), outside.mkdir()
    (outside / "secret.pt").write_bytes(b"1")
    (root / ".hidden.pt").write_bytes(b"1")
    (root / "good.pt").write_bytes(b"1")
    (root / "notes.txt").write_bytes(b"1")
    (root / "folder").mkdir()
    (root / os.fsdecode(b"\xff.pt")).write_bytes(b"1")
    (root / "link.pt").symlink_to(outside / "secret.pt")
    os.mkfifo(root / "pipe.pt")
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(root))
    assert [path.name for path in library.folder_entries()] == ["folder", "good.pt"]
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path / "nowhere"))
    assert library.folder_entries() == []


def test_an_upload_is_opened_and_looked_at_on_every_page(store, weights):
    app = open_app(PAGE)
    config, vocab = (TXL / "config.json").read_bytes(), (TXL / "vocab.json").read_bytes()
    upload(app, ("mine.safetensors", weights), ("config.json", config), ("vocab.json", vocab))
    assert not app.exception and not errors(app)
    name = app.query_params["ck"][0] if isinstance(app.query_params["ck"], list) else app.query_params["ck"]
    assert name.startswith("upload/") and "mine.safetensors (upload)" in app.sidebar.selectbox[0].options
    app.switch_page("pages/1_Score_terms.py").run()
    assert not app.exception and not errors(app) and app.query_params["ck"] in (name, [name])
    other = open_app(ck=name)  # another session does not have it
    assert not any("upload" in option for option in other.sidebar.selectbox[0].options) and other.toast


@pytest.mark.parametrize("name, data, message", [
    ("empty.pt", b"", "empty"),
    ("page.bin", b"<!DOCTYPE html><html>404</html>", "web page"),
    ("pointer.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 12\n", "pointer.bin is a git-lfs"),
    ("bert.safetensors", save({"bert.encoder.layer.0.attention.self.query.weight": torch.ones(2, 2)}), "BERT"),
    ("![x](http://h/t.png).pt", b"no", "pt"),
])  # fmt: skip
def test_what_is_no_checkpoint_is_refused_and_the_page_stays(store, name, data, message):
    app = open_app(PAGE)
    upload(app, (name, data))
    assert not app.exception and len(errors(app)) == 1 and message in errors(app)[0] and "\n" not in errors(app)[0]
    assert not any(option.startswith("upload") for option in app.sidebar.selectbox[0].options)
    assert list(store.folder.iterdir()) == []


def test_what_the_file_does_not_say_is_asked_for_before_it_is_read(store):
    case = FIXTURES / "txl_official/cutoffs_div1"
    app = open_app(PAGE)
    tensors = open_checkpoint(case / "state_dict.pt", config=json.loads((case / "meta.json").read_text())["config"])
    upload(app, ("cut.safetensors", save(tensors.weights.tensors)))
    assert len(errors(app)) == 1 and "give cutoffs of 3 rising numbers below 45" in errors(app)[0]
    app.text_input[0].set_value("10, 20, 30")
    app.button[0].click().run()
    assert not app.exception and not errors(app)
    assert json.loads(app.query_params["a"][0] if isinstance(app.query_params["a"], list) else app.query_params["a"])


def test_answers_are_in_the_link_and_bad_ones_are_left_out():
    app = open_app(ck="txl-official", a='{"clamp_len": 7}')
    assert not app.exception and not errors(app) and not app.toast
    app = open_app(ck="txl-official", a='{"clamp_len": "x", "rotary": 1}')
    assert not app.exception and not errors(app) and app.toast
    app = open_app(ck="txl-official", a="[[[")
    assert not app.exception and not errors(app)


def test_a_model_of_hidden_states_is_shown_on_random_ones_and_on_those_that_are_given(store, monkeypatch, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    case = FIXTURES / "nemo/padded_nobias"
    (folder / "nemo.safetensors").write_bytes((case / "weights.safetensors").read_bytes())
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(folder))
    app = open_app("pages/1_Score_terms.py", ck="folder/nemo.safetensors")
    assert not app.exception and any("random" in caption.value for caption in app.sidebar.caption)
    x = load_file(case / "expected.safetensors")["seg0.input.x"].numpy()
    data = io.BytesIO()
    np.savez(data, hidden=x)
    box = next(box for box in app.sidebar.file_uploader if box.label == "Hidden states")
    box.set_value([("h.npz", data.getvalue(), "application/octet-stream")]).run()
    assert not app.exception and not errors(app)
    assert not any("random" in caption.value for caption in app.sidebar.caption)
    app.switch_page("pages/7_Max_len.py").run()
    assert not app.exception
