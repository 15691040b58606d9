"""The figures of the page "Initialisation"."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from relxl.figures.curves import MARGIN, add_band
from relxl.language import _
from relxl.style import LEGEND, Term, axis, layout, number, theme_of


def spread_figure(
    measured: Mapping[str, np.ndarray], predicted: Mapping[str, float], looks: Mapping[str, Term], dark: bool = False
) -> go.Figure:
    """Draw the standard deviation of each term: a dot a head, measured [head], and a line for the formula."""
    theme = theme_of(dark)
    figure = go.Figure()
    for place, (name, look) in enumerate(looks.items()):
        heads = measured[name].astype(np.float32)
        x = place + np.linspace(-0.18, 0.18, len(heads), dtype=np.float32)
        figure.add_scatter(
            x=x, y=heads, mode="markers", marker={"color": look.colour, "size": 8}, customdata=np.arange(len(heads)),
            hovertemplate=_("head %{customdata}") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[place - 0.3, place + 0.3], y=[predicted[name]] * 2, mode="lines", line={"color": theme.ink, "width": 2},
            hovertemplate=_("formula") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(layout(theme, height=260, margin=MARGIN | {"t": 12}))
    names = [f"({look.letter})<br>{name}" for name, look in looks.items()]
    figure.update_xaxes(
        axis(theme, showgrid=False, zeroline=False, tickangle=0, tickvals=list(range(len(names))), ticktext=names)
    )
    figure.update_yaxes(axis(theme, _("standard deviation of the scores"), type="log", exponentformat="power", dtick=1))
    return figure


def entropy_figure(entropy: np.ndarray, peaked: float, flat: float, dark: bool = False) -> go.Figure:
    """Draw the entropy of each head [head], 1 is a plain average of the keys, with the two limits."""
    theme = theme_of(dark)
    colours = [theme.alarm if e < peaked else theme.faint if e > flat else theme.ink for e in entropy]
    figure = go.Figure()
    figure.add_bar(
        y=entropy.astype(np.float32), marker={"color": colours}, hovertemplate="H%{x}<br><b>%{y:.4f}</b><extra></extra>"
    )
    for limit, name in ((peaked, _("too peaked below")), (flat, _("too flat above"))):
        figure.add_hline(
            limit, line={"color": theme.faint, "width": 1, "dash": "dash"},
            annotation={"text": f"{name} {number(limit)}", "font": {"size": 11, "color": theme.ink}},
            annotation_bgcolor=theme.halo, annotation_x=0, annotation_xanchor="left", annotation_yanchor="bottom",
        )  # fmt: skip
    figure.update_layout(layout(theme, height=260, bargap=0.35, margin=MARGIN | {"t": 12}))
    heads = list(range(len(entropy)))
    figure.update_xaxes(axis(theme, showgrid=False, tickvals=heads, ticktext=[f"H{head}" for head in heads]))
    figure.update_yaxes(axis(theme, _("entropy of the attention"), range=[0, 1.08]))
    return figure


def sweep_figure(
    scales: np.ndarray, curves: Mapping[int, np.ndarray], marks: Mapping[str, float], title: str, dark: bool = False
) -> go.Figure:
    """Draw a measure against the scale, a curve a length: curves are length -> [seed scale], the seeds as a band."""
    theme = theme_of(dark)
    figure = go.Figure()
    for place, (length, values) in enumerate(curves.items()):
        low, middle, high = (reduce(values, axis=0) for reduce in (np.min, np.median, np.max))
        hover = _("scale %{x:.3g}") + "<br><b>%{y:.3g}</b><extra>%{fullData.name}</extra>"
        add_band(figure, scales, middle, low, high, place, _("length {n}").format(n=length), hover)
    for name, scale in marks.items():
        figure.add_vline(
            scale, line={"color": theme.faint, "width": 1, "dash": "dash"},
            annotation={"text": name, "font": {"size": 11, "color": theme.faint}, "x": np.log10(scale)},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=260, showlegend=True, legend=LEGEND, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("initial scale"), type="log", exponentformat="power"))
    figure.update_yaxes(axis(theme, title, rangemode="tozero"))
    return figure
