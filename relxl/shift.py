"""Every rel_shift found in public code as the tensor steps it does, and the name of one that is handed in.

A product q . p is [query column]; the table that p came from gives each column its distance. A shift turns the product
into [query key]. What each cell then reads is found by shifting a product of tags, one number for each (query, column):
the steps that are shown and the `PairMap` that is computed with can not disagree.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from relxl.relative import PairMap, RelativePairs, relative_pairs

Table = Callable[[int, int, int], range]  # query_len, key_len, mem_len -> the distance of each column, in column order
Move = tuple[str, Callable[[Tensor, int], Tensor]]  # name, (tensor [... a b], key_len) -> the next tensor


def forget_memory(product: Tensor, key_len: int) -> Tensor:
    """Gather (i, i - j) from a product with the columns of `two_sided_table`."""
    pairs = relative_pairs(product.shape[-2], key_len, mem_len=0)
    labels = torch.tensor(two_sided_table(product.shape[-2], key_len, 0), device=product.device)
    return PairMap(pairs.query_row, pairs.distance, labels).read(product)


def two_sided_table(q: int, k: int, m: int) -> range:
    return range(max(q, k) - 1, -k, -1)


def paper_table(query_len: int, mem_len: int, columns: int) -> range:
    """Label any number of columns by the distances m + q - 1, m + q - 2, ..."""
    return range(mem_len + query_len - 1, mem_len + query_len - 1 - columns, -1)


def exact_table(q: int, k: int, m: int) -> range:
    return paper_table(q, m, q + k - 1)


def xlnet_table(q: int, k: int, m: int) -> range:
    return range(k, -q, -1)  # labml's ascends in key - query, which is the same


def legacy_table(q: int, k: int, m: int) -> range:
    longest = max(5000, k)  # the first rows of one reversed table, which is made anew for an input that is longer
    return range(longest - 1, longest - 1 - k, -1)


PAD_LEFT: Move = ("pad", lambda x, key_len: pad(x, (1, 0)))
PAD_RIGHT: Move = ("pad", lambda x, key_len: pad(x, (0, 1)))
VIEW: Move = ("view", lambda x, key_len: x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]))  # not a transpose
DROP_FIRST: Move = ("drop", lambda x, key_len: x[..., 1:, :])
DROP_LAST: Move = ("drop", lambda x, key_len: x[..., :-1, :])
KEEP_FIRST: Move = ("slice", lambda x, key_len: x[..., :key_len])
KEEP_LAST: Move = ("slice", lambda x, key_len: x[..., -key_len:])
STRIDED: Move = ("as_strided", lambda x, key_len: relative_pairs(x.shape[-2], key_len).read(x))
GATHER: Move = ("gather", forget_memory)

PAD_AND_VIEW = (PAD_LEFT, VIEW, DROP_FIRST, VIEW)
SLICE = (*PAD_AND_VIEW, KEEP_FIRST)
XLNET = (VIEW, DROP_FIRST, VIEW, KEEP_FIRST)
LABML = (PAD_RIGHT, VIEW, DROP_LAST, VIEW, KEEP_LAST)


@dataclass(frozen=True)
class Shift:
    """Hold one public rel_shift: the GitHub repository it is found in, its steps, and the table it needs."""

    source: str
    moves: tuple[Move, ...]
    table: Table
    spare: bool = False  # the table may go on: columns after the last one it needs are not read

    def labels(self, query_len: int, mem_len: int) -> range:
        """Name the distance that each column of the product belongs to, in column order."""
        key_len = relative_pairs(query_len, query_len + mem_len, mem_len).key_len  # refuses what is no length
        return self.table(query_len, key_len, mem_len)

    def columns(self, query_len: int, mem_len: int) -> int:
        """Count the columns of the product, which are the rows of the position table."""
        return len(self.labels(query_len, mem_len))

    def distances(self, query_len: int, mem_len: int) -> Tensor:
        """Give `labels` as a tensor: [column] int, tokens."""
        return torch.tensor(self.labels(query_len, mem_len))

    def steps(self, product: Tensor, key_len: int) -> list[tuple[str, Tensor]]:
        """Shift a product, [... query column] -> [... query key], and give it with every step on the way."""
        steps = [("product", product)]
        for name, move in self.moves:
            steps.append((name, move(steps[-1][1], key_len)))
        return steps


SHIFTS: dict[str, Shift] = {
    "exact": Shift("k2-fsa/icefall", (STRIDED,), exact_table, spare=True),
    "slice": Shift("NVIDIA/NeMo; espnet/espnet, latest", SLICE, exact_table, spare=True),
    "pad_and_view": Shift("kimiyoung/transformer-xl", PAD_AND_VIEW, lambda q, k, m: range(k - 1, -1, -1)),
    "xlnet_bi": Shift("zihangdai/xlnet, attn_type bi", XLNET, xlnet_table),
    "xlnet_uni": Shift("zihangdai/xlnet, attn_type uni", XLNET, lambda q, k, m: range(k, -1, -1)),
    "legacy": Shift("espnet/espnet, legacy", PAD_AND_VIEW, legacy_table),
    "labml": Shift("labmlai/annotated_deep_learning_paper_implementations", LABML, xlnet_table),
    "absolute": Shift("wenet-e2e/wenet", (), lambda q, k, m: range(k)),
    "ascending": Shift("sooftware/conformer, before pull request 55", PAD_AND_VIEW, lambda q, k, m: range(k)),
    "memory_forgotten": Shift("lucidrains/x-transformers, before pull request 103", (GATHER,), two_sided_table),
}


class TaggedStep(NamedTuple):
    """Say of every element of one step which query row and which distance it holds; a pad has row -1, distance 0."""

    name: str
    query_row: Tensor
    distance: Tensor


def tagged_steps(name: str, query_len: int, mem_len: int) -> list[TaggedStep]:
    """Shift a product of tags step by step, from the product [query column] to the scores [query key].

    Raises ValueError for a name that is not in SHIFTS, for no query, or a negative memory.
    """
    if name not in SHIFTS:
        raise ValueError(f"there is no shift {name!r}: take one of {', '.join(SHIFTS)}")
    labels = SHIFTS[name].labels(query_len, mem_len)
    steps = SHIFTS[name].steps(tag_product(query_len, len(labels)), query_len + mem_len)
    return [TaggedStep(step, *read_tags(tags, labels)) for step, tags in steps]


def pair_map(name: str, query_len: int, mem_len: int) -> PairMap:
    """Read the map of a shift off its last step. The columns of an ascending table are to be turned round for it."""
    _, query_row, distance = tagged_steps(name, query_len, mem_len)[-1]
    return PairMap(query_row, distance, descending(SHIFTS[name].labels(query_len, mem_len)))


def tag_product(rows: int, columns: int) -> Tensor:
    """Number the elements of a product from 1, since 0 is the pad: [row column] int."""
    return torch.arange(1, rows * columns + 1).view(rows, columns)


def read_tags(tags: Tensor, labels: range) -> tuple[Tensor, Tensor]:
    """Turn tags back into query row and distance; 0 (pad) has row -1 and -1 (no tag) row -2, both distance 0."""
    query_row = ((tags - 1) // len(labels)).where(tags > 0, tags - 1)
    return query_row, (labels.start + labels.step * ((tags - 1) % len(labels))).where(tags > 0, 0)


def descending(labels: range) -> Tensor:
    return torch.tensor(sorted(labels, reverse=True))


class ForeignCells(NamedTuple):
    """Mark the cells that do not read (i, m + i - j), and which of them a causal mask shows and hides: [query key]."""

    foreign: Tensor
    visible: Tensor
    hidden: Tensor


def foreign_cells(pairs: PairMap | RelativePairs, mem_len: int) -> ForeignCells:
    """Find the cells that do not read (i, m + i - j); a causal mask shows those where m + i - j >= 0."""
    right = relative_pairs(*pairs.query_row.shape, mem_len, device=pairs.query_row.device)
    foreign = (pairs.query_row != right.query_row) | (pairs.distance != right.distance)
    return ForeignCells(foreign, foreign & (right.distance >= 0), foreign & (right.distance < 0))


class ShiftIdentity(NamedTuple):
    """Say which shift a function does, and which cells (query, key) do not read (i, m + i - j)."""

    name: str  # the first of `same`, or "wrong"
    wrong_cells: tuple[tuple[int, int], ...]
    same: tuple[str, ...]  # every shift with this map and this number of columns
    columns: int
    pairs: PairMap  # what was read: query_row is -1 for a pad, -2 for a value that is nobody's, or another batch's


def identify_shift(
    function: Callable[[Tensor], Tensor],
    *,
    query_len: int,
    key_len: int,
    mem_len: int | None = None,
    layout: str = "query column",
    columns: int | None = None,
) -> ShiftIdentity:
    """Name the rel_shift that a function does, and every cell that does not read (i, m + i - j).

    It is fed tags: [batch head query column], or [batch query column], or [query column], the first that it takes; or
    exactly the axes of a `layout` with a batch or a head in it. It answers in the same axes with key_len keys, or with
    more, of which the first ones are taken (labml: the last). mem_len is key_len - query_len if it is not given.

    A function sees no distances. It is known by the columns that it reads and by their number, so shifts that differ in
    nothing but the table are all in `same`. Without `columns` it is fed k, k + 1, k + q - 1, k + q and 2k - 1, and the
    first that makes a known shift counts: give the number that you use to a function that takes any. Take two queries
    or more and a memory of 2 or more: one query needs no shift, m = 0 hides a memory that is forgotten, and m = 1 is
    also the one column by which XLNet's table starts earlier.

    Raises ValueError for a length below 1, a negative memory, an unknown layout, or a function without such an answer.
    """
    mem_len = key_len - query_len if mem_len is None else mem_len
    relative_pairs(query_len, key_len, mem_len)  # refuses what is no length
    usual = (key_len, key_len + 1, key_len + query_len - 1, key_len + query_len, 2 * key_len - 1)
    counts = list(dict.fromkeys(usual)) if columns is None else [columns]
    answers = feed(function, layout, query_len, key_len, counts)
    fitting_first = sorted(answers.items(), key=lambda answer: answer[1].shape[1] > key_len)
    for count, tags in fitting_first:
        known = list(known_maps(query_len, key_len, mem_len, count))
        for cells, names in ((tags[:, :key_len], SHIFTS.keys()), (tags[:, -key_len:], {"labml"})):
            same = [(name, labels) for name, labels, its in known if name in names and torch.equal(its, cells)]
            if same:
                return identity([name for name, _ in same], cells, same[0][1], mem_len)
    count, tags = next(iter(answers.items()))
    tables = [shift.table(query_len, key_len, mem_len) for shift in SHIFTS.values()]
    labels = next((labels for labels in tables if len(labels) == count), paper_table(query_len, mem_len, count))
    return identity([], tags[:, :key_len], labels, mem_len)


def identity(names: list[str], cells: Tensor, labels: range, mem_len: int) -> ShiftIdentity:
    pairs = PairMap(*read_tags(cells, labels), descending(labels))
    wrong = tuple((i, j) for i, j in foreign_cells(pairs, mem_len).foreign.nonzero().tolist())
    return ShiftIdentity(names[0] if names else "wrong", wrong, tuple(dict.fromkeys(names)), len(labels), pairs)


def known_maps(query_len: int, key_len: int, mem_len: int, columns: int) -> Iterator[tuple[str, range, Tensor]]:
    """Give name, labels and tags [query key] of every shift that takes that number of columns."""
    tags = tag_product(query_len, columns)
    for name, shift in SHIFTS.items():
        labels = shift.table(query_len, key_len, mem_len)
        if shift.spare and columns > len(labels):
            labels = paper_table(query_len, mem_len, columns)
        if len(labels) == columns:
            yield name, labels, shift.steps(tags, key_len)[-1][1]
            if labels.step > 0:  # a function can turn a descending table round by itself
                yield name, labels[::-1], shift.steps(tags.flip(-1), key_len)[-1][1]


SIZES = {"batch": 2, "head": 3}  # enough to see that nothing is mixed, and not to be swapped unseen


def feed(
    function: Callable[[Tensor], Tensor], layout: str, query_len: int, key_len: int, counts: list[int]
) -> dict[int, Tensor]:
    """Feed a function every number of columns, with the first axes that it takes: columns -> tags [query key]."""
    words = layout.split()
    if len(set(words)) < len(words) or not {"query", "column"} <= set(words) <= {"query", "column", *SIZES}:
        raise ValueError(
            f"the layout {layout!r} must name query and column, and may name batch and head, each once and with spaces "
            "between: try 'query column batch head'"
        )
    orders = [words] if set(words) & set(SIZES) else [["batch", "head", *words], ["batch", *words], words]
    answers: dict[int, Tensor] = {}
    for count in counts:
        for axes in orders:
            try:
                answers[count] = observe(function, axes, query_len, key_len, count)
                break
            except Exception as error:  # it is somebody else's function: it may raise anything
                failure = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if not answers:
        raise ValueError(
            f"the function gave no scores of {query_len} queries and {key_len} keys for {' or '.join(map(str, counts))}"
            f" columns in the layout {layout!r}: say its axes by layout=, such as 'query column batch head', and how "
            f"many columns it takes by columns= (its last error was {failure})"
        )
    return answers


def observe(
    function: Callable[[Tensor], Tensor], axes: list[str], query_len: int, key_len: int, columns: int
) -> Tensor:
    """Feed a function tags and read the answer back as tags of one product: [query key], key_len keys or more.

    A cell is -1 if it holds no tag, or if not every batch entry and head reads the same element of its own product.
    """
    sizes = {**SIZES, "query": query_len, "column": columns}
    order = [axis for axis in sizes if axis in axes]
    fronts = math.prod(SIZES.get(axis, 1) for axis in order)
    tags = tag_product(fronts * query_len, columns).double().view([sizes[axis] for axis in order])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = function(tags.permute([order.index(axis) for axis in axes]).contiguous())
    if not isinstance(answer, Tensor):
        raise TypeError(f"it gave {type(answer).__name__}, not a tensor")
    keys = answer.shape[axes.index("column")] if answer.dim() == len(axes) else 0
    if keys < key_len or list(answer.shape) != [{**sizes, "column": keys}[axis] for axis in axes]:
        needed = [{**sizes, "column": key_len}[axis] for axis in axes]
        raise ValueError(f"it gave the shape {list(answer.shape)}, not {needed} or more keys")
    answer = answer.detach().to("cpu", torch.float64).permute([axes.index(axis) for axis in order])
    answer = answer.reshape(fronts, query_len, keys)
    tag = answer - query_len * columns * torch.arange(fronts)[:, None, None]  # as if it were the first product's
    tag = tag.where((tag >= 1) & (tag <= query_len * columns) & (tag == tag.round()), -1).where(answer != 0, 0)
    return tag[0].where((tag == tag[0]).all(0), -1).long()
