"""The panels of one head, for every renderer: its terms, their sum, its probabilities."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.style import Term


class SplitHead(Protocol):
    """Be the split scores of a head, as `split.HeadTerms` holds them."""

    terms: dict[str, np.ndarray]
    logits: np.ndarray
    probs: np.ndarray
    mask: np.ndarray
    u_bias: np.ndarray | None
    v_bias: np.ndarray | None
    diagonal: bool


def panel_order(looks: Iterable[str]) -> list[str]:
    """Name the panels of a head in their order, row by row: half of its terms and "sum", the rest and "probability"."""
    terms = list(looks)
    half = len(terms) // 2
    return [*terms[:half], "sum", *terms[half:], "probability"]


def head_grid(
    terms: SplitHead, looks: Mapping[str, Term], tokens: Sequence[str], label: str, cell: tuple[int, int] | None
) -> Grid:
    """Lay out the panels of a head: (a) (b) sum over (c) (d) probabilities. Terms and sum share one scale."""
    scores = Scale("diverging", shared_limit([*terms.terms.values(), terms.logits], terms.mask), _("score"))
    probs = Scale("sequential", shared_limit([terms.probs], terms.mask), _("probability"))
    panels = {name: term_panel(name, look, terms, scores) for name, look in looks.items()}
    panels["sum"] = Panel(_("sum"), terms.logits, scores)
    panels["probability"] = Panel(_("probability"), terms.probs, probs)
    return Grid(
        panels=tuple(panels[name] for name in panel_order(looks)),
        mask=terms.mask,
        tokens=tuple(tokens),
        columns=len(panels) // 2,
        label=label,
        pin=cell,
    )


def term_panel(name: str, look: Term, terms: SplitHead, scale: Scale, title: str = "") -> Panel:
    """Make the panel of a term; u_bias and v_bias go over as a strip and a curve."""
    kind, values = {
        "u_bias": ("strip", terms.u_bias),
        "v_bias": ("curve", terms.v_bias) if terms.diagonal else ("matrix", terms.terms.get(name)),
    }.get(name, ("matrix", terms.terms.get(name)))
    return Panel(title or f"({look.letter}) {name}", values, scale, kind, "" if title else look.formula, look.colour)
