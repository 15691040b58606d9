"""How much of a head's scores is a function of distance alone, of the key alone, or of both added: least squares.

    logit(i, j) ~ r_i + f(distance) + g(j)

A constant in a row is always granted (r_i), because it changes nothing after the softmax. What a query asks for is in
neither f nor g, so what is left over is what a head makes of the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

KINDS = ("distance", "key", "both")
THIN = 1 << 18  # multiplications up to which OpenBLAS stays in its thread
RIDGE = 1e-9  # over the mean of the diagonal; what it does to a share is of the order of its square


@dataclass(frozen=True)
class AdditiveFit:
    """Hold the normal equations of the fit over the visible cells of a mask; see `additive_fit`."""

    mask: np.ndarray  # [query key] bool
    equations: dict[str, tuple[np.ndarray, np.ndarray]]  # a kind: the matrix [unknown unknown], and its inverse


def additive_fit(mask: np.ndarray) -> AdditiveFit:
    """Make the normal equations for a mask [query key]; one fit serves every head and window of that mask.

    After the row constants are eliminated the unknowns are f and g. The matrix is singular, since f + c, g + c and
    (f + c d, g + c j) change nothing; those directions are filled in, and no answer has a part in them.
    """
    return make_fit(np.packbits(mask).tobytes(), mask.shape)


@lru_cache(maxsize=4)
def make_fit(bits: bytes, shape: tuple[int, int]) -> AdditiveFit:
    mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=shape[0] * shape[1]).astype(bool).reshape(shape)
    row, key = np.nonzero(mask)
    query_len, key_len = shape
    unknown = query_len - 1 + key_len  # distances, then keys
    seen = np.zeros((query_len, unknown + key_len))  # which unknowns the cells of a row read
    seen[row, row + key_len - 1 - key] = 1
    seen[row, unknown + key] = 1
    pairs = np.zeros((unknown, key_len))
    pairs[row + key_len - 1 - key, key] = 1
    matrix = np.diag(seen.sum(0))
    matrix[:unknown, unknown:], matrix[unknown:, :unknown] = pairs, pairs.T
    matrix -= seen.T @ (seen / np.maximum(mask.sum(1), 1)[:, None])
    free = np.zeros((unknown + key_len, 3))
    free[:unknown, 0] = free[unknown:, 1] = 1
    free[:unknown, 2], free[unknown:, 2] = np.arange(unknown) - key_len + 1, np.arange(key_len)
    parts = {"distance": (slice(unknown), [0]), "key": (slice(unknown, None), [1]), "both": (slice(None), [0, 1, 2])}
    equations = {
        kind: (matrix[part, part], solver(matrix[part, part], free[part, columns]))
        for kind, (part, columns) in parts.items()
    }
    return AdditiveFit(mask, equations)


def solver(matrix: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Invert a matrix [unknown unknown] on what its free directions [unknown direction] leave."""
    level = max(matrix.diagonal().mean(), 1e-300)
    free = np.linalg.qr(np.where(matrix.diagonal()[:, None] > 0, free, 0))[0]
    return np.linalg.inv(matrix + level * (free @ free.T) + level * RIDGE * np.eye(len(matrix)))


def explained_squares(fit: AdditiveFit, centred: np.ndarray) -> dict[str, np.ndarray]:
    """Give the sum of squares that each kind explains, and "total": row-centred logits [... query key] -> [...].

    `centred` is 0 where a key is hidden, as `centre_rows` gives it.
    """
    total = np.einsum("...qk,...qk->...", centred, centred).astype(np.float64)
    sums = np.concatenate([diagonal_sums(centred), centred.sum(-2)], axis=-1).astype(np.float64)
    split = centred.shape[-2] - 1 + centred.shape[-1]
    wanted = {"distance": sums[..., :split], "key": sums[..., split:], "both": sums}
    found = {"total": total}
    for kind, (matrix, inverse) in fit.equations.items():
        answer = thin_product(wanted[kind], inverse)
        squares = 2 * (answer * wanted[kind]).sum(-1) - (thin_product(answer, matrix) * answer).sum(-1)
        found[kind] = np.clip(squares, 0, total)
    return found


def thin_product(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Multiply rows [... n] by a matrix [n n], some columns at a time.

    A product of this size is not worth a second thread: beside the threads of torch those of OpenBLAS spin, and an
    atlas takes twice as long.
    """
    flat = rows.reshape(-1, len(matrix))
    width = max(1, THIN // max(flat.size, 1))
    parts = [flat @ matrix[:, place : place + width] for place in range(0, len(matrix), width)]
    return np.concatenate(parts, axis=1).reshape(rows.shape)


def diagonal_sums(cells: np.ndarray) -> np.ndarray:
    """Add up cells along their diagonals: [... query key] -> [... distance], from the furthest future to the past.

    Every row is written backwards into a longer one; read with a row that is one shorter, the diagonals are columns.
    """
    *rest, query_len, key_len = cells.shape
    longer = np.zeros((*rest, query_len, key_len + query_len), cells.dtype)
    longer[..., :key_len] = cells[..., ::-1]
    flat = longer.reshape(*rest, -1)[..., : query_len * (key_len + query_len - 1)]
    return flat.reshape(*rest, query_len, key_len + query_len - 1).sum(-2)
