"""Figures of the term mixer: what muting costs, and who makes a row's attention."""

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart
from relxl.language import _
from relxl.style import LEGEND, Term, axis, theme_of


def ablation_figure(changes: dict[str, np.ndarray], looks: dict[str, Term], dark: bool) -> go.Figure:
    """Draw the change of the loss when a term of a head is muted: one bar a head and term, changes are [layer head]."""
    theme = theme_of(dark)
    n_layer, n_head = next(iter(changes.values())).shape
    names = [f"L{layer}H{head}" for layer in range(n_layer) for head in range(n_head)]
    bars = [
        bar(
            x=np.arange(len(names)), y=values.ravel().astype(np.float32), name=f"({looks[name].letter}) {name}",
            marker={"color": looks[name].colour, "line": {"width": 0}}, customdata=names,
            hovertemplate="%{customdata}<br><b>%{y:+.4f}</b> nats<extra></extra>",
        )
        for name, values in changes.items()
    ]  # fmt: skip
    step = max(len(names) // 32, 1)
    ticks = {"tickvals": list(range(0, len(names), step)), "ticktext": names[::step], "tickangle": -60}
    axes = WHOLE.axes(axis(theme, **ticks), axis(theme, _("change of the loss, nats per token")))
    return chart(bars, theme, axes, height=280, barmode="group", showlegend=True, legend=LEGEND)


def shapley_figure(
    shapley: dict[str, float], covariance: dict[str, float], looks: dict[str, Term], dark: bool
) -> go.Figure:
    """Draw each term's share of a row two ways: Shapley (solid) and covariance (hatched), of the whole each."""
    theme = theme_of(dark)
    whole = sum(shapley.values())
    names = [f"({look.letter}) {name}" for name, look in looks.items()]
    colours = [look.colour for look in looks.values()]
    rows = {
        _("Shapley, of the focus"): ([shapley[name] / whole if whole else np.nan for name in looks], ""),
        _("covariance, of the scores"): ([covariance[name] for name in looks], "/"),
    }
    bars = [
        bar(
            x=np.array(values, np.float32) * 100, y=names, orientation="h", name=title,
            marker={"color": colours, "pattern": {"shape": shape}, "line": {"width": 0}},
            hovertemplate="%{y}<br><b>%{x:.1f} %</b><extra></extra>",
        )
        for title, (values, shape) in rows.items()
    ]  # fmt: skip
    axes = WHOLE.axes(axis(theme, _("share of the row, %")), axis(theme, autorange="reversed"))
    margin = {"l": 150, "r": 16, "t": 32, "b": 40}
    return chart(bars, theme, axes, height=230, barmode="group", showlegend=True, legend=LEGEND, margin=margin)
