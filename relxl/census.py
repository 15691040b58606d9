"""Say what is in a checkpoint, in values that fit into JSON and tables: facts, settings, every tensor."""

import math
import re
from dataclasses import asdict

from torch import Tensor

from relxl.checkpoint import Checkpoint

PIECE = 1 << 17  # numbers measured at once: they fit into a cache


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
    nan = infinite = zeros = n = 0
    mean = squares = 0.0  # of the numbers so far: the mean, and the sum of squares around it
    low, high = math.inf, -math.inf
    for piece in tensor.flatten().split(PIECE) if tensor.numel() else ():
        values = piece.double()  # the square of a float32 fits
        zeros += len(values) - int(values.count_nonzero())
        least, most = (float(end) for end in values.aminmax())
        if not (math.isfinite(least) and math.isfinite(most)):  # seldom: to pick the finite ones takes long
            nan += int(values.isnan().sum())
            infinite += int(values.isinf().sum())
            values = values[values.isfinite()]
            if not len(values):
                continue
            least, most = (float(end) for end in values.aminmax())
        low, high = min(low, least), max(high, most)
        count = len(values)
        middle = float(values.sum()) / count
        step, around = middle - mean, values - middle
        squares += float(around.dot(around)) + step * step * n * count / (n + count)  # Chan et al. 1979, pairwise
        mean, n = mean + step * count / (n + count), n + count
    return {
        "name": name,
        "matched": matched,
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "mean": mean if n else None,
        "std": math.sqrt(squares / n) if n and math.isfinite(squares) else None,
        "min": low if n else None,
        "max": high if n else None,
        "nan": nan,
        "infinite": infinite,
        "zero_share": zeros / tensor.numel() if tensor.numel() else None,
    }
