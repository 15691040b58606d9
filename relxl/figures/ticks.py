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


def place_ticks(letter: str, count: int, chosen: int | None = None) -> dict:
    """Label every head ("H") or layer ("L") with its number, the chosen one bold."""
    labels = [f"<b>{letter}{place}</b>" if place == chosen else f"{letter}{place}" for place in range(count)]
    return {"tickvals": list(range(count)), "ticktext": labels}
