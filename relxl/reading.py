"""Read the positions of a trained model in another way: clamped, stretched, cut or mirrored. Nothing else changes.

What comes out is an ordinary model with an ordinary config, so that everything that looks at a model can look at it;
all parameters but those of the positions are the old model's own memory. A model of another family is data, so there
its positions are replaced and the rest is the same object.
"""

import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from relxl.canonical import CanonicalModel, LearnedPositions, SinusoidPositions
from relxl.model import TransformerXL
from relxl.positions import (
    check_max_len,
    check_near,
    interpolate_rows,
    stretched_places,
    table_max_len,
    truncate_rows,
)


@dataclass(frozen=True)
class Reading:
    """Say how a model's positions are read; the default changes nothing.

    clamp_len    distances beyond it share its row; None: the config's
    interpolate  max_len that a learned table is stretched or squeezed to
    near         distances up to it keep their own row when the table is stretched
    truncate     max_len that a learned table is cut to: the same as a clamp at truncate - 1
    flip         distance d reads R(-d): i - j confused with j - i
    """

    clamp_len: int | None = None
    interpolate: int | None = None
    near: int = 0
    truncate: int | None = None
    flip: bool = False

    def __post_init__(self):
        if self.interpolate is not None and self.truncate is not None:
            raise ValueError(
                f"a table is interpolated or truncated, not both, got interpolate={self.interpolate} and "
                f"truncate={self.truncate}"
            )
        if self.near and self.interpolate is None:
            raise ValueError(f"near={self.near} says what stays when a table is stretched: give interpolate as well")
        if self.clamp_len is not None and self.clamp_len < 0:
            raise ValueError(f"clamp_len must be 0 or more tokens (or None for the model's own), got {self.clamp_len}")


def with_positions(model: TransformerXL | CanonicalModel, reading: Reading) -> TransformerXL | CanonicalModel:
    """Make a model for evaluation that reads its positions as `reading` says; `model` itself is not changed.

    No tensor is copied but the position tables (a sinusoid that is flipped: W_kR). Raises ValueError for a reading
    that the model's positions can not have.
    """
    kind, resized = model.config.positions, reading.truncate if reading.interpolate is None else reading.interpolate
    if kind == "absolute" and reading != Reading():
        raise ValueError(
            "absolute positions know no distance to clamp, stretch or flip: open a model with relative ones"
        )
    if kind != "learned" and resized is not None:
        raise ValueError(
            f"only a learned table can be stretched or cut, but this model's positions are a {kind}, which has a row "
            "for every distance: give clamp_len alone"
        )
    changes = {"clamp_len": reading.clamp_len, "max_len": resized}
    changes = {name: value for name, value in changes.items() if value is not None}
    if isinstance(model, CanonicalModel):
        layers = tuple(
            replace(layer, attn=replace(layer.attn, positions=reread_canonical(layer.attn.positions, reading)))
            for layer in model.layers
        )
        return replace(model, config=replace(model.config, **changes), layers=layers)
    shared = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in model.parameters()}
    other = copy.deepcopy(model, shared).eval()  # modules are copied, tensors are not
    for attn in (layer.attn for layer in other.layers):
        if kind == "learned":
            attn.pos_enc.pos_table.data = reread(attn.pos_enc.pos_table, kind, reading)
            attn.pos_enc.max_len = table_max_len(attn.pos_enc.pos_table)
        elif kind == "sinusoid":
            attn.w_k_pos.data = reread(attn.w_k_pos, kind, reading)
    other.config = replace(model.config, **changes)
    return other


def reread(values: Tensor, kind: str, reading: Reading) -> Tensor:
    """Give what stands in the place of a learned table [row d_pos], or of a sinusoid's W_kR [head d_pos d_head].

    R(-d) is [-sin, cos], so a sinusoid is flipped by the sign of the sines' rows of W_kR.
    """
    if kind == "sinusoid":
        sines = values.shape[1] // 2
        return torch.cat([-values[:, :sines], values[:, sines:]], dim=1) if reading.flip else values
    if reading.interpolate is not None:
        values = interpolate_rows(values, reading.interpolate, reading.near)
    elif reading.truncate is not None:
        values = truncate_rows(values, reading.truncate)
    return values.flip(0) if reading.flip else values


# Positions of other families ------------------------------------------------------------------------------------------


def can_flip(model: TransformerXL | CanonicalModel) -> bool:
    """Say whether there is something to read at -d: absolute positions know no distance, some tables only the past."""
    if not isinstance(model, CanonicalModel):
        return model.config.positions != "absolute"
    positions = model.layers[0].attn.positions
    return not isinstance(positions, LearnedPositions) or positions.first < 0


def reread_canonical(
    positions: SinusoidPositions | LearnedPositions, reading: Reading
) -> SinusoidPositions | LearnedPositions:
    """Do what `reread` does to the positions of one layer of another family.

    A sinusoid of |d| has no sign to turn. Raises ValueError for what a table can not give.
    """
    if isinstance(positions, SinusoidPositions):
        turned = reading.flip and not positions.mirrored
        return replace(positions, w_k_pos=reread(positions.w_k_pos, "sinusoid", reading)) if turned else positions
    if reading.interpolate is not None:
        positions = stretch(positions, reading.interpolate, reading.near)
    elif reading.truncate is not None:
        positions = truncate(positions, reading.truncate)
    return turn(positions) if reading.flip else positions


def stretch(positions: LearnedPositions, max_len: int, near: int = 0) -> LearnedPositions:
    """Do what `interpolate_rows` does to a table of any distances first .. last; v_curve is stretched with the rows.

    The row of `last` becomes that of max_len - 1, and distances of both signs are stretched by the same factor: a
    future that reaches less far ends where the old table ends, and a table of the past alone stays one.
    """
    check_max_len(max_len)
    reach, new_reach, future = positions.last, max_len - 1, -positions.first
    check_near(near, reach, new_reach)
    if new_reach == reach:
        return positions
    new_future = new_reach if future == reach else future
    if near < future < reach:
        new_future = near + (future - near) * (new_reach - near) // (reach - near)
    distance = torch.arange(-new_future, new_reach + 1, device=positions.rows.device)
    inner, outer, share = stretched_places(distance, reach, new_reach, near)
    inner, outer, share = inner - positions.first, outer - positions.first, share.to(positions.rows.dtype)
    curve = positions.v_curve
    return replace(
        positions,
        rows=torch.lerp(positions.rows[:, inner], positions.rows[:, outer], share[:, None]),
        first=-new_future,
        v_curve=None if curve is None else torch.lerp(curve[:, inner], curve[:, outer], share),
    )


def truncate(positions: LearnedPositions, max_len: int) -> LearnedPositions:
    """Do what `truncate_rows` does: keep the distances up to max_len - 1; beyond, the last row is shared."""
    check_max_len(max_len)
    if max_len > positions.last + 1:
        raise ValueError(
            f"a table of max_len={positions.last + 1} can not be cut to max_len={max_len}: give a smaller one, or "
            "interpolate"
        )
    first = max(positions.first, 1 - max_len)
    kept, curve = slice(first - positions.first, max_len - positions.first), positions.v_curve
    rows, clamps = positions.rows[:, kept], positions.clamps or max_len <= positions.last
    return LearnedPositions(rows, first, None if curve is None else curve[:, kept], clamps)


def turn(positions: LearnedPositions) -> LearnedPositions:
    """Turn a table about distance 0: its distances become -last .. -first. Raises ValueError for the past alone."""
    if positions.first >= 0:
        raise ValueError(
            f"this table has rows for the distances {positions.first} to {positions.last}, all of the past: it has no "
            "row of -d to read in the place of d"
        )
    curve = positions.v_curve
    return replace(
        positions,
        rows=positions.rows.flip(1),
        first=-positions.last,
        v_curve=None if curve is None else curve.flip(1),
    )
