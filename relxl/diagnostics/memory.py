"""What crosses the seam between cached memory and segment: whose attention, onto which slots.

Keys are memory, then segment; the first mem_len of them are the slots. pandas is imported by the functions that make a
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def seam_mass(probs: np.ndarray, mem_len: int) -> np.ndarray:
    """Add up what every query gives to the memory: probs [... query key] -> [... query], from 0 to 1."""
    return probs[..., :mem_len].sum(-1, dtype=np.float64)


def even_mass(mask: np.ndarray, mem_len: int) -> np.ndarray:
    """Give what a query would give to the memory that looks at all visible keys alike: [query key] -> [query]."""
    return mask[:, :mem_len].sum(-1) / np.maximum(mask.sum(-1), 1)


def slot_mass(probs: np.ndarray, mem_len: int) -> np.ndarray:
    """Give what each memory slot receives from a query on average: probs [... query key] -> [... slot].

    Over the slots it adds up to the mean of `seam_mass`.
    """
    return probs[..., :mem_len].mean(-2, dtype=np.float64)


def colliding_keys(place: np.ndarray, mem_len: int) -> np.ndarray:
    """Find the keys of memory and segment that were given the same place: place [key] -> [pair 2] keys.

    Under absolute positions the two keys of a pair got the same position vector, so a query can tell them apart by
    their content alone.
    """
    slot, key = np.nonzero(place[:mem_len, None] == place[None, mem_len:])
    return np.stack([slot, key + mem_len], axis=1)


def seam_table(mass: np.ndarray) -> pd.DataFrame:
    """Put the mass across the seam [layer head query] into numbers: a row a head with mean, first and last query."""
    import pandas as pd

    n_layer, n_head, _query = mass.shape
    layer, head = np.divmod(np.arange(n_layer * n_head), n_head)
    by_head = mass.reshape(n_layer * n_head, -1)
    columns = {"mean": by_head.mean(1), "first_query": by_head[:, 0], "last_query": by_head[:, -1]}
    return pd.DataFrame({"layer": layer, "head": head} | columns)


def slot_table(mass: np.ndarray, tokens: Sequence[str], distance: np.ndarray) -> pd.DataFrame:
    """Put the memory into numbers: a row a slot with its token and what each head gives it.

    mass [head slot]; distance [slot] is that to the first query.
    """
    import pandas as pd

    columns = {f"H{head}": row for head, row in enumerate(mass)}
    return pd.DataFrame({"slot": np.arange(len(tokens)), "token": list(tokens), "distance": distance} | columns)
