"""Mount the matrix view on a page and bring back what a person does there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from relxl.figures.matrix import matrix_figure
from relxl.language import _
from relxl.matrix_view import Grid, Window, encode
from relxl.style import theme_of
from relxl.ui.shown import Shown, note
from relxl.ui.state import choose
from relxl.ui.view import View

FOLDER = Path(__file__).parents[1] / "matrix_view"
COMPONENT = st.components.v2.component(
    "relxl.matrix_view",
    html=(FOLDER / "matrix_view.html").read_text(encoding="utf-8"),
    css=(FOLDER / "matrix_view.css").read_text(encoding="utf-8"),
    js=(FOLDER / "matrix_view.js").read_text(encoding="utf-8"),
)
MOST_ROWS = 1 << 18  # of a table with a row a cell
MANY_PANELS = 6  # above this a level has 8 bits: panels this small show no more


@dataclass(frozen=True)
class MatrixSelection:
    """Hold the cell that is pinned and the part that is zoomed to; None where nothing is."""

    pin: tuple[int, int] | None
    window: Window | None


def matrix_view(
    grid: Grid,
    *,
    key: str,
    dark: bool,
    on_pin: Callable[[tuple[int, int] | None, int], None] | None = None,
    on_head: Callable[[int], None] | None = None,
) -> MatrixSelection:
    """Draw a grid of matrices.

    `on_pin` is called with the cell (query, key) that a person pins, or None when they unpin, and the place of the
    panel in which they did; `on_head` with -1 or 1 when they ask for another head. Above the panels' pixels the picture
    is pooled; zooming sends the exact window.
    """
    window_key = f"window_{key}"

    def pinned() -> None:
        sent = st.session_state[key].pin
        if on_pin and sent:
            cell = sent["cell"]
            on_pin(None if cell is None else (int(cell[0]), int(cell[1])), int(sent["panel"]))

    def stepped() -> None:
        if on_head and st.session_state[key].head:
            on_head(int(st.session_state[key].head))

    def zoomed() -> None:
        window = st.session_state[key].window
        st.session_state[window_key] = window and (grid.shape, Window(*map(int, window)))

    shape, window = st.session_state.get(window_key) or (None, None)
    if shape != grid.shape:  # the part of another matrix
        window = None
    data = payload(grid, dark, window)
    cells = len(grid.panels) * grid.mask.size
    note(
        key,
        Shown(
            grid.label, lambda: matrix_figure(grid, dark), cells, grid.table if grid.mask.size <= MOST_ROWS else None
        ),
    )
    COMPONENT(key=key, data=data, on_pin_change=pinned, on_head_change=stepped, on_window_change=zoomed)
    return MatrixSelection(grid.pin, window)


def pin(cell: tuple[int, int] | None, _panel: int = 0) -> None:
    """Look at a cell, or at none any more: what most pages do with `on_pin`."""
    choose(c=int(cell is not None))
    if cell is not None:
        choose(q=cell[0], k=cell[1])


def step_head(view: View, step: int) -> None:
    """Go on by some heads of the layer: what most pages do with `on_head`."""
    choose(h=(view.head + step) % view.checkpoint.config.n_head)


def payload(grid: Grid, dark: bool, window: Window | None = None) -> bytes:
    """Encode a grid as finely as its panels can show it: all that the view brings to the browser for a picture."""
    bits = 8 if len(grid.panels) > MANY_PANELS else 16
    return encode(grid, theme_of(dark), view_texts(), window, max_side=max(960 // grid.columns, 16), bits=bits)


def view_texts() -> dict[str, str]:
    """Give the words that the view itself shows."""
    return {
        "query": _("query"),
        "key": _("key"),
        "distance": _("distance"),
        "empty": _("Point at a cell to read it, click to pin it."),
        "hint": _("drag to zoom, double-click to reset"),
        "hint_touch": _("pinch to zoom, double-tap to reset"),
        "pooled": _("each pixel is the largest of {n} × {n} cells; zoom in for exact ones"),
        "zoom_in": _("Zoom in"),
        "zoom_out": _("Zoom out"),
        "zoom_all": _("Show all"),
        "save": _("Save as PNG"),
        "nan": "NaN",
        "plus_inf": "∞",
        "minus_inf": "−∞",
    }
