"""The figures of the page "Relative vs absolute": the gap, and the losses themselves, over what was varied."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, chart, hline, note, vline
from relxl.figures.curves import MARGIN, band
from relxl.language import _
from relxl.style import LEGEND, axis, theme_of


class Curve(Protocol):
    """Be a measure over something that was varied, with the range over the seeds; all [point]."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def gap_figure(curves: Mapping[str, Curve], claims: Mapping[str, float], title: str, dark: bool = False) -> go.Figure:
    """Draw what each relative model gains over the absolute one; above the line at 0 the relative one is better.

    `claims` names places that somebody has said something about.
    """
    theme = theme_of(dark)
    lines, names = [hline(0, {"color": theme.ink, "width": 1.5})], []
    for row, (name, place) in enumerate(claims.items()):
        side = "left" if row else "right"  # of the line: two names never meet
        lines.append(vline(place, {"color": theme.faint, "width": 1, "dash": "dash"}))
        names.append(note(
            name, np.log10(place), 1 - 0.08 * row, yref="paper", xanchor=side, yanchor="top",
            font={"size": 11, "color": theme.faint}, xshift=3 if row else -3,
        ))  # fmt: skip
    return doubling(curves, title, _("what relative positions gain, nats per character"), lines, names, dark)


def kinds_figure(
    curves: Mapping[str, Curve], x_title: str, y_title: str, trained: float | None = None, dark: bool = False
) -> go.Figure:
    """Draw a measure of each kind of positions over what was varied; `trained` marks the training's own place."""
    if trained is None:
        return doubling(curves, x_title, y_title, [], [], dark)
    alarm = theme_of(dark).alarm
    line = vline(trained, {"color": alarm, "width": 1.5, "dash": "dash"})
    name = note(
        _("training"), np.log10(trained), 1, yref="paper", xanchor="right", yanchor="top",
        font={"size": 11, "color": alarm}, xshift=-3,
    )  # fmt: skip
    return doubling(curves, x_title, y_title, [line], [name], dark)


def doubling(
    curves: Mapping[str, Curve], x_title: str, y_title: str, lines: list[dict], names: list[dict], dark: bool
) -> go.Figure:
    """Draw curves over their bands where x doubles from point to point, with named lines."""
    theme = theme_of(dark)
    hover = "%{x}<br><b>%{y:.3f}</b><br>%{customdata[0]:.3f} – %{customdata[1]:.3f}<extra>%{fullData.name}</extra>"
    bands = [
        trace
        for place, (name, curve) in enumerate(curves.items())
        for trace in band(curve.x, curve.mean, curve.low, curve.high, place, name, hover)
    ]
    ticks = sorted({float(x) for curve in curves.values() for x in curve.x})
    ends = np.log10(ticks)[[0, -1]] + [-0.06, 0.06] if ticks else None
    x_axis = axis(theme, x_title, type="log", tickvals=ticks, ticktext=[f"{x:g}" for x in ticks], range=ends)
    axes = WHOLE.axes(x_axis, axis(theme, y_title))
    return chart(bands, theme, axes, lines, names, height=330, showlegend=True, legend=LEGEND, margin=MARGIN)
