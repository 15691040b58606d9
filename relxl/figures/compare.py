"""The figures of the page "Compare": what changed most, shares before and after, curves and numbers over a training."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.checkpoint import distance_title, finite
from relxl.figures.ticks import head_ticks
from relxl.language import _
from relxl.style import COLOURS, LEGEND, RELATIVE_TERMS, Term, axis, layout, plot_text, theme_of, translucent

MARGIN = {"l": 56, "r": 16, "t": 16, "b": 44}
TAIL = 6  # earlier steps that are still seen
PANELS = 4  # heads in a row
SIZES = {"u": COLOURS[2], "v": COLOURS[3], "W_kR": COLOURS[1]}
DASHES = {"u": "dash", "v": "solid", "W_kR": "dot"}


def changes_figure(names: Sequence[str], relative: Sequence[float], dark: bool = False) -> go.Figure:
    """Draw how far each tensor moved as bars, the first on top; what is not finite has no bar, but says so."""
    theme, figure = theme_of(dark), go.Figure()
    values = np.array(relative, float)
    labels = [plot_text(name, 34) for name in names]
    figure.add_bar(
        x=finite(values), y=list(range(len(values))), orientation="h", marker={"color": theme.faint},
        customdata=labels, hovertemplate="%{customdata}<br><b>%{x:.4g}</b><extra></extra>",
    )  # fmt: skip
    for place in np.flatnonzero(~np.isfinite(values)):
        text = _("from zero") if values[place] == np.inf else _("not finite")
        figure.add_annotation(
            x=0, y=int(place), text=text, showarrow=False, xanchor="left", xshift=4, font={"color": theme.alarm}
        )
    height = max(26 * len(values) + 70, 160)
    figure.update_layout(layout(theme, height=height, bargap=0.35, margin=MARGIN | {"l": 8, "t": 8}))
    figure.update_xaxes(axis(theme, _("change |b − a| / |a|"), rangemode="tozero"))
    ticks = {"tickvals": list(range(len(values))), "ticktext": labels, "automargin": True}
    figure.update_yaxes(axis(theme, showgrid=False, zeroline=False, **ticks), range=[len(values) - 0.5, -0.5])
    return figure


def dumbbell_figure(
    a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray], looks: Mapping[str, Term], head: int, dark: bool = False
) -> go.Figure:
    """Draw each term's share of every head in a (hollow) and in b (filled), joined by a line: name -> [head]."""
    theme, figure = theme_of(dark), go.Figure()
    wide, n_head = 0.7 / max(len(a), 1), len(next(iter(a.values())))
    for place, name in enumerate(a):
        x = np.arange(n_head) + wide * (place - (len(a) - 1) / 2)
        colour, label = looks[name].colour, f"({looks[name].letter}) {name}"
        figure.add_scatter(
            x=np.stack([x, x, x], 1).ravel(), y=np.stack([a[name], b[name], np.full(n_head, np.nan)], 1).ravel(),
            mode="lines", line={"color": translucent(colour, 0.7), "width": 2}, showlegend=False, hoverinfo="skip",
        )  # fmt: skip
        for which, values in (("a", a[name]), ("b", b[name])):
            ring = {"symbol": "circle-open" if which == "a" else "circle", "size": 9, "color": colour}
            figure.add_scatter(
                x=x, y=finite(values), mode="markers", marker=ring | {"line": {"color": colour, "width": 2}},
                name=label, showlegend=which == "b", customdata=np.arange(n_head),
                hovertemplate=f"H%{{customdata}} {name}, {which}<br><b>%{{y:.3f}}</b><extra></extra>",
            )  # fmt: skip
    ticks = head_ticks(n_head, head) | {"showgrid": False, "zeroline": False}
    figure.update_layout(layout(theme, height=320, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}))
    figure.update_xaxes(axis(theme, _("hollow: a, filled: b"), **ticks), range=[-0.6, n_head - 0.4])
    figure.update_yaxes(axis(theme, _("share of the score"), tickformat=".0%"))
    for edge in range(1, n_head):
        figure.add_vline(edge - 0.5, line={"color": theme.grid, "width": 1})
    return figure


def cosine_figure(values: Mapping[str, np.ndarray], head: int, dark: bool = False) -> go.Figure:
    """Draw the cosine of u and of v between two models, a bar a head: name -> [head]."""
    theme, figure = theme_of(dark), go.Figure()
    for name, heads in values.items():
        figure.add_bar(
            x=list(range(len(heads))), y=finite(heads), name=name, marker={"color": SIZES[name]},
            hovertemplate=f"H%{{x}} {name}<br><b>%{{y:.3f}}</b><extra></extra>",
        )  # fmt: skip
    n_head = len(next(iter(values.values())))
    figure.update_layout(
        layout(
            theme, height=240, barmode="group", bargap=0.35, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}
        )
    )
    figure.update_xaxes(axis(theme, showgrid=False, zeroline=False, **head_ticks(n_head, head)))
    figure.update_yaxes(axis(theme, _("cosine of a and b")), range=[-1.05, 1.05])
    return figure


def film_figure(
    curves: np.ndarray, distances: np.ndarray, steps: Sequence[int], now: int, dark: bool = False
) -> go.Figure:
    """Draw v_bias [step head distance], a panel a head: the step `now` (its place) bold, the steps before it fading.

    The scale is that of all steps, so that nothing jumps when the step is changed.
    """
    theme, colour, n_head = theme_of(dark), RELATIVE_TERMS["v_bias"].colour, curves.shape[1]
    columns = min(n_head, PANELS)
    rows = -(-n_head // columns)
    figure = make_subplots(
        rows, columns, shared_xaxes=True, shared_yaxes=True, horizontal_spacing=0.02, vertical_spacing=0.25 / (rows + 1)
    )
    for head in range(n_head):
        where = {"row": head // columns + 1, "col": head % columns + 1}
        for place in range(max(now - TAIL, 0), now + 1):
            bold, share = place == now, (0.75 if dark else 0.6) * 0.7 ** (now - place - 1)
            ink = colour if bold else translucent(theme.faint, round(share, 3))
            figure.add_scatter(
                x=distances, y=finite(curves[place, head]), mode="lines", name=f"H{head}, {steps[place]}",
                line={"color": ink, "width": 2.5 if bold else 1},
                hovertemplate=_("distance %{x}") + f"<br><b>%{{y:.4g}}</b><extra>H{head}, {steps[place]}</extra>",
                **where,
            )  # fmt: skip
    titled = (axis(theme, distance_title(distances)), axis(theme, _("adds to the score")))
    figure.update_xaxes(axis(theme))
    figure.update_yaxes(axis(theme), range=padded(curves))
    for column in range(1, columns + 1):
        figure.update_xaxes(titled[0] if column == 1 else axis(theme), row=rows, col=column)
    for row in range(1, rows + 1):
        figure.update_yaxes(titled[1] if row == 1 else axis(theme), row=row, col=1)
    for head in range(n_head):
        number = head // columns * columns + head % columns + 1
        name = "" if number == 1 else str(number)
        figure.add_annotation(
            text=f"<b>H{head}</b>", x=0.97, y=0.97, xref=f"x{name} domain", yref=f"y{name} domain", showarrow=False,
            xanchor="right", yanchor="top", font={"size": 13, "color": theme.ink},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=160 * rows + 180, margin=MARGIN, hovermode="closest"))
    return figure


def padded(values: np.ndarray) -> list[float] | None:
    """Give the range of the finite values with some air."""
    there = values[np.isfinite(values)].astype(float)
    if not len(there) or there.min() == there.max():
        return None
    air = 0.05 * (there.max() - there.min())
    return [there.min() - air, there.max() + air]


def steps_figure(
    lines: Mapping[str, np.ndarray], steps: Sequence[int], now: int, title: str,
    colours: Mapping[str, str], dark: bool = False, dashes: Mapping[str, str] | None = None,
) -> go.Figure:  # fmt: skip
    """Draw numbers over a training, name -> [step]; the snapshots stand at even distances, `now` is marked."""
    theme, figure, dashes = theme_of(dark), go.Figure(), dashes or {}
    for name, values in lines.items():
        figure.add_scatter(
            x=list(range(len(steps))), y=finite(values), mode="lines+markers", name=name, customdata=list(steps),
            line={"color": colours.get(name, theme.ink), "width": 2, "dash": dashes.get(name, "solid")},
            marker={"size": 5},
            hovertemplate=_("step %{customdata}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.add_vline(now, line={"color": theme.faint, "width": 1, "dash": "dash"})
    figure.update_layout(layout(theme, height=260, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}))
    ticks = {"tickvals": list(range(len(steps))), "ticktext": [f"{step:,}".replace(",", " ") for step in steps]}
    figure.update_xaxes(axis(theme, _("training step"), showgrid=False, zeroline=False, **ticks))
    figure.update_yaxes(axis(theme, title))
    return figure
