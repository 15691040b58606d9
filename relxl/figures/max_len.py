"""The figures of the page "Max len": the rows of a table, and losses beyond the training length."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, chart, hband, heading, named_lines, note, panels, scatter, vline
from relxl.figures.curves import band
from relxl.figures.score_terms import curve_figure
from relxl.language import _
from relxl.style import CURVES, LEGEND, Term, Theme, axis, theme_of

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
    height: int = 220,
) -> go.Figure:
    """Draw v_bias [distance] as it is, and in the ink what a wall makes of it: flat beyond, on `both` sides or one."""
    flats = []
    for side in () if wall is None else (1, -1) if both else (1,):
        beyond, at = distances * side >= wall, distances * side == wall
        flat = np.full(int(beyond.sum()), v_bias[at][0] if at.any() else np.nan)
        flats.append(scatter(
            x=distances[beyond], y=flat.astype(np.float32), mode="lines",
            line={"color": theme_of(dark).alarm, "width": 2.5},
            hovertemplate=_("distance %{x}, beyond the wall") + "<br><b>%{y:.4g}</b><extra></extra>",
        ))  # fmt: skip
    return curve_figure(v_bias, distances, look, marks, dark, flats, height)


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
    places = panels(len(shown), down=0.11, heights=[2, 1, 1][: len(shown)])
    top, foot = places[0], places[-1]
    traces, notes, axes = [], [], {}
    for place, (title, values, colour) in zip(places, shown, strict=True):
        traces.append(scatter(
            place, x=distance, y=values.astype(np.float32), mode="lines", fill="none" if place == top else "tozeroy",
            line={"color": colour, "width": 1.5, "shape": "hvh"},
            hovertemplate=_("distance %{x}") + "<br><b>%{y:.4g}</b><extra>" + title + "</extra>",
        ))  # fmt: skip
        notes.append(heading(title, place, font={"size": 12, "color": theme.faint}))
        like_foot = {} if place == foot else {"matches": foot.x, "showticklabels": False}
        scale = {"type": "log", "tickvals": [0.5, 1, 2, 5, 10, 20, 50]} if place == top else {}
        name = _("distance of the row, tokens (positive is the past)") if place == foot else ""
        axes |= place.axes(axis(theme, name, **like_foot), axis(theme, rangemode="tozero", nticks=4, **scale))
    shapes = []
    if spread is not None:
        low, high = max(1 - 2 * spread, 0.05), 1 + 2 * spread
        shapes.append(hband(low, high, CURVES[4], 0.3, top))
        notes.append(note(
            _("as drawn, never trained"), 1, np.log10(high), top, xref="x domain", xanchor="right", yanchor="bottom",
            font={"size": 11, "color": theme.faint},
        ))  # fmt: skip
    for name, at in marks.items():
        shapes += [vline(at, {"color": theme.alarm, "width": 1.5, "dash": "dash"}, place) for place in places]
        font = {"size": 11, "color": theme.alarm}
        notes.append(note(name, at, 1, yref="paper", xanchor="right", yanchor="bottom", font=font))
    return chart(traces, theme, axes, shapes, notes, height=420, margin=MARGIN | {"t": 28})


def length_figure(curves: Mapping[str, Series], trained: int | None, dark: bool = False) -> go.Figure:
    """Draw the loss against the segment's length, a curve a way of reading; the band is two standard errors."""
    theme, traces = theme_of(dark), bands(curves, _("segment %{x}"))
    ticks = sorted({int(x) for curve in curves.values() for x in curve.x})
    x_axis = axis(
        theme, _("length of the segment, tokens"), type="log", tickvals=ticks, ticktext=[str(n) for n in ticks]
    )
    axes = WHOLE.axes(x_axis, axis(theme, _("loss, nats per character")))
    mark = training_mark(trained, True, theme)
    return chart(traces, theme, axes, **mark, height=320, showlegend=True, legend=LEGEND, margin=MARGIN)


def position_figure(
    curves: Mapping[str, Series], trained: int | None, dark: bool = False, title: str | None = None
) -> go.Figure:
    """Draw the loss against the position in the segment; the band is two standard errors."""
    theme, traces = theme_of(dark), bands(curves, _("position %{x}"))
    axes = WHOLE.axes(
        axis(theme, _("position in the segment, tokens"), rangemode="tozero"),
        axis(theme, title or _("loss, nats per character")),
    )
    mark = training_mark(trained, False, theme)
    return chart(traces, theme, axes, **mark, height=320, showlegend=True, legend=LEGEND, margin=MARGIN)


def bands(curves: Mapping[str, Series], where: str) -> list[dict]:
    """Draw each curve over its band: two standard errors on either side, nothing where they are not known."""
    hover = where + "<br><b>%{y:.3f}</b>, %{customdata[0]:.3f} – %{customdata[1]:.3f}<extra>%{fullData.name}</extra>"
    traces = []
    for place, (name, curve) in enumerate(curves.items()):
        error = 2 * np.nan_to_num(curve.error)
        traces += band(curve.x, curve.y, curve.y - error, curve.y + error, place, name, hover)
    return traces


def training_mark(trained: int | None, log: bool, theme: Theme) -> dict:
    """Give the line, and its name, at the length of training, where that is known."""
    return {} if trained is None else named_lines({_("training"): trained}, theme.alarm, log, 1.5)
