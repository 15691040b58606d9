"""Which checkpoint is looked at: a bundled one, one of the folder RELXL_CHECKPOINTS, or one that was uploaded.

A checkpoint is chosen by a name from a list and never by a path that somebody types. What is uploaded is kept once for
all sessions, by its content, in a folder that goes with the server; a session knows only its own uploads.
"""

import atexit
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from relxl.checkpoint import UnansweredError, list_checkpoints
from relxl.containers import CheckpointError
from relxl.language import _
from relxl.mystery import FIRST_SEED, LAST_SEED, make_mystery
from relxl.ui.demo import no_uploads
from relxl.ui.show import code, escape, said
from relxl.ui.state import FromLink, choose, chosen, keep
from relxl.ui.view import cached_checkpoint, source_of

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "checkpoints"
FIRST = "shakespeare-learned"
WEIGHTS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".nemo", ".tar", ".gz")
SIDE_FILES = ("config.json", "vocab.json", "vocab.txt", "tokenizer.json", "training.json", "config.yaml", "train.yaml")
HIDDEN = (".npz", ".safetensors")
MYSTERY = "mystery/"  # and a seed: the name of a model with a planted fault
MOST_ENTRIES = 500  # of the folder
MOST_BYTES = 4 << 30  # of all uploads together; the oldest go first


class Place(NamedTuple):
    """Say where a checkpoint lies and what a person calls it."""

    path: Path
    label: str


def places() -> dict[str, Place]:
    """Name every checkpoint that this session may open: the name goes into the link, the label onto the page."""
    found = {name: Place(BUNDLED / name, name) for name in list_checkpoints(BUNDLED)}
    for path in folder_entries():
        found[f"folder/{path.name}"] = Place(path, f"{path.name} ({_('folder')})")
    for name, (label, path) in st.session_state.get("uploads", {}).items():
        if not Path(path).exists():  # room was made for others
            continue
        mystery = name.startswith(MYSTERY)
        shown = _("Mystery {n}").format(n=label) if mystery else f"{label} ({_('upload')})"
        found[name] = Place(Path(path), shown)
    return found


def folder_entries() -> list[Path]:
    """List the checkpoints of the folder that the server's owner allows.

    Nothing hidden, nothing that leads out, nothing with a name that a page can not show.
    """
    folder = os.environ.get("RELXL_CHECKPOINTS")
    if not folder or not Path(folder).is_dir():
        return []
    root = Path(folder).resolve()
    inside = [path for path in sorted(root.iterdir()) if not path.name.startswith(".") and path.name.isprintable()]
    kept = [path for path in inside if path.resolve().is_relative_to(root) and (path.is_dir() or is_weights(path))]
    return kept[:MOST_ENTRIES]


def is_weights(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in WEIGHTS


def kept_place() -> tuple[str, dict[str, Place]]:
    """Give the name of the checkpoint that is chosen, and all that may be. Raises ValueError where there is none."""
    asked = re.fullmatch(MYSTERY + "([0-9]{1,3})", str(chosen("ck")[0]))
    if asked and FIRST_SEED <= int(asked[1]) <= LAST_SEED:
        open_mystery(int(asked[1]))  # a link of somebody else's
    found = places()
    if not found:
        raise ValueError(_("There is no checkpoint in {folder}: run `make train`.").format(folder=BUNDLED))
    before, shared = chosen("ck")[0], isinstance(chosen("ck")[0], FromLink)
    name = keep("ck", FIRST if FIRST in found else next(iter(found)), found).value
    if before not in (None, name) and not shared:
        choose(a="")  # another file is asked other questions
        message = _("{name} is not there any more: showing {value}.")
        st.toast(message.format(name=code(str(before)[:80]), value=code(name)))
    return name, found


# What the weights can not tell ---------------------------------------------------------------------------------------


def kept_answers() -> tuple[tuple[str, object], ...]:
    """Read the answers that were chosen for this checkpoint, by name; those of a link that are none are left out."""
    try:
        answers = json.loads(str(keep("a", "").value) or "{}")
    except ValueError:
        return ()
    plain = answers.items() if isinstance(answers, dict) else ()
    return tuple((str(name), tuple(value) if isinstance(value, list) else value) for name, value in plain)


def choose_setting(name: str, value: object) -> None:
    """Answer what a file does not say; None takes the answer back."""
    answers = dict(kept_answers()) | {name: value}
    answers = {name: value for name, value in answers.items() if value is not None}
    choose(a=json.dumps(answers) if answers else "")


def answer_box(name: str) -> None:
    """Ask for a list of whole numbers without which a file can not be read."""
    with st.form(f"answer_{name}"):
        text = st.text_input(name, placeholder="20000, 40000, 200000")
        if st.form_submit_button(_("Read it so")):
            numbers = [int(word) for word in text.replace(",", " ").split() if word.isdecimal()]
            choose_setting(name, numbers or None)
            st.rerun()


# Uploads -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """Keep files by their content in a folder that is removed with the server."""

    folder: Path

    def put(self, files: Sequence[tuple[str, bytes]]) -> Path:
        """Keep files under one folder named by their content, and give it; what is there whole is not written."""
        digest = hashlib.sha256()
        for name, data in sorted(files):
            digest.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
        path = self.folder / digest.hexdigest()
        if not holds(path, files):
            self.remove(path)
            self.make_room(sum(len(data) for _name, data in files))
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=".") as new:
                for name, data in files:
                    (Path(new) / name).write_bytes(data)
                try:
                    Path(new).rename(path)
                    Path(new).mkdir()  # for the context manager to remove
                except OSError:
                    if not holds(path, files):  # no other session was faster
                        raise
        return path

    def make_room(self, size: int) -> None:
        """Remove the oldest folders until there is room for `size` bytes."""
        kept = sorted(self.folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime)
        sizes = [sum(file.stat().st_size for file in path.iterdir()) for path in kept]
        while kept and sum(sizes) + size > MOST_BYTES:
            self.remove(kept.pop(0))
            sizes.pop(0)

    def remove(self, path: Path) -> None:
        shutil.rmtree(path, ignore_errors=True)


def holds(folder: Path, files: Sequence[tuple[str, bytes]]) -> bool:
    """Tell whether a folder has these files, in every byte."""
    kept = ((folder / name, data) for name, data in files)
    return all(path.is_file() and path.read_bytes() == data for path, data in kept)


@st.cache_resource(max_entries=1, show_spinner=False)
def store() -> Store:
    """Give the one store of this server."""
    folder = tempfile.mkdtemp(prefix="relxl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Store(Path(folder))


def upload_box() -> None:
    """Take a checkpoint from a person, open it, and look at it from now on; what is wrong is one sentence."""
    if no_uploads():
        return
    turn = st.session_state.setdefault("upload_turn", 0)
    help = _(
        "One file of weights (.safetensors, .pt, .bin, .ckpt, .nemo), or its shards and its index, with config.json, "
        "vocab.json or vocab.txt beside it if you have them. It is read without running anything in it, and it does "
        "not leave this machine."
    )
    files = st.file_uploader(_("Open your own"), accept_multiple_files=True, key=f"upload_{turn}", help=help)
    if files:
        st.session_state.upload_turn += 1  # an empty box next time: the session keeps no copy of the bytes
        try:
            with st.spinner(_("Opening {name}").format(name=escape(files[0].name[:80]))):
                name = take([(file.name, file.getvalue()) for file in files])
            st.session_state.pop("upload_error", None)
            choose(ck=name, a="")
        except (CheckpointError, OSError) as error:
            st.session_state.upload_error = said(error)
        st.rerun()
    if "upload_error" in st.session_state:
        st.error(escape(st.session_state.upload_error))


def take(files: list[tuple[str, bytes]]) -> str:
    """Keep what was uploaded and open it once; give its name in the list. Raises CheckpointError."""
    named = safe_names(files)
    path = store().put(named)
    label = next(name for name, data in files if Path(name).name not in SIDE_FILES)
    place = path / named[0][0] if len(named) == 1 else path
    source = source_of(place, label)
    try:
        cached_checkpoint(source)
    except UnansweredError:
        pass  # the page asks
    except CheckpointError:
        store().remove(path)
        raise
    name = f"upload/{path.name[:12]}"
    st.session_state.setdefault("uploads", {})[name] = (label[:80], str(place))
    return name


def safe_names(files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Name files so that their names mean nothing to the system: side files and shards keep theirs.

    Raises CheckpointError where there are no weights.
    """
    weights = [name for name, data in files if Path(name).name not in SIDE_FILES]
    if not weights:
        message = _("{name} holds no weights: give a .safetensors, .pt, .bin, .ckpt or .nemo file as well")
        raise CheckpointError(message.format(name=files[0][0][:80]))
    if len(weights) > 1:  # shards, which an index names
        plain = all(name.replace(".", "").replace("-", "").replace("_", "").isalnum() for name in weights)
        if not plain or len(set(weights)) < len(weights) or len(files) > MOST_ENTRIES:
            message = _(
                "{n} files of weights came, {name} among them, but shards are named by letters, digits, dots, dashes "
                "and underscores, each once: give one file, or all shards with their index"
            )
            raise CheckpointError(message.format(n=len(weights), name=weights[0][:80]))
        return [(Path(name).name, data) for name, data in files]
    suffix = Path(weights[0]).suffix.lower()
    only = f"weights{suffix if suffix in WEIGHTS else '.bin'}"
    return [(Path(name).name if Path(name).name in SIDE_FILES else only, data) for name, data in files]


# Mysteries -----------------------------------------------------------------------------------------------------------


def open_mystery(seed: int) -> str:
    """Keep the model in which a seed plants a fault as an upload is kept; give its name in the list."""
    name = f"{MYSTERY}{seed}"
    uploads = st.session_state.setdefault("uploads", {})
    if name not in uploads or not Path(uploads[name][1]).is_dir():
        uploads[name] = (str(seed), str(store().put(make_mystery(seed, BUNDLED).files)))
    return name


# Hidden states -------------------------------------------------------------------------------------------------------


def hidden_box() -> None:
    """Take hidden states for a model that reads no tokens."""
    if no_uploads():
        return
    turn = st.session_state.setdefault("hidden_turn", 0)
    help = _(
        "An .npz or .safetensors with `hidden` [batch len d_model], what enters the encoder or, where only attention "
        "is known, the attention module; `mask` and `mems` if there are any."
    )
    file = st.file_uploader(_("Hidden states"), type=[name[1:] for name in HIDDEN], key=f"hidden_{turn}", help=help)
    if file is not None:
        st.session_state.hidden_turn += 1
        suffix = Path(file.name).suffix.lower()
        try:
            path = store().put([(f"hidden{suffix if suffix in HIDDEN else '.npz'}", file.getvalue())])
            st.session_state.hidden_states = str(next(path.iterdir()))
            st.session_state.pop("hidden_error", None)
        except OSError as error:
            st.session_state.hidden_error = said(error)
        st.rerun()
    if "hidden_error" in st.session_state:
        st.error(escape(st.session_state.hidden_error))
    if "hidden_states" in st.session_state and st.button(_("Back to random ones")):
        del st.session_state.hidden_states
        st.rerun()


def kept_hidden() -> str:
    """Give the file of hidden states that this session brought, or nothing."""
    return st.session_state.get("hidden_states", "")
