"""Arrays in, DataFrames out: what a person would compute from the split scores of a head.

Terms are compared row by row around their mean over the visible keys, because a constant added to a row changes
nothing after the softmax.
"""

import numpy as np
import pandas as pd

NO_VARIANCE = 1e-12  # below this, rounding is all that tells the logits of a row apart


def row_covariances(terms: dict[str, np.ndarray], mask: np.ndarray) -> pd.DataFrame:
    """Sum term * (logits - their row mean) over the visible keys: the covariance of each term with the logits, times n.

    terms are [query key]; one row a query, one column a term. The columns add up to the logits' variance, times n.
    """
    logits = sum(terms.values())
    visible = np.maximum(mask.sum(-1, keepdims=True), 1)
    centred = np.where(mask, logits, 0)
    centred -= centred.sum(-1, keepdims=True) / visible.astype(centred.dtype)
    centred[~mask] = 0
    covariances = {name: np.einsum("qk,qk->q", term, centred) for name, term in terms.items()}
    for name, term in terms.items():
        if not np.isfinite(covariances[name]).all():  # 0 times a hidden cell that is not finite
            covariances[name] = np.einsum("qk,qk->q", np.where(mask, term, 0), centred)
    return pd.DataFrame(covariances).rename_axis("query")


def row_shares(covariances: pd.DataFrame) -> pd.DataFrame:
    """Give each term's share of what tells the keys of a row apart: one row a query, one column a term.

    share_t = Cov_j(t, logits) / Var_j(logits) over the visible keys. The shares of a row add up to 1; one may be
    negative. A row whose logits are all equal (or that sees one key) has no shares: NaN.
    """
    variance = covariances.sum(axis=1)
    return covariances.div(variance.where(variance > NO_VARIANCE), axis=0)


def head_shares(covariances: pd.DataFrame) -> pd.Series:
    """Give each term's share over all rows of a head: summed covariances over summed variances; they add up to 1."""
    total = covariances.sum()
    return total / total.sum() if total.sum() > NO_VARIANCE else total * np.nan


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
    keys = {"key": np.arange(len(tokens)), "token": tokens, "distance": distance}
    return pd.DataFrame(keys | terms | {"sum": logits, "visible": mask, "probability": probs})


def cell_table(cell: dict[str, np.ndarray], scale: float) -> pd.DataFrame:
    """Put one cell into numbers that add up: a row a term, with its dot product and the same scaled; then the sum."""
    scaled = pd.Series({name: contributions.sum() for name, contributions in cell.items()})
    scaled["sum"] = scaled.sum()
    return pd.DataFrame({"dot_product": scaled / scale, "scaled": scaled}).rename_axis("term")


def dimension_table(cell: dict[str, np.ndarray]) -> pd.DataFrame:
    """Say what each dimension adds to each term of a cell, the largest first; columns add up to the terms."""
    table = pd.DataFrame(cell).rename_axis("dimension")
    table["sum"] = table.sum(axis=1)
    return table.reindex(table["sum"].abs().sort_values(ascending=False, kind="stable").index)


def most_telling_head(shares: pd.DataFrame) -> tuple[int, int]:
    """Pick the (layer, head) whose smallest share is the largest: the split in which most is to be seen.

    `shares` has an index of (layer, head) and one column a term.
    """
    smallest = shares.min(axis=1).fillna(-np.inf)
    layer, head = smallest.idxmax()
    return int(layer), int(head)


def head_measures(
    terms: dict[str, np.ndarray], probs: np.ndarray, mask: np.ndarray, distance: np.ndarray, layer: int
) -> pd.DataFrame:
    """Measure every head of a layer, one row a (layer, head): each term's share, and the attention to the token before.

    terms and probs are [head query key], mask and distance [query key]. `previous_token` is the mean probability at
    distance 1 over the queries that have such a key.
    """
    rows = []
    before = (distance == 1) & mask
    for head in range(len(probs)):
        shares = head_shares(row_covariances({name: term[head] for name, term in terms.items()}, mask))
        shares["previous_token"] = probs[head][before].mean() if before.any() else np.nan
        rows.append(shares)
    index = pd.MultiIndex.from_product([[layer], range(len(rows))], names=["layer", "head"])
    return pd.DataFrame(rows).set_axis(index)


def notable_heads(
    measures: pd.DataFrame, previous_token: float = 0.4, share: float = 0.3
) -> dict[str, tuple[int, int]]:
    """Name the head in which each measure is largest, where it is large enough to be called so."""
    found = {}
    for name, column in measures.items():
        least = previous_token if name == "previous_token" else share
        if column.max() >= least:
            layer, head = column.idxmax()
            found[name] = (int(layer), int(head))
    return found
