"""Write split scores to files, and read the token ids and hidden states that a person brings along."""

import csv
import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save as save_safetensors
from torch import Tensor

from relxl.checkpoint import Checkpoint
from relxl.containers.errors import Refused
from relxl.containers.reader import load_checked, naming, open_regular
from relxl.files import write_atomic
from relxl.split import HeadTerms, LayerTerms

MAX_HIDDEN = 1 << 28  # bytes of hidden states, packed and unpacked
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


def safe_cell(value: object) -> object:
    """Keep a spreadsheet from running a cell."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def csv_text(terms: HeadTerms, tokens: list[str]) -> str:
    """Write every cell of a head as one CSV line: place, tokens, distance, visible, terms, sum, probability."""
    mem_len = len(tokens) - terms.mask.shape[0]
    columns = terms.terms | {"sum": terms.logits, "probability": terms.probs}
    safe = list(map(safe_cell, tokens))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["query", "key", "query_token", "key_token", "distance", "visible", *columns])
    for query, key in np.ndindex(terms.mask.shape):
        values = [f"{column[query, key]:.6g}" for column in columns.values()]
        place = [query, key, safe[mem_len + query], safe[key], terms.distance[query, key], int(terms.mask[query, key])]
        writer.writerow([*place, *values])
    return buffer.getvalue()


def read_tokens(path: Path, n_token: int) -> list[list[int]]:
    """Read token ids [batch key] of a vocabulary; see `read_ids`."""
    rows = read_ids(path, "token ids")
    if bad := [i for row in rows for i in row if not 0 <= i < n_token]:
        raise ValueError(f"{path} holds the token id {bad[0]}, but the checkpoint has ids 0 to {n_token - 1}")
    return rows


def read_ids(path: Path, what: str) -> list[list[int]]:
    """Read ids [batch key]: a JSON list, a JSON list of lists of one length, or numbers apart by white space.

    Raises ValueError for anything else.
    """
    try:
        text = path.read_text(encoding="utf-8")
        ids = json.loads(text) if text.lstrip().startswith("[") else [int(word) for word in text.split()]
    except (ValueError, RecursionError):
        ids = [None]
    rows = ids if ids and all(isinstance(row, list) for row in ids) else [ids]
    if not all(type(i) is int and abs(i) < 1 << 31 for row in rows for i in row) or len({len(r) for r in rows}) > 1:
        raise ValueError(
            f"{path} must hold {what}: a JSON list of whole numbers, a list of such lists of one length, or numbers "
            "apart by white space"
        )
    return rows


# Hidden states that a person brings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HiddenInput:
    """Hold what a model that reads hidden states is given."""

    hidden: Tensor  # [batch len d_model], or [batch len 2 d_model] (content, position) for absolute positions
    visible: Tensor | None  # bool, true where a frame is real: [batch key], or [batch query key]
    mems: list[Tensor] | None  # one a layer, [batch mem d_model]


def read_hidden(path: Path, checkpoint: Checkpoint) -> HiddenInput:
    """Read `hidden`, and `mask` and `mems` (or mems.0, mems.1, ...) if they are there, from .npz or .safetensors.

    In the dtype of the model. `mask` is [batch len] or [batch query key] and means what the family's own code means by
    one. Raises ValueError, one sentence, for any other content or shape.
    """
    arrays, model = read_arrays(path), checkpoint.model
    hidden = arrays.pop("hidden", None)
    if hidden is None or not hidden.is_floating_point():
        raise ValueError(
            f"{path.name} has no floating array named `hidden`: name the layer inputs [batch len d_model] so"
        )
    wanted = (2, model.config.d_model) if model.config.positions == "absolute" else (model.config.d_model,)
    check_states("hidden", hidden, wanted, path)
    mems = read_mems(arrays, checkpoint, hidden, wanted, path)
    mem_len = 0 if mems is None else mems[0].shape[1]
    visible = None
    if "mask" in arrays:
        visible = read_mask(arrays["mask"], checkpoint.opened.family.mask_marks, hidden.shape, mem_len, path)
    return HiddenInput(hidden.to(model.dtype), visible, mems)


def check_states(name: str, states: Tensor, wanted: tuple[int, ...], path: Path) -> None:
    if states.dim() != 2 + len(wanted) or tuple(states.shape[2:]) != wanted or 0 in states.shape:
        raise ValueError(
            f"`{name}` in {path.name} has shape {list(states.shape)}, but this checkpoint needs "
            f"[batch len {' '.join(map(str, wanted))}]"
        )


def read_mems(
    arrays: dict[str, Tensor], checkpoint: Checkpoint, hidden: Tensor, wanted: tuple[int, ...], path: Path
) -> list[Tensor] | None:
    """Take the memory of every layer: one for all of them, or one a layer."""
    n_layer = checkpoint.config.n_layer
    names = sorted((name for name in arrays if name.startswith("mems")), key=lambda name: (len(name), name))
    if not names:
        return None
    if names not in (["mems"], [f"mems.{layer}" for layer in range(n_layer)]):
        raise ValueError(
            f"{path.name} has {', '.join(names[:4])}, but the memory is `mems` for all layers or mems.0 to "
            f"mems.{n_layer - 1}, one a layer"
        )
    sizes = len(hidden), arrays[names[0]].shape[1] if arrays[names[0]].dim() > 1 else 0
    for name in names:
        check_states(name, arrays[name], wanted, path)
        if not arrays[name].is_floating_point() or tuple(arrays[name].shape[:2]) != sizes:
            raise ValueError(
                f"`{name}` in {path.name} is {dtype_name(arrays[name])} {list(arrays[name].shape)}, but memories are "
                f"floats of one length and of the batch of `hidden`, {len(hidden)}"
            )
    mems = [arrays[name].to(checkpoint.model.dtype) for name in names]
    return mems * n_layer if names == ["mems"] else mems


def read_mask(mask: Tensor, marks: str, shape: tuple[int, ...], mem_len: int, path: Path) -> Tensor:
    """Turn a mask of 0 and 1 into what is visible; a memory that it leaves out is."""
    batch, length = shape[:2]
    if mask.dim() == 3 and mask.shape[1] == 1 and length > 1:
        mask = mask[:, 0]
    fits = mask.dim() in (2, 3) and len(mask) == batch and mask.shape[-1] in (length, mem_len + length)
    if not fits or (mask.dim() == 3 and mask.shape[1] != length) or not ((mask == 0) | (mask == 1)).all():
        raise ValueError(
            f"`mask` in {path.name} is {dtype_name(mask)} {list(mask.shape)}, but 0 and 1 are needed of "
            f"[{batch} {length}] or [{batch} {length} {mem_len + length}]"
        )
    visible = mask == (1 if marks == "keep" else 0)
    return torch.nn.functional.pad(visible, (mem_len + length - mask.shape[-1], 0), value=True)


def dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def of_hidden(name: str) -> bool:
    """Say whether hidden states may have an array of that name."""
    return name in ("hidden", "mask", "mems") or name.startswith("mems.")


def read_arrays(
    path: Path, wanted: Callable[[str], bool] = of_hidden, what: str = "the layer inputs"
) -> dict[str, Tensor]:
    """Read the arrays of a file that may come from anywhere: nothing in it is unpickled or larger than it says.

    Of an .npz those whose names are `wanted`; `what` they are is said where the file is refused.
    """
    if path.suffix not in (".npz", ".safetensors"):
        raise ValueError(f"{path.name} is no .npz or .safetensors of numbers: save {what} as one")
    with naming(path.name), open_regular(path) as file:
        data = file.read(MAX_HIDDEN + 1)
        if len(data) > MAX_HIDDEN:
            raise Refused(f"has more than the {MAX_HIDDEN} bytes that are read of such a file: give fewer frames")
        if path.suffix == ".safetensors":
            return load_checked(data)
    try:
        return read_npz(data, wanted)
    except MemoryError:
        raise ValueError(f"{path.name} claims more memory than there is: do not use it") from None
    except Exception as error:  # zip, its packings and numpy promise no class of error for what is damaged
        raise ValueError(f"{path.name} is no .npz or .safetensors of numbers ({error}): save {what} as one") from None


def read_npz(data: bytes, wanted: Callable[[str], bool] = of_hidden) -> dict[str, Tensor]:
    """Read the arrays whose names are wanted, each held to the size that the zip says it has."""
    arrays, room = {}, MAX_HIDDEN
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if not wanted(name):
                continue
            room -= info.file_size
            if room < 0 or name in arrays:
                raise ValueError(f"{name} is there twice, or too large")
            with archive.open(info) as file:
                headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, fortran, dtype = headers[np.lib.format.read_magic(file)](file)
                values = file.read(info.file_size)
            if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(values):
                raise ValueError(f"{name} is not of the size that it says, {list(shape)[:6]}")
            array = np.frombuffer(bytearray(values), dtype).reshape(shape, order="F" if fortran else "C")
            arrays[name] = torch.from_numpy(np.ascontiguousarray(array))
    return arrays
