"""A scene: some queries and keys of one head around the seam, and all that its scores come from."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import CanonicalModel, LearnedPositions, RelativeAttention, SinusoidPositions
from relxl.masking import RIGHT_RULE, MaskRule
from relxl.relative import PairMap, RelativePairs
from relxl.split import HeadTerms, attention_terms
from relxl.trace import NO_TOKEN, Trace

QUERIES, MEMORY = 24, 12  # so few that each cell can be seen
FEWEST = 6  # queries below which there is nothing to see


@dataclass(frozen=True)
class Scene:
    """Hold what the scores of one head come from; the first `mem_len` of `hidden` [1 key d_model] are memory."""

    attn: RelativeAttention
    hidden: Tensor
    head: int
    mem_len: int = 0
    rule: MaskRule = RIGHT_RULE
    clamp_len: int | None = None
    keep: Tensor | None = None  # [1 1 query key] bool, false where a key must not be seen
    other: RelativeAttention | None = None  # of another layer of the same model
    places: tuple[int, ...] = ()  # of the keys in the run; NO_TOKEN where a key stands for none

    @property
    def key_len(self) -> int:
        return self.hidden.shape[1]

    @property
    def query_len(self) -> int:
        return self.key_len - self.mem_len

    @property
    def pairs(self) -> PairMap | RelativePairs:
        return self.attn.pairs(self.query_len, self.key_len, self.mem_len)

    @cached_property
    def terms(self) -> HeadTerms:
        """Split the scores, masked by the rule."""
        split = attention_terms(self.attn, self.hidden, self.mem_len, [self.head], self.clamp_len, self.rule, self.keep)
        return split.head(self.head)

    @property
    def positions(self) -> np.ndarray:
        """Give what position adds to every score, (b) + (d): [query key]."""
        return self.terms.terms["content_position"] + self.terms.terms["v_bias"]

    def shown(self, what: str) -> np.ndarray:
        """Give "positions" or "probability": [query key]."""
        return self.positions if what == "positions" else self.terms.probs


Change = Callable[[Scene], Scene]


def scene_of(model: CanonicalModel, trace: Trace, layer: int, head: int) -> Scene:
    """Take the first queries of a run and the last keys of its memory; the scores of these cells are the model's own.

    `model` is that of the run in the canonical form. A layer's only neighbour is the last, for the first.
    """
    queries = min(trace.query_len, QUERIES, longest(model.layers[layer].attn))
    memory = min(trace.mem_len, MEMORY, queries)
    cells = slice(trace.mem_len - memory, trace.mem_len + queries)
    last = len(model.layers) - 1
    return Scene(
        attn=model.layers[layer].attn,
        hidden=trace.hidden[layer][:1, cells],
        head=head,
        mem_len=memory,
        clamp_len=trace.clamp_len,
        other=model.layers[0 if layer else last].attn,
        places=tuple(range(trace.key_len))[cells],
    )


def longest(attn: RelativeAttention) -> int:
    """Say how many queries may stand behind as many keys of memory, where a table has rows for no more."""
    positions = attn.positions
    if isinstance(positions, SinusoidPositions) or positions.clamps:
        return QUERIES
    return max(min(positions.last, abs(positions.first) or positions.last) // 2, 1)


def lacking(model: CanonicalModel | None, trace: Trace, layer: int, needs: tuple[str, ...]) -> str:
    """Name the first thing that an exhibit needs and a model has not; nothing where all is there."""
    if model is None:
        return "relative"
    if trace.query_len < FEWEST:
        return "text"
    attn, others = model.layers[layer].attn, [block.attn for block in model.layers]
    if attn.legacy_len is not None or attn.zero_future:
        return "right_map"
    sinusoid = isinstance(attn.positions, SinusoidPositions)
    there = {
        "sinusoid": sinusoid and not attn.positions.mirrored,
        "future": sinusoid or attn.positions.first < 0,
        "v": attn.v is not None,
        "layers": len(others) > 1 and not all(torch.equal(a.u, others[0].u) for a in others),
        "square": attn.w_q.weight.shape[0] == attn.w_q.weight.shape[1],
    }
    return next((need for need in needs if not there[need]), "")


# What a scene is set to before anything breaks ------------------------------------------------------------------------


def as_it_is(scene: Scene) -> Scene:
    return scene


def encoder(scene: Scene) -> Scene:
    """Leave the memory out and let every query see both sides."""
    scene = alone(scene)
    return replace(scene, rule=MaskRule(sees="both"))


def causal(scene: Scene) -> Scene:
    """Let every query see the past alone, under the right mask."""
    return replace(scene, rule=RIGHT_RULE)


def with_memory(scene: Scene) -> Scene:
    """Take a third of the keys for the memory where there is none, under a causal mask."""
    cut = scene.mem_len or scene.key_len // 3
    return replace(scene, mem_len=cut, rule=RIGHT_RULE)


def alone(scene: Scene) -> Scene:
    """Leave the memory out, under a causal mask."""
    cut = scene.mem_len
    return replace(scene, hidden=scene.hidden[:, cut:], places=scene.places[cut:], mem_len=0, rule=RIGHT_RULE)


def clamped(scene: Scene) -> Scene:
    """Clamp distances at a quarter of the keys, as training did in this scene."""
    return replace(causal(scene), clamp_len=scene.key_len // 4)


def windowed(scene: Scene) -> Scene:
    """Let every query see a third of the keys, itself among them."""
    return replace(causal(scene), rule=MaskRule(window=max(scene.key_len // 3, 2)))


def hidden_row(scene: Scene) -> Scene:
    """Hide every key from one query, as padding does, and set what it gets to 0 after the softmax."""
    scene = alone(scene)
    keep = torch.ones(1, 1, scene.query_len, scene.key_len, dtype=torch.bool)
    keep[..., scene.query_len // 2, :] = False
    return replace(scene, keep=keep, rule=MaskRule(fill="min", zero=True))


def padded_half(scene: Scene) -> Scene:
    """Hide every key from one query and compute in half precision, with the lowest number that it has."""
    return replace(hidden_row(scene), rule=MaskRule(fill="min", dtype="float16"))


def unwritten_memory(scene: Scene) -> Scene:
    """Put memory slots of zeros before the segment, and hide them."""
    scene = alone(scene)
    slots = scene.query_len // 2
    zeros = torch.zeros_like(scene.hidden[:, :1]).expand(-1, slots, -1)
    hidden, places = torch.cat([zeros, scene.hidden], dim=1), (NO_TOKEN,) * slots + scene.places
    return hide_memory(replace(scene, hidden=hidden, places=places, mem_len=slots))


def fed_twice(scene: Scene) -> Scene:
    """Put the segment itself into the memory, and hide it there."""
    scene = alone(scene)
    hidden = torch.cat([scene.hidden, scene.hidden], dim=1)
    return hide_memory(replace(scene, hidden=hidden, places=scene.places * 2, mem_len=scene.query_len))


def hide_memory(scene: Scene) -> Scene:
    keep = (torch.arange(scene.key_len) >= scene.mem_len).expand(1, 1, scene.query_len, -1)
    return replace(scene, keep=keep)


# How positions are read -----------------------------------------------------------------------------------------------


def cut_table(scene: Scene) -> Scene:
    """Make the table once, for a quarter of the keys: what lies beyond shares its last row."""
    reach = scene.key_len // 4
    distance = torch.arange(-reach, reach + 1, device=scene.hidden.device)
    positions = scene.attn.positions
    rows, curve = positions.table(distance, scene.clamp_len), positions.curve(distance, scene.clamp_len)
    return replace(scene, attn=replace(scene.attn, positions=LearnedPositions(rows, -reach, curve)))
