"""Say what differs between two models: every tensor, the biases of every head; and what a training did step by step.

Tensors are matched by name and shape. Two runs of one training recipe end in different bases, so u and v of the two may
point anywhere and still do the same; v_bias over distance is a score and can be held side by side whatever the basis.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from relxl.checkpoint import Checkpoint
from relxl.weights_only import Reach, reach, v_bias_curves

PIECE = 1 << 17  # numbers compared at once: they fit into a cache


@dataclass(frozen=True)
class TensorChange:
    """Say how far b is from a: |b - a| / |a|, the cosine of the two, max |b - a|; NaN where a number is not finite."""

    name: str
    shape: tuple[int, ...]
    relative: float
    cosine: float
    largest: float


@dataclass(frozen=True)
class Changes:
    """Hold the tensors of two models: those of both, the most changed first, and those that can not be compared."""

    both: tuple[TensorChange, ...]
    missing: tuple[str, ...]  # only in a
    new: tuple[str, ...]  # only in b
    reshaped: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]  # name, shape in a, shape in b

    @property
    def equal(self) -> int:
        """Count the tensors that are the same in every number."""
        return sum(change.largest == 0 for change in self.both)


def compare_tensors(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> Changes:
    """Compare the tensors of the same name and shape; those with a NaN or an infinity that differ come first."""
    shared = [name for name in a if name in b]
    both = [compare_pair(name, a[name], b[name]) for name in shared if a[name].shape == b[name].shape]
    both.sort(key=lambda change: (-math.inf if math.isnan(change.relative) else -change.relative, change.name))
    reshaped = [(n, tuple(a[n].shape), tuple(b[n].shape)) for n in shared if a[n].shape != b[n].shape]
    missing, new = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    return Changes(tuple(both), tuple(missing), tuple(new), tuple(sorted(reshaped)))


def compare_pair(name: str, a: Tensor, b: Tensor) -> TensorChange:
    """Compare two tensors of one shape, in float64; a change from all zeros is infinite."""
    shape = tuple(a.shape)
    if not a.numel() or (a.dtype == b.dtype and torch.equal(a, b)):
        return TensorChange(name, shape, 0.0, 1.0, 0.0)
    squares_a = squares_b = squares = product = largest = 0.0
    for one, other in zip(a.flatten().split(PIECE), b.flatten().split(PIECE), strict=True):
        one, other = one.double(), other.double()
        step = torch.where(one == other, 0.0, other - one)  # the same infinity is no change
        step = torch.where(one.isnan() & other.isnan(), 0.0, step)
        squares_a, squares_b = squares_a + float(one.dot(one)), squares_b + float(other.dot(other))
        squares, product = squares + float(step.dot(step)), product + float(one.dot(other))
        largest = float(np.fmax(largest, float(step.abs().max()))) if not step.isnan().any() else math.nan
        if math.isnan(largest):
            break
    if largest == 0:
        return TensorChange(name, shape, 0.0, 1.0, 0.0)
    if not all(map(math.isfinite, (squares_a, squares_b, squares, largest))):
        return TensorChange(name, shape, math.nan, math.nan, math.nan)
    relative = math.sqrt(squares / squares_a) if squares_a else math.inf
    lengths = math.sqrt(squares_a) * math.sqrt(squares_b)
    return TensorChange(name, shape, relative, product / lengths if lengths else math.nan, largest)


# Heads ---------------------------------------------------------------------------------------------------------------


def bias_vectors(model) -> dict[str, np.ndarray]:
    """Give u and v of every head, those that the model has: name -> [layer head d_head]."""
    attns, found = [layer.attn for layer in model.layers], {}
    for name in ("u", "v"):
        vectors = [getattr(attn, name, None) for attn in attns]
        if all(vector is not None for vector in vectors):
            found[name] = torch.stack([vector.detach().double().cpu() for vector in vectors]).numpy()
    return found


def head_sizes(model) -> dict[str, np.ndarray]:
    """Give the lengths of u, v and W_kR of every head, those that the model has: name -> [layer head]."""
    sizes = {name: np.linalg.norm(vectors, axis=-1) for name, vectors in bias_vectors(model).items()}
    weights = [layer.attn for layer in model.layers]
    weights = [getattr(attn, "w_k_pos", getattr(getattr(attn, "positions", None), "w_k_pos", None)) for attn in weights]
    if all(weight is not None for weight in weights):
        sizes["W_kR"] = np.stack([weight.detach().double().flatten(1).norm(dim=1).cpu().numpy() for weight in weights])
    return sizes


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Give the cosine of vectors: [... d] and [... d] -> [...]; NaN where one has no length."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return (a * b).sum(-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))


def likeness(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Give the correlation of curves over their finite places: [... distance] -> [...]; NaN for a level one."""
    there = np.isfinite(a) & np.isfinite(b)
    count = np.maximum(there.sum(-1, keepdims=True), 1)
    centred = []
    for curve in (a, b):
        kept = np.where(there, curve, 0).astype(float)
        centred.append(np.where(there, kept - kept.sum(-1, keepdims=True) / count, 0))
    return cosines(*centred)


def common_distances(a: Checkpoint, b: Checkpoint) -> Tensor:
    """Give the distances that both models are drawn for: [distance]."""
    one, other = reach(a.opened), reach(b.opened)
    return torch.arange(max(one.low, other.low), min(one.high, other.high) + 1)


def layer_curves(checkpoint: Checkpoint, layer: int, distance: Tensor) -> np.ndarray | None:
    """Give v_bias of every head of a layer: [distance] -> [head distance]; None for absolute positions."""
    return v_bias_curves(checkpoint.model.layers[layer].attn, distance, checkpoint.config.clamp_len)


# A training, step by step --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Film:
    """Hold what a training did, in arrays: nothing of the models is kept."""

    steps: tuple[int, ...]
    span: Reach
    curves: np.ndarray | None  # [step layer head distance]; None for absolute positions
    sizes: dict[str, np.ndarray]  # lengths of u, v, W_kR: [step layer head]
    losses: np.ndarray  # [step] of the validation text, NaN where nobody wrote it down
    changes: tuple[Changes | None, ...]  # since the step before; None for the first


def film_steps(folder: Path) -> list[tuple[int, Path]]:
    """List the snapshots of a training in order: the folders of steps/ that are named by a number."""
    found = [path.parent for path in (folder / "steps").glob("*/config.json") if path.parent.name.isdecimal()]
    return sorted((int(path.name), path) for path in found)


def thin(items: Sequence, most: int) -> list:
    """Keep at most so many items, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(i)] for i in np.linspace(0, len(items) - 1, max(most, 2))]


def make_film(snapshots: Iterable[tuple[int, Checkpoint]]) -> Film:
    """Take from each snapshot what is shown; two models at most are held at once.

    Raises ValueError for snapshots of different sizes, or none.
    """
    steps, curves, sizes, losses, changes = [], [], [], [], []
    before, span = None, None
    for step, checkpoint in snapshots:
        if before is not None and checkpoint.config != before.config:
            raise ValueError(
                f"step {step} has other sizes than step {steps[-1]}, but the snapshots of one training were "
                "expected: keep each training in its own folder"
            )
        span = span or reach(checkpoint.opened)
        layers = range(checkpoint.config.n_layer)
        rows = [layer_curves(checkpoint, layer, span.distances) for layer in layers]
        curves.append(None if rows[0] is None else np.stack(rows))
        sizes.append(head_sizes(checkpoint.model))
        losses.append(float(checkpoint.training.get("validation", {}).get("loss", math.nan)))
        tensors = checkpoint.weights.tensors
        changes.append(None if before is None else compare_tensors(before.weights.tensors, tensors))
        steps.append(step)
        before = checkpoint
    if not steps:
        raise ValueError("this folder has no snapshot: train with --snapshots")
    named = {name: np.stack([size[name] for size in sizes]) for name in sizes[0]}
    stacked = None if curves[0] is None else np.stack(curves)
    return Film(tuple(steps), span, stacked, named, np.array(losses), tuple(changes))
