"""The figures of the lessons by their names: matrices and cells here, curves and bars in charts.py."""

from collections.abc import Container, Iterable
from dataclasses import replace

import numpy as np

from relxl import style
from relxl.experiments.max_len import CONVENTIONS, own_wall
from relxl.figures.head import head_grid, panel_order
from relxl.figures.shift import STYLE, Cell, stage_html
from relxl.language import _
from relxl.lesson import number, one_of, some_of, whole
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.reading import can_flip
from relxl.shift import SHIFTS, tagged_steps
from relxl.ui.initialisation import sections as init_scale
from relxl.ui.lessons.charts import CHARTS, measured_init
from relxl.ui.lessons.view import ROW, RULE, Cells, Entry, Settings, row_of, rule_of
from relxl.ui.masking.sections import leak_sentence
from relxl.ui.max_len import sections as max_len
from relxl.ui.max_len.sections import NO_WALL, Wall
from relxl.ui.max_len.table import WALL_STYLE, index_table
from relxl.ui.memory.collision import absolute_source
from relxl.ui.relative_absolute.derivation import grid as moved_grid
from relxl.ui.relative_absolute.derivation_run import LOOKS, cached_derivation, ending
from relxl.ui.relative_absolute.derivation_run import SHIFTS as MOVES
from relxl.ui.score_terms.sections import where_it_looks
from relxl.ui.shift.tables import Look, legend, longest_label, scores_table, step_table
from relxl.ui.show import plain
from relxl.ui.view import View, cached_checkpoint

PANELS = (*style.RELATIVE_TERMS, "sum", "probability")
STAGES = ("content", "sum", "masked", "probability")
LONGEST_MOVED = 24  # tokens of the text that is moved
SIZES = {"xq": whole(1, 12), "xk": whole(1, 16), "xm": whole(0, 12)}
INIT = {"is": number(1e-4, 10), "ip": one_of("learned", "sinusoid")}
SHIFT = {"s": one_of(*SHIFTS), "sq": whole(1, 8), "sm": whole(0, 6), "sc": whole(0, 1)}


def terms(view: View, settings: Settings) -> Grid:
    """Lay out the terms of a head with their sum and the probabilities, or some of these panels."""
    query = row_of(view, settings)
    key = int(np.nan_to_num(view.terms.probs[query]).argmax())
    label = f"{view.label}: {plain(where_it_looks(view, query))}"
    grid = head_grid(view.terms, view.looks, view.tokens, label, (query, key))
    return kept_panels(grid, view.looks, settings.get("show", ())) or grid


def kept_panels(grid: Grid, looks: Iterable[str], shown: Container[str]) -> Grid | None:
    """Keep some panels of a head's grid; None where none of them is shown."""
    panels = tuple(panel for name, panel in zip(panel_order(looks), grid.panels, strict=True) if name in shown)
    return replace(grid, panels=panels, columns=min(len(panels), 3)) if panels else None


def moved(view: View, settings: Settings) -> Grid | str:
    """Show a step of the derivation, and below it what changes when the whole text is moved."""
    start = absolute_source(view)
    if start is None:
        return _("The absolute model that this step starts from is not here.")
    end, _reason = ending(view, start)
    derived = cached_derivation(start, end, view.head, LONGEST_MOVED)
    step, shift = int(settings.get("rd", 1)), int(str(settings.get("rds", MOVES[0])))
    names = [str(name) for name in derived.terms(step)]
    label = _("The terms {names}, and what moving the text by {n} places changes in each.")
    grid = moved_grid(derived, step, shift, label.format(names=", ".join(names), n=shift))
    kept = [place for place, name in enumerate(names) if name in settings.get("show", names)] or range(len(names))
    if "rds" not in settings:  # the terms alone
        return replace(grid, panels=tuple(grid.panels[place] for place in kept), columns=min(len(kept), 3))
    panels = tuple(grid.panels[row * len(names) + place] for row in (0, 1) for place in kept)
    return replace(grid, panels=panels, columns=len(kept))


def moved_shows(view: View) -> str:
    """Say which model and head the derivation starts from."""
    start = absolute_source(view)
    if start is None:
        return ""
    head = min(view.head, cached_checkpoint(start.checkpoint).config.n_head - 1)
    return f"{start.name} · L0H{head}"


def mask(view: View, settings: Settings) -> Grid:
    """Show the scores of a head on their way through a mask, right or wrong."""
    head = view.masked(rule_of(view, settings))
    scores = Scale("diverging", shared_limit([head.content, head.total], head.allowed), _("score"))
    probs = Scale("sequential", shared_limit([head.probs], np.ones_like(head.allowed)), _("probability"))
    panels = {
        "content": Panel(_("(a) content"), head.content, scores),
        "sum": Panel(_("sum of the terms"), head.total, scores),
        "masked": Panel(_("what the softmax gets"), head.masked, scores),
        "probability": Panel(_("probability"), head.probs, probs),
    }
    shown = settings.get("show", STAGES)
    kept = tuple(panels[name] for name in STAGES if name in shown)
    row = row_of(view, settings)
    key = int(np.nan_to_num(np.where(head.allowed[row], -1, head.probs[row])).argmax())
    pinned = (row, key) if "q" in settings else None
    label = f"{view.label}: {plain(leak_sentence(view, head))}"
    return Grid(kept, head.allowed, tuple(view.tokens), min(len(kept), 2), label, pin=pinned)


def wall_of(view: View, settings: Settings) -> Wall:
    """Give the wall that the settings ask for, in the direction that they ask for."""
    smallest, largest = max_len.seen_distances(view)
    asked = settings.get("xr", NO_WALL)
    flipped = settings.get("xd") == CONVENTIONS[1] and can_flip(view.checkpoint.model)
    return Wall(asked if asked == NO_WALL else int(asked), flipped, own_wall(view.checkpoint.model), largest, smallest)


def wall(view: View, settings: Settings) -> Grid:
    """Show probabilities as they are, behind a wall or in the other direction, and the difference."""
    wall = wall_of(view, settings)
    change = max_len.change_of(view, wall)
    limits = [change.before, change.after]
    scores = Scale("diverging", shared_limit(limits, change.mask), _("score"))
    probs = Scale("sequential", shared_limit([change.probs_before, change.probs_after], change.mask), _("probability"))
    panels = (
        Panel(_("scores as they are"), change.before, scores),
        Panel(max_len.after_title(wall), change.after, scores),
        Panel(_("probability as it is"), change.probs_before, probs),
        Panel(_("probability then"), change.probs_after, probs),
    )
    at = wall.at if wall.at is not None and wall.at < wall.largest else None
    label = f"{view.label}: {plain(max_len.cells_sentence(view, wall, change))}"
    both = wall.smallest < 0
    return Grid(panels, change.mask, tuple(view.tokens), 2, label, wall=at, two_walls=both)


def index(view: View, settings: Settings) -> Cells:
    """Show which row of a table each cell of a small score matrix reads."""
    sizes = (int(settings.get("xq", 10)), int(settings.get("xk", 5)), int(settings.get("xm", 0)))
    max_len = int(settings.get("xl", 10))
    wanted = str(settings.get("xd", CONVENTIONS[0]))
    kinds = CONVENTIONS if wanted == "both" else (wanted,)
    tables = [index_table(*sizes, max_len, convention) for convention in kinds]
    notes = [(Cell("r", depth=0.5), _("row of the table, darker is higher"))]
    if max_len <= max(sizes[1] - sizes[2] - 1, sizes[2] + sizes[0] - 1):
        notes.append((Cell("r", ("wall",)), _("beyond the wall: shares the row at the end")))
    room = (sizes[0], len(tables) * sizes[1], len(str(2 * max_len - 2)))
    return Cells(STYLE + WALL_STYLE + stage_html(tables, notes, room, view.dark))


def shift(view: View, settings: Settings) -> Cells:
    """Show what each cell of a rel_shift really reads, at a step of it or at its end."""
    name, query_len, mem_len = str(settings.get("s", "pad_and_view")), settings.get("sq", 4), settings.get("sm", 0)
    steps = tagged_steps(name, int(query_len), int(mem_len))
    place = min(int(settings.get("st", len(steps) - 1)), len(steps) - 1)
    look = Look(name, int(query_len), int(mem_len), bool(settings.get("sc", 0)), place, steps)
    tables = [step_table(look, look.steps[place - 1] if place else None)]
    if look.is_last and look.key_len <= 5:
        tables.append(scores_table(look, look.right, None, _("What it should read")))
    room = max(len(step.distance) for step in steps), 2 * look.key_len, longest_label(look)
    return Cells(STYLE + stage_html(tables, legend(look), room, view.dark))


def init(view: View, settings: Settings) -> Grid:
    """Show a head of a fresh layer of this model's size, drawn at a scale."""
    measured = measured_init(view, settings)
    tokens = [str(place) for place in range(len(measured.terms.mask))]
    grid = head_grid(measured.terms, style.RELATIVE_TERMS, tokens, plain(init_scale.finding(measured)), None)
    return kept_panels(grid, style.RELATIVE_TERMS, settings.get("show", PANELS))


FIGURES: dict[str, Entry] = {
    "terms": Entry(terms, ("text", "relative"), ROW | {"show": some_of(*PANELS)}),
    "moved": Entry(
        moved, ("text",), {"rd": whole(0, 6), "rds": one_of(*map(str, MOVES)), "show": some_of(*LOOKS, "score")}
    ),
    "mask": Entry(mask, ("text",), ROW | RULE | {"show": some_of(*STAGES)}),
    "wall": Entry(wall, ("text", "curve"), ROW | {"xr": whole(0, 4095), "xd": one_of(*CONVENTIONS)}),
    "index": Entry(index, (), SIZES | {"xl": whole(1, 64), "xd": one_of(*CONVENTIONS, "both")}),
    "shift": Entry(shift, (), SHIFT | {"st": whole(0, 9)}),
    "init": Entry(init, (), INIT | {"show": some_of(*PANELS)}),
    **CHARTS,
}
