"""The text that a checkpoint was trained on, where it lies in the folder data, and the part of it that was held out."""

import math
from pathlib import Path

import streamlit as st
import torch
from torch import Tensor

from relxl.checkpoint import Checkpoint
from relxl.training import split_tokens
from relxl.ui.library import ROOT

LONG_TEXT = 1024  # characters of a preset that is longer than any training


def training_file(checkpoint: Checkpoint) -> Path | None:
    """Give the file of the text; None where the checkpoint names none, or one that is not in the folder data."""
    files = {file.name: file for file in (ROOT / "data").glob("*.txt")}
    return files.get(checkpoint.training.get("text", {}).get("name"))


def held_out_tokens(checkpoint: Checkpoint, file: Path) -> Tensor:
    """Give the ids of the validation part of a text: [token]."""
    return split_tokens(torch.tensor(checkpoint.vocab.encode(file.read_text(encoding="utf-8")).ids))[1]


def held_out_text(checkpoint: Checkpoint, length: int = LONG_TEXT) -> str:
    """Take the first `length` characters of the validation part of the text; nothing where the text is not there."""
    file = training_file(checkpoint)
    return "" if file is None else cached_part(file, length)


@st.cache_data(max_entries=4, show_spinner=False)
def cached_part(file: Path, length: int) -> str:
    text = file.read_text(encoding="utf-8")
    return text[math.ceil(len(text) * 0.9) :][:length].strip("\n")
