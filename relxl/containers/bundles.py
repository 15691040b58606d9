"""Read what comes in a bundle: the tar of a .nemo file, and YAML. Runs in the child process."""

import io
import tarfile
import zlib
from pathlib import PurePosixPath

import yaml

from relxl.containers.errors import Refused, show, show_some
from relxl.containers.limits import MAX_CONFIG, MAX_TAR_MEMBERS
from relxl.containers.plain import plain

WEIGHTS, CONFIG = "model_weights.ckpt", "model_config.yaml"
OLD_TORCH = {"storages", "tensors", "pickle"}
# libyaml, where PyYAML was built with it, reads a long config in a tenth of the time; both make plain values only.
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def unpack_gzip(data: bytes, most: int) -> bytes:
    """Unpack gzip bytes, but stop at `most`: a thousand bytes can stand for a million."""
    stream = zlib.decompressobj(wbits=31)
    try:
        unpacked = stream.decompress(data, most + 1)
    except zlib.error:
        raise Refused("is a damaged gzip file: download it again") from None
    if len(unpacked) > most:
        raise Refused(f"unfolds to more than {most} bytes, which weights do not: unpack it yourself if you know it")
    if not stream.eof:
        raise Refused("is a gzip file that ends too early, the download is incomplete: download it again")
    return unpacked


def open_nemo(data: bytes) -> tuple[bytes, dict]:
    """Read the weights and the config of a .nemo tar by stream; no member is ever written to disk."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            members = check_members(archive, len(data))
            weights = archive.extractfile(find_weights(members, data.endswith(bytes(1024)))).read()
            configs = [member for member in members if is_called(member, CONFIG)]
            config = archive.extractfile(configs[0]).read() if configs else b"{}"
    except (tarfile.TarError, EOFError, OSError):
        raise Refused("is a damaged or incomplete tar: download it again") from None
    return weights, parse_yaml(config)


def check_members(archive: tarfile.TarFile, size: int) -> list[tarfile.TarInfo]:
    """List the regular members, and refuse a tar that has others than these and folders."""
    members, total = [], 0
    for count, member in enumerate(archive):
        path = PurePosixPath(member.name)
        if count >= MAX_TAR_MEMBERS:
            raise Refused(f"is a tar with more than {MAX_TAR_MEMBERS} members: it is no .nemo file")
        if path.is_absolute() or ".." in path.parts:
            raise Refused(f"is a tar with a member {show(member.name)}, whose path leads out of it: do not unpack it")
        if not (member.isdir() or (member.isreg() and member.sparse is None)):
            raise Refused(
                f"is a tar with a member {show(member.name)} that is a link or no plain file: do not unpack it"
            )
        total += member.size
        if total > size:
            raise Refused("is a tar whose members claim more bytes than it has: download it again")
        if member.isreg():
            members.append(member)
    return members


def find_weights(members: list[tarfile.TarInfo], complete: bool) -> tarfile.TarInfo:
    """Find the one member with the weights; a tar is complete when it ends with two empty blocks."""
    found = [member for member in members if is_called(member, WEIGHTS)]
    if len(found) == 1:
        return found[0]
    if not complete:
        raise Refused("is a tar that ends too early, the download is incomplete: download it again")
    if {member.name for member in members} >= OLD_TORCH:
        raise Refused("was saved by a torch older than 0.1.10: save it again with a newer torch")
    shown = show_some([show(member.name) for member in members]) if members else "nothing"
    raise Refused(
        f"is a tar with {len(found)} members {WEIGHTS} (it has {shown}), but a .nemo file has one: "
        "unpack it and open the folder"
    )


def is_called(member: tarfile.TarInfo, name: str) -> bool:
    """Tell a member by its name, before which NeMo may put a folder and a hash."""
    own = PurePosixPath(member.name).name
    return own == name or own.endswith(f"_{name}")


def parse_yaml(data: bytes) -> dict:
    """Read a YAML config to plain values."""
    if len(data) > MAX_CONFIG:
        raise Refused(f"has a YAML config of {len(data)} bytes, but at most {MAX_CONFIG} are read")
    try:
        value = yaml.load(data, Loader=Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, AttributeError):
        raise Refused(
            "has a YAML config that is not plain YAML: write it again without tags, or leave it out"
        ) from None
    if value is not None and not isinstance(value, dict):
        raise Refused(f"has a YAML config that is a {type(value).__name__}, but names and values were expected")
    return plain(value or {})
