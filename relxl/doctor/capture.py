"""Read what a person captured of a run of their own: probabilities or logits a layer, and what went in."""

import re
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from relxl.export import read_arrays

NAMED = re.compile(r"(probs|logits|hidden)\.(\d+)")
INPUTS = ("tokens", "hidden", "mem_len", "visible", "segments")
WANTED = (
    "probs.{layer} or logits.{layer}, and what went in: tokens [batch key] or hidden [batch key d_model] (memory "
    "included, its length is what the queries leave, or mem_len)"
)


@dataclass(frozen=True)
class Reference:
    """Hold a captured run. Scores are kept with the axes that they came with; see `reference.layout_of`."""

    probs: dict[int, Tensor]  # layer -> any layout
    logits: dict[int, Tensor]
    tokens: Tensor | None = None  # [batch key]
    hidden: Tensor | None = None  # [batch key d_model], the input of the first layer
    layer_hidden: dict[int, Tensor] | None = None  # the input of each layer, where it was captured
    mem_len: int | None = None
    visible: Tensor | None = None  # [batch key] or [batch query key] bool
    segments: Tensor | None = None  # [batch query] int
    name: str = ""


def read_reference(path: Path) -> Reference:
    """Read a captured run from .npz or .safetensors. Raises ValueError in one sentence for anything else."""
    return from_arrays(read_arrays(path, wanted=lambda name: True, what=WANTED), path.name)


def from_arrays(arrays: dict[str, Tensor], name: str = "the reference") -> Reference:
    """Make a reference of named arrays. Raises ValueError for names or shapes that say nothing."""
    parts: dict[str, dict[int, Tensor]] = {"probs": {}, "logits": {}, "hidden": {}}
    for key, value in arrays.items():
        found = NAMED.fullmatch(key)
        if found:
            parts[found[1]][int(found[2])] = value
        elif key not in INPUTS:
            raise ValueError(f"{name} has {key[:40]!r}, which says nothing here: it should have {WANTED}")
    if not parts["probs"] and not parts["logits"]:
        raise ValueError(f"{name} has no probs.{{layer}} and no logits.{{layer}}: save {WANTED}")
    given = {key: arrays[key] for key in INPUTS if key in arrays}
    tokens, hidden = given.get("tokens"), given.get("hidden")
    if tokens is None and hidden is None and not parts["hidden"]:
        raise ValueError(f"{name} does not say what went in: save {WANTED}")
    if tokens is not None:
        tokens = tokens.long()
        tokens = tokens[None] if tokens.dim() == 1 else tokens
    if hidden is not None and hidden.dim() == 2:
        hidden = hidden[None]
    for key, value, dims in (("tokens", tokens, 2), ("hidden", hidden, 3)):
        if value is not None and (value.dim() != dims or 0 in value.shape):
            raise ValueError(f"`{key}` in {name} has shape {list(value.shape)}: save {WANTED}")
    mem_len, visible, segments = (given.get(key) for key in ("mem_len", "visible", "segments"))
    return Reference(
        parts["probs"],
        parts["logits"],
        tokens,
        hidden,
        parts["hidden"] or None,
        None if mem_len is None else int(mem_len.flatten()[0]),
        None if visible is None else visible.bool(),
        None if segments is None else segments.long(),
        name,
    )
