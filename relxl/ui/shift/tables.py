"""What the shift microscope shows, worked out from `relxl.shift`: counts, the finding, and the tables of cells."""

from collections.abc import Iterator
from typing import NamedTuple

from relxl.figures.shift import Cell, Table
from relxl.language import _
from relxl.relative import relative_pairs
from relxl.shift import SHIFTS, PairMap, TaggedStep, foreign_cells
from relxl.ui.shift import words


class Look(NamedTuple):
    """Hold what the microscope looks at."""

    name: str
    query_len: int
    mem_len: int
    causal: bool
    place: int  # of the step shown
    steps: list[TaggedStep]

    @property
    def key_len(self) -> int:
        return self.mem_len + self.query_len

    @property
    def right(self) -> TaggedStep:
        """Give what every cell should read."""
        pairs = relative_pairs(self.query_len, self.key_len, self.mem_len)
        return TaggedStep("right", pairs.query_row, pairs.distance)

    @property
    def is_last(self) -> bool:
        return self.place == len(self.steps) - 1


class Count(NamedTuple):
    """Count the cells of the scores: all, those that do not read (i, m + i - j), and the visible ones of these."""

    cells: int
    foreign: int
    visible: int
    pads: int  # among the visible


def count_cells(look: Look) -> Count:
    """Count what the finding says. Without a mask every cell is visible."""
    rows, distance = look.steps[-1][1:]
    cells = foreign_cells(PairMap(rows, distance, distance), look.mem_len)
    seen = cells.visible if look.causal else cells.foreign
    return Count(rows.numel(), int(cells.foreign.sum()), int(seen.sum()), int((seen & (rows < 0)).sum()))


def step_text(look: Look) -> str:
    """Say in a sentence what the step shown did."""
    move = SHIFTS[look.name].moves[look.place - 1] if look.place else None
    return words.step_says(move, look.steps[look.place].distance.shape[1])


def finding(look: Look) -> str:
    """Say in one sentence how many cells carry a foreign distance and how many of them are visible."""
    count = count_cells(look)
    if not count.foreign:
        return _("Each of the {cells} cells reads its own row at its own distance.").format(cells=count.cells)
    text = _("{foreign} of {cells} cells carry a foreign distance; {visible} of them are visible.")
    if not count.visible:
        text = _(
            "{foreign} of {cells} cells carry a foreign distance; {visible} of them are visible: the mask hides all."
        )
    return text.format(foreign=count.foreign, cells=count.cells, visible=count.visible)


def legend(look: Look) -> list[tuple[Cell, str]]:
    """Name the kinds of cells that are there to be seen."""
    if not look.is_last:
        return [
            (Cell("i:d"), _("query row : distance; one colour a query row")),
            (Cell("P", ("pad",)), _("pad, a zero")),
        ]
    count = count_cells(look)
    entries = [
        (Cell("", depth=0.6), _("right"), count.cells - count.foreign),
        (Cell("", ("foreign",)), _("foreign and visible"), count.visible - count.pads),
        (Cell("P", ("foreign", "pad")), _("a zero in the place of a score, visible"), count.pads),
        (Cell("", ("foreign", "hidden")), _("foreign, hidden by the mask"), count.foreign - count.visible),
    ]
    return [(cell, f"{text}: {number}") for cell, text, number in entries if number]


def step_table(look: Look, before: TaggedStep | None) -> Table:
    """Lay out the tensor of the step shown; elements come from their places in `before`, where that is given."""
    step = look.steps[look.place]
    if look.is_last:
        return scores_table(look, step, before, _("What each cell reads"))
    height, width = step.query_row.shape
    views = sum(it.name == "view" for it in look.steps[: look.place + 1])
    places = came_from(before, step)
    cells = [
        [
            Cell(*element_words(*element), row=element[0] if element[0] >= 0 else None, came=next(places))
            for element in line
        ]
        for line in elements(step)
    ]
    columns, group = [str(column) for column in range(width)], _("column")
    if views == 0:
        group = _("distance of the column")
        columns = [
            signed(step.distance[0, column]) if step.query_row[0, column] >= 0 else "P" for column in range(width)
        ]
    axis, title = _("row") if views % 2 else _("query"), f"{look.place + 1} {words.step_title(step.name)}"
    rows = [str(row) for row in range(height)]
    return Table(title, f"[{height} {width}]", [(group, width)], columns, axis, rows, cells, step_text(look))


def scores_table(look: Look, step: TaggedStep, before: TaggedStep | None, title: str) -> Table:
    """Lay out scores [query key]: what is right, foreign, hidden by the mask, a pad."""
    right, places = look.right, came_from(before, step)
    reach = max(look.key_len - 1, 1)
    lines = []
    for query, (line, right_line) in enumerate(zip(elements(step), elements(right), strict=True)):
        cells = []
        for key, (read, should) in enumerate(zip(line, right_line, strict=True)):
            label, kinds, says = element_words(*read)
            says = _("query {query}, key {key}: {says}").format(query=query, key=key, says=says)
            if read != should:
                kinds += ("foreign",)
                says += "; " + _("right is {label}").format(label=element_words(*should)[0])
            if look.causal and should[1] < 0:
                kinds += ("hidden",)
            cells.append(Cell(label, kinds, says, depth=max(0, 1 - abs(should[1]) / reach), came=next(places)))
        lines.append(cells)
    groups = [(_("key"), look.key_len)]
    if look.mem_len:
        groups = [(_("memory") if look.mem_len > 1 else _("mem"), look.mem_len), (_("key"), look.query_len)]
    keys, queries = ([str(i) for i in range(n)] for n in (look.key_len, look.query_len))
    label = finding(look) if step is look.steps[-1] else _("Row i at distance m + i − j in every cell.")
    return Table(title, f"[{look.query_len} {look.key_len}]", groups, keys, _("query"), queries, lines, label)


def elements(step: TaggedStep) -> list[list[tuple[int, int]]]:
    """Give (query row, distance) of every element, row by row; a pad has row -1."""
    return [
        list(zip(rows, distances, strict=True))
        for rows, distances in zip(step.query_row.tolist(), step.distance.tolist(), strict=True)
    ]


def element_words(row: int, distance: int) -> tuple[str, tuple[str, ...], str]:
    """Give the label of an element, its kinds, and the same in words."""
    if row < 0:
        return "P", ("pad",), _("a pad, which is zero")
    says = _("row {row} at distance {distance}").format(row=row, distance=signed(distance))
    return f"{row}:{signed(distance)}", (), says


def longest_label(look: Look) -> int:
    """Count the characters of the longest label in any step."""
    steps = [*look.steps, look.right]
    return max(len(element_words(*element)[0]) for step in steps for line in elements(step) for element in line)


def signed(distance: int) -> str:
    return f"{int(distance)}".replace("-", "−")


def came_from(before: TaggedStep | None, after: TaggedStep) -> Iterator[tuple[int, int] | None]:
    """Give for each element of `after` how many columns and rows away it was in `before`; None if it was not there.

    A view and a drop keep the order in memory, so that pads, which all look alike, are followed too.
    """
    new = [element for line in elements(after) for element in line]
    if before is None:
        yield from (None for _element in new)
        return
    old = [element for line in elements(before) for element in line]
    where = {element: place for place, element in enumerate(old) if element[0] >= 0}
    first = next(place for place, element in enumerate(new) if element[0] >= 0)
    slid = where.get(new[first], 0) - first
    in_order = old[max(slid, 0) : max(slid, 0) + len(new)] == new
    width, old_width = after.distance.shape[1], before.distance.shape[1]
    for place, element in enumerate(new):
        came = place + slid if in_order else where.get(element)
        yield None if came is None else (came % old_width - place % width, came // old_width - place // width)
