"""The curves and bars of the page "Score terms"."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.style import LEGEND, Term, axis, layout, theme_of

NO_TITLE = {"l": 48, "r": 16, "t": 12, "b": 40}


def single(values: np.ndarray) -> np.ndarray:
    """Give float32, which plotly takes fastest; what does not fit is infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def strip_figure(u_bias: np.ndarray, tokens: list[str], look: Term, dark: bool = False) -> go.Figure:
    """Draw u_bias [key] as bars, and below them as the strip of which the matrix repeats one a row."""
    theme = theme_of(dark)
    u_bias = single(u_bias)
    limit = float(np.abs(u_bias[np.isfinite(u_bias)]).max(initial=0)) or 1.0
    hover = _("key %{x}") + "<br><b>%{y:.4g}</b><extra></extra>"
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.86, 0.14], vertical_spacing=0.02)
    figure.add_bar(y=u_bias, marker={"color": look.colour, "line": {"width": 0}}, hovertemplate=hover, row=1, col=1)
    figure.add_heatmap(
        z=u_bias[None], colorscale=theme.diverging, zmin=-limit, zmid=0, zmax=limit, showscale=False, row=2, col=1,
        hovertemplate=_("key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=220, bargap=0.1, margin=NO_TITLE))
    figure.update_xaxes(axis(theme, showgrid=False))
    figure.update_xaxes(title_text=_("key"), row=2, **token_ticks(tokens))
    figure.update_yaxes(axis(theme, _("score")), row=1)
    figure.update_yaxes(visible=False, row=2)
    return figure


def curve_figure(
    v_bias: np.ndarray, distances: np.ndarray, look: Term, marks: dict[str, int], dark: bool = False
) -> go.Figure:
    """Draw v_bias [distance] as a curve: what distance alone adds.

    The future, which a causal query never reads, is dotted. `marks` names distances to draw a line at.
    """
    theme = theme_of(dark)
    v_bias = single(v_bias)
    past = distances >= 0
    hover = _("distance %{x}") + "<br><b>%{y:.4g}</b><extra></extra>"
    line = {"color": look.colour, "width": 2}
    figure = go.Figure()
    figure.add_scatter(
        x=distances[~past], y=v_bias[~past], mode="lines", line={**line, "width": 1, "dash": "dot"}, hovertemplate=hover
    )
    figure.add_scatter(x=distances[past], y=v_bias[past], mode="lines", line=line, hovertemplate=hover)
    for name, distance in marks.items():
        figure.add_vline(
            distance, line={"color": theme.faint, "width": 1, "dash": "dash"},
            annotation={"text": name, "font": {"size": 11, "color": theme.faint}},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=220, margin=NO_TITLE))
    figure.update_xaxes(axis(theme, _("distance to the key, tokens (positive is the past)")))
    figure.update_yaxes(axis(theme, _("score")))
    return figure


def dimensions_figure(cell: dict[str, np.ndarray], looks: dict[str, Term], dark: bool = False) -> go.Figure:
    """Draw what each dimension of the head adds to each term of one cell, [d_head] a term, stacked."""
    theme = theme_of(dark)
    figure = go.Figure()
    for name, contributions in cell.items():
        figure.add_bar(
            y=single(contributions), name=f"({looks[name].letter}) {name}", marker_color=looks[name].colour,
            hovertemplate=_("dimension %{x}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        layout(
            theme,
            height=260,
            barmode="relative",
            showlegend=True,
            bargap=0.25,
            margin={"l": 48, "r": 16, "t": 48, "b": 40},
        ),
        legend=LEGEND,
    )
    figure.update_xaxes(axis(theme, _("dimension of the head"), showgrid=False))
    figure.update_yaxes(axis(theme, _("adds to the score")))
    return figure
