"""The figures of the page "Compare": what changed most, shares before and after, curves and numbers over a training."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, note, panels, scatter, vline
from relxl.figures.checkpoint import MARGIN, NAMED, distance_title, finite
from relxl.figures.ticks import place_ticks
from relxl.language import _
from relxl.style import COLOURS, RELATIVE_TERMS, Term, axis, plot_text, theme_of, translucent

TAIL = 6  # earlier steps that are still seen
PANELS = 4  # heads in a row
SIZES = {"u": COLOURS[2], "v": COLOURS[3], "W_kR": COLOURS[1]}
DASHES = {"u": "dash", "v": "solid", "W_kR": "dot"}


def changes_figure(names: Sequence[str], relative: Sequence[float], dark: bool = False) -> go.Figure:
    """Draw how far each tensor moved as bars, the first on top; what is not finite has no bar, but says so."""
    theme = theme_of(dark)
    values, places = np.array(relative, float), list(range(len(names)))
    labels = [plot_text(name, 34) for name in names]
    bars = bar(
        x=finite(values), y=places, orientation="h", marker={"color": theme.faint},
        customdata=labels, hovertemplate="%{customdata}<br><b>%{x:.4g}</b><extra></extra>",
    )  # fmt: skip
    notes = [
        note(
            _("from zero") if values[place] == np.inf else _("not finite"), 0, place,
            xanchor="left", xshift=4, font={"color": theme.alarm},
        )
        for place in places
        if not np.isfinite(values[place])
    ]  # fmt: skip
    ticks = {"tickvals": places, "ticktext": labels, "automargin": True}
    x = axis(theme, _("change |b − a| / |a|"), rangemode="tozero")
    y = axis(theme, showgrid=False, zeroline=False, range=[len(names) - 0.5, -0.5], **ticks)
    height, margin = max(26 * len(names) + 70, 160), MARGIN | {"l": 8, "t": 8}
    return chart([bars], theme, WHOLE.axes(x, y), notes=notes, height=height, bargap=0.35, margin=margin)


def dumbbell_figure(
    a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray], looks: Mapping[str, Term], head: int, dark: bool = False
) -> go.Figure:
    """Draw each term's share of every head in a (hollow) and in b (filled), joined by a line: name -> [head]."""
    theme, traces = theme_of(dark), []
    wide, n_head = 0.7 / max(len(a), 1), len(next(iter(a.values())))
    for place, name in enumerate(a):
        x = np.arange(n_head) + wide * (place - (len(a) - 1) / 2)
        colour, label = looks[name].colour, f"({looks[name].letter}) {name}"
        joined = scatter(
            x=np.stack([x, x, x], 1).ravel(), y=np.stack([a[name], b[name], np.full(n_head, np.nan)], 1).ravel(),
            mode="lines", line={"color": translucent(colour, 0.7), "width": 2}, showlegend=False, hoverinfo="skip",
        )  # fmt: skip
        ring = {"size": 9, "color": colour, "line": {"color": colour, "width": 2}}
        dots = [
            scatter(
                x=x, y=finite(values), mode="markers", marker=ring | {"symbol": symbol}, name=label,
                showlegend=which == "b", customdata=np.arange(n_head),
                hovertemplate=f"H%{{customdata}} {name}, {which}<br><b>%{{y:.3f}}</b><extra></extra>",
            )
            for which, values, symbol in (("a", a[name], "circle-open"), ("b", b[name], "circle"))
        ]  # fmt: skip
        traces += [joined, *dots]
    between = [vline(edge - 0.5, {"color": theme.grid, "width": 1}) for edge in range(1, n_head)]
    ticks = place_ticks("H", n_head, head) | {"showgrid": False, "zeroline": False, "range": [-0.6, n_head - 0.4]}
    x, y = axis(theme, _("hollow: a, filled: b"), **ticks), axis(theme, _("share of the score"), tickformat=".0%")
    return chart(traces, theme, WHOLE.axes(x, y), between, height=320, **NAMED)


def cosine_figure(values: Mapping[str, np.ndarray], head: int, dark: bool = False) -> go.Figure:
    """Draw the cosine of u and of v between two models, a bar a head: name -> [head]."""
    theme = theme_of(dark)
    bars = [
        bar(
            x=list(range(len(heads))), y=finite(heads), name=name, marker={"color": SIZES[name]},
            hovertemplate=f"H%{{x}} {name}<br><b>%{{y:.3f}}</b><extra></extra>",
        )
        for name, heads in values.items()
    ]  # fmt: skip
    n_head = len(next(iter(values.values())))
    x = axis(theme, showgrid=False, zeroline=False, **place_ticks("H", n_head, head))
    y = axis(theme, _("cosine of a and b"), range=[-1.05, 1.05])
    return chart(bars, theme, WHOLE.axes(x, y), height=240, barmode="group", bargap=0.35, **NAMED)


def film_figure(
    curves: np.ndarray, distances: np.ndarray, steps: Sequence[int], now: int, dark: bool = False
) -> go.Figure:
    """Draw v_bias [step head distance], a panel a head: the step `now` (its place) bold, the steps before it fading.

    The scale is that of all steps, so that nothing jumps when the step is changed.
    """
    theme, n_head = theme_of(dark), curves.shape[1]
    columns = min(n_head, PANELS)
    rows = -(-n_head // columns)
    places = panels(rows, columns, across=0.02, down=0.25 / (rows + 1))
    lines = [
        scatter(
            place, x=distances, y=finite(curves[step, head]), mode="lines", name=f"H{head}, {steps[step]}",
            line=fading(now - step, dark),
            hovertemplate=_("distance %{x}") + f"<br><b>%{{y:.4g}}</b><extra>H{head}, {steps[step]}</extra>",
        )
        for head, place in enumerate(places[:n_head])
        for step in range(max(now - TAIL, 0), now + 1)
    ]  # fmt: skip
    corner = {"xanchor": "right", "yanchor": "top", "font": {"size": 13, "color": theme.ink}}
    notes = [
        note(f"<b>H{head}</b>", 0.97, 0.97, xref=f"{place.x} domain", yref=f"{place.y} domain", **corner)
        for head, place in enumerate(places[:n_head])
    ]
    axes, scale = {}, padded(curves)
    for number, place in enumerate(places):
        left, foot = places[number - number % columns], places[number % columns - columns]
        x = axis(theme, distance_title(distances) if place == places[-columns] else "")
        y = axis(theme, "" if number else _("adds to the score"), range=scale)
        axes |= place.axes(x | follow(place.x, foot.x), y | follow(place.y, left.y))
    return chart(lines, theme, axes, notes=notes, height=160 * rows + 180, margin=MARGIN, hovermode="closest")


def fading(ago: int, dark: bool) -> dict:
    """Draw the present bold in the term's colour, and what was some steps ago the fainter the longer ago it is."""
    if ago == 0:
        return {"color": RELATIVE_TERMS["v_bias"].colour, "width": 2.5}
    share = (0.75 if dark else 0.6) * 0.7 ** (ago - 1)
    return {"color": translucent(theme_of(dark).faint, round(share, 3)), "width": 1}


def follow(axis_name: str, leader: str) -> dict:
    """Let an axis show what its leader shows, which alone is labelled."""
    return {} if axis_name == leader else {"matches": leader, "showticklabels": False}


def padded(values: np.ndarray) -> list[float] | None:
    """Give the range of the finite values with some air."""
    there = values[np.isfinite(values)].astype(float)
    if not len(there) or there.min() == there.max():
        return None
    air = 0.05 * (there.max() - there.min())
    return [there.min() - air, there.max() + air]


def steps_figure(
    lines: Mapping[str, np.ndarray], steps: Sequence[int], now: int, title: str,
    colours: Mapping[str, str], dark: bool = False, dashes: Mapping[str, str] | None = None, form: str = "",
) -> go.Figure:  # fmt: skip
    """Draw numbers over a training, name -> [step]; the snapshots stand at even distances, `now` is marked.

    `form` says how the numbers are written on the scale.
    """
    theme, dashes, places = theme_of(dark), dashes or {}, list(range(len(steps)))
    traces = [
        scatter(
            x=places, y=finite(values), mode="lines+markers", name=name, customdata=list(steps), marker={"size": 5},
            line={"color": colours.get(name, theme.ink), "width": 2, "dash": dashes.get(name, "solid")},
            hovertemplate=_("step %{customdata}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )
        for name, values in lines.items()
    ]  # fmt: skip
    marked = [vline(now, {"color": theme.faint, "width": 1, "dash": "dash"})]
    ticks = {"tickvals": places, "ticktext": [f"{step:,}".replace(",", " ") for step in steps]}
    x = axis(theme, _("training step"), showgrid=False, zeroline=False, **ticks)
    return chart(traces, theme, WHOLE.axes(x, axis(theme, title, tickformat=form)), marked, height=260, **NAMED)
