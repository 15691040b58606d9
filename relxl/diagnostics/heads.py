"""What every head does, in numbers: where its attention goes, what its scores are made of. Averages over windows.

A measure of a window is a mean over rows (entropy), or a ratio of sums over rows (a share). Either way it is a value
with a weight, the number of rows or the sum below the line, so windows merge exactly: the weighted mean of their
values is what one pass over all of them gives. pandas is imported by the functions that make a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from relxl.diagnostics.additive import additive_fit, explained_squares
from relxl.diagnostics.memory import seam_mass
from relxl.diagnostics.terms import NO_VARIANCE, centre_rows, row_covariances

if TYPE_CHECKING:
    import pandas as pd

NEAREST_KEYS = 384  # of a longer window the additive fit takes so many last keys: its work grows with their cube
NO_TOKEN = -1

Rows = tuple[np.ndarray, np.ndarray]  # a value a row, [... head query], and which rows count, [... 1 query] bool


@dataclass(frozen=True)
class HeadScores:
    """Hold measures of heads over windows: a mean, its weight, and the weighted squares around it, [... head] each."""

    mean: dict[str, np.ndarray]
    weight: dict[str, np.ndarray]
    squares: dict[str, np.ndarray]
    windows: int
    rows: int

    @property
    def spread(self) -> dict[str, np.ndarray]:
        """Give the standard deviation of a measure over the windows: NaN for a single one."""
        if self.windows < 2:
            return {name: np.full_like(values, np.nan) for name, values in self.mean.items()}
        with np.errstate(invalid="ignore", divide="ignore"):
            return {name: np.sqrt(self.squares[name] / self.weight[name]) for name in self.mean}


# Rows ----------------------------------------------------------------------------------------------------------------


def row_entropy(probs: np.ndarray) -> np.ndarray:
    """Compute -sum p log p of every row, in nats: [... query key] -> [... query]."""
    safe = np.where(probs == 0, 1, probs)
    with np.errstate(invalid="ignore"):
        return -np.einsum("...k,...k->...", probs, np.log(safe, out=safe))


def attended_distance(probs: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Average how far away a row looks, |distance| weighted by probability: [... query key] -> [... query], tokens."""
    return np.einsum("...k,...k->...", probs, np.abs(distance).astype(probs.dtype))


def mass_on(probs: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Add up the probability on cells [... query key] bool: [... query]."""
    return np.einsum("...k,...k->...", probs, cells.astype(probs.dtype))


def induction_cells(tokens: np.ndarray, query_len: int) -> np.ndarray:
    """Mark the keys that come right after an earlier copy of the query's token: [... key] ids -> [... query key] bool.

    The queries are the last of the tokens. Such a key lies before the query; one without a token has no copy.
    Source: Olsson et al. 2022, "In-context learning and induction heads", prefix matching.
    """
    key_len = tokens.shape[-1]
    place = np.arange(key_len - query_len, key_len)
    query = tokens[..., place][..., None]
    before = np.concatenate([np.full_like(tokens[..., :1], NO_TOKEN), tokens[..., :-1]], axis=-1)[..., None, :]
    return (before == query) & (query != NO_TOKEN) & (np.arange(key_len) < place[:, None])


def repeated_sequence(n_token: int, period: int, seed: int = 0) -> np.ndarray:
    """Draw `period` different tokens and give them twice: [token]. Raises ValueError for a period above n_token."""
    if not 1 <= period <= n_token:
        raise ValueError(f"the period must be from 1 to n_token={n_token}, since no token comes twice in it: {period}")
    return np.tile(np.random.default_rng(seed).permutation(n_token)[:period], 2)


# Windows -------------------------------------------------------------------------------------------------------------


def window_scores(
    terms: Mapping[str, np.ndarray],
    logits: np.ndarray,
    probs: np.ndarray,
    mask: np.ndarray,
    distance: np.ndarray,
    mem_len: int = 0,
    tokens: np.ndarray | None = None,
    zero_keys: np.ndarray | None = None,
) -> HeadScores:
    """Measure the heads of one layer in one window, or in a batch of windows, which are merged: [head] a measure.

    terms, logits and probs are [head query key] or [batch head query key], mask and distance [query key], tokens and
    zero_keys (keys that are vectors of zeros) [key] or [batch key]; the first mem_len keys are memory.

    - each term: its share of what tells the keys of a row apart, summed covariance over summed variance
    - entropy in nats, relative_entropy over the logarithm of the visible keys, mean_distance in tokens
    - previous_token, first_token, induction, memory_mass, zero_mass: the mean probability there, over the rows that
      have such a key; first_token over the rows that see more than it
    - additive, by_distance, by_key: the share of the row-centred logits' variance that a function of distance plus one
      of the key explains, and each alone (`additive.py`)

    What a window can not have (no memory, no tokens) is NaN with weight 0.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # a model that holds NaN has measures that are NaN
        measured = measure_window(terms, logits, probs, mask, distance, mem_len, tokens, zero_keys)
    batch = probs.shape[:-3]
    return merge_axis(measured, int(mask.any(-1).sum()) * (batch[0] if batch else 1), bool(batch))


def measure_window(
    terms: Mapping[str, np.ndarray],
    logits: np.ndarray,
    probs: np.ndarray,
    mask: np.ndarray,
    distance: np.ndarray,
    mem_len: int,
    tokens: np.ndarray | None,
    zero_keys: np.ndarray | None,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Give the value and the weight of every measure, [head] or [batch head] each; see `window_scores`."""
    query_len, key_len = mask.shape
    visible = mask.sum(-1)[None, :]
    first = int(np.argmin(zero_keys.reshape(-1, key_len)[0])) if zero_keys is not None else 0
    entropy = row_entropy(probs)
    several = visible > 1
    before = (distance == 1) & mask
    rows: dict[str, Rows] = {
        "entropy": (entropy, visible > 0),
        "relative_entropy": (entropy / np.log(np.where(several, visible, 2)), several),
        "mean_distance": (attended_distance(probs, distance), visible > 0),
        "previous_token": (mass_on(probs, before), before.any(-1)[None, :]),
        "first_token": (probs[..., first], several & mask[:, first]),
        "induction": on_some(probs, None if tokens is None else induction_cells(tokens, query_len), mask),
        "memory_mass": (seam_mass(probs, mem_len), (visible > 0) & (mem_len > 0)),
        "zero_mass": on_some(probs, None if zero_keys is None else zero_keys[..., None, :], mask),
    }
    centred = centre_rows(logits, mask)
    covariances = {name: c.sum(-1, dtype=np.float64) for name, c in row_covariances(terms, mask, centred).items()}
    variance = sum(covariances.values())
    near = centred
    if key_len > NEAREST_KEYS:
        mask = mask[:, -NEAREST_KEYS:]
        near = centre_rows(logits[..., -NEAREST_KEYS:], mask)
    squares = explained_squares(additive_fit(mask), near)
    ratios = {name: (covariance, variance) for name, covariance in covariances.items()} | {
        name: (squares[kind], squares["total"])
        for name, kind in (("additive", "both"), ("by_distance", "distance"), ("by_key", "key"))
    }
    return {name: ratio(*pair) for name, pair in ratios.items()} | {name: row_mean(*it) for name, it in rows.items()}


def on_some(probs: np.ndarray, cells: np.ndarray | None, mask: np.ndarray) -> Rows:
    """Add up the probability on visible cells [... query key], over the rows that have some; no row without cells."""
    if cells is None or not (cells := cells & mask).any():
        return np.zeros(probs.shape[:-1]), np.zeros((1, mask.shape[0]), bool)
    cells = cells[..., None, :, :]
    return mass_on(probs, cells), cells.any(-1)


def row_mean(values: np.ndarray, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average values [... query] over the rows that count; give the mean and the number of rows, [...] each."""
    counted = np.broadcast_to(counted, values.shape)
    return ratio(np.where(counted, values, 0).sum(-1, dtype=np.float64), counted.sum(-1).astype(np.float64))


def ratio(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide; where there is nothing below the line, the value is NaN and its weight 0."""
    nothing = below <= NO_VARIANCE
    return np.where(nothing, np.nan, above / np.where(nothing, 1, below)), np.where(nothing, 0, below)


def merge_axis(measured: Mapping[str, tuple[np.ndarray, np.ndarray]], rows: int, batched: bool) -> HeadScores:
    """Turn values and weights, [head] or [batch head] each, into scores; a batch holds windows that are merged."""
    mean, weight, squares = {}, {}, {}
    for name, (value, its_weight) in measured.items():
        if not batched:
            mean[name], weight[name], squares[name] = value, its_weight, np.zeros_like(value)
            continue
        known = np.where(its_weight == 0, 0, value)
        mean[name], weight[name] = ratio((known * its_weight).sum(0), its_weight.sum(0))
        squares[name] = (its_weight * (known - np.nan_to_num(mean[name])) ** 2).sum(0)
    windows = len(value) if batched else 1
    return HeadScores(mean, weight, squares, windows, rows)


def merge(one: HeadScores, other: HeadScores) -> HeadScores:
    """Join the windows of two scores of the same heads: what one pass over all of them gives.

    Source: Chan, Golub and LeVeque 1983, for means with weights.
    """
    mean, weight, squares = {}, {}, {}
    for name in one.mean:
        (m, w, s), (n, v, t) = ((it.mean[name], it.weight[name], it.squares[name]) for it in (one, other))
        total = w + v
        safe = np.where(total == 0, 1, total)
        m, n = np.where(w == 0, 0, m), np.where(v == 0, 0, n)
        mean[name] = np.where(total == 0, np.nan, m + (n - m) * v / safe)
        squares[name] = s + t + (n - m) ** 2 * w * v / safe
        weight[name] = total
    return HeadScores(mean, weight, squares, one.windows + other.windows, one.rows + other.rows)


def stack_layers(layers: Sequence[HeadScores]) -> HeadScores:
    """Put the scores of the layers of one model on the same windows into one: [head] -> [layer head]."""
    parts = (
        {name: np.stack([getattr(layer, part)[name] for layer in layers]) for name in layers[0].mean}
        for part in ("mean", "weight", "squares")
    )
    return HeadScores(*parts, layers[0].windows, layers[0].rows)


def with_measure(scores: HeadScores, name: str, other: HeadScores, its_name: str) -> HeadScores:
    """Add to scores one measure of others, which were taken on other windows."""
    parts = (getattr(scores, part) | {name: getattr(other, part)[its_name]} for part in ("mean", "weight", "squares"))
    return HeadScores(*parts, scores.windows, scores.rows)


# Heads ---------------------------------------------------------------------------------------------------------------

SIMPLEX = {  # a term's corner: what the query asks of the key, what it asks of the place, what it does not ask
    "content": 0,
    "segment_content": 1,
    "content_position": 1,
    "u_bias": 2,
    "v_bias": 2,
    "segment_bias": 2,
    "position_content": 2,
    "position_position": 2,
}


def simplex(mean: Mapping[str, np.ndarray]) -> np.ndarray:
    """Sum shares into content, position and global: [... corner], 1 in total, from shares [...] a term.

    Content is (a), position what the query asks of the place, (b); global is what does not depend on what the query
    holds: (c) and (d), of absolute positions the terms of the query's place. Shares below 0 are drawn as 0.
    """
    corners = [reduce(np.add, [mean[name] for name in mean if SIMPLEX.get(name) == corner]) for corner in range(3)]
    parts = np.maximum(np.stack(corners, axis=-1), 0)
    total = parts.sum(-1, keepdims=True)
    return parts / np.where(total == 0, np.nan, total)


def leading_heads(mean: Mapping[str, np.ndarray], least: Mapping[str, float]) -> dict[str, tuple[int, int]]:
    """Name the (layer, head) in which each measure [layer head] is largest, where it is at least `least`."""
    found = {}
    for name, limit in least.items():
        values = np.nan_to_num(mean.get(name, np.zeros((1, 1))), nan=-np.inf)
        if values.max() >= limit:
            layer, head = np.unravel_index(values.argmax(), values.shape)
            found[name] = (int(layer), int(head))
    return found


def atlas_table(scores: HeadScores) -> pd.DataFrame:
    """Put scores [layer head] into numbers: a row a head with every measure and, over several windows, its spread."""
    import pandas as pd

    n_layer, n_head = next(iter(scores.mean.values())).shape
    layer, head = np.divmod(np.arange(n_layer * n_head), n_head)
    columns, spread = {}, scores.spread
    for name, values in scores.mean.items():
        columns[name] = values.ravel()
        if scores.windows > 1:
            columns[f"{name}_spread"] = spread[name].ravel()
    return pd.DataFrame({"layer": layer, "head": head} | columns)


def similar_heads(mean: Mapping[str, np.ndarray], layer: int, head: int) -> pd.DataFrame:
    """Sort all other heads by how much they differ from one in all measures [layer head], the most alike first.

    `difference` is the root mean square over the measures, each in standard deviations over the heads, so a head that
    differs by 1 is about as far away as any. A measure that is missing somewhere, or the same everywhere, is left out.
    """
    import pandas as pd

    n_layer, n_head = next(iter(mean.values())).shape
    vectors = np.stack([values.ravel() for values in mean.values()], axis=-1)
    kept = np.isfinite(vectors).all(0)
    kept[kept] = np.ptp(vectors[:, kept], axis=0) > NO_VARIANCE
    vectors = vectors[:, kept] / vectors[:, kept].std(0)
    apart = vectors - vectors[layer * n_head + head]
    difference = np.sqrt((apart**2).sum(-1) / max(kept.sum(), 1))
    layers, heads = np.divmod(np.arange(n_layer * n_head), n_head)
    table = pd.DataFrame({"layer": layers, "head": heads, "difference": difference})
    table = table[(table["layer"] != layer) | (table["head"] != head)]
    return table.sort_values("difference", kind="stable", ignore_index=True)
