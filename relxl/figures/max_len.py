"""The figures of the page "Max len": the rows of a table, and losses beyond the training length."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.curves import add_band
from relxl.figures.score_terms import curve_figure
from relxl.language import _
from relxl.style import CURVES, LEGEND, Term, axis, layout, theme_of

MARGIN = {"l": 56, "r": 16, "t": 40, "b": 44}


class Series(NamedTuple):
    """Hold a curve with its standard error; [point]."""

    x: np.ndarray
    y: np.ndarray
    error: np.ndarray  # NaN where nobody knows it


def wall_figure(
    v_bias: np.ndarray,
    distances: np.ndarray,
    look: Term,
    wall: int | None,
    marks: dict[str, int],
    dark: bool = False,
    both: bool = False,
) -> go.Figure:
    """Draw v_bias [distance] as it is, and in the ink what a wall makes of it: flat beyond, on `both` sides or one."""
    figure = curve_figure(v_bias, distances, look, marks, dark)
    for side in () if wall is None else (1, -1) if both else (1,):
        beyond, at = distances * side >= wall, distances * side == wall
        flat = np.full(int(beyond.sum()), v_bias[at][0] if at.any() else np.nan)
        figure.add_scatter(
            x=distances[beyond], y=flat.astype(np.float32), mode="lines",
            line={"color": theme_of(dark).alarm, "width": 2.5},
            hovertemplate=_("distance %{x}, beyond the wall") + "<br><b>%{y:.4g}</b><extra></extra>",
        )  # fmt: skip
    return figure


def rows_figure(
    distance: np.ndarray,
    size: np.ndarray,
    spread: float | None,
    counts: np.ndarray | None,
    read: np.ndarray,
    marks: Mapping[str, int],
    dark: bool = False,
) -> go.Figure:
    """Draw the rows of a table over their distance: size, steps with a gradient, cells of this text; all [row].

    The band round size 1 is where a row lies that was drawn and never trained, two `spread` wide on either side; how
    the rows were drawn may not be known.
    """
    theme = theme_of(dark)
    titles = [
        _("size of the row, 1 is the mean") if spread is None else _("size of the row, 1 is as it was drawn"),
        _("training steps that gave it a gradient"),
        _("cells of this picture that read it"),
    ]
    shown = [(size, theme.ink), (counts, CURVES[0]), (read, CURVES[1])]
    shown = [(title, *values) for title, values in zip(titles, shown, strict=True) if values[0] is not None]
    figure = make_subplots(
        len(shown), 1, shared_xaxes=True, vertical_spacing=0.11, row_heights=[2, 1, 1][: len(shown)],
        subplot_titles=[title for title, _values, _colour in shown],
    )  # fmt: skip
    figure.update_annotations(x=0, xanchor="left", font={"size": 12, "color": theme.faint})
    for row, (title, values, colour) in enumerate(shown, 1):
        fill = {"fill": "tozeroy"} if row > 1 else {}
        hover = _("distance %{x}") + "<br><b>%{y:.4g}</b><extra>" + title + "</extra>"
        figure.add_scatter(
            x=distance, y=values.astype(np.float32), mode="lines", line={"color": colour, "width": 1.5, "shape": "hvh"},
            hovertemplate=hover, row=row, col=1, **fill,
        )  # fmt: skip
        figure.update_yaxes(axis(theme, rangemode="tozero", nticks=4), row=row, col=1)
    figure.update_yaxes(type="log", tickvals=[0.5, 1, 2, 5, 10, 20, 50], row=1, col=1)
    if spread is not None:
        low, high = max(1 - 2 * spread, 0.05), 1 + 2 * spread
        figure.add_hrect(low, high, fillcolor=CURVES[4], opacity=0.3, line_width=0, layer="below", row=1, col=1)
        figure.add_annotation(
            x=1, xref="x domain", y=np.log10(high), xanchor="right", yanchor="bottom",
            text=_("as drawn, never trained"), showarrow=False, font={"size": 11, "color": theme.faint}, row=1, col=1,
        )  # fmt: skip
    for name, place in marks.items():
        figure.add_vline(place, line={"color": theme.alarm, "width": 1.5, "dash": "dash"})
        figure.add_annotation(
            x=place, y=1, yref="paper", xanchor="right", yanchor="bottom", text=name, showarrow=False,
            font={"size": 11, "color": theme.alarm},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=420, margin=MARGIN | {"t": 28}))
    figure.update_xaxes(axis(theme))
    title = _("distance of the row, tokens (positive is the past)")
    figure.update_xaxes(axis(theme, title), row=len(shown), col=1)
    return figure


def length_figure(curves: Mapping[str, Series], trained: int | None, dark: bool = False) -> go.Figure:
    """Draw the loss against the segment's length, a curve a way of reading; the band is two standard errors."""
    theme, figure = theme_of(dark), go.Figure()
    add_curves(figure, curves, _("segment %{x}"))
    if trained is not None:
        add_mark(figure, trained, _("training"), dark, np.log10(trained))
    ticks = sorted({int(x) for curve in curves.values() for x in curve.x})
    figure.update_layout(layout(theme, height=320, showlegend=True, legend=LEGEND, margin=MARGIN))
    title = _("length of the segment, tokens")
    figure.update_xaxes(axis(theme, title, type="log", tickvals=ticks, ticktext=[str(n) for n in ticks]))
    figure.update_yaxes(axis(theme, _("loss, nats per character")))
    return figure


def position_figure(curves: Mapping[str, Series], trained: int | None, dark: bool = False) -> go.Figure:
    """Draw the loss against the position in the segment; the band is two standard errors."""
    theme, figure = theme_of(dark), go.Figure()
    add_curves(figure, curves, _("position %{x}"))
    if trained is not None:
        add_mark(figure, trained, _("training"), dark, trained)
    figure.update_layout(layout(theme, height=320, showlegend=True, legend=LEGEND, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("position in the segment, tokens"), rangemode="tozero"))
    figure.update_yaxes(axis(theme, _("loss, nats per character")))
    return figure


def add_curves(figure: go.Figure, curves: Mapping[str, Series], where: str) -> None:
    """Add each curve over its band: two standard errors on either side, nothing where they are not known."""
    hover = where + "<br><b>%{y:.3f}</b>, %{customdata[0]:.3f} – %{customdata[1]:.3f}<extra>%{fullData.name}</extra>"
    for place, (name, curve) in enumerate(curves.items()):
        error = 2 * np.nan_to_num(curve.error)
        add_band(figure, curve.x, curve.y, curve.y - error, curve.y + error, place, name, hover)


def add_mark(figure: go.Figure, place: float, name: str, dark: bool, at: float) -> None:
    theme = theme_of(dark)
    figure.add_vline(
        place, line={"color": theme.alarm, "width": 1.5, "dash": "dash"},
        annotation={"text": name, "font": {"size": 11, "color": theme.alarm}, "x": at},
    )  # fmt: skip
