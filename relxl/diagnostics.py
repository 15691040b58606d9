"""Arrays in, DataFrames out: what a person would compute from the split scores of a head.

Terms are compared row by row around their mean over the visible keys, because a constant added to a row changes
nothing after the softmax.
"""

import numpy as np
import pandas as pd

SCORE_TERMS = ("content", "content_position", "u_bias", "v_bias")


def centre_rows(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Subtract each row's mean over its visible keys; hidden cells become 0: [query key], float64."""
    scores = np.where(mask, scores, 0).astype(np.float64)
    visible = np.maximum(mask.sum(-1, keepdims=True), 1)
    return np.where(mask, scores - scores.sum(-1, keepdims=True) / visible, 0)


def row_shares(terms: dict[str, np.ndarray], mask: np.ndarray) -> pd.DataFrame:
    """Give each term's share of what tells the keys of a row apart: one row a query, one column a term.

    share_t = Cov_j(t, logits) / Var_j(logits) over the visible keys. The shares of a row add up to 1; one may be
    negative. A row whose logits are all equal (or that sees one key) has no shares: NaN.
    """
    centred = {name: centre_rows(term, mask) for name, term in terms.items()}
    logits = sum(centred.values())
    variance = (logits**2).sum(-1)
    variance[variance < 1e-24] = np.nan
    return pd.DataFrame({name: (term * logits).sum(-1) / variance for name, term in centred.items()}).rename_axis("query")


def head_shares(terms: dict[str, np.ndarray], mask: np.ndarray) -> pd.Series:
    """Give each term's share over all rows of a head: summed covariances over summed variances; they add up to 1."""
    centred = {name: centre_rows(term, mask) for name, term in terms.items()}
    logits = sum(centred.values())
    variance = (logits**2).sum()
    return pd.Series({name: (term * logits).sum() / variance if variance > 1e-24 else np.nan for name, term in centred.items()})


def row_table(
    terms: dict[str, np.ndarray],
    logits: np.ndarray,
    probs: np.ndarray,
    mask: np.ndarray,
    distance: np.ndarray,
    tokens: list[str],
    query: int,
) -> pd.DataFrame:
    """Put one query row into numbers: one row a key with its token, distance, terms, sum, mask and probability."""
    return pd.DataFrame(
        {
            "key": np.arange(len(tokens)),
            "token": tokens,
            "distance": distance[query],
            **{name: term[query] for name, term in terms.items()},
            "sum": logits[query],
            "visible": mask[query],
            "probability": probs[query],
        }
    )


def cell_table(cell: dict[str, np.ndarray], scale: float) -> pd.DataFrame:
    """Put one cell into numbers that add up: one row a term with its dot product, and the same times the scale."""
    totals = {name: float(contributions.sum()) for name, contributions in cell.items()}
    return pd.DataFrame(
        {"term": list(totals), "dot product": [value / scale for value in totals.values()], "scaled": list(totals.values())}
    )


def dimension_table(cell: dict[str, np.ndarray]) -> pd.DataFrame:
    """Say what each dimension of the head adds to each term of a cell, the largest first; columns add up to the terms."""
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
