"""Shares of the terms, and tables of a row, a cell or a dimension.

Terms are compared row by row around their mean over the visible keys, because a constant added to a row changes
nothing after the softmax. pandas is imported by the functions that make a table: the first picture does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

NO_VARIANCE = 1e-12  # below this, rounding is all that tells the logits of a row apart


def centre_rows(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Subtract from every row its mean over the visible keys; 0 where a key is hidden: [... query key]."""
    visible = np.maximum(mask.sum(-1, keepdims=True), 1)
    centred = np.where(mask, logits, 0)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, which is what is shown
        centred -= centred.sum(-1, keepdims=True) / visible.astype(centred.dtype)
    np.copyto(centred, 0, where=~mask)
    return centred


def row_covariances(
    terms: dict[str, np.ndarray], mask: np.ndarray, centred: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Sum term * (logits - their row mean) over the visible keys: the covariance of each term with the logits, times n.

    terms are [... query key], mask is [query key]; gives [... query] a term. Over the terms they add up to the logits'
    variance, times n. `centred` is what `centre_rows` makes of the logits, where it is there already.
    """
    if centred is None:
        with np.errstate(invalid="ignore"):
            centred = centre_rows(sum(terms.values()), mask)
    covariances = {name: np.einsum("...k,...k->...", term, centred) for name, term in terms.items()}
    for name, term in terms.items():
        if not np.isfinite(covariances[name]).all():  # 0 times a hidden cell that is not finite
            covariances[name] = np.einsum("...k,...k->...", np.where(mask, term, 0), centred)
    return covariances


def row_shares(covariances: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give each term's share of what tells the keys of a row apart: [query] a term.

    share_t = Cov_j(t, logits) / Var_j(logits) over the visible keys. The shares of a row add up to 1; one may be
    negative. A row whose logits are all equal (or that sees one key) has no shares: NaN.
    """
    variance = sum(covariances.values())
    variance = np.where(variance > NO_VARIANCE, variance, np.nan)
    return {name: covariance / variance for name, covariance in covariances.items()}


def head_shares(covariances: dict[str, np.ndarray]) -> dict[str, float]:
    """Give each term's share over all rows of a head: summed covariances over summed variances; they add up to 1."""
    return {name: float(share) for name, share in row_shares({n: c.sum() for n, c in covariances.items()}).items()}


def head_measures(
    terms: dict[str, np.ndarray], probs: np.ndarray, mask: np.ndarray, distance: np.ndarray
) -> dict[str, np.ndarray]:
    """Measure every head of a layer: each term's share, and the attention to the token before; [head] a measure.

    terms and probs are [head query key], mask and distance [query key]. `previous_token` is the mean probability at
    distance 1 over the queries that have such a key.
    """
    heads = range(len(probs))
    shares = [head_shares(row_covariances({name: term[head] for name, term in terms.items()}, mask)) for head in heads]
    before = (distance == 1) & mask
    previous = [probs[head][before].mean() if before.any() else np.nan for head in heads]
    return {name: np.array([share[name] for share in shares]) for name in terms} | {
        "previous_token": np.array(previous)
    }


def most_telling_head(measures: dict[str, np.ndarray], terms: list[str]) -> tuple[int, int]:
    """Pick the (layer, head) whose smallest share is the largest: the split in which most is to be seen.

    measures are [layer head]; `terms` names those that are shares.
    """
    smallest = np.min([np.nan_to_num(measures[name], nan=-np.inf) for name in terms], axis=0)
    layer, head = np.unravel_index(smallest.argmax(), smallest.shape)
    return int(layer), int(head)


def notable_heads(
    measures: dict[str, np.ndarray], previous_token: float = 0.4, share: float = 0.3
) -> dict[str, tuple[int, int]]:
    """Name the (layer, head) in which each measure [layer head] is largest, where it is large enough to tell."""
    found = {}
    for name, values in measures.items():
        values = np.nan_to_num(values, nan=-np.inf)
        if values.max() >= (previous_token if name == "previous_token" else share):
            layer, head = np.unravel_index(values.argmax(), values.shape)
            found[name] = (int(layer), int(head))
    return found


def heads_table(measures: dict[str, np.ndarray], layer: int) -> pd.DataFrame:
    """Put the measures [layer head] of one layer into numbers: one row a head."""
    import pandas as pd

    return pd.DataFrame({name: values[layer] for name, values in measures.items()}).rename_axis("head").reset_index()


def heads_cell_table(
    terms: dict[str, np.ndarray], logits: np.ndarray, probs: np.ndarray, query: int, key: int
) -> pd.DataFrame:
    """Put one cell of every head into numbers, exactly as computed: one row a head with its terms, sum and probability.

    Every array, and every term, is [head query key].
    """
    import pandas as pd

    columns = terms | {"sum": logits, "probability": probs}
    cells = {name: values[:, query, key] for name, values in columns.items()}
    return pd.DataFrame(cells).rename_axis("head").reset_index()


def row_table(
    terms: dict[str, np.ndarray],
    logits: np.ndarray,
    probs: np.ndarray,
    mask: np.ndarray,
    distance: np.ndarray,
    tokens: list[str],
) -> pd.DataFrame:
    """Put one query row into numbers: one row a key with its token, distance, terms, sum, mask and probability.

    Every array, and every term, is [key].
    """
    import pandas as pd

    keys = {"key": np.arange(len(tokens)), "token": tokens, "distance": distance}
    return pd.DataFrame(keys | terms | {"sum": logits, "visible": mask, "probability": probs})


def cell_table(cell: dict[str, np.ndarray], scale: float) -> pd.DataFrame:
    """Put one cell into numbers that add up: a row a term, with its dot product and the same scaled; then the sum."""
    import pandas as pd

    scaled = pd.Series({name: contributions.sum() for name, contributions in cell.items()})
    scaled["sum"] = scaled.sum()
    return pd.DataFrame({"dot_product": scaled / scale, "scaled": scaled}).rename_axis("term")


def dimension_table(cell: dict[str, np.ndarray]) -> pd.DataFrame:
    """Say what each dimension adds to each term of a cell, the largest first; columns add up to the terms."""
    import pandas as pd

    table = pd.DataFrame(cell).rename_axis("dimension")
    table["sum"] = table.sum(axis=1)
    return table.reindex(table["sum"].abs().sort_values(ascending=False, kind="stable").index)
