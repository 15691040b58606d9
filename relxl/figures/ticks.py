"""Tokens as the labels of an integer axis: a category axis would merge tokens that come twice."""

import math
from collections.abc import Sequence

from relxl.style import plot_text

TICKS = 12
LABELLED_TOKENS = 24


def token_ticks(tokens: Sequence[str]) -> dict:
    """Label every place with its token, or every so many places with their number where tokens are too many to read."""
    if len(tokens) <= LABELLED_TOKENS:
        labels = [plot_text(token) for token in tokens]
        return {"tickvals": list(range(len(tokens))), "ticktext": labels, "tickangle": 0}
    step = max(1, 2 ** round(math.log2(len(tokens) / TICKS)))
    return {"tickvals": list(range(0, len(tokens), step)), "tickangle": 0}
