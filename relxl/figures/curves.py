"""What the figures with curves share: a curve over its band, losses by step."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, Place, chart, scatter
from relxl.language import _
from relxl.style import CURVES, LEGEND, axis, theme_of, translucent

MARGIN = {"l": 56, "r": 16, "t": 32, "b": 40}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def area(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, place: Place = WHOLE, **given) -> dict:
    """Fill what lies between low and high, all [point]."""
    return scatter(
        place, x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), fill="toself", mode="lines",
        line={"width": 0}, fillcolor=colour, hoverinfo="skip", showlegend=False, **given,
    )  # fmt: skip


def band(
    x: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, place: int, name: str, hover: str
) -> list[dict]:
    """Draw a curve over the band low .. high, all [point]; `place` among the curves gives its colour and mark."""
    colour, symbol = CURVES[place % len(CURVES)], SYMBOLS[place % len(SYMBOLS)]
    x, y, low, high = (np.asarray(values, np.float32) for values in (x, y, low, high))
    curve = scatter(
        x=x, y=y, mode="lines+markers", line={"color": colour, "width": 2}, name=name, legendgroup=name,
        marker={"symbol": symbol, "size": 7}, customdata=np.stack([low, high], axis=1), hovertemplate=hover,
    )  # fmt: skip
    return [area(x, low, high, translucent(colour, 0.16), legendgroup=name), curve]


def losses_figure(losses: Mapping[str, Sequence[float]], dark: bool = False) -> go.Figure:
    """Draw losses by step: name -> [step] nats per token."""
    theme, curves = theme_of(dark), []
    for colour, (name, values) in zip(CURVES, losses.items(), strict=False):
        curve = np.asarray(values, np.float32)
        every = max(len(curve) // 600, 1)
        curves.append(scatter(
            x=np.arange(1, len(curve) + 1)[::every], y=curve[::every], mode="lines", line={"color": colour, "width": 2},
            name=name, hovertemplate=_("step %{x}") + "<br><b>%{y:.3f}</b><extra>%{fullData.name}</extra>",
        ))  # fmt: skip
    axes = WHOLE.axes(axis(theme, _("step")), axis(theme, _("loss, nats per token")))
    return chart(curves, theme, axes, height=300, showlegend=True, legend=LEGEND, margin=MARGIN)
