"""Take the tensors out of a pickle that holds more than tensors, on a person's own machine, and run nothing of it."""

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from relxl.containers.errors import CheckpointError, Refused, show, show_some
from relxl.containers.inert import BYTES, Record, Storage, Stub, read_inert
from relxl.containers.limits import MAX_BYTES, MAX_DIMS, MAX_NAME, MAX_TENSORS
from relxl.containers.plain import CONFIGS, take_config, unwrap
from relxl.containers.reader import naming, open_regular
from relxl.files import write_atomic

if TYPE_CHECKING:
    from torch import Tensor

BOOKKEEPING = {"training", "dump_patches"}  # of every module


@dataclass(frozen=True)
class Converted:
    """Say what was written where, and what was left out."""

    folder: Path
    tensors: int
    config: int
    notes: tuple[str, ...]


def convert(path: Path, out: Path | None = None, trust: bool = False) -> Converted:
    """Write the tensors and the plain config of a pickle as a folder that relxl opens. Raises CheckpointError."""
    out = out or path.with_name(f"{path.stem}_converted")
    if not trust:
        raise CheckpointError(
            f"{path} is not converted without --trust: nothing of it is run, but a file that was made to do harm can "
            "take all memory, so say --trust if you know where it comes from"
        )
    if out.exists():
        raise CheckpointError(f"{out} exists already: give another folder with --out")
    with naming(path):
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Refused(f"has more than the {MAX_BYTES} bytes that relxl opens")
        tensors, config, notes = take_apart(data)
    from safetensors.torch import save

    write_atomic(out / "model.safetensors", save(tensors))
    if config:
        write_atomic(out / "config.json", json.dumps(config, indent=1).encode())
    return Converted(out, len(tensors), len(config), tuple(notes))


def take_apart(data: bytes) -> tuple[dict[str, "Tensor"], dict, list[str]]:
    """Give the tensors, the plain config and notes of the bytes of a torch file. Raises Refused."""
    try:
        value, read_storage = read_inert(data)
        records, config, notes = sort_out(value)
        return {name: materialise(name, record, read_storage) for name, record in records.items()}, config, notes
    except Refused:
        raise
    except MemoryError:
        raise Refused("claims more memory than there is: it is damaged or made to do harm, do not use it") from None
    except Exception as error:  # a damaged pickle or zip can raise any class
        raise Refused(f"can not be unpickled ({type(error).__name__}): it is damaged, download it again") from None


def sort_out(value: object) -> tuple[dict[str, Record], dict, list[str]]:
    """Part a value into tensors by name, plain config, and notes on what was left out."""
    if is_module(value):
        config = {name: item for name, item in value.state.items() if name[:1] != "_" and name not in BOOKKEEPING}
        config, notes = take_config(config, "its attributes", open_up)
        return collect(value), config, [f"unwrapped from a pickled {name_of(value)}", *notes]
    notes = []
    if isinstance(value, dict):
        modules = [key for key, item in value.items() if is_module(item)]
        notes += [f"{key!r} was a pickled {name_of(value[key])}" for key in modules]
        value = {key: collect(item) if is_module(item) else item for key, item in value.items()}
    state, unwrapped = unwrap(value, is_record)
    tensors = {str(name): item for name, item in state.items() if is_record(item)}
    if len(tensors) > MAX_TENSORS:
        raise Refused(f"has {len(tensors)} tensors, but at most {MAX_TENSORS} are read")
    key = next((key for key in CONFIGS if isinstance(open_up(value.get(key)), dict)), None)
    config, taken = take_config(value[key], repr(key), open_up) if key else ({}, [])
    left = [show(name, 40) for name, item in value.items() if item is not state and name != key and not is_record(item)]
    return tensors, config, notes + unwrapped + taken + ([f"left out: {show_some(left, 8)}"] if left else [])


def is_record(value: object) -> bool:
    return isinstance(value, Record)


def is_module(value: object) -> bool:
    return isinstance(value, Stub) and "_parameters" in value.state and "_modules" in value.state


def name_of(stub: Stub) -> str:
    return f"{type(stub).__module__}.{type(stub).__name__}"


def open_up(value: object) -> object:
    """Give the attributes of a Namespace, or of whatever stands in its place."""
    return value.state if isinstance(value, Stub) and not is_module(value) else value


def collect(module: Stub) -> dict[str, Record]:
    """Collect parameters and persistent buffers as Module.state_dict names them."""
    found, waiting, visited = {}, [("", module)], 0
    while waiting:
        prefix, module = waiting.pop()
        visited += 1  # also what holds nothing: modules can be shared, and then be met without end
        if len(found) > MAX_TENSORS or visited > MAX_TENSORS or len(prefix) > MAX_NAME:
            raise Refused(f"has more than the {MAX_TENSORS} modules or tensors that are read, or longer names")
        passing = module.state.get("_non_persistent_buffers_set") or ()
        for part in ("_parameters", "_buffers"):
            for name, item in (module.state.get(part) or {}).items():
                if item is None or name in passing:
                    continue
                if not is_record(item):  # left out, it would be missed by whoever computes with the rest
                    raise Refused(f"has {show(f'{prefix}{name}')}, which is no plain tensor: save model.state_dict()")
                found[f"{prefix}{name}"] = item
        children = [(f"{prefix}{name}.", child) for name, child in (module.state.get("_modules") or {}).items()]
        waiting += [(name, child) for name, child in reversed(children) if is_module(child)]
    if not found:
        raise Refused("is a pickled module without any tensor: give the file with the weights")
    return found


def materialise(name: str, record: Record, read_storage) -> "Tensor":
    """Make a tensor of a record, when what it claims lies within its storage."""
    import torch

    storage, offset, shape, stride = record.storage, record.offset, record.shape, record.stride
    whole = [offset, *shape, *stride] if isinstance(shape, tuple) and isinstance(stride, tuple) else [None]
    if not isinstance(storage, Storage) or not all(type(n) is int and n >= 0 for n in whole) or len(shape) > MAX_DIMS:
        raise Refused(f"has a damaged tensor {show(name)}: download it again")
    if storage.dtype == "unknown" or len(stride) != len(shape):
        raise Refused(f"has the tensor {show(name)} of a dtype that relxl does not read: convert it and save it again")
    numbers = read_storage(storage)
    there = len(numbers) // BYTES.get(storage.dtype, 1)
    if storage.numel != there:
        raise Refused(f"has {there} numbers for {show(name)}, not {storage.numel} as it says: download it again")
    offset += storage.offset
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    if prod(shape) == 0:
        return torch.empty(shape, dtype=getattr(torch, storage.dtype))
    if last >= there or prod(shape) > there:
        raise Refused(f"has the tensor {show(name)} of shape {list(shape)}, for which the file has {there} numbers")
    flat = torch.frombuffer(bytearray(numbers), dtype=getattr(torch, storage.dtype))
    return flat.as_strided(shape, stride, offset).clone(memory_format=torch.contiguous_format)
