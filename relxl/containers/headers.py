"""Check a safetensors file before anything is allocated for it. The parent checks the child's answer with this too.

The safetensors library refuses holes and overlaps itself, but takes 300,000 names, 5,000 dims and a name given twice.
"""

import json
from collections import Counter
from math import prod

from relxl.containers.errors import Refused, show
from relxl.containers.limits import MAX_BYTES, MAX_DIMS, MAX_HEADER, MAX_NAME, MAX_TENSORS

DTYPES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "U32": 4, "I32": 4,
    "U64": 8, "I64": 8,
}  # fmt: skip
DAMAGED = "is a damaged safetensors file"
AGAIN = "download or save it again"


def check_safetensors(data: bytes) -> None:
    """Check header, names, dtypes, shapes and byte ranges. Raises Refused."""
    entries = parse_header(data)
    ranges = []
    for name, entry in entries.items():
        check_name(name)
        ranges.append(check_entry(name, entry))
    expected = 0
    for begin, end, name in sorted(ranges):
        if begin != expected:
            fault = "overlap" if begin < expected else "leave a hole"
            raise Refused(f"{DAMAGED}: the bytes of {show(name)} and of the tensor before it {fault}, {AGAIN}")
        expected = end
    there = len(data) - 8 - int.from_bytes(data[:8], "little")
    if there != expected:
        fault = "ends too early" if there < expected else "has other bytes behind its end"
        raise Refused(f"{DAMAGED}: it {fault} ({there} bytes of tensors, the header says {expected}), {AGAIN}")


def parse_header(data: bytes) -> dict:
    """Read the header to a dict of name -> entry."""
    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER:
        raise Refused(f"{DAMAGED}: its header would have {length} bytes, but at most {MAX_HEADER} are read, {AGAIN}")
    if length > len(data) - 8:
        raise Refused(f"{DAMAGED}: it ends within its header, the download is incomplete, {AGAIN}")
    header = data[8 : 8 + length]
    # Counted before it is parsed: eight million brackets would become a hundred million bytes of lists.
    if header.count(b"{") + header.count(b"[") > 4 * MAX_TENSORS or header.count(b",") > 20 * MAX_TENSORS:
        raise Refused(f"lists more than the {MAX_TENSORS} tensors that are read: it is no checkpoint of a model")
    try:
        entries = json.loads(header, object_pairs_hook=unique_names)
    except (ValueError, RecursionError):
        raise Refused(f"{DAMAGED}: its header is not JSON, {AGAIN}") from None
    if not isinstance(entries, dict):
        raise Refused(f"{DAMAGED}: its header is no JSON object, {AGAIN}")
    entries.pop("__metadata__", None)
    if len(entries) > MAX_TENSORS:
        raise Refused(f"lists {len(entries)} tensors, but at most {MAX_TENSORS} are read")
    if not entries:
        raise Refused("holds no tensors: save a state dict")
    return entries


def unique_names(pairs: list) -> dict:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise Refused(f"{DAMAGED}: {show(twice)} stands twice in its header, {AGAIN}")
    return values


def check_name(name: str) -> None:
    if not name or not name.isprintable() or len(name.encode()) > MAX_NAME:
        raise Refused(
            f"has a tensor named {show(name)}, but names must be printable and of at most {MAX_NAME} bytes: "
            "rename it in the state dict"
        )


def check_entry(name: str, entry: object) -> tuple[int, int, str]:
    """Check one tensor's dtype, shape and byte range against each other, and give the range."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise Refused(f"{DAMAGED}: the header's entry of {show(name)} has not dtype, shape and data_offsets, {AGAIN}")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise Refused(refuse_dtype(name, dtype))
    if not (isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2):
        raise Refused(f"{DAMAGED}: shape or data_offsets of {show(name)} are no lists, {AGAIN}")
    if len(shape) > MAX_DIMS:
        raise Refused(f"has {show(name)} with {len(shape)} dims, but at most {MAX_DIMS} are read")
    if not all(type(value) is int and 0 <= value <= MAX_BYTES for value in (*shape, *offsets)):
        raise Refused(
            f"{DAMAGED}: shape {show(shape)} or byte range {show(offsets)} of {show(name)} is out of bounds, {AGAIN}"
        )
    begin, end = offsets
    if end - begin != prod(shape) * DTYPES[dtype]:
        raise Refused(
            f"{DAMAGED}: {show(name)} is {dtype} {shape}, but its byte range has {end - begin} bytes, {AGAIN}"
        )
    return begin, end, name


def refuse_dtype(name: str, dtype: object) -> str:
    """Say that numbers of this kind are not computed with."""
    return (
        f"has the tensor {show(name)} of dtype {shorten_dtype(dtype)}, but relxl reads float64, float32, float16, "
        "bfloat16 and whole numbers: convert it and save it again"
    )


def shorten_dtype(dtype: object) -> str:
    text = str(dtype).removeprefix("torch.")[:40]
    return text if text.isprintable() else repr(text)
