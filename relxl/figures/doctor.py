"""The figures of the page "Doctor": a number per head, per row of a table or per explanation, and the cells found."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, note, scatter, vband, vline
from relxl.language import _
from relxl.style import axis, plot_text, theme_of

LONGEST_LABEL = 52
MARGIN = {"l": 56, "r": 16, "t": 12, "b": 44}


def bars_figure(names: Sequence[str], values: np.ndarray, title: str, dark: bool = False) -> go.Figure:
    """Draw a number for each of a few names, one bar below the other, the number at its end."""
    theme, places = theme_of(dark), list(range(len(names)))
    labels = [plot_text(name, LONGEST_LABEL) for name in names]
    bars = bar(
        x=values, y=places, orientation="h", marker={"color": theme.faint}, text=values,
        texttemplate=" %{x:.3g}", textposition="outside", cliponaxis=False, textfont={"color": theme.ink},
        customdata=labels, hovertemplate="%{customdata}<br><b>%{x:.4g}</b><extra></extra>",
    )  # fmt: skip
    ticks = {"tickvals": places, "ticktext": labels, "showgrid": False, "zeroline": False, "automargin": True}
    axes = WHOLE.axes(axis(theme, title, rangemode="tozero"), axis(theme, range=[len(names) - 0.5, -0.5], **ticks))
    return chart([bars], theme, axes, height=90 + 30 * len(names), bargap=0.35, margin=MARGIN | {"r": 64})


def heads_figure(values: np.ndarray, marked: Sequence[int], title: str, dark: bool = False) -> go.Figure:
    """Draw a number for every head of a layer, [head]; those that are marked in the alarm colour, with a cross."""
    theme = theme_of(dark)
    heads = np.arange(len(values))
    bars = bar(
        x=heads, y=values, marker={"color": [theme.alarm if head in marked else theme.faint for head in heads]},
        hovertemplate="H%{x}<br><b>%{y:.4g}</b><extra></extra>",
    )  # fmt: skip
    crossed = [head for head in marked if head < len(values)]
    finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    crosses = scatter(
        x=crossed, y=finite[crossed] if crossed else [], mode="markers", hoverinfo="skip", cliponaxis=False,
        marker={"symbol": "x-thin", "size": 9, "line": {"color": theme.ink, "width": 2}},
    )  # fmt: skip
    labels = {"tickvals": heads, "ticktext": [f"H{head}" for head in heads]} if len(heads) <= 32 else {}
    x = axis(theme, _("head"), showgrid=False, zeroline=False, **labels)
    axes = WHOLE.axes(x, axis(theme, title, rangemode="tozero"))
    return chart([bars, crosses], theme, axes, height=240, bargap=0.4, margin=MARGIN)


def rows_figure(
    distances: np.ndarray, sizes: np.ndarray, marked: tuple[int, int] | None, title: str, dark: bool = False
) -> go.Figure:
    """Draw the size of every row of a table over its distance; the band is what the finding is about."""
    theme, bands, notes = theme_of(dark), [], []
    line = scatter(
        x=distances, y=sizes, mode="lines", line={"color": theme.ink, "width": 1.5},
        hovertemplate=_("distance %{x}") + "<br><b>%{y:.4g}</b><extra></extra>",
    )  # fmt: skip
    if marked is not None:
        font = {"size": 12, "color": theme.alarm}
        bands = [vband(marked[0] - 0.5, marked[1] + 0.5, theme.alarm, 0.18) | {"layer": "above"}]
        notes = [note(_("found here"), sum(marked) / 2, 1, yref="paper", yanchor="top", font=font)]
    x, y = axis(theme, _("distance, tokens"), zeroline=False), axis(theme, title, rangemode="tozero")
    return chart([line], theme, WHOLE.axes(x, y), bands, notes, height=260, margin=MARGIN)


def numbers_figure(cells: np.ndarray, shape: tuple[int, int], dark: bool = False) -> go.Figure:
    """Mark numbers (row, column), [number 2], on the extent of a matrix of weights."""
    theme = theme_of(dark)
    crosses = scatter(
        x=cells[:, 1], y=cells[:, 0], mode="markers",
        marker={"symbol": "x-thin", "size": 9, "line": {"color": theme.alarm, "width": 2.5}},
        hovertemplate=_("row %{y}, column %{x}") + "<extra></extra>",
    )  # fmt: skip
    x = axis(theme, _("column"), zeroline=False, range=[-0.5, shape[1] - 0.5])
    y = axis(theme, _("row"), zeroline=False, range=[shape[0] - 0.5, -0.5])
    return chart([crosses], theme, WHOLE.axes(x, y), height=220, margin=MARGIN)


def cells_figure(cells: np.ndarray, shape: tuple[int, int], dark: bool = False) -> go.Figure:
    """Mark cells (query, key), [cell 2], on the matrix of all queries and keys, whose seam is a line."""
    theme, (query_len, key_len) = theme_of(dark), shape
    squares = scatter(
        x=cells[:, 1], y=cells[:, 0], mode="markers",
        marker={"symbol": "square", "size": 8, "color": theme.alarm},
        hovertemplate=_("query %{y}, key %{x}") + "<extra></extra>",
    )  # fmt: skip
    seam = key_len - query_len
    dotted = {"color": theme.faint, "width": 1, "dash": "dot"}
    lines = [{"type": "line", "x0": seam, "y0": 0, "x1": key_len - 1, "y1": query_len - 1, "line": dotted}]
    lines += [vline(seam - 0.5, {"color": theme.accent, "width": 2})] * (seam > 0)
    x = axis(theme, _("key"), zeroline=False, range=[-0.5, key_len - 0.5])
    y = axis(theme, _("query"), zeroline=False, range=[query_len - 0.5, -0.5])
    return chart([squares], theme, WHOLE.axes(x, y), lines, height=320, margin=MARGIN)
