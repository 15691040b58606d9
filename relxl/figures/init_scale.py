"""The figures of the page "Initialisation"."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, hline, named_lines, note, scatter
from relxl.figures.curves import MARGIN, band
from relxl.figures.ticks import place_ticks
from relxl.language import _
from relxl.style import LEGEND, Term, axis, number, theme_of


def spread_figure(
    measured: Mapping[str, np.ndarray], predicted: Mapping[str, float], looks: Mapping[str, Term], dark: bool = False,
    height: int = 260,
) -> go.Figure:  # fmt: skip
    """Draw the standard deviation of each term: a dot a head, measured [head], and a line for the formula."""
    theme, traces = theme_of(dark), []
    for place, (name, look) in enumerate(looks.items()):
        heads = measured[name].astype(np.float32)
        x = place + np.linspace(-0.18, 0.18, len(heads), dtype=np.float32)
        dots = scatter(
            x=x, y=heads, mode="markers", marker={"color": look.colour, "size": 8}, customdata=np.arange(len(heads)),
            hovertemplate=_("head %{customdata}") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>",
        )  # fmt: skip
        formula = scatter(
            x=[place - 0.3, place + 0.3], y=[predicted[name]] * 2, mode="lines", line={"color": theme.ink, "width": 2},
            hovertemplate=_("formula") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>",
        )  # fmt: skip
        traces += [dots, formula]
    names = [f"({look.letter})<br>{name}" for name, look in looks.items()]
    ticks = {"tickangle": 0, "tickvals": list(range(len(names))), "ticktext": names}
    title = _("standard deviation of the scores")
    axes = WHOLE.axes(
        axis(theme, showgrid=False, zeroline=False, **ticks),
        axis(theme, title, type="log", exponentformat="power", dtick=1),
    )
    return chart(traces, theme, axes, height=height, margin=MARGIN | {"t": 12})


def entropy_figure(entropy: np.ndarray, peaked: float, flat: float, dark: bool = False, height: int = 260) -> go.Figure:
    """Draw the entropy of each head [head], 1 is a plain average of the keys, with the two limits."""
    theme = theme_of(dark)
    colours = [theme.alarm if e < peaked else theme.faint if e > flat else theme.ink for e in entropy]
    hover = "H%{x}<br><b>%{y:.4f}</b><extra></extra>"
    bars = bar(y=entropy.astype(np.float32), marker={"color": colours}, hovertemplate=hover)
    limits = {peaked: _("too peaked below"), flat: _("too flat above")}
    lines = [hline(limit, {"color": theme.faint, "width": 1, "dash": "dash"}) for limit in limits]
    names = [
        note(
            f"{name} {number(limit)}", 0, limit, xref="x domain", xanchor="left", yanchor="bottom",
            bgcolor=theme.halo, font={"size": 11, "color": theme.ink},
        )
        for limit, name in limits.items()
    ]  # fmt: skip
    axes = WHOLE.axes(
        axis(theme, showgrid=False, **place_ticks("H", len(entropy))),
        axis(theme, _("entropy of the attention"), range=[0, 1.08]),
    )
    return chart([bars], theme, axes, lines, names, height=height, bargap=0.35, margin=MARGIN | {"t": 12})


def sweep_figure(
    scales: np.ndarray, curves: Mapping[int, np.ndarray], marks: Mapping[str, float], title: str, dark: bool = False
) -> go.Figure:
    """Draw a measure against the scale, a curve a length: curves are length -> [seed scale], the seeds as a band."""
    theme, bands = theme_of(dark), []
    hover = _("scale %{x:.3g}") + "<br><b>%{y:.3g}</b><extra>%{fullData.name}</extra>"
    for place, (length, values) in enumerate(curves.items()):
        low, middle, high = (reduce(values, axis=0) for reduce in (np.min, np.median, np.max))
        bands += band(scales, middle, low, high, place, _("length {n}").format(n=length), hover)
    axes = WHOLE.axes(
        axis(theme, _("initial scale"), type="log", exponentformat="power"), axis(theme, title, rangemode="tozero")
    )
    lines = named_lines(marks, theme.faint, log=True)
    return chart(bands, theme, axes, **lines, height=260, showlegend=True, legend=LEGEND, margin=MARGIN)
