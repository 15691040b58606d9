"""Read a folder: its weights in one file or in shards, its config and its vocabulary."""

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from relxl.containers.errors import Refused, show, show_some
from relxl.containers.limits import MAX_BYTES, MAX_CONFIG, MAX_HEADER, MAX_TENSORS, MAX_TEXT
from relxl.containers.plain import load_json
from relxl.containers.reader import Part, Weights, naming, open_regular, read_part, strip_prefixes
from relxl.containers.sandbox import ask_child

SAFE, PICKLED = "model.safetensors", "pytorch_model.bin"
INDEX = ".index.json"
ENDINGS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".nemo")
COMPANIONS = ("training_args", "optimizer", "scheduler", "scaler", "rng_state")  # what a trainer writes beside weights
CONFIGS = ("config.json", "model_config.yaml", "config.yaml", "train.yaml", "meta.json")
TEXTS = ("vocab.json", "vocab.txt", "tokenizer.json", "training.json")
MAX_NAMES = 10_000
WANTED = f"a checkpoint folder has {SAFE} or {PICKLED}, or shards with their index, or a single file of weights"


@dataclass(frozen=True)
class Plan:
    """Say which files of a folder hold the weights; `index` tells which of them should hold what."""

    files: tuple[str, ...]
    index: str = ""


def read_folder(folder: Path) -> Weights:
    """Read a folder as it stands; each file is read once, whole, and nothing outside of it. Raises Refused."""
    names = list_names(folder)
    read, notes = {}, []  # name -> sha256 and size
    plan = choose_weights(names)
    if plan.index:
        data = read_small(folder, plan.index, MAX_HEADER)
        read[plan.index] = measure(data)
        with naming(folder / plan.index):
            promised, shards = read_index(data)
    else:
        promised, shards = {}, plan.files
    notes += note_others(names, shards)
    if missing := [shard for shard in shards if shard not in names]:
        raise Refused(f"has no {show_some(missing)}, which {plan.index} asks for: download the missing files")
    tensors, parts = {}, []
    for shard, part, length in read_shards(folder, shards):
        read[shard] = part.digest, length
        if twice := sorted(set(tensors) & set(part.tensors)):
            raise Refused(f"has the tensor {show(twice[0])} in two shards, {shard} is the second: download it again")
        if plan.index:
            check_promise(folder / shard, part, {name for name, where in promised.items() if where == shard})
        tensors |= part.tensors
        parts.append(part)
    tensors, stripped = strip_prefixes(tensors)
    notes += [note for part in parts for note in part.notes] + stripped
    config, config_notes = {}, []
    if name := next((name for name in CONFIGS if name in names), ""):
        data = read_small(folder, name, MAX_CONFIG)
        read[name] = measure(data)
        config, config_notes = read_config(folder, name, data)
    texts = {name: read_small(folder, name, MAX_TEXT) for name in TEXTS if name in names}
    read |= {name: measure(data) for name, data in texts.items()}
    container = f"sharded {parts[0].container}" if plan.index else parts[0].container
    lines = "".join(f"{name}\0{digest}\n" for name, (digest, _) in sorted(read.items()))
    digest, size = hashlib.sha256(lines.encode()).hexdigest(), sum(size for _, size in read.values())
    config = config or next((part.config for part in parts if part.config), {})
    return Weights(tensors, config, texts, digest, container, tuple(dict.fromkeys(notes + config_notes)), size)


def list_names(folder: Path) -> list[str]:
    """Name what lies in a folder, without hidden files."""
    names = []
    for entry in os.scandir(folder):
        if len(names) >= MAX_NAMES:
            raise Refused(f"has more than {MAX_NAMES} files, but {WANTED}")
        if not entry.name.startswith("."):
            names.append(entry.name)
    return sorted(names)


def choose_weights(names: list[str]) -> Plan:
    """Choose the weights of a folder: what holds no pickles first."""
    for name in (SAFE, SAFE + INDEX, PICKLED, PICKLED + INDEX):
        others = [other for other in names if other.endswith(".safetensors")]
        if name in names and not (name.startswith(PICKLED) and others):
            return Plan((), name) if name.endswith(INDEX) else Plan((name,))
    found = [name for name in names if name.endswith(ENDINGS) and not name.startswith(COMPANIONS)]
    found = [name for name in found if name.endswith(".safetensors")] or found
    if len(found) == 1:
        return Plan((found[0],))
    if found:
        raise Refused(f"has {len(found)} files with weights ({show_some(found, 6)}), but one was expected: give one")
    if any(".data-" in name for name in names):
        raise Refused(f"holds a TensorFlow checkpoint, but {WANTED}: convert it with transformers first")
    raise Refused(f"has no {SAFE} and no other weights, but {WANTED}")


def note_others(names: list[str], chosen: tuple[str, ...]) -> list[str]:
    others = [name for name in names if name.endswith(ENDINGS) and name not in chosen]
    verb = ("lies", "was") if len(others) == 1 else ("lie", "were")
    return [f"{show_some(others)} {verb[0]} beside {chosen[0]} and {verb[1]} not read"] if others and chosen else []


def read_index(data: bytes) -> tuple[dict[str, str], tuple[str, ...]]:
    """Read which shard holds which tensor; a shard is a plain name, so that no index leads out of its folder."""
    value, twice = load_json(data)
    places = value.get("weight_map") if isinstance(value, dict) else None
    if not isinstance(places, dict) or not places or len(places) > MAX_TENSORS:
        raise Refused(f"has no weight_map of 1 to {MAX_TENSORS} names: download it again")
    if twice:
        raise Refused(f"gives {show(twice[0])} twice, in two shards perhaps: download it again")
    for place in places.values():
        if not isinstance(place, str) or not place.isprintable() or place != os.path.basename(place):  # noqa: PTH119
            raise Refused(f"asks for {show(place)}, which is not the plain name of a file in its folder: do not use it")
        if place.startswith(".") or not place.endswith((".safetensors", ".bin")):
            raise Refused(f"asks for {show(place)}, but shards are .safetensors or .bin files: do not use it")
    return places, tuple(sorted(set(places.values())))


def read_shards(folder: Path, shards: tuple[str, ...]) -> Iterator[tuple[str, Part, int]]:
    """Read the files with weights one by one, within the limit for all of them together."""
    sizes = {}
    for shard in shards:
        with naming(folder / shard):
            check_place(folder, shard)
            sizes[shard] = (folder / shard).stat().st_size
    if sum(sizes.values()) > MAX_BYTES:
        raise Refused(f"has {sum(sizes.values())} bytes of weights, but relxl opens at most {MAX_BYTES}")
    for shard in shards:
        with naming(folder / shard), open_regular(folder / shard) as file:
            part = read_part(file, os.fstat(file.fileno()).st_size, shard)
            yield shard, part, sizes[shard]


def check_promise(path: Path, part: Part, promised: set[str]) -> None:
    with naming(path):
        if missing := sorted(promised - set(part.tensors)):
            raise Refused(f"lacks {show(missing[0])}, which the index promises in it: download it again")


def check_place(folder: Path, name: str) -> None:
    """Check that a name stands for a regular file in the folder, before anything opens it."""
    path = folder / name
    if path.is_symlink():
        home, target = folder.resolve(), path.resolve()
        # HuggingFace's cache keeps snapshots/<revision>/<name> as a link to ../../blobs/<sha>.
        if not target.is_relative_to(home) and target.parent != home.parent.parent / "blobs":
            raise Refused("is a link that leads out of its folder: put the file itself there")
    if not stat.S_ISREG(path.stat().st_mode):
        raise Refused("is a folder, device or pipe, but a file was expected: do not use it")


def read_small(folder: Path, name: str, most: int) -> bytes:
    """Read a side file whole."""
    with naming(folder / name):
        check_place(folder, name)
        with open_regular(folder / name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise Refused(f"has more than the {most} bytes that are read of such a file: take it out of the folder")
        return data


def measure(data: bytes) -> tuple[str, int]:
    return hashlib.sha256(data).hexdigest(), len(data)


def read_config(folder: Path, name: str, data: bytes) -> tuple[dict, list[str]]:
    """Read a config to a dict, and say what is odd about it."""
    with naming(folder / name):
        if name.endswith((".yaml", ".yml")):
            value = ask_child("yaml", io.BytesIO(data), len(data)).config
            return value, [f"the config was taken from {name}"]
        value, twice = load_json(data)
        notes = [f"{name} has {show(key)} twice, the last counts" for key in twice[:3]]
        if name == "meta.json":
            value = value.get("config", {}) if isinstance(value, dict) else value
        if not isinstance(value, dict):
            raise Refused(f"holds a JSON {type(value).__name__}, but an object was expected: restore it")
        return value, notes


def read_config_file(path: Path) -> dict:
    """Read a config that lies by itself: JSON, or YAML by its name's ending. Raises CheckpointError."""
    with naming(path):
        with open_regular(path) as file:
            data = file.read(MAX_CONFIG + 1)
        if len(data) > MAX_CONFIG:
            raise Refused(f"has more than the {MAX_CONFIG} bytes that are read of a config: give the config alone")
    return read_config(path.parent, path.name, data)[0]
