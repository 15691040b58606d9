"""Tell by its first bytes what a file is, never by its name."""

import re

from relxl.containers.errors import Refused
from relxl.containers.pickles import LEGACY_MAGIC, is_text_pickle

HEAD = 512
EXPECTED = (
    "relxl opens .safetensors files, state dicts that torch.save wrote, .nemo files and folders with one of these"
)
FOREIGN = (  # what it begins with, what it is, what to do
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras)", "load it there and save the weights as .safetensors"),
    (b"GGUF", "a GGUF file (llama.cpp)", "open the checkpoint that it was made from"),
    (b"\x93NUMPY", "a NumPy array", "save all weights by name as .safetensors"),
    (b"\x1f\x9d", "a compressed file", "unpack it first"),
    (b"BZh", "a bzip2 file", "unpack it first"),
    (b"\xfd7zXZ\0", "an xz file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file", "unpack it first"),
    (b"Rar!", "a RAR file", "unpack it first"),
)
LEVELDB_FOOTER = bytes.fromhex("57fb808b247547db")  # how the .index file of a TensorFlow checkpoint ends
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def sniff(head: bytes, tail: bytes, size: int) -> str:
    """Name what a file is: safetensors, zip, legacy, pickle, tar or gzip. Raises Refused for all else."""
    if size == 0:
        raise Refused("is empty: download or save it again")
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return "safetensors"  # first: the length of its header may look like any short magic
    for magic, kind, advice in FOREIGN:
        if head.startswith(magic):
            raise Refused(f"is {kind}, but {EXPECTED}: {advice}")
    if tail.endswith(LEVELDB_FOOTER):
        raise Refused(f"is the index of a TensorFlow checkpoint, but {EXPECTED}: convert it with transformers first")
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    if head.startswith(LEGACY_MAGIC):
        return "legacy"
    if head[:1] == b"\x80" and 2 <= head[1] <= 5:
        return "pickle"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head[257:262] == b"ustar":
        return "tar"
    if not CONTROL.search(head):
        return sniff_text(head, size)
    if head[8:9] == b"{":
        return "safetensors"
    if head[:1] == b"\x08" and (b"onnx" in head or b"pytorch" in head):
        raise Refused(f"is an ONNX file, but {EXPECTED}: open the checkpoint that it was exported from")
    raise Refused(f"begins with the bytes {head[:8].hex(' ')}, which relxl does not know, but {EXPECTED}")


def sniff_text(head: bytes, size: int) -> str:
    """Say which text lies where weights should: binary weights always have zero bytes near their begin."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if begin.startswith(b"version https://git-lfs"):
        raise Refused(
            "is a git-lfs pointer, a short text that stands for the real file: get the real file with `git lfs pull`"
        )
    if begin.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<!--")):
        raise Refused("is a web page, probably an error message in place of the download: download the file again")
    if begin.startswith((b"{", b"[")):
        raise Refused(f"is JSON text, but {EXPECTED}: give the weights or the folder that both lie in")
    if size <= HEAD and is_text_pickle(head):
        return "pickle"
    raise Refused(f"is a text file, but {EXPECTED}: give the file with the weights")
