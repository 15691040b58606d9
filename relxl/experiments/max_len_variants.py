"""Ways of running a trained model that the lab compares, by name: how it reads its positions, which keys it sees."""

from dataclasses import dataclass, field, replace

from relxl.canonical import CanonicalModel
from relxl.config import ModelConfig, Sizes
from relxl.experiments.max_len import trained_reach
from relxl.masking import RIGHT_RULE, MaskRule
from relxl.model import TransformerXL
from relxl.reading import Reading

VARIANTS = {  # name, with sizes after colons where N and K stand -> what it does
    "as_trained": "the model's own reading: a learned table shares its last row beyond the wall, a sinusoid has none",
    "clamp": "distances beyond the training's share one row",
    "clamp:N": "distances beyond N share one row",
    "window": "keys beyond the training's distances are not seen at all",
    "interpolate": "the table is stretched until its last row is the largest distance",
    "interpolate:N": "the table is stretched or squeezed to max_len N",
    "interpolate:N:K": "the same, but distances up to K keep their own row",
    "interpolate_far": "as interpolate, but distances up to half a training segment keep their own row",
    "truncate:N": "the table is cut to max_len N",
    "flip": "distance d reads the row of -d",
}
GRID = {  # what is worth comparing over lengths and memories
    "learned": ("as_trained", "interpolate", "interpolate_far", "window"),
    "sinusoid": ("as_trained", "clamp", "window"),
    "absolute": ("as_trained",),
}


@dataclass(frozen=True)
class Variant:
    """Say how a model is run: how it reads its positions, and which keys it sees (of `rule` the window counts)."""

    reading: Reading = field(default_factory=Reading)
    rule: MaskRule = RIGHT_RULE

    def rule_of(self, model: TransformerXL | CanonicalModel, mem_len: int) -> MaskRule:
        """Give the model's own rule over a memory, its window no wider than the variant's."""
        own = model.rule_at(mem_len)
        windows = [window for window in (own.window, self.rule.window) if window is not None]
        return replace(own, window=min(windows, default=None))


def variant_of(name: str, config: ModelConfig | Sizes, reach: int) -> Variant:
    """Resolve a name of VARIANTS for a model that meets distances up to `reach`.

    Two names that come to the same thing at this reach give equal variants: a clamp, a window or a table that the
    distances fit into is the model as trained. Raises ValueError for an unknown name.
    """
    kind, *sizes = name.split(":")
    if ":".join([kind, *"NK"[: len(sizes)]]) not in VARIANTS or not all(size.isdecimal() for size in sizes):
        raise ValueError(f"a variant is one of {', '.join(VARIANTS)} (N, K whole numbers), got {name[:40]!r}")
    size, near = [*map(int, sizes), None, None][:2]
    home = trained_reach(config)
    if kind == "clamp":
        clamp_len = home if size is None else size
        return Variant(Reading(clamp_len=clamp_len)) if clamp_len < reach else Variant()
    if kind == "window":
        return Variant(rule=MaskRule(window=home + 1)) if home < reach else Variant()
    if kind in ("interpolate", "interpolate_far"):
        max_len = max(config.max_len, reach + 1) if size is None else size
        if config.positions == "learned" and max_len == config.max_len:
            return Variant()
        near = min(config.segment_len // 2, config.max_len - 1) if kind == "interpolate_far" else near or 0
        return Variant(Reading(interpolate=max_len, near=near))
    if kind == "truncate":
        return Variant(Reading(truncate=size))
    return Variant(Reading(flip=kind == "flip"))


def home_variants(config: ModelConfig | Sizes) -> tuple[str, ...]:
    """Name what is worth comparing at the training's own segment and memory, as trained first.

    A flip; a table stretched by a little and by much; stretched to twice its length but for the nearest distances; cut
    ever shorter.
    """
    if config.positions == "absolute":
        return ("as_trained",)
    if config.positions == "sinusoid":
        return ("as_trained", "flip", *(f"clamp:{size - 1}" for size in doubling(1, trained_reach(config))))
    max_len = config.max_len
    stretched = [max_len + max_len // part for part in (32, 16, 8, 4, 2) if max_len >= part]
    stretched += doubling(2 * max_len, 8 * max_len)
    near = doubling(1, min(config.segment_len // 2, max_len - 1))
    return (
        "as_trained",
        "flip",
        *(f"interpolate:{n}" for n in stretched),
        *(f"interpolate:{2 * max_len}:{n}" for n in near),
        *(f"truncate:{n}" for n in doubling(1, max_len - 1)),
    )


def doubling(first: int, last: int) -> list[int]:
    """Give first, 2 first, 4 first, ... up to last."""
    return [first << n for n in range(last.bit_length()) if first << n <= last]
