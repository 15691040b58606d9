"""What a max_len does to a score matrix and to a table: the range of distances, the wall, the rows that were trained.

Distances are m + i - j (0 is the token itself, positive is the past); a table of max_len has rows for -(max_len-1) to
max_len-1, and all that lies beyond shares the row at its end: the wall. Arrays in, arrays out; the last part alone
knows models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from relxl.canonical import CanonicalModel, LearnedPositions
from relxl.checkpoint import Checkpoint
from relxl.config import ModelConfig, Sizes
from relxl.model import INIT_STD, TransformerXL
from relxl.positions import check_max_len
from relxl.reading import Reading, with_positions
from relxl.relative import relative_pairs
from relxl.split import pairs_of
from relxl.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

CONVENTIONS = ("i-j", "j-i")


def distance_range(query_len: int, key_len: int, mem_len: int = 0, convention: str = "i-j") -> tuple[int, int]:
    """Give the smallest and the largest distance of a score matrix: m - (key_len - 1) .. m + query_len - 1.

    Under "j-i" every sign is turned. 10 queries and 5 keys without memory: -4 .. 9. Source: the article, section 4.1.
    """
    relative_pairs(query_len, key_len, mem_len)  # refuses sizes that no attention has
    smallest, largest = mem_len - key_len + 1, mem_len + query_len - 1
    return (smallest, largest) if sign_of(convention) > 0 else (-largest, -smallest)


def sign_of(convention: str) -> int:
    if convention not in CONVENTIONS:
        raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {str(convention)[:40]!r}")
    return 1 if convention == "i-j" else -1


def max_len_needed(query_len: int, key_len: int, mem_len: int = 0, causal: bool = False) -> int:
    """Give the smallest max_len at which no distance shares a row with another; causal: no distance of the past."""
    smallest, largest = distance_range(query_len, key_len, mem_len)
    return (max(largest, 0) if causal else max(largest, -smallest)) + 1


def trained_reach(config: ModelConfig | Sizes) -> int:
    """Give the largest distance that a causal model meets in training: mem_len + segment_len - 1."""
    return config.mem_len + config.segment_len - 1


def distance_matrix(query_len: int, key_len: int, mem_len: int = 0, convention: str = "i-j") -> np.ndarray:
    """Give the distance of every cell, m + i - j or its opposite: [query key] int."""
    distance = relative_pairs(query_len, key_len, mem_len).distance.numpy()
    return distance * sign_of(convention)


def index_rows(query_len: int, key_len: int, mem_len: int, max_len: int, convention: str = "i-j") -> np.ndarray:
    """Give the row of the table that each cell reads: clamp(m + i - j, -(max_len-1), max_len-1) + max_len - 1.

    [query key] int, rows 0 .. 2*max_len-2. The two conventions are mirror images, row r and 2*max_len-2-r: with a
    trained table these are different vectors. Source: the article, section 3.2, with the memory that it leaves out.
    """
    check_max_len(max_len)
    reach = max_len - 1
    return distance_matrix(query_len, key_len, mem_len, convention).clip(-reach, reach) + reach


def cells_per_distance(query_len: int, key_len: int, mem_len: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Count the cells of each distance, one diagonal each: distances [distance] ascending, cells [distance]."""
    smallest, largest = distance_range(query_len, key_len, mem_len)
    distances = np.arange(smallest, largest + 1)
    behind = distances - mem_len  # i - j
    return distances, np.minimum(query_len, behind + key_len) - np.maximum(0, behind)


@dataclass(frozen=True)
class RowSharing:
    """Say how a table is read by one score matrix; [row], row r is the distance r - (max_len-1)."""

    distance: np.ndarray  # that the row belongs to
    n_distances: np.ndarray  # distances that read it: more than 1 only at the wall
    n_cells: np.ndarray  # cells that read it

    @property
    def unused(self) -> int:
        """Count the rows that nothing reads."""
        return int((self.n_distances == 0).sum())

    def table(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(vars(self))


def row_sharing(
    query_len: int, key_len: int, mem_len: int, max_len: int, convention: str = "i-j", causal: bool = False
) -> RowSharing:
    """Count the distances and the cells that read each row of a table; causal: of cells that may attend alone."""
    check_max_len(max_len)
    distances, cells = cells_per_distance(query_len, key_len, mem_len)
    kept = distances >= 0 if causal else slice(None)
    distances, cells = distances[kept] * sign_of(convention), cells[kept]
    reach = max_len - 1
    rows = distances.clip(-reach, reach) + reach
    n_rows = 2 * max_len - 1
    return RowSharing(
        np.arange(-reach, reach + 1),
        np.bincount(rows, minlength=n_rows),
        np.bincount(rows, weights=cells, minlength=n_rows).astype(np.int64),
    )


def beyond_wall(query_len: int, key_len: int, mem_len: int, reach: int, causal: bool = False) -> np.ndarray:
    """Mark the cells that a clamp at `reach` changes, |m + i - j| > reach: [query key] bool.

    `reach` is max_len - 1, or clamp_len. Cells that are not marked keep every bit of their score. Causal: of cells that
    may attend alone.
    """
    distance = distance_matrix(query_len, key_len, mem_len)
    return (distance > reach) if causal else (np.abs(distance) > reach)


def touched_queries(query_len: int, mem_len: int, reach: int) -> np.ndarray:
    """Mark the queries of a causal segment that see a key beyond the wall: m + i > reach, [query] bool.

    The first is reach + 1 - m. All before it see no such key in any layer, so their outputs keep every bit (as long as
    the memory was read in the same way).
    """
    return mem_len + np.arange(query_len) > reach


def rows_read(n_tokens: int, segment_len: int, mem_len: int, max_len: int) -> np.ndarray:
    """Count how often a causal model reads each row while it reads a text in segments: [row] cells that may attend.

    Memory is empty at the start and grows to mem_len. It depends on the length of the text alone.
    """
    check_max_len(max_len)
    counts = np.zeros(2 * max_len - 1, dtype=np.int64)
    for begin in range(0, n_tokens, segment_len):
        memory, queries = min(mem_len, begin), min(segment_len, n_tokens - begin)
        counts += row_sharing(queries, memory + queries, memory, max_len, causal=True).n_cells
    return counts


# Models --------------------------------------------------------------------------------------------------------------


def known_reach(checkpoint: Checkpoint) -> int | None:
    """Give the largest distance that a model met in training; None where its checkpoint does not say its lengths."""
    model = checkpoint.model
    if not isinstance(model, CanonicalModel):
        return trained_reach(model.config)
    told = {setting.ask.name for setting in checkpoint.opened.settings if setting.origin != "assumed"}
    if not {"tgt_len", "mem_len"} <= told:
        return None
    window = model.rule_at(model.config.mem_len).window
    reach = trained_reach(model.config)
    return reach if window is None else min(reach, window - 1)


def table_range(model: TransformerXL | CanonicalModel) -> tuple[int, int] | None:
    """Give the first and the last distance that have a row in a learned table; None where positions have no table."""
    if model.config.positions != "learned":
        return None
    if isinstance(model, CanonicalModel):
        positions = model.layers[0].attn.positions
        return positions.first, positions.last
    return 1 - model.config.max_len, model.config.max_len - 1


def own_wall(model: TransformerXL | CanonicalModel) -> int | None:
    """Give the largest distance that a model tells apart by itself: its table's end, its clamp_len; None: any."""
    table, clamp_len = table_range(model), model.config.clamp_len
    return min([wall for wall in (table and table[1], clamp_len) if wall is not None], default=None)


def cells_per_row(distance: np.ndarray, mask: np.ndarray, table: tuple[int, int]) -> np.ndarray:
    """Count the visible cells that read each row of a table first .. last; distance and mask [query key]: [row]."""
    first, last = table
    return np.bincount(distance[mask].clip(first, last) - first, minlength=last - first + 1)


@dataclass(frozen=True)
class TableUse:
    """Say what training did to the rows of a learned table.

    How the rows of another family were drawn nobody knows: there `size` is the norm over the layer's mean.
    """

    distance: np.ndarray  # [row]
    gradient_counts: np.ndarray | None  # [layer row] steps in which the row got a gradient; None: not recorded
    steps: int | None
    size: np.ndarray  # [layer row] norm over INIT_STD * sqrt(d_pos): about 1 for a row that was never trained
    spread: float | None  # standard deviation of `size` over rows that were never trained, 1 / sqrt(2 d_pos)

    @property
    def untrained(self) -> np.ndarray:
        """Mark the rows that no layer ever got a gradient for: [row] bool. Raises ValueError where nobody counted."""
        if self.gradient_counts is None:
            raise ValueError("this checkpoint's training.json does not say which rows of the table got a gradient")
        return (self.gradient_counts == 0).all(0)

    def table(self, layer: int, read: np.ndarray | None = None) -> pd.DataFrame:
        """Put one layer into numbers: one row a row of the table; `read` [row] as `rows_read` gives it."""
        import pandas as pd

        counts = {} if self.gradient_counts is None else {"steps_with_gradient": self.gradient_counts[layer]}
        cells = {} if read is None else {"cells_that_read_it": read}
        return pd.DataFrame({"distance": self.distance, **counts, "size": self.size[layer], **cells})


def table_use(checkpoint: Checkpoint) -> TableUse:
    """Hold every row of the position tables to what it was at the start: N(0, INIT_STD^2) in each dimension.

    Raises ValueError for a model without a learned table, or with counts of another one.
    """
    if checkpoint.config.positions != "learned":
        raise ValueError(
            f"{checkpoint.name} has {checkpoint.config.positions} positions, which have no table: open a learned one"
        )
    if isinstance(checkpoint.model, CanonicalModel):
        return canonical_table_use(checkpoint.model)
    tables = np.stack([layer.attn.pos_enc.pos_table.numpy() for layer in checkpoint.model.layers])
    d_pos, reach = tables.shape[-1], checkpoint.config.max_len - 1
    counts = checkpoint.training.get("row_gradient_counts")
    if counts is not None:
        counts = np.array(counts)
        if counts.shape != tables.shape[:2]:
            raise ValueError(
                f"{checkpoint.name}: training.json counts the gradients of {list(counts.shape)} rows, but the tables "
                f"have {list(tables.shape[:2])}: it belongs to another model"
            )
    return TableUse(
        np.arange(-reach, reach + 1),
        counts,
        checkpoint.training.get("train", {}).get("steps"),
        np.linalg.norm(tables, axis=-1) / (INIT_STD * math.sqrt(d_pos)),
        1 / math.sqrt(2 * d_pos),
    )


def canonical_table_use(model: CanonicalModel) -> TableUse:
    """Measure the rows p_d of every layer over all heads. Raises ValueError for layers whose tables differ."""
    tables = [layer.attn.positions for layer in model.layers]
    if not all(isinstance(table, LearnedPositions) for table in tables) or len({t.rows.shape for t in tables}) > 1:
        raise ValueError("the layers of this model have tables of different lengths: they can not be set side by side")
    norms = np.stack([table.rows.double().square().sum((0, 2)).sqrt().cpu().numpy() for table in tables])
    size = norms / norms.mean(1, keepdims=True)
    return TableUse(np.arange(tables[0].first, tables[0].last + 1), None, None, size, None)


@dataclass(frozen=True)
class ScoreChange:
    """Hold the scores of one head under two readings of the positions, on the same layer input; [query key]."""

    before: np.ndarray
    after: np.ndarray
    mask: np.ndarray  # bool, True where the query may attend
    probs_before: np.ndarray
    probs_after: np.ndarray
    distance: np.ndarray  # int, that each cell reads

    @property
    def changed(self) -> np.ndarray:
        """Mark the cells in which a bit differs."""
        return self.before != self.after

    def beyond(self, reach: int) -> np.ndarray:
        """Mark the visible cells whose distance lies beyond `reach`, on either side: [query key] bool."""
        return self.mask & (np.abs(self.distance) > reach)


def score_change(trace: Trace, layer: int, head: int, reading: Reading, queries: int | None = None) -> ScoreChange:
    """Compute the scores of one head, as the trace has them and under another reading of the positions.

    The layer's input is the trace's own in both, so that what differs is this layer's reading and nothing else. The
    last `queries` rows, or all of them. A cell that reads no position counts as distance 0.
    """
    before = trace.terms(layer, [head], queries).head(head)
    other = with_positions(trace.model, reading)
    clamp_len = trace.clamp_len if reading.clamp_len is None else reading.clamp_len
    after = replace(trace, model=other, clamp_len=clamp_len).terms(layer, [head], queries).head(head)
    distance = before.distance if before.diagonal else distances_read(trace, layer)[-len(before.mask) :]
    return ScoreChange(before.logits, after.logits, before.mask, before.probs, after.probs, distance)


def distances_read(trace: Trace, layer: int) -> np.ndarray:
    """Give the distance that every cell of a layer reads, 0 where it reads none: [query key] int."""
    pairs = pairs_of(trace.model.layers[layer].attn, trace.key_len, trace.mem_len)
    return pairs.distance.where(pairs.query_row >= 0, 0).cpu().numpy()
