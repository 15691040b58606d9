"""Say what a pickle would load, by reading its opcodes; nothing of it runs."""

import io
import pickletools
from collections.abc import Iterator
from itertools import islice

LEGACY_MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")  # torch.save before 1.6 begins with this pickled number
MAX_OPCODES = 200_000
SAFE = {
    "torch", "torch._utils", "torch._tensor", "torch.storage", "torch.nn.parameter", "torch.serialization",
    "torch.distributed", "collections", "_codecs",
}  # fmt: skip
STRINGS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "STRING", "BINSTRING", "SHORT_BINSTRING"}
PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}
GETS = {"GET", "BINGET", "LONG_BINGET"}
CONTAINERS = {"EMPTY_DICT", "DICT", "EMPTY_LIST", "LIST", "EMPTY_TUPLE", "EMPTY_SET", "BINPERSID"}


def refuse_pickle(stream: bytes, bare: bool = False) -> str:
    """Say why a pickle is not opened and what to do, as the rest of a sentence."""
    names, whole = find_globals(stream)
    foreign = [name for name in names if name.rpartition(".")[0] not in SAFE]
    has_tensors = any(name.startswith("torch._utils._rebuild") for name in names)
    kind = "a bare pickle" if bare else "a pickle"
    if foreign and not has_tensors:
        return f"is {kind} that calls {show_globals(foreign)} and holds no tensors: relxl runs nothing of it, delete it"
    if foreign:
        what = (
            f"is a whole pickled module ({foreign[0]}), and opening one runs code"
            if whole
            else f"has {show_globals(foreign)} inside, and opening that runs code"
        )
        return (
            f"{what}, but relxl opens state dicts, which are names and tensors: if you know where it comes from, "
            "take its tensors out with `python -m relxl convert --trust FILE`"
        )
    if bare:
        return "is a bare pickle, which torch.save did not write: save the state dict with torch.save or safetensors"
    return "can not be read, it is incomplete, damaged or not what torch.save wrote: download or save it again"


def show_globals(names: list[str]) -> str:
    shown = [name if name.isprintable() and len(name) < 100 else repr(name[:100]) for name in names[:4]]
    return ", ".join(shown) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def find_globals(stream: bytes) -> tuple[list[str], bool]:
    """Name all globals of a stream of pickles in order, and say whether the first object is of such a class."""
    found, recent, memo = {}, [], {}
    whole = None
    for opcode, argument in islice(opcodes(stream), MAX_OPCODES):
        if opcode in STRINGS:
            recent = [*recent[-1:], str(argument)]
        elif opcode == "MEMOIZE" and recent:
            memo[len(memo)] = recent[-1]
        elif opcode in PUTS and recent:
            memo[argument] = recent[-1]
        elif opcode in GETS and argument in memo:
            recent = [*recent[-1:], memo[argument]]
        elif opcode in ("GLOBAL", "INST", "STACK_GLOBAL"):
            parts = recent if opcode == "STACK_GLOBAL" else str(argument).split(" ", 1)
            name = ".".join(parts)
            found[name] = None
            recent = [name]
            whole = name.rpartition(".")[0] not in SAFE if whole is None else whole
        elif opcode in CONTAINERS and whole is None:
            whole = False
        elif opcode == "STOP" and not found:  # a legacy file begins with three pickles of its own
            whole = None
    return list(found), bool(whole)


def opcodes(stream: bytes) -> Iterator[tuple[str, object]]:
    """Give the opcodes of all pickles that lie one behind the other, as far as they can be read."""
    file = io.BytesIO(stream)
    try:
        while file.tell() < len(stream):
            for opcode, argument, _ in pickletools.genops(file):
                yield opcode.name, argument
    except (
        Exception
    ):  # a damaged pickle, or the raw numbers that follow a legacy one, in a format that promises nothing
        return


def is_text_pickle(data: bytes) -> bool:
    """Tell a pickle of protocol 0, which is printable, from other text: it can be read to its end."""
    try:
        return data[:1] in (b"c", b"(") and bool(list(pickletools.genops(data)))
    except Exception:  # genops promises no class of error for what is no pickle
        return False
