"""Check a zip before torch sees it: a torch file is a zip that stores its members as they are."""

import struct
import zipfile
from collections import Counter
from pathlib import PurePosixPath
from typing import BinaryIO

from relxl.containers.errors import Refused, show, show_some
from relxl.containers.limits import MAX_MEMBERS

END, LOCATOR, END_64 = b"PK\5\6", b"PK\6\7", b"PK\6\6"
END_BYTES, LOCATOR_BYTES, END_64_BYTES = 22, 20, 56
MAX_COMMENT = 65_535
LIES = "is a zip whose table of contents contradicts itself: download it again"


def check_zip(file: BinaryIO, size: int) -> str:
    """Check that a zip is a torch file and unfolds to no more than its own bytes, and name its data.pkl."""
    directory = find_directory(file, size)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except Exception:  # zipfile raises six classes for a damaged table
        raise Refused("is a damaged zip: download it again") from None
    if len(members) > MAX_MEMBERS:
        raise Refused(f"is a zip with more than {MAX_MEMBERS} members: it is no checkpoint of a model")
    names = [member.orig_filename for member in members]
    pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
    refuse_other_kinds(names, pickles)
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise Refused(f"is a zip with two members {show(twice)}: torch.save never writes that")
    for member in members:
        check_member(member, directory)
    if sum(member.file_size for member in members) > size:
        raise Refused(LIES)
    return pickles[0]


def find_directory(file: BinaryIO, size: int) -> int:
    """Find where the table of contents begins, and check that it ends where the file does.

    zipfile reads every entry that the table has, so that its length is checked before: a million would take seconds.
    """
    length = min(size, END_BYTES + LOCATOR_BYTES + END_64_BYTES + MAX_COMMENT)
    file.seek(size - length)
    tail = file.read(length)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_BYTES:
        raise Refused("is a zip that ends too early, the download is incomplete: download it again")
    if len(tail) - at > END_BYTES:
        raise Refused("is a zip with other bytes behind its end, which torch.save never writes: download it again")
    _, _, _, count, length, begin, _ = struct.unpack("<4H2LH", tail[at + 4 :])
    end = size - END_BYTES
    locator = tail[at - LOCATOR_BYTES : at]
    if locator.startswith(LOCATOR):
        record = tail[at - LOCATOR_BYTES - END_64_BYTES : at - LOCATOR_BYTES]
        end -= LOCATOR_BYTES + END_64_BYTES
        if not record.startswith(END_64) or struct.unpack("<Q", locator[8:16])[0] != end:
            raise Refused(LIES)
        small, large = (count, length, begin), struct.unpack("<3Q", record[32:])
        tops = (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
        if any(a not in (b, top) for a, b, top in zip(small, large, tops, strict=True)):
            raise Refused(LIES)
        count, length, begin = large
    if count > MAX_MEMBERS or length > MAX_MEMBERS * 400:
        raise Refused(f"is a zip with more than {MAX_MEMBERS} members: it is no checkpoint of a model")
    if begin + length != end:
        raise Refused(LIES)
    return begin


def refuse_other_kinds(names: list[str], pickles: list[str]) -> None:
    """Name the kinds of zip that are no state dict."""
    parts = [name.split("/") for name in names]
    if any(part[1:] == ["constants.pkl"] or part[1:2] == ["code"] for part in parts):
        raise Refused(
            "is a TorchScript archive, which is a program, but relxl opens state dicts: load it with torch.jit.load "
            "and save its state_dict()"
        )
    if len(pickles) == 1:
        return
    if names and all(name.endswith(".npy") for name in names):
        raise Refused("is a NumPy archive (.npz), but relxl opens .safetensors and torch files: convert it first")
    packed = [show(name) for name in names if name.endswith((".pth", ".pt", ".ckpt", ".bin", ".safetensors", ".zip"))]
    if packed:
        raise Refused(f"is a zip that packs other files ({show_some(packed)}): unpack it and open the folder")
    raise Refused("is a zip, but not one that torch.save wrote (it has no data.pkl): give the file with the weights")


def check_member(member: zipfile.ZipInfo, directory: int) -> None:
    name = member.orig_filename
    if not name.isprintable() or "\\" in name or name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise Refused(f"is a zip with a member {show(name)}, whose name leads out of the file: do not use it")
    if member.flag_bits & 0x2041:  # encrypted, strongly encrypted, encrypted table
        raise Refused(f"is a zip whose member {show(name)} is encrypted: save it without a password")
    if member.compress_type != zipfile.ZIP_STORED:
        raise Refused(
            f"is a zip whose member {show(name)} is compressed and would unfold from {member.compress_size} to "
            f"{member.file_size} bytes, but torch.save never compresses: unpack it, or save it again with torch.save"
        )
    if member.compress_size != member.file_size or member.header_offset + 30 + member.file_size > directory:
        raise Refused(LIES)
