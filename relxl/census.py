"""Say what is in a checkpoint, in values that fit into JSON and tables: facts, settings, every tensor."""

import re
from dataclasses import asdict

import torch
from torch import Tensor

from relxl.checkpoint import Checkpoint


def describe(checkpoint: Checkpoint) -> dict:
    """Say what a checkpoint is: family, sizes, what was assumed, training."""
    config, training, opened = checkpoint.config, checkpoint.training, checkpoint.opened
    return {
        "name": checkpoint.name,
        "family": opened.family.name,
        "known_by": opened.match.evidence[opened.match.families.index(opened.family)],
        "also_possible": [family.name for family in opened.match.families if family is not opened.family],
        "container": checkpoint.weights.container,
        "sha256": checkpoint.digest,
        "parameters": checkpoint.n_parameters,
        **asdict(config),
        "d_head": config.d_head,
        "settings": {setting.ask.name: [setting.value, setting.origin] for setting in opened.settings},
        "unmatched": list(opened.unmatched),
        "notes": list(checkpoint.weights.notes),
        "trained_on": training.get("text", {}).get("name"),
        "steps": training.get("train", {}).get("steps"),
        "validation_loss": training.get("validation", {}).get("loss"),
        "command": training.get("command"),
    }


def census(checkpoint: Checkpoint) -> list[dict]:
    """Take the census of a checkpoint's tensors, sorted by name."""
    unmatched = set(checkpoint.opened.unmatched)
    named = sorted(checkpoint.weights.tensors.items(), key=lambda item: by_number(item[0]))
    return [row(name, tensor, name not in unmatched) for name, tensor in named]


def by_number(name: str) -> list:
    """Sort names as a person counts: layer 2 before layer 10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def row(name: str, tensor: Tensor, matched: bool) -> dict:
    """Measure one tensor; mean, standard deviation, least and most are over its finite numbers, None without any."""
    values = tensor.double() if tensor.dtype == torch.float64 else tensor.float()
    finite = values[values.isfinite()]
    some = finite.numel() > 0
    return {
        "name": name,
        "matched": matched,
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "mean": finite.mean().item() if some else None,
        "std": finite.std(correction=0).item() if some else None,
        "min": finite.min().item() if some else None,
        "max": finite.max().item() if some else None,
        "nan": int(values.isnan().sum()),
        "infinite": int(values.isinf().sum()),
        "zero_share": (values == 0).double().mean().item() if values.numel() else None,
    }
