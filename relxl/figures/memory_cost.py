"""The figures of the page "Memory" about cost: how many times a recomputed window costs what memory does."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, chart, scatter
from relxl.figures.curves import SYMBOLS
from relxl.figures.shift import decades
from relxl.language import _
from relxl.style import CURVES, LEGEND, axis, number, theme_of

MARGIN = {"l": 60, "r": 16, "t": 40, "b": 44}


class Ratios(NamedTuple):
    """Hold a curve: how many times the cost, at each context in tokens."""

    contexts: Sequence[int]
    times: Sequence[float]


def speedup_figure(
    measured: Mapping[str, Ratios],
    counted: Ratios,
    strided: Ratios,
    stride: int,
    paper: Ratios,
    dark: bool = False,
) -> go.Figure:
    """Draw what a window costs that is recomputed for every token, in units of memory's cost, both axes logarithmic.

    A curve a checkpoint; dashed what counting multiplications gives, dotted a window for every `stride` tokens, and
    the points of the paper's own measurement.
    """
    theme = theme_of(dark)
    hover = _("context %{x}") + "<br><b>" + _("%{y:,.3~r} times") + "</b><extra>%{fullData.name}</extra>"
    curves = [
        scatter(
            x=curve.contexts, y=curve.times, mode="lines+markers", name=name, hovertemplate=hover,
            line={"color": CURVES[place % len(CURVES)], "width": 2},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 8},
        )
        for place, (name, curve) in enumerate(measured.items())
    ]  # fmt: skip
    dot, star = ({"color": theme.faint, "size": 6}, {"color": theme.faint, "symbol": "star", "size": 10})
    others = [
        (_("counted in multiplications"), counted, "lines", {"dash": "dash", "color": theme.ink, "width": 1.5}, dot),
        (_("a window every {n} tokens").format(n=stride), strided, "lines+markers", {"dash": "dot", "width": 2}, dot),
        (_("the paper, on one GPU"), paper, "markers", {}, star),
    ]
    curves += [
        scatter(
            x=curve.contexts, y=curve.times, mode=mode, name=name, hovertemplate=hover,
            line={"color": theme.faint} | line, marker=marker,
        )
        for name, curve, mode, line, marker in others
    ]  # fmt: skip
    ticks = sorted({context for curve in measured.values() for context in curve.contexts})
    ticks = {"tickvals": ticks, "ticktext": [f"{context:,}" for context in ticks]}
    values = {str(place): curve.times for place, curve in enumerate([*measured.values(), counted, strided])}
    axes = WHOLE.axes(
        axis(theme, _("context, tokens"), type="log", **ticks),
        axis(theme, _("times the cost with memory"), type="log", **decades(values)),
    )
    return chart(curves, theme, axes, height=360, showlegend=True, legend=LEGEND, margin=MARGIN)


def ways_figure(ms: Mapping[str, float], dark: bool = False) -> go.Figure:
    """Draw the time of an evaluated token for each way, a dot a way on a logarithmic axis; milliseconds."""
    theme = theme_of(dark)
    dots = scatter(
        x=list(ms.values()), y=list(ms), mode="markers+text", cliponaxis=False,
        text=[f"{number(value)} ms" for value in ms.values()], textposition="middle right",
        marker={"size": 12, "color": [CURVES[0], *[theme.faint] * (len(ms) - 1)]},
        hovertemplate="%{y}<br><b>%{x:.3~r} ms</b><extra></extra>",
    )  # fmt: skip
    axes = WHOLE.axes(
        axis(theme, _("time of an evaluated token, ms"), type="log", **decades({"ms": [*ms.values()]})),
        axis(theme, autorange="reversed"),
    )
    return chart([dots], theme, axes, height=170, margin={"l": 190, "r": 70, "t": 8, "b": 44})
