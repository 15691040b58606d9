"""The curves and bars of the page "Score terms"."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, heatmap, named_lines, panels, scatter
from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.style import LEGEND, Term, axis, theme_of

NO_TITLE = {"l": 48, "r": 16, "t": 12, "b": 40}


def single(values: np.ndarray) -> np.ndarray:
    """Give float32, which plotly takes fastest; what does not fit is infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def strip_figure(
    u_bias: np.ndarray, tokens: list[str], look: Term, dark: bool = False, notes: Sequence[dict] = (), height: int = 220
) -> go.Figure:
    """Draw u_bias [key] as bars under `notes`, and below them as the strip of which the matrix repeats one a row."""
    theme = theme_of(dark)
    u_bias = single(u_bias)
    limit = float(np.abs(u_bias[np.isfinite(u_bias)]).max(initial=0)) or 1.0
    top, strip = panels(2, down=0.02, heights=[0.86, 0.14])
    bars = bar(
        top, y=u_bias, marker={"color": look.colour, "line": {"width": 0}},
        hovertemplate=_("key %{x}") + "<br><b>%{y:.4g}</b><extra></extra>",
    )  # fmt: skip
    row = heatmap(
        strip, z=u_bias[None], colorscale=theme.diverging, zmin=-limit, zmid=0, zmax=limit, showscale=False,
        hovertemplate=_("key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>",
    )  # fmt: skip
    keys = axis(theme, showgrid=False)
    axes = top.axes(keys | {"matches": strip.x, "showticklabels": False}, axis(theme, _("score")))
    axes |= strip.axes(axis(theme, _("key"), showgrid=False, **token_ticks(tokens)), {"visible": False})
    return chart([bars, row], theme, axes, notes=notes, height=height, bargap=0.1, margin=NO_TITLE)


def curve_figure(
    v_bias: np.ndarray, distances: np.ndarray, look: Term, marks: dict[str, int], dark: bool = False,
    more: Sequence[dict] = (), height: int = 220,
) -> go.Figure:  # fmt: skip
    """Draw v_bias [distance] as a curve: what distance alone adds; and `more` traces over it.

    The future, which a causal query never reads, is dotted. `marks` names distances to draw a line at.
    """
    theme = theme_of(dark)
    v_bias = single(v_bias)
    past = distances >= 0
    hover = _("distance %{x}") + "<br><b>%{y:.4g}</b><extra></extra>"
    line = {"color": look.colour, "width": 2}
    dotted = line | {"width": 1, "dash": "dot"}
    future = scatter(x=distances[~past], y=v_bias[~past], mode="lines", line=dotted, hovertemplate=hover)
    seen = scatter(x=distances[past], y=v_bias[past], mode="lines", line=line, hovertemplate=hover)
    title = _("distance to the key, tokens (positive is the past)")
    axes = WHOLE.axes(axis(theme, title), axis(theme, _("score")))
    lines = named_lines(marks, theme.faint)
    return chart([future, seen, *more], theme, axes, **lines, height=height, margin=NO_TITLE)


def dimensions_figure(cell: dict[str, np.ndarray], looks: dict[str, Term], dark: bool = False) -> go.Figure:
    """Draw what each dimension of the head adds to each term of one cell, [d_head] a term, stacked."""
    theme = theme_of(dark)
    bars = [
        bar(
            y=single(contributions), name=f"({looks[name].letter}) {name}", marker={"color": looks[name].colour},
            hovertemplate=_("dimension %{x}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )
        for name, contributions in cell.items()
    ]  # fmt: skip
    axes = WHOLE.axes(axis(theme, _("dimension of the head"), showgrid=False), axis(theme, _("adds to the score")))
    margin = {"l": 48, "r": 16, "t": 48, "b": 40}
    return chart(
        bars, theme, axes, height=260, barmode="relative", showlegend=True, legend=LEGEND, bargap=0.25, margin=margin
    )
