"""How a scene breaks: the shift, the reading, the biases or the weights of its attention, or its mask."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from relxl.canonical import LearnedPositions, RelativeAttention
from relxl.doctor.hypotheses import remapped
from relxl.masking import MaskRule
from relxl.model import INIT_STD
from relxl.museum.scene import Change, Scene, hide_memory
from relxl.positions import project_positions, sinusoid_rows
from relxl.reading import Reading, reread_canonical

FAR = 1000  # tokens: where phases of half precision are looked at too


def in_attention(change: Callable[[RelativeAttention], RelativeAttention]) -> Change:
    return lambda scene: replace(scene, attn=change(scene.attn))


def shifted(name: str) -> Change:
    """Read the cells by one of `shift.SHIFTS`."""
    return in_attention(lambda attn: remapped(attn, name))


def masked(**parts: object) -> Change:
    """Change parts of the rule."""
    return lambda scene: replace(scene, rule=replace(scene.rule, **parts))


def ruled(rule: MaskRule) -> Change:
    return lambda scene: replace(scene, rule=rule)


def flipped(attn: RelativeAttention) -> RelativeAttention:
    return replace(attn, positions=reread_canonical(attn.positions, Reading(flip=True)))


def unclamped(scene: Scene) -> Scene:
    return replace(scene, clamp_len=None)


def shown_memory(scene: Scene) -> Scene:
    """Let the memory be read that should be hidden."""
    return replace(scene, keep=None)


def lost_memory(scene: Scene) -> Scene:
    """Hide the memory that should be read."""
    return hide_memory(scene)


def swapped(attn: RelativeAttention) -> RelativeAttention:
    return replace(attn, u=attn.v, v=attn.u)


def unscaled(attn: RelativeAttention) -> RelativeAttention:
    """Scale the query before u and v are added."""
    return replace(attn, u=attn.u / attn.scale, v=attn.v / attn.scale)


def wide_scale(attn: RelativeAttention) -> RelativeAttention:
    """Divide by the root of all heads' width and not of one's."""
    return replace(attn, scale=attn.scale / attn.n_heads**0.5)


def unfilled(attn: RelativeAttention) -> RelativeAttention:
    """Leave in u what may lie in memory that nobody filled: mostly nothing, and one large number a head."""
    u = torch.full_like(attn.u, 1e-41)
    u[:, 3 % u.shape[1]] = 300.0
    return replace(attn, u=u)


def tied(scene: Scene) -> Scene:
    """Take u and v from another layer."""
    its = scene.other
    return replace(scene, attn=replace(scene.attn, u=its.u, v=its.v))


def redrawn(attn: RelativeAttention) -> RelativeAttention:
    """Draw the projections anew, as they were before any training."""
    generator = torch.Generator().manual_seed(0)

    def draw(x: Tensor) -> Tensor:
        return torch.randn(x.shape, generator=generator).to(x) * INIT_STD

    linear = {name: replace(getattr(attn, name), weight=draw(getattr(attn, name).weight)) for name in ("w_q", "w_k")}
    return replace(attn, **linear)


def half_phases(scene: Scene) -> Scene:
    """Compute the phases of the sinusoid in bfloat16, each product rounded."""
    w_k_pos = scene.attn.positions.w_k_pos
    reach = max(scene.key_len, FAR)
    distance = torch.arange(-reach, reach + 1, device=scene.hidden.device)
    d_pos = w_k_pos.shape[1]
    one = sinusoid_rows(torch.ones(1), d_pos, dtype=torch.float64)[0]
    frequency = torch.atan2(one[: d_pos // 2], one[d_pos // 2 :]).bfloat16()
    phase = (distance.bfloat16()[:, None] * frequency).double()
    rows = torch.cat([phase.sin(), phase.cos()], dim=-1).to(w_k_pos.dtype)
    return replace(
        scene, attn=replace(scene.attn, positions=LearnedPositions(project_positions(rows, w_k_pos), -reach))
    )
