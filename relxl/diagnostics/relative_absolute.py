"""What a sweep of relative and absolute models says: curves over the seeds, and where a gap opens.

Columns are those of `sweep relative-vs-absolute`: a dict of arrays [row].
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Table = Mapping[str, np.ndarray]
LEAST_GAP = 0.01  # nats per character that count as a gap at all


@dataclass(frozen=True)
class SeedCurve:
    """Hold a measure over something that was varied, with the range over the seeds; all [point]."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rows_where(table: Table, **wanted: object) -> dict[str, np.ndarray]:
    """Keep the rows whose columns have the values wanted."""
    kept = np.ones(len(next(iter(table.values()))), dtype=bool)
    for name, value in wanted.items():
        kept &= table[name] == value
    return {name: column[kept] for name, column in table.items()}


def whole_segments(table: Table, times: int) -> dict[str, np.ndarray]:
    """Keep the rows about all positions of segments `times` as long as in training."""
    kept = (table["begin"] == 0) & (table["end"] == table["eval_len"])
    kept &= table["eval_len"] == times * table["segment_len"]
    return {name: column[kept] for name, column in table.items()}


def seed_curve(table: Table, x: str, y: str = "loss") -> SeedCurve:
    """Average a column over all rows of the same x: mean, smallest, largest."""
    places = np.unique(table[x])
    groups = [table[y][table[x] == place] for place in places]
    mean, low, high = (np.array([reduce(group) for group in groups]) for reduce in (np.mean, np.min, np.max))
    return SeedCurve(places, mean, low, high)


def gap_curve(table: Table, kind: str, x: str, y: str = "loss") -> SeedCurve:
    """Subtract what `kind` loses from what the absolute model loses, seed by seed: above 0 the relative one is better.

    Both of a seed saw the same batches. A point that one of the two lacks is left out.
    """

    def keyed(name: str) -> dict[tuple, float]:
        rows = rows_where(table, positions=name)
        return dict(zip(zip(rows[x], rows["seed"], strict=True), rows[y], strict=True))

    relative, absolute = keyed(kind), keyed("absolute")
    shared = [key for key in relative if key in absolute]
    gaps = np.array([absolute[key] - relative[key] for key in shared])
    return seed_curve({x: np.array([place for place, _seed in shared]), y: gaps}, x, y)


def opens_at(gap: SeedCurve, least: float = LEAST_GAP) -> float | None:
    """Give the first x from which on the gap of every seed is above `least`; None where the last one is not."""
    closed = np.flatnonzero(gap.low <= least)
    first = closed[-1] + 1 if len(closed) else 0
    return None if first == len(gap.x) else float(gap.x[first])
