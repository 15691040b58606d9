"""The curves of the page "Masking"."""

import numpy as np
import plotly.graph_objects as go

from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.style import LEGEND, axis, layout, theme_of

SMALLEST = 1e-9  # a leak below this stands at the foot of a log axis
MARGIN = {"l": 56, "r": 16, "t": 16, "b": 40}


def leak_figure(leak: np.ndarray, tokens: list[str], dark: bool = False) -> go.Figure:
    """Draw the probability that each query [query] gives to keys that it must not see."""
    theme = theme_of(dark)
    hover = _("query %{x}") + "<br><b>%{y:.3g}</b><extra></extra>"
    figure = go.Figure()
    figure.add_bar(y=leak.astype(np.float32), marker={"color": theme.alarm, "line": {"width": 0}}, hovertemplate=hover)
    figure.update_layout(layout(theme, height=260, bargap=0.1, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("query"), showgrid=False), **token_ticks(tokens))
    top = float(np.nanmax(leak, initial=0)) or 1.0
    figure.update_yaxes(axis(theme, _("probability on forbidden keys"), range=[0, top * 1.05]))
    return figure


def frontier_figure(
    fills: np.ndarray, leaks: dict[str, np.ndarray], head: int, marks: dict[str, float], dark: bool = False
) -> go.Figure:
    """Draw the leak of every head against the fill.

    fills [fill] are negative, leaks a name -> [head fill]; `head` stands out, and `marks` says for each name at which
    fill that head becomes safe.
    """
    theme = theme_of(dark)
    figure = go.Figure()
    depth = -fills
    for name, curves in leaks.items():
        dash = "solid" if name == next(iter(leaks)) else "dash"
        shown = np.maximum(curves, SMALLEST).astype(np.float32)
        for other, curve in enumerate(shown):
            if other != head:
                figure.add_scatter(
                    x=depth, y=curve, mode="lines", line={"color": theme.grid, "width": 1, "dash": dash},
                    hoverinfo="skip", showlegend=False,
                )  # fmt: skip
        hover = _("fill −%{x:.3g}") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>"
        line = {"color": theme.ink, "width": 2, "dash": dash}
        figure.add_scatter(x=depth, y=shown[head], mode="lines", line=line, name=name, hovertemplate=hover)
        if marks[name] < 0:
            figure.add_scatter(
                x=[-marks[name]], y=[1e-6], mode="markers", marker={"color": theme.alarm, "size": 9},
                hovertemplate=_("safe below −%{x:.3g}") + "<extra>" + name + "</extra>", showlegend=False,
            )  # fmt: skip
    figure.update_layout(layout(theme, height=260, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 32}))
    figure.update_xaxes(axis(theme, _("−fill (the mask is deeper to the right)"), type="log"))
    ticks = {"tickvals": [1, 1e-2, 1e-4, 1e-6, 1e-8], "ticktext": ["1", "1e-2", "1e-4", "1e-6", "1e-8"]}
    figure.update_yaxes(axis(theme, _("leaked probability, mean"), type="log", range=[-9, 0.2], **ticks))
    return figure


def training_figure(
    steps: np.ndarray, train: np.ndarray, validation_steps: list[int], validation: list[float], dark: bool = False
) -> go.Figure:
    """Draw a recorded training with a leaking mask: its own loss, and the loss under the right mask."""
    theme = theme_of(dark)
    hover = _("step %{x}") + "<br><b>%{y:.3f}</b><extra>%{fullData.name}</extra>"
    figure = go.Figure()
    figure.add_scatter(
        x=steps, y=train.astype(np.float32), mode="lines", line={"color": theme.alarm, "width": 2},
        name=_("training, with the leak"), hovertemplate=hover,
    )  # fmt: skip
    figure.add_scatter(
        x=validation_steps, y=validation, mode="lines+markers", line={"color": theme.ink, "width": 2},
        name=_("validation, under the right mask"), hovertemplate=hover,
    )  # fmt: skip
    figure.update_layout(layout(theme, height=260, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 32}))
    figure.update_xaxes(axis(theme, _("step")))
    figure.update_yaxes(axis(theme, _("loss, nats per token"), rangemode="tozero"))
    return figure
