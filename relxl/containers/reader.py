"""Read one file with weights into checked tensors."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from relxl.containers.errors import CheckpointError, Refused, show, show_name
from relxl.containers.headers import check_safetensors
from relxl.containers.limits import MAX_BYTES, MIB
from relxl.containers.pickles import refuse_pickle
from relxl.containers.sandbox import ask_child
from relxl.containers.sniff import HEAD, sniff
from relxl.containers.zips import check_zip

if TYPE_CHECKING:  # the child imports this package too, and reads YAML without torch in a tenth of the time
    from torch import Tensor

PREFIXES = ("module.", "_orig_mod.")  # of DataParallel and of torch.compile


@dataclass(frozen=True)
class Weights:
    """Hold what was read of a checkpoint: nothing of it has been computed with, or fitted to a family."""

    tensors: dict[str, "Tensor"]  # cpu, dense, contiguous, each with memory of its own
    config: dict  # of plain values, {} if there is none
    texts: dict[str, bytes]  # vocab.json and the like as they are
    digest: str  # sha256 over all that was read, hexadecimal
    container: str
    notes: tuple[str, ...]  # what was done on the way, in plain words
    size: int  # bytes read


@dataclass(frozen=True)
class Part:
    """Hold what was read of one file with weights."""

    tensors: dict[str, "Tensor"]
    config: dict
    digest: str
    container: str
    notes: tuple[str, ...]


@contextlib.contextmanager
def naming(name: object) -> Iterator[None]:
    """Make one sentence of a refusal, with the file's name before it."""
    try:
        yield
    except Refused as refusal:
        raise CheckpointError(f"{show_name(name)} {refusal}") from None
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(f"{show_name(name)} is not there: give the path of a file or folder") from None
    except OSError as error:
        raise CheckpointError(
            f"{show_name(name)} can not be read ({error.strerror}): check that you may read it"
        ) from None


def open_regular(path: Path) -> BinaryIO:
    """Open a file, but no device or pipe, which may never end, and wait for none."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise Refused("is a device, pipe or socket, but a file or folder was expected")
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # it may have been replaced since
        file.close()
        raise Refused("is a device, pipe or socket, but a file or folder was expected")
    return file


def read_part(file: BinaryIO, size: int, name: str) -> Part:
    """Read one file with weights, by what its bytes are. Raises Refused."""
    if size > MAX_BYTES:
        raise Refused(f"has {size} bytes, but relxl opens at most {MAX_BYTES}: use a smaller model")
    head = file.read(HEAD)
    file.seek(max(0, size - HEAD))
    kind = sniff(head, file.read(HEAD), size)
    if name.lower().endswith(".safetensors") and kind != "safetensors":
        raise Refused(
            f"has a name that ends in .safetensors, but its bytes are {KINDS[kind]}, which is not what its name "
            "promises: download it again, or rename it if you know what it is"
        )
    if kind == "pickle":
        file.seek(0)
        raise Refused(refuse_pickle(file.read(MIB), bare=True))
    if kind == "zip":
        check_zip(file, size)
    file.seek(0)
    if kind == "safetensors":
        # No child: these bytes are a table and numbers, the table is checked here, and nothing of it is a program.
        data = file.read(size)
        if len(data) != size:
            raise Refused("became shorter while it was read: open it again when it is written")
        return Part(load_checked(data), {}, hashlib.sha256(data).hexdigest(), "safetensors", ())
    answer = ask_child(kind, file, size)
    return Part(load_checked(answer.weights), answer.config, answer.digest, answer.container, answer.notes)


KINDS = {
    "zip": "a zip as torch.save writes it",
    "legacy": "a file as an old torch.save wrote it",
    "pickle": "a bare pickle",
    "tar": "a tar",
    "gzip": "gzip",
}


def load_checked(data: bytes) -> dict[str, "Tensor"]:
    """Check safetensors bytes and load them; never mapped, since a file that changes later would change the weights."""
    import torch
    from safetensors.torch import load

    check_safetensors(data)
    try:
        tensors = load(data)
    except Exception:  # whatever the library finds that the checks above have not
        raise Refused("is a damaged safetensors file: download or save it again") from None
    for name, tensor in tensors.items():
        if tensor.dtype == torch.bool and tensor.numel() and tensor.view(torch.uint8).max() > 1:
            raise Refused(f"has the tensor {show(name)} of dtype bool with bytes other than 0 and 1: save it again")
    return tensors


def finish(part: Part, size: int) -> Weights:
    """Make the weights of a single file."""
    tensors, notes = strip_prefixes(part.tensors)
    return Weights(tensors, part.config, {}, part.digest, part.container, (*part.notes, *notes), size)


def strip_prefixes(tensors: dict[str, "Tensor"]) -> tuple[dict[str, "Tensor"], list[str]]:
    """Take off what wraps a whole model, if all names carry it, and say so."""
    notes = []
    while prefix := next((p for p in PREFIXES if all(n.startswith(p) and n != p for n in tensors)), None):
        tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        notes.append(f"the prefix {prefix!r} was removed from all names")
    return tensors, notes
