"""Read the positions of a trained model in another way: clamped, stretched, cut or mirrored. Nothing else changes.

What comes out is an ordinary model with an ordinary config, so that everything that looks at a model can look at it;
all parameters but those of the positions are the old model's own memory.
"""

import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from relxl.model import TransformerXL
from relxl.positions import interpolate_rows, table_max_len, truncate_rows


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


def with_positions(model: TransformerXL, reading: Reading) -> TransformerXL:
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
    shared = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in model.parameters()}
    other = copy.deepcopy(model, shared).eval()  # modules are copied, tensors are not
    for attn in (layer.attn for layer in other.layers):
        if kind == "learned":
            attn.pos_enc.pos_table.data = reread(attn.pos_enc.pos_table, kind, reading)
            attn.pos_enc.max_len = table_max_len(attn.pos_enc.pos_table)
        elif kind == "sinusoid":
            attn.w_k_pos.data = reread(attn.w_k_pos, kind, reading)
    changes = {"clamp_len": reading.clamp_len, "max_len": resized}
    other.config = replace(model.config, **{name: value for name, value in changes.items() if value is not None})
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
