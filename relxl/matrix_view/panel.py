"""What is to be drawn: panels of cells (query, key) that share their axes."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["matrix", "strip", "curve"]


@dataclass(frozen=True)
class Scale:
    """Hold a colour scale that panels share, from -limit over 0 to limit ("diverging") or from 0 to limit."""

    kind: Literal["diverging", "sequential"]
    limit: float
    label: str  # what the numbers are, with their unit


@dataclass(frozen=True)
class Panel:
    """Hold one matrix of a grid.

    `values` is [query key] for a "matrix"; [key] for a "strip", the same in every row; [distance] for a "curve", the
    same along every diagonal, descending from distance mem_len + query_len - 1.
    """

    title: str
    values: np.ndarray
    scale: Scale
    kind: Kind = "matrix"
    formula: str = ""  # with <sub>, nothing else
    colour: str = ""  # of the title; the ink's without it

    def dense(self, query_len: int, key_len: int) -> np.ndarray:
        """Spread the values over the cells: [query key], as a view."""
        if self.kind == "strip":
            return np.broadcast_to(self.values, (query_len, key_len))
        if self.kind == "curve":
            return np.lib.stride_tricks.sliding_window_view(self.values, key_len)[::-1]
        return self.values


@dataclass(frozen=True)
class Grid:
    """Hold panels that share axes, and what is marked on all of them.

    `tokens` are the keys' labels in visible form; the queries are the last of them. `mask` is [query key], True where
    the query may attend: other cells keep their colour and are hatched and outlined.
    """

    panels: tuple[Panel, ...]
    mask: np.ndarray
    tokens: tuple[str, ...]
    columns: int
    label: str  # what the grid shows, for those who can not see it
    pin: tuple[int, int] | None = None
    axes: bool = True  # label the outer panels with tokens, and say which axis is which
    chosen: tuple[int, ...] = ()  # the panels to set off, by their places
    seam: int | None = None  # the first key after the memory, where it is not mem_len
    wall: int | None = None  # the largest distance that is told apart: a line behind it goes through every panel
    two_walls: bool = False  # and one before it, where the future is seen too

    @property
    def shape(self) -> tuple[int, int]:
        return self.mask.shape

    @property
    def mem_len(self) -> int:
        return self.shape[1] - self.shape[0]

    def table(self) -> dict[str, np.ndarray]:
        """Put every cell into numbers, a row a cell: place, tokens, whether it is visible, the value of every panel."""
        query, key = (place.ravel() for place in np.indices(self.shape))
        tokens = np.array(self.tokens, dtype=object)
        columns = {"query": query, "key": key, "query_token": tokens[query + self.mem_len], "key_token": tokens[key]}
        columns["visible"] = self.mask.ravel()
        for place, panel in enumerate(self.panels):
            name = panel.title if panel.title not in columns else f"{panel.title} {place}"
            columns[name] = panel.dense(*self.shape).ravel()
        return columns

    @property
    def seam_at(self) -> int:
        return self.mem_len if self.seam is None else self.seam


def shared_limit(panels: list[np.ndarray], mask: np.ndarray) -> float:
    """Give one range for matrices [query key] that are compared: the largest finite |value| of a visible cell, or 1."""
    largest = max((largest_visible(m, mask) for m in panels), default=0.0)
    return largest or 1.0


def largest_visible(matrix: np.ndarray, mask: np.ndarray) -> float:
    largest = float(max(matrix.max(where=mask, initial=0), -matrix.min(where=mask, initial=0)))
    if np.isfinite(largest):
        return largest
    return float(np.abs(matrix[mask & np.isfinite(matrix)]).max(initial=0))
