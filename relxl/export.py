"""Write split scores to files, and read the token ids and hidden states that a person brings along."""

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import save as save_safetensors
from safetensors.torch import load as load_safetensors
from torch import Tensor

from relxl.files import write_atomic
from relxl.model import TransformerXL
from relxl.split import HeadTerms, LayerTerms

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a cell that begins so


def arrays_of(terms: LayerTerms, layer: int) -> dict[str, np.ndarray]:
    """Name the dense arrays of one layer: L{layer}.content, ... [batch head query key], and distance [query key]."""
    shape = terms.logits.shape
    arrays = {f"L{layer}.{name}": value for name, value in terms.terms.items()}
    arrays |= {f"L{layer}.logits": terms.logits, f"L{layer}.probs": terms.probs}
    arrays[f"L{layer}.mask"] = np.broadcast_to(terms.mask, shape)
    arrays["distance"] = terms.distance
    return {name: np.ascontiguousarray(value) for name, value in arrays.items()}


def npz_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write named arrays to .npz or .safetensors. Raises ValueError for another ending."""
    writers = {".npz": npz_bytes, ".safetensors": save_safetensors}
    if path.suffix not in writers:
        raise ValueError(
            f"{path} ends in {path.suffix!r}, but arrays are written to .npz or .safetensors: change --out"
        )
    write_atomic(path, writers[path.suffix](arrays))


def csv_text(terms: HeadTerms, tokens: list[str]) -> str:
    """Write every cell of a head as one CSV line: place, tokens, distance, visible, terms, sum, probability."""
    mem_len = len(tokens) - terms.mask.shape[0]
    columns = terms.terms | {"sum": terms.logits, "probability": terms.probs}
    safe = [f"'{token}" if token.startswith(FORMULA_STARTS) else token for token in tokens]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["query", "key", "query_token", "key_token", "distance", "visible", *columns])
    for query, key in np.ndindex(terms.mask.shape):
        values = [f"{column[query, key]:.6g}" for column in columns.values()]
        place = [query, key, safe[mem_len + query], safe[key], terms.distance[query, key], int(terms.mask[query, key])]
        writer.writerow([*place, *values])
    return buffer.getvalue()


def read_tokens(path: Path, n_token: int) -> list[list[int]]:
    """Read token ids [batch key]: a JSON list, a JSON list of lists of one length, or numbers apart by white space.

    Raises ValueError for anything else and for ids outside the vocabulary.
    """
    text = path.read_text(encoding="utf-8")
    try:
        ids = json.loads(text) if text.lstrip().startswith("[") else [int(word) for word in text.split()]
    except (ValueError, RecursionError):
        ids = [None]
    rows = ids if ids and all(isinstance(row, list) for row in ids) else [ids]
    if not all(type(i) is int for row in rows for i in row) or len({len(row) for row in rows}) > 1:
        raise ValueError(
            f"{path} must hold token ids: a JSON list of whole numbers, a list of such lists of one length, or numbers "
            "apart by white space"
        )
    if bad := [i for row in rows for i in row if not 0 <= i < n_token]:
        raise ValueError(f"{path} holds the token id {bad[0]}, but the checkpoint has ids 0 to {n_token - 1}")
    return rows


def read_hidden(path: Path, model: TransformerXL) -> Tensor:
    """Read layer inputs `hidden` from .npz or .safetensors, in the dtype of the model.

    [batch len d_model], or [batch len 2 d_model] (content, position) for absolute positions. Raises ValueError
    for another content or shape.
    """
    data = path.read_bytes()
    try:
        if path.suffix == ".npz":
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = {name: torch.from_numpy(archive[name]) for name in archive.files if name == "hidden"}
        else:
            arrays = load_safetensors(data)
    except (SafetensorError, ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is no .npz or .safetensors of numbers ({error}): save the layer inputs as one"
        ) from None
    if "hidden" not in arrays or not arrays["hidden"].is_floating_point():
        raise ValueError(f"{path} has no floating array named `hidden`: name the layer inputs [batch len d_model] so")
    hidden = arrays["hidden"]
    absolute = model.config.positions == "absolute"
    wanted = (2, model.config.d_model) if absolute else (model.config.d_model,)
    shape = tuple(hidden.shape)
    if len(shape) != 2 + len(wanted) or shape[2:] != wanted or 0 in shape:
        raise ValueError(
            f"`hidden` in {path} has shape {list(shape)}, but this checkpoint needs "
            f"[batch len {' '.join(map(str, wanted))}]"
        )
    return hidden.to(next(model.parameters()).dtype)
