"""The figures of the page "Doctor": a number per head, per row of a table or per explanation, and the cells found."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.language import _
from relxl.style import axis, layout, plot_text, theme_of, translucent

LONGEST_LABEL = 52
MARGIN = {"l": 56, "r": 16, "t": 12, "b": 44}


def bars_figure(names: Sequence[str], values: np.ndarray, title: str, dark: bool = False) -> go.Figure:
    """Draw a number for each of a few names, one bar below the other, the number at its end."""
    theme, figure = theme_of(dark), go.Figure()
    labels = [plot_text(name, LONGEST_LABEL) for name in names]
    figure.add_bar(
        x=values, y=list(range(len(names))), orientation="h", marker={"color": theme.faint}, text=values,
        texttemplate=" %{x:.3g}", textposition="outside", cliponaxis=False, textfont={"color": theme.ink},
        customdata=labels, hovertemplate="%{customdata}<br><b>%{x:.4g}</b><extra></extra>",
    )  # fmt: skip
    margin = MARGIN | {"r": 64}
    figure.update_layout(layout(theme, height=90 + 30 * len(names), bargap=0.35, margin=margin))
    figure.update_xaxes(axis(theme, title, rangemode="tozero"))
    ticks = {"tickvals": list(range(len(names))), "ticktext": labels, "showgrid": False, "zeroline": False}
    ticks["automargin"] = True
    figure.update_yaxes(axis(theme, **ticks, range=[len(names) - 0.5, -0.5]))
    return figure


def heads_figure(values: np.ndarray, marked: Sequence[int], title: str, dark: bool = False) -> go.Figure:
    """Draw a number for every head of a layer, [head]; those that are marked in the alarm colour, with a cross."""
    theme, figure = theme_of(dark), go.Figure()
    heads = np.arange(len(values))
    colours = [theme.alarm if head in marked else theme.faint for head in heads]
    figure.add_bar(
        x=heads, y=values, marker={"color": colours},
        hovertemplate="H%{x}<br><b>%{y:.4g}</b><extra></extra>",
    )  # fmt: skip
    crossed = [head for head in marked if head < len(values)]
    finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    figure.add_scatter(
        x=crossed, y=finite[crossed] if crossed else [], mode="markers", hoverinfo="skip", cliponaxis=False,
        marker={"symbol": "x-thin", "size": 9, "line": {"color": theme.ink, "width": 2}},
    )  # fmt: skip
    figure.update_layout(layout(theme, height=240, bargap=0.4, margin=MARGIN))
    labels = {"tickvals": heads, "ticktext": [f"H{head}" for head in heads]} if len(heads) <= 32 else {}
    figure.update_xaxes(axis(theme, _("head"), showgrid=False, zeroline=False, **labels))
    figure.update_yaxes(axis(theme, title, rangemode="tozero"))
    return figure


def rows_figure(
    distances: np.ndarray, sizes: np.ndarray, marked: tuple[int, int] | None, title: str, dark: bool = False
) -> go.Figure:
    """Draw the size of every row of a table over its distance; the band is what the finding is about."""
    theme, figure = theme_of(dark), go.Figure()
    figure.add_scatter(
        x=distances, y=sizes, mode="lines", line={"color": theme.ink, "width": 1.5},
        hovertemplate=_("distance %{x}") + "<br><b>%{y:.4g}</b><extra></extra>",
    )  # fmt: skip
    if marked is not None:
        band = {"fillcolor": translucent(theme.alarm, 0.18), "line": {"width": 0}}
        figure.add_vrect(marked[0] - 0.5, marked[1] + 0.5, **band)
        figure.add_annotation(
            x=(marked[0] + marked[1]) / 2, y=1, yref="paper", yanchor="top", text=_("found here"), showarrow=False,
            font={"size": 12, "color": theme.alarm},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=260, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("distance, tokens"), zeroline=False))
    figure.update_yaxes(axis(theme, title, rangemode="tozero"))
    return figure


def numbers_figure(cells: np.ndarray, shape: tuple[int, int], dark: bool = False) -> go.Figure:
    """Mark numbers (row, column), [number 2], on the extent of a matrix of weights."""
    theme, figure = theme_of(dark), go.Figure()
    figure.add_scatter(
        x=cells[:, 1], y=cells[:, 0], mode="markers", marker={"symbol": "x-thin", "size": 9, "line": {
            "color": theme.alarm, "width": 2.5}},
        hovertemplate=_("row %{y}, column %{x}") + "<extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=220, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("column"), zeroline=False), range=[-0.5, shape[1] - 0.5])
    figure.update_yaxes(axis(theme, _("row"), zeroline=False), range=[shape[0] - 0.5, -0.5])
    return figure


def cells_figure(cells: np.ndarray, shape: tuple[int, int], dark: bool = False) -> go.Figure:
    """Mark cells (query, key), [cell 2], on the matrix of all queries and keys, whose seam is a line."""
    theme, figure = theme_of(dark), go.Figure()
    query_len, key_len = shape
    figure.add_scatter(
        x=cells[:, 1], y=cells[:, 0], mode="markers",
        marker={"symbol": "square", "size": 8, "color": theme.alarm},
        hovertemplate=_("query %{y}, key %{x}") + "<extra></extra>",
    )  # fmt: skip
    seam = key_len - query_len
    edge = {"color": theme.faint, "width": 1, "dash": "dot"}
    figure.add_shape(type="line", x0=seam, y0=0, x1=key_len - 1, y1=query_len - 1, line=edge)
    if seam > 0:
        figure.add_vline(seam - 0.5, line={"color": theme.accent, "width": 2})
    figure.update_layout(layout(theme, height=320, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("key"), zeroline=False), range=[-0.5, key_len - 0.5])
    figure.update_yaxes(axis(theme, _("query"), zeroline=False), range=[query_len - 0.5, -0.5])
    return figure
