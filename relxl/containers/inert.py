"""Unpickle what torch.save wrote into inert records: no name in a pickle is ever imported, none is ever called.

Python's unpickler calls what `find_class` gives it. Here that is a dict, a list, a set, an OrderedDict, a record of a
tensor, or a new empty class that keeps what it is given: so that a model's own code need not be there, and can not run.
"""

import io
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from relxl.containers.errors import Refused, show
from relxl.containers.pickles import LEGACY_MAGIC
from relxl.containers.zips import check_zip

DTYPES = {  # torch's name of a storage -> the dtype of what is in it
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool",
}  # fmt: skip
BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2}
PLAIN = {"dict": dict, "list": list, "set": set}


@dataclass(frozen=True)
class Storage:
    """Stand for a block of numbers of the file."""

    __slots__ = ("dtype", "key", "numel", "offset")
    key: str
    dtype: str
    numel: int
    offset: int  # in numbers, within the block: old files have storages that are parts of others


@dataclass(frozen=True)
class Record:
    """Stand for a tensor: a view of a storage, not yet checked."""

    __slots__ = ("offset", "shape", "storage", "stride")
    storage: Storage
    offset: int
    shape: tuple
    stride: tuple


class Stub:
    """Stand for an object of any class: keep its state, do nothing."""

    def __new__(cls, *arguments, **options):
        stub = super().__new__(cls)
        stub.state = {}
        return stub

    def __init__(self, *arguments, **options):
        pass

    def __setstate__(self, state):
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], dict):
            state = state[0]  # of a class with __slots__
        self.state = state if isinstance(state, dict) else {}

    def ignore(self, *arguments):
        """Take what a pickle adds to a list or dict of a class of its own."""

    append = extend = add = __setitem__ = ignore


class InertUnpickler(pickle.Unpickler):
    """Unpickle to dicts, lists, plain values, Records and Stubs."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file, encoding="latin1")  # which takes the texts of Python 2 as well

    def find_class(self, module: str, name: str):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module in ("builtins", "__builtin__") and name in PLAIN:
            return PLAIN[name]
        if module == "torch._utils" and name in REBUILD:
            return REBUILD[name]
        if (module, name) in (("copyreg", "_reconstructor"), ("copy_reg", "_reconstructor")):
            return reconstruct
        return type(name.rpartition(".")[2], (Stub,), {"__module__": module, "storage_name": name})

    def persistent_load(self, saved: object):
        if isinstance(saved, tuple) and saved and saved[0] == "module":
            return saved[1]  # a class, which find_class has made; its source code follows and is left
        if not (isinstance(saved, tuple) and len(saved) in (5, 6) and saved[0] == "storage"):
            raise Refused("refers to something that is no storage of torch: it is damaged")
        dtype = DTYPES.get(getattr(saved[1], "storage_name", ""), "unknown")
        view = saved[5] if len(saved) == 6 else None
        return Storage(str(saved[2]), dtype, saved[4], view[1] if view else 0)


def rebuild_tensor(storage: Storage, offset: int, shape: tuple, stride: tuple, *rest) -> Record:
    return Record(storage, offset, shape, stride)


def rebuild_parameter(data: Record, *rest) -> Record:
    return data


REBUILD = {
    "_rebuild_tensor": rebuild_tensor,
    "_rebuild_tensor_v2": rebuild_tensor,
    "_rebuild_parameter": rebuild_parameter,
    "_rebuild_parameter_with_state": rebuild_parameter,
}


def reconstruct(kind: type, *rest) -> object:
    """Make an object as protocols 0 and 1 do."""
    return kind() if isinstance(kind, type) and issubclass(kind, Stub) else Stub()


def read_inert(data: bytes) -> tuple[object, Callable[[Storage], bytes]]:
    """Unpickle a torch file, zip or legacy; give the value and a function from a storage to its bytes.

    Neither promises a class of error for what is damaged.
    """
    if data.startswith(b"PK"):
        return read_inert_zip(data)
    if data.startswith(LEGACY_MAGIC):
        return read_inert_legacy(data)
    return InertUnpickler(io.BytesIO(data)).load(), lambda storage: b""


def read_inert_zip(data: bytes) -> tuple[object, Callable[[Storage], bytes]]:
    name = check_zip(io.BytesIO(data), len(data))
    archive = zipfile.ZipFile(io.BytesIO(data))
    top = name.removesuffix("data.pkl")
    if f"{top}byteorder" in archive.namelist() and archive.read(f"{top}byteorder") != b"little":
        raise Refused("was saved on a big-endian machine: save it again as .safetensors there")
    value = InertUnpickler(io.BytesIO(archive.read(name))).load()
    records = set(archive.namelist())

    def read_storage(storage: Storage) -> bytes:
        record = f"{top}data/{storage.key}"
        if record not in records:
            raise Refused(f"has no numbers {show(storage.key)}: the download is incomplete, download it again")
        return archive.read(record)

    return value, read_storage


def read_inert_legacy(data: bytes) -> tuple[object, Callable[[Storage], bytes]]:
    """Read magic, version, system, object and storage keys, each a pickle, and behind them the storages."""
    file = io.BytesIO(data)
    storages = {}

    class Listing(InertUnpickler):
        def persistent_load(self, saved: object):
            storage = super().persistent_load(saved)
            if isinstance(storage, Storage):
                storages[storage.key] = storage
            return storage

    for _ in range(3):
        InertUnpickler(file).load()
    value, keys = Listing(file).load(), InertUnpickler(file).load()
    blocks = {}
    for key in map(str, keys):
        (numel,) = struct.unpack("<q", file.read(8))
        length = numel * BYTES.get(storages[key].dtype, 1)
        blocks[key] = file.read(length) if 0 <= length <= len(data) else b""
    return value, lambda storage: blocks.get(storage.key, b"")
