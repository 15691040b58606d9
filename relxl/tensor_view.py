"""One tensor as a picture: a slice, a window of it, blocks of cells that fit on a screen, and a histogram.

Numbers that are not finite are told apart from the others and never colour a scale. Pure: torch in, numpy out.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

LARGEST = 2048  # rows and columns of a window
SHOWN = (256, 512)  # blocks that a picture has at most: rows, columns
BINS = 200
COUNTED = 1 << 22  # numbers that a histogram counts; of a larger tensor it takes as many at equal steps
MOST = 8e307
KINDS = ("NaN", "∞", "−∞")


@dataclass(frozen=True)
class Picture:
    """Hold a window of a matrix as blocks; [row col] unless noted."""

    values: np.ndarray  # the finite number of largest magnitude of each block, NaN where a block has none
    kind: np.ndarray  # 0: finite; 1, 2, 3: the block holds a NaN, ∞, −∞ (the first of them that it holds)
    first: tuple[int, int]  # row and column of the first cell
    block: tuple[int, int]  # cells of a block: rows, columns
    counts: tuple[int, int, int]  # cells of the window that are NaN, ∞, −∞
    zeros: int
    cells: int
    largest: tuple[float, int, int] | None  # the finite number of largest magnitude, its row and column

    @property
    def limit(self) -> float:
        return abs(self.largest[0]) if self.largest and self.largest[0] else 1.0


def numbers(tensor: Tensor) -> np.ndarray:
    """Give a tensor as float32, or float64 where it is or holds whole numbers of 32 bits and more."""
    exact = tensor.dtype in (torch.float64, torch.int64, torch.int32)
    return (tensor.double() if exact else tensor.float()).numpy()


def cut(tensor: Tensor, leading: tuple[int, ...] = ()) -> Tensor:
    """Fix the leading axes: what is left has two, or what there is. A single number becomes a line of one."""
    for place in leading:
        tensor = tensor[place]
    return tensor[None] if tensor.dim() == 0 else tensor


def blocks(values: np.ndarray, size: tuple[int, int], reduce: np.ufunc) -> np.ndarray:
    """Reduce blocks of `size` cells; the last of an axis may be smaller."""
    for axis, step in enumerate(size):
        if step > 1:
            values = reduce.reduceat(values, np.arange(0, values.shape[axis], step), axis=axis)
    return values


def picture(matrix: Tensor, first: tuple[int, int] = (0, 0), size: tuple[int, int] = (LARGEST, LARGEST)) -> Picture:
    """Draw a window of a matrix [row col] as blocks: the number of largest magnitude stands for each."""
    (row, col), (height, width) = first, (min(s, LARGEST) for s in size)
    cells = numbers(matrix[row : row + height, col : col + width])
    step = tuple(-(-side // most) for side, most in zip(cells.shape, SHOWN, strict=True))
    marks = [np.isnan(cells), np.isposinf(cells), np.isneginf(cells)]
    odd = marks[0] | marks[1] | marks[2]
    low, high = np.where(odd, np.inf, cells), np.where(odd, -np.inf, cells)
    low, high = blocks(low, step, np.minimum), blocks(high, step, np.maximum)
    with np.errstate(over="ignore"):
        values = np.where(high >= -low, high, low)
    values[~np.isfinite(values)] = np.nan
    kind = np.zeros(values.shape, np.int8)
    for number in (3, 2, 1):
        kind[blocks(marks[number - 1], step, np.logical_or)] = number
    size_of = np.where(odd, -1, np.abs(cells))
    place = np.unravel_index(size_of.argmax(), cells.shape)
    largest = None if odd.all() else (float(cells[place]), row + int(place[0]), col + int(place[1]))
    counts = tuple(int(mark.sum()) for mark in marks)
    return Picture(values, kind, first, step, counts, int((cells == 0).sum()), cells.size, largest)


@dataclass(frozen=True)
class Histogram:
    """Hold how often numbers of a tensor fall into bins of equal width."""

    counts: np.ndarray  # [bin]
    edges: np.ndarray  # [bin + 1]
    odd: int  # numbers that are not finite, counted apart
    counted: int  # numbers looked at
    total: int  # numbers of the tensor


def histogram(tensor: Tensor) -> Histogram:
    """Count the numbers of a tensor in at most BINS bins from its least to its most finite one."""
    flat, total = tensor.flatten(), tensor.numel()
    step = -(-total // COUNTED)
    step += step > 1 and step % 2 == 0  # an odd step does not fall into the rhythm of rows
    values = numbers(flat[::step]).astype(np.float64)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Histogram(np.zeros(0, int), np.zeros(1), len(values), len(values), total)
    finite = np.clip(finite, -MOST, MOST)  # the width of a range must be a number too
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        low, high = low - max(abs(low), 1) * 0.5, high + max(abs(high), 1) * 0.5
    bins = int(min(BINS, max(10, np.sqrt(len(finite)))))
    counts, edges = np.histogram(finite, bins, (low, high))
    return Histogram(counts, edges, len(values) - len(finite), len(values), total)
