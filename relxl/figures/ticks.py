"""Labels of an integer axis: tokens, which a category axis would merge where they come twice, and heads."""

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


def head_ticks(n_head: int, chosen: int) -> dict:
    """Label every head, the chosen one bold."""
    labels = [f"<b>H{i}</b>" if i == chosen else f"H{i}" for i in range(n_head)]
    return {"tickvals": list(range(n_head)), "ticktext": labels}
