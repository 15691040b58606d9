"""A grid as one buffer of bytes for the browser.

Layout: length of the header as uint32, the header as JSON (titles, tokens, scales, offsets), then the panels' levels.
A level is a signed integer of 8 or 16 bits: value = level * step. The three outermost levels say NaN and ±Inf.
Where a panel has more cells than pixels, the server pools: the cell with the largest |value| of a block stands for it.
"""

import json
from dataclasses import asdict
from typing import NamedTuple

import numpy as np

from relxl.matrix_view.panel import Grid, Panel
from relxl.style import Theme, readable


class Window(NamedTuple):
    """Hold the part of a matrix that is looked at: rows first..last, columns first..last, the lasts left out."""

    row: int
    row_end: int
    col: int
    col_end: int

    def fits(self, shape: tuple[int, int]) -> bool:
        return 0 <= self.row < self.row_end <= shape[0] and 0 <= self.col < self.col_end <= shape[1]


def pool_factor(window: Window, max_side: int) -> int:
    """Give the side of the blocks that bring a window down to max_side cells; 1 leaves it exact."""
    return max(-(-(window.row_end - window.row) // max_side), -(-(window.col_end - window.col) // max_side), 1)


def reduce_blocks(values: np.ndarray, factor: int, reduce: np.ufunc) -> np.ndarray:
    """Reduce blocks of `factor` cells along every axis; the last block of an axis may be smaller.

    One slice a step, rows first: reading memory in order is several times faster than np.ufunc.reduceat.
    """
    for axis in range(values.ndim):
        strided = [values[(slice(None),) * axis + (slice(step, None, factor),)] for step in range(factor)]
        result = strided[0].copy()
        for part in strided[1:]:
            front = result[(slice(None),) * axis + (slice(part.shape[axis]),)]
            reduce(front, part, out=front)
        values = result
    return values


def pool(values: np.ndarray, factor: int) -> np.ndarray:
    """Let the value of largest magnitude stand for each block of `factor` cells a side; NaN wins."""
    if factor == 1:
        return values
    return larger(reduce_blocks(values, factor, np.minimum), reduce_blocks(values, factor, np.maximum))


def larger(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Pick the one of larger magnitude of a block's least and greatest value; a NaN is in both, and stays."""
    return np.where(high >= -low, high, low)


def panel_values(panel: Panel, grid: Grid, window: Window, factor: int) -> np.ndarray:
    """Cut a panel's values to a window and pool them: [row col], [col] for a strip, [row + col - 1] for a curve.

    Block (r, c) of a curve covers 2 * factor - 1 distances and depends on r - c only, so it stays a curve: entry
    r - c + cols - 1.
    """
    if panel.kind == "matrix":
        return pool(panel.values[window.row : window.row_end, window.col : window.col_end], factor)
    if panel.kind == "strip":
        return pool(panel.values[window.col : window.col_end], factor)
    query_len = grid.shape[0]
    rows, cols = -(-(window.row_end - window.row) // factor), -(-(window.col_end - window.col) // factor)
    steps = np.arange(-(cols - 1), rows) * factor + window.row - window.col  # i - j of each block's first cell
    reach = np.arange(-(factor - 1), factor)
    place = np.clip(query_len - 1 - (steps[:, None] + reach), 0, len(panel.values) - 1)  # distances descend
    blocks = panel.values[place]
    return larger(blocks.min(axis=1), blocks.max(axis=1))


def to_levels(values: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Round values to signed levels of 8 or 16 bits; give them and the step, so that value = level * step."""
    dtype = np.int8 if bits == 8 else np.int16
    most = np.iinfo(dtype).max - 1
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max(initial=0))
    step = largest / most if largest else 1.0
    with np.errstate(invalid="ignore"):
        levels = np.rint(values / step)
    if not finite.all():
        levels = np.where(np.isnan(values), -most - 2, np.where(finite, levels, np.sign(values) * (most + 1)))
    return levels.astype(dtype), step


def even(data: bytes) -> bytes:
    """Pad data to an even length: an array of 16-bit levels must start on an even byte."""
    return data.ljust(len(data) + len(data) % 2, b"\0")


def encode(
    grid: Grid, theme: Theme, texts: dict[str, str], window: Window | None = None, max_side: int = 320, bits: int = 16
) -> bytes:
    """Encode a grid for the browser: its window, pooled to at most max_side cells a side.

    `texts` are the words that the view itself shows, in the session's language.
    """
    if window is None or not window.fits(grid.shape):
        window = Window(0, grid.shape[0], 0, grid.shape[1])
    factor = pool_factor(window, max_side)
    hidden = ~grid.mask[window.row : window.row_end, window.col : window.col_end]
    hidden = reduce_blocks(hidden, factor, np.logical_and)  # a block is hidden where all of it is
    scales = list(dict.fromkeys(panel.scale for panel in grid.panels))
    parts, panels = [even(np.packbits(hidden).tobytes())], []
    offset = len(parts[0])
    for place, panel in enumerate(grid.panels):
        levels, step = to_levels(panel_values(panel, grid, window, factor), bits)
        panels.append(
            {
                "title": panel.title, "formula": panel.formula, "kind": panel.kind, "step": step,
                "colour": readable(panel.colour, theme.dark) if panel.colour else theme.ink,
                "scale": scales.index(panel.scale), "offset": offset, "chosen": place in grid.chosen,
            }
        )  # fmt: skip
        parts.append(even(levels.tobytes()))
        offset += len(parts[-1])
    header = {
        "shape": grid.shape, "window": window, "pool": factor, "cells": hidden.shape, "bits": bits, "pin": grid.pin,
        "columns": grid.columns, "axes": grid.axes, "seam": grid.seam_at, "wall": grid.wall,
        "two_walls": grid.two_walls, "label": grid.label,
        "chosen": min(grid.chosen, default=None),  # the panel that the keyboard speaks for
        "tokens": grid.tokens, "scales": [asdict(scale) for scale in scales], "panels": panels,
        "theme": asdict(theme), "texts": texts,
    }  # fmt: skip
    text = json.dumps(header, ensure_ascii=False).encode()
    text = text.ljust(len(text) + -len(text) % 4, b" ")
    return len(text).to_bytes(4, "little") + text + b"".join(parts)
