"""The curves of the page "Masking"."""

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, scatter
from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.style import LEGEND, axis, theme_of

SMALLEST = 1e-9  # a leak below this stands at the foot of a log axis
MARGIN = {"l": 56, "r": 16, "t": 16, "b": 40}


def leak_figure(leak: np.ndarray, tokens: list[str], dark: bool = False) -> go.Figure:
    """Draw the probability that each query [query] gives to keys that it must not see."""
    theme = theme_of(dark)
    hover = _("query %{x}") + "<br><b>%{y:.3g}</b><extra></extra>"
    bars = bar(y=leak.astype(np.float32), marker={"color": theme.alarm, "line": {"width": 0}}, hovertemplate=hover)
    top = float(np.nanmax(leak, initial=0)) or 1.0
    axes = WHOLE.axes(
        axis(theme, _("query"), showgrid=False, **token_ticks(tokens)),
        axis(theme, _("probability on forbidden keys"), range=[0, top * 1.05]),
    )
    return chart([bars], theme, axes, height=260, bargap=0.1, margin=MARGIN)


def frontier_figure(
    fills: np.ndarray, leaks: dict[str, np.ndarray], head: int, marks: dict[str, float], dark: bool = False,
    height: int = 260,
) -> go.Figure:  # fmt: skip
    """Draw the leak of every head against the fill.

    fills [fill] are negative, leaks a name -> [head fill]; `head` stands out, and `marks` says for each name at which
    fill that head becomes safe.
    """
    theme, depth, curves = theme_of(dark), -fills, []
    for name, leak in leaks.items():
        dash = "solid" if name == next(iter(leaks)) else "dash"
        shown = np.maximum(leak, SMALLEST).astype(np.float32)
        thin, bold = ({"color": theme.grid, "width": 1, "dash": dash}, {"color": theme.ink, "width": 2, "dash": dash})
        curves += [
            scatter(x=depth, y=curve, mode="lines", line=thin, hoverinfo="skip", showlegend=False)
            for other, curve in enumerate(shown)
            if other != head
        ]
        hover = _("fill −%{x:.3g}") + "<br><b>%{y:.3g}</b><extra>" + name + "</extra>"
        curves.append(scatter(x=depth, y=shown[head], mode="lines", line=bold, name=name, hovertemplate=hover))
        if marks[name] < 0:
            curves.append(scatter(
                x=[-marks[name]], y=[1e-6], mode="markers", marker={"color": theme.alarm, "size": 9},
                hovertemplate=_("safe below −%{x:.3g}") + "<extra>" + name + "</extra>", showlegend=False,
            ))  # fmt: skip
    ticks = {"tickvals": [1, 1e-2, 1e-4, 1e-6, 1e-8], "ticktext": ["1", "1e-2", "1e-4", "1e-6", "1e-8"]}
    axes = WHOLE.axes(
        axis(theme, _("−fill (the mask is deeper to the right)"), type="log"),
        axis(theme, _("leaked probability, mean"), type="log", range=[-9, 0.2], **ticks),
    )
    return chart(curves, theme, axes, height=height, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 32})


def training_figure(
    steps: np.ndarray, train: np.ndarray, validation_steps: list[int], validation: list[float], dark: bool = False,
    height: int = 260,
) -> go.Figure:  # fmt: skip
    """Draw a recorded training with a leaking mask: its own loss, and the loss under the right mask."""
    theme = theme_of(dark)
    hover = _("step %{x}") + "<br><b>%{y:.3f}</b><extra>%{fullData.name}</extra>"
    curves = [
        scatter(
            x=steps, y=train.astype(np.float32), mode="lines", line={"color": theme.alarm, "width": 2},
            name=_("training, with the leak"), hovertemplate=hover,
        ),
        scatter(
            x=validation_steps, y=validation, mode="lines+markers", line={"color": theme.ink, "width": 2},
            name=_("validation, under the right mask"), hovertemplate=hover,
        ),
    ]  # fmt: skip
    axes = WHOLE.axes(axis(theme, _("step")), axis(theme, _("loss, nats per token"), rangemode="tozero"))
    return chart(curves, theme, axes, height=height, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 32})
