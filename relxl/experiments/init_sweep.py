"""Measure many initialisations: a list of items, and a pure function of one item that any executor can map.

    rows = map(sweep_item, sweep_rows(settings, scales, seeds, lengths))

An item is small and frozen, its columns are numbers and short texts: both go through pickle, to a process or a machine.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from relxl.experiments.init_scale import PARAMETERS, InitSettings, measure_init, scale_settings


@dataclass(frozen=True)
class SweepItem:
    """Be one measurement of a sweep: `settings` are what is measured, at `scale` for the parameters `scaled`."""

    settings: InitSettings
    scale: float
    scaled: tuple[str, ...]


def sweep_rows(
    settings: InitSettings,
    scales: Sequence[float],
    seeds: Sequence[int],
    lengths: Sequence[int],
    scaled: Sequence[str] = PARAMETERS,
) -> list[SweepItem]:
    """List the measurements of a sweep, in the order of their rows: each scale, then each seed, then each length."""
    return [
        SweepItem(replace(scale_settings(settings, scale, scaled), seed=seed, length=length), scale, tuple(scaled))
        for scale in scales
        for seed in seeds
        for length in lengths
    ]


def sweep_item(item: SweepItem) -> dict[str, list]:
    """Measure one item on a unit normal input: the columns of a table with one row a head.

    The same item gives the same bits in any process, thread or executor on one kind of machine.
    """
    settings = item.settings
    with one_thread():
        measures = measure_init(settings)
    facts = {"scale": item.scale, "seed": settings.seed, "length": settings.length, "positions": settings.positions}
    facts |= {"d_model": settings.d_model, "n_head": settings.n_head, "scaled": " ".join(item.scaled)}
    columns = {name: [value] * settings.n_head for name, value in facts.items()} | {"head": [*range(settings.n_head)]}
    columns |= {f"std_{name}": values.tolist() for name, values in measures.std.items()}
    columns |= {f"predicted_{name}": [value] * settings.n_head for name, value in measures.predicted.items()}
    arrays = {name: getattr(measures, name) for name in ("entropy", "peaked", "flat", "gradient_norm")}
    return columns | {name: values.tolist() for name, values in arrays.items()}


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one torch thread: a sum that is split among threads rounds differently with their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
