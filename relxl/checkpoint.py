"""The boundary: the only place where a checkpoint from outside is opened. Opening one never runs code from it.

A checkpoint is a folder: config.json (sizes), model.safetensors (weights), vocab.json (tokens), training.json (how it
came about: losses, seed, command, versions, a sample with its exact loss).
"""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from relxl.config import ModelConfig
from relxl.files import write_atomic
from relxl.model import TransformerXL
from relxl.vocab import Vocab

MAX_BYTES = 2 << 30
PARTS = ("config.json", "model.safetensors", "vocab.json", "training.json")


class CheckpointError(ValueError):
    """Say in one sentence what came, what was expected and what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """Hold an opened checkpoint. The model is shared by all who look at it, so it is never changed."""

    name: str
    digest: str  # sha256 over config and weights, hexadecimal
    config: ModelConfig
    vocab: Vocab
    training: dict
    model: TransformerXL

    @property
    def n_parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())


def list_checkpoints(root: Path) -> list[str]:
    """Name the checkpoint folders in `root`, sorted."""
    return sorted(path.parent.name for path in root.glob("*/config.json"))


def open_checkpoint(path: Path | str, dtype: torch.dtype = torch.float32) -> Checkpoint:
    """Open a checkpoint folder and check it. Raises CheckpointError for everything that is not one."""
    path = Path(path)
    if not path.is_dir():
        kind = "a file" if path.exists() else "not there"
        raise CheckpointError(
            f"{path} is {kind}, but a checkpoint is a folder with config.json, model.safetensors and vocab.json: "
            "give the folder that `python -m relxl train` wrote"
        )
    config_bytes, weights = read_part(path, "config.json"), read_part(path, "model.safetensors")
    config = parse_config(config_bytes, path)
    try:
        vocab = Vocab.from_json(read_part(path, "vocab.json").decode())
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"{path / 'vocab.json'} can not be read ({error}): restore it from the training run"
        ) from None
    if len(vocab.tokens) != config.n_token:
        raise CheckpointError(
            f"{path / 'vocab.json'} has {len(vocab.tokens)} tokens, but config.json says n_token={config.n_token}: "
            "the two files belong to different models"
        )
    model = build_model(config, weights, path, dtype)
    digest = hashlib.sha256(config_bytes + weights).hexdigest()
    return Checkpoint(path.resolve().name, digest, config, vocab, parse_training(path), model)


def read_part(folder: Path, name: str) -> bytes:
    """Read one file of a checkpoint whole (never mapped: a file that changes later must not change the weights)."""
    part = folder / name
    if not part.is_file():
        raise CheckpointError(
            f"{folder} has no {name}: a checkpoint needs config.json, model.safetensors and vocab.json"
        )
    size = part.stat().st_size
    if size > MAX_BYTES:
        raise CheckpointError(f"{part} has {size} bytes, but relxl opens at most {MAX_BYTES}: use a smaller model")
    return part.read_bytes()


def parse_json_object(data: bytes, path: Path) -> dict:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON ({error}): restore it from the training run") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} holds a JSON {type(value).__name__}, but an object was expected")
    return value


def parse_config(data: bytes, folder: Path) -> ModelConfig:
    """Check every size before anything is allocated."""
    path = folder / "config.json"
    values = parse_json_object(data, path)
    if values.pop("family", None) != "relxl":
        raise CheckpointError(
            f'{path} does not say "family": "relxl": relxl opens folders that `python -m relxl train` wrote'
        )
    known = {field.name for field in fields(ModelConfig)}
    if unknown := sorted(set(values) - known):
        raise CheckpointError(
            f"{path} has {unknown[0][:40]!r}, which relxl does not know: it knows {', '.join(sorted(known))}"
        )
    if missing := sorted(known - set(values)):
        raise CheckpointError(f"{path} lacks {', '.join(missing)}: restore it from the training run")
    try:
        return ModelConfig(**values)
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None


def parse_training(folder: Path) -> dict:
    """Read training.json, which a checkpoint may lack, and check the parts that are shown."""
    path = folder / "training.json"
    if not path.exists():
        return {}
    training = parse_json_object(read_part(folder, path.name), path)
    shown = {
        "text": ("name", str),
        "train": ("steps", int),
        "validation": ("loss", int | float),
        "sample": ("text", str),
    }
    for part, (name, kind) in shown.items():
        values = training.get(part)
        if values is not None and not (isinstance(values, dict) and isinstance(values.get(name), kind)):
            raise CheckpointError(
                f"{path}: {part}.{name} is not what a training run writes: restore or remove the file"
            )
    return {part: values for part, values in training.items() if values is not None}


def build_model(config: ModelConfig, weights: bytes, folder: Path, dtype: torch.dtype) -> TransformerXL:
    """Make the model from weights whose names and shapes are the config's."""
    path = folder / "model.safetensors"
    try:
        tensors = load(weights)
    except (SafetensorError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} is not a safetensors file ({error}): restore it from the training run") from None
    found = sum(tensor.numel() for tensor in tensors.values())
    if config.n_parameters > 2 * found:  # before anything is allocated for it
        raise CheckpointError(
            f"{path} holds {found} numbers, but config.json asks for {config.n_parameters}: they differ"
        )
    with torch.random.fork_rng(devices=[]):  # building a model draws random numbers, which are replaced at once
        model = TransformerXL(config)
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    if missing := sorted(set(wanted) - set(tensors)):
        raise CheckpointError(f"{path} lacks {missing[0]} and {len(missing) - 1} more: it does not fit config.json")
    if extra := sorted(set(tensors) - set(wanted)):
        raise CheckpointError(
            f"{path} has {extra[0][:80]!r} and {len(extra) - 1} more that config.json has no place for"
        )
    for name, shape in wanted.items():
        tensor = tensors[name]
        if tuple(tensor.shape) != shape or not tensor.is_floating_point():
            raise CheckpointError(
                f"{path}: {name} is {tensor.dtype} {list(tensor.shape)}, but config.json needs floats {list(shape)}"
            )
    model.load_state_dict({name: tensor.to(dtype) for name, tensor in tensors.items()}, assign=True)
    return model.eval().requires_grad_(False)


def save_checkpoint(path: Path, model: TransformerXL, vocab: Vocab, training: dict) -> None:
    """Write a checkpoint folder; each file appears whole, and config.json, which makes it a checkpoint, last."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_atomic(path / "model.safetensors", save(tensors))
    write_atomic(path / "vocab.json", vocab.to_json().encode())
    write_atomic(path / "training.json", json.dumps(training, ensure_ascii=False, indent=1).encode())
    write_atomic(path / "config.json", json.dumps({"family": "relxl", **asdict(model.config)}, indent=1).encode())


def describe(checkpoint: Checkpoint) -> dict:
    """Say what a checkpoint is, in values that fit into JSON: sizes, positions, training."""
    config, training = checkpoint.config, checkpoint.training
    return {
        "name": checkpoint.name,
        "family": "relxl",
        "sha256": checkpoint.digest,
        "parameters": checkpoint.n_parameters,
        **asdict(config),
        "d_head": config.d_head,
        "trained_on": training.get("text", {}).get("name"),
        "steps": training.get("train", {}).get("steps"),
        "validation_loss": training.get("validation", {}).get("loss"),
        "command": training.get("command"),
    }


def describe_tensors(checkpoint: Checkpoint) -> list[dict]:
    """Say what every tensor is: name, shape, dtype, mean, standard deviation, cells that are not finite."""
    return [
        {
            "name": name,
            "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch."),
            "mean": value.mean().item(),
            "std": value.std(correction=0).item(),
            "non_finite": int((~value.isfinite()).sum()),
        }
        for name, value in checkpoint.model.state_dict().items()
    ]
