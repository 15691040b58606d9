"""The figures of the page "Relative vs absolute": the gap, and the losses themselves, over what was varied."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import plotly.graph_objects as go

from relxl.figures.curves import MARGIN, add_band
from relxl.language import _
from relxl.style import LEGEND, axis, layout, theme_of


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
    theme, figure = theme_of(dark), go.Figure()
    figure.add_hline(0, line={"color": theme.ink, "width": 1.5})
    add_curves(figure, curves, list(range(len(curves))), "%{x}<br><b>%{y:.3f}</b>")
    for row, (name, place) in enumerate(claims.items()):
        figure.add_vline(place, line={"color": theme.faint, "width": 1, "dash": "dash"})
        side = "left" if row else "right"  # of the line: two names never meet
        figure.add_annotation(
            x=np.log10(place), y=1 - 0.08 * row, yref="paper", xanchor=side, yanchor="top", text=name, showarrow=False,
            font={"size": 11, "color": theme.faint}, xshift=3 if row else -3,
        )  # fmt: skip
    finish(figure, curves, title, _("what relative positions gain, nats per character"), dark)
    return figure


def kinds_figure(
    curves: Mapping[str, Curve], x_title: str, y_title: str, trained: float | None = None, dark: bool = False
) -> go.Figure:
    """Draw a measure of each kind of positions over what was varied; `trained` marks the training's own place."""
    theme, figure = theme_of(dark), go.Figure()
    add_curves(figure, curves, list(range(len(curves))), "%{x}<br><b>%{y:.3f}</b>")
    if trained is not None:
        figure.add_vline(trained, line={"color": theme.alarm, "width": 1.5, "dash": "dash"})
        figure.add_annotation(
            x=np.log10(trained), y=1, yref="paper", xanchor="right", yanchor="top", text=_("training"), showarrow=False,
            font={"size": 11, "color": theme.alarm}, xshift=-3,
        )  # fmt: skip
    finish(figure, curves, x_title, y_title, dark)
    return figure


def add_curves(figure: go.Figure, curves: Mapping[str, Curve], places: list[int], hover: str) -> None:
    hover += "<br>%{customdata[0]:.3f} – %{customdata[1]:.3f}<extra>%{fullData.name}</extra>"
    for place, (name, curve) in zip(places, curves.items(), strict=True):
        add_band(figure, curve.x, curve.mean, curve.low, curve.high, place, name, hover)


def finish(figure: go.Figure, curves: Mapping[str, Curve], x_title: str, y_title: str, dark: bool) -> None:
    """Lay a chart out whose x doubles from point to point."""
    theme = theme_of(dark)
    ticks = sorted({float(x) for curve in curves.values() for x in curve.x})
    figure.update_layout(layout(theme, height=330, showlegend=True, legend=LEGEND, margin=MARGIN))
    names, ends = [f"{x:g}" for x in ticks], np.log10(ticks)[[0, -1]] + [-0.06, 0.06] if ticks else None
    figure.update_xaxes(axis(theme, x_title, type="log", tickvals=ticks, ticktext=names, range=ends))
    figure.update_yaxes(axis(theme, y_title))
