"""How a head looks over distance: profiles of its scores, how far its attention reaches, what one term alone would do.

Distance is m + i - j: 0 is the token itself, positive the past. Only visible cells count, so a distance is averaged
over the queries that have such a key. pandas is imported by the functions that make a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SHARES = (0.5, 0.9)
ROUNDING = 1e-6  # a share that is missed by so little is reached


class DistanceProfile(NamedTuple):
    """Hold mean and spread of the visible cells of each distance."""

    distance: np.ndarray  # [distance] int, ascending: those that a visible cell has
    mean: np.ndarray  # [... distance]
    std: np.ndarray  # [... distance]
    count: np.ndarray  # [distance] cells, that is queries with such a key


def distance_profile(values: np.ndarray, distance: np.ndarray, mask: np.ndarray) -> DistanceProfile:
    """Average values [... query key] over the visible cells of each distance; distance and mask are [query key].

    Of a term that depends on distance alone the mean is its curve, and the spread 0.
    """
    seen = distance[mask]
    if not len(seen):
        nothing = np.zeros((*values.shape[:-2], 0))
        return DistanceProfile(seen, nothing, nothing, seen)
    first = int(seen.min())
    place = seen - first
    count = np.bincount(place)
    there = count > 0
    cells = values[..., mask].reshape(-1, len(seen)).astype(np.float64)
    mean, std = np.zeros((2, len(cells), len(count)))
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite stays so
        for row, cell in enumerate(cells):
            mean[row] = np.bincount(place, cell) / np.maximum(count, 1)
            std[row] = np.sqrt(np.bincount(place, (cell - mean[row, place]) ** 2) / np.maximum(count, 1))
    shape = *values.shape[:-2], int(there.sum())
    distances = first + np.flatnonzero(there)
    return DistanceProfile(distances, mean[:, there].reshape(shape), std[:, there].reshape(shape), count[there])


def row_centred(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Subtract from every row of values [... query key] its mean over the visible keys.

    A constant in a row changes nothing after the softmax, so this is what a term really does there.
    """
    visible = np.maximum(mask.sum(-1, keepdims=True), 1)
    with np.errstate(invalid="ignore"):
        return values - np.where(mask, values, 0).sum(-1, keepdims=True) / visible


def alone(term: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Give the probabilities that a term [... query key] would make by itself: its softmax over the visible keys.

    A row without a visible key is 0.
    """
    with np.errstate(invalid="ignore"):
        scores = np.where(mask, term, -np.inf)
        top = scores.max(-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(top == -np.inf, 0, top))
        return weights / np.where(mask.any(-1, keepdims=True), weights.sum(-1, keepdims=True), 1)


def mass_within(probs: np.ndarray, distance: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Add up, for every query, the probability on the keys at most d away: [... query key] -> [... query d].

    d counts from 0; where the future is seen, a key ahead is as far as one behind. The last d holds all that is seen.
    """
    queries = distance.shape[0]
    row, _key = np.nonzero(mask)
    away = np.abs(distance[mask])
    span = int(away.max(initial=0)) + 1
    cells = probs[..., mask].reshape(-1, len(away)).astype(np.float64)
    mass = [np.bincount(row * span + away, cell, queries * span) for cell in cells]
    return np.reshape(mass, (*probs.shape[:-2], queries, span)).cumsum(-1)


def attention_reach(
    probs: np.ndarray, distance: np.ndarray, mask: np.ndarray, shares: Sequence[float] = SHARES
) -> np.ndarray:
    """Say how far away the nearest keys lie that together hold each share of the attention of all queries.

    probs [... query key] -> [... share], in tokens; NaN without any attention. With distance D a causal head gives
    the share to its last D + 1 tokens, the token itself among them.
    """
    away = np.abs(distance[mask])
    cells = probs[..., mask].reshape(-1, len(away)).astype(np.float64)
    reach = np.full((len(cells), len(shares)), np.nan)
    for row, cell in enumerate(cells):
        within = np.bincount(away, cell).cumsum() if len(away) else np.zeros(1)
        if np.isfinite(within[-1]) and within[-1] > 0:
            reach[row] = np.searchsorted(within, (np.array(shares) - ROUNDING) * within[-1])
    return reach.reshape(*probs.shape[:-2], len(shares))


def half_life(curve: np.ndarray, distance: np.ndarray) -> float:
    """Give the distance at which a curve, past its peak, has fallen half of the way to its lowest; both [distance].

    Only the past counts. NaN for a curve that is level, or that never falls so far after its peak.
    """
    past = (distance >= 0) & np.isfinite(curve)
    order = np.argsort(distance[past], kind="stable")
    places, values = distance[past][order], curve[past][order].astype(np.float64)
    if not len(values) or values.max() == values.min():
        return np.nan
    fallen = places[(places > places[values.argmax()]) & (values < (values.max() + values.min()) / 2)]
    return float(fallen[0]) if len(fallen) else np.nan


def profile_table(profiles: Mapping[str, DistanceProfile]) -> pd.DataFrame:
    """Put profiles of one head, [distance] each, into numbers: a row a distance with mean, spread and count."""
    import pandas as pd

    tables = []
    for name, profile in profiles.items():
        columns = {f"{name}_mean": profile.mean, f"{name}_std": profile.std}
        tables.append(pd.DataFrame(columns, index=pd.Index(profile.distance, name="distance")))
    queries = {profile.distance.tobytes(): profile for profile in profiles.values()}
    counts = [pd.Series(one.count, index=one.distance, name="queries") for one in queries.values()]
    table = pd.concat([*counts[:1], *tables], axis=1).sort_index()
    return table.rename_axis("distance").reset_index()


def reach_table(measures: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Put measures [layer head] of every head into numbers, a row a head, the nearest by the first measure on top."""
    import pandas as pd

    n_layer, n_head = next(iter(measures.values())).shape
    layer, head = np.divmod(np.arange(n_layer * n_head), n_head)
    names = [f"L{one}H{other}" for one, other in zip(layer, head, strict=True)]
    columns = {name: values.ravel() for name, values in measures.items()}
    table = pd.DataFrame({"name": names, "layer": layer, "head": head} | columns)
    return table.sort_values(list(columns), kind="stable", ignore_index=True)
