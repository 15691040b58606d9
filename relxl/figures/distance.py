"""The figures of the page "Distance": profiles over distance, how far heads reach, v_bias of every head of a model."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, Place, box, chart, heading, hline, note, panels, scatter, vband, vline
from relxl.figures.checkpoint import distance_title, finite
from relxl.figures.curves import area
from relxl.figures.ticks import place_ticks
from relxl.language import _
from relxl.style import LEGEND, Theme, axis, readable, theme_of, translucent

TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
COLUMNS = 3
CELL_POINTS = 96  # of a small curve
MARGIN = {"l": 52, "r": 16, "t": 40, "b": 44}


class Profile(NamedTuple):
    """Hold what one panel shows: a curve a head over distance, and the spread round the chosen one."""

    title: str
    unit: str  # panels of one unit share a range
    colour: str
    distance: np.ndarray  # [distance]
    curves: np.ndarray  # [head distance]
    spread: np.ndarray | None = None  # [distance]: one standard deviation


def places(distance: np.ndarray, log: bool) -> np.ndarray:
    """Say where distances stand on an axis: as they are, or by the logarithm of 1 + |d|, on either side of 0."""
    return np.sign(distance) * np.log10(1 + np.abs(distance)) if log else np.asarray(distance, float)


def distance_axis(low: int, high: int, log: bool, most: int = 13) -> dict:
    """Give ticks and range of a distance axis; at most so many ticks where it is logarithmic."""
    ends = places(np.array([low, high]), log)
    room = 0.02 * max(ends[1] - ends[0], 1e-9)
    shown = {"range": [ends[0] - room, ends[1] + room], "zeroline": low < 0}
    if not log:
        return shown
    ticks = [tick for tick in TICKS if tick <= high]
    ticks = [-tick for tick in reversed(TICKS[1:]) if tick <= -low] + ticks
    if len(ticks) > most:
        ticks = [tick for tick in ticks if str(abs(tick))[0] in "01"]
    text = [str(tick).replace("-", "−") for tick in ticks]
    return shown | {"tickvals": places(np.array(ticks), True).tolist(), "ticktext": text}


def profile_figure(
    profiles: Sequence[Profile],
    span: tuple[int, int],
    head: int,
    marks: Mapping[str, int],
    trained: int | None,
    log: bool,
    dark: bool = False,
) -> go.Figure:
    """Draw profiles over the distances low .. high: every head thin, the chosen one bold in its band.

    `marks` names distances to draw a line at; beyond `trained` the page is shaded, on both sides where both are seen.
    """
    theme, columns = theme_of(dark), min(COLUMNS, len(profiles))
    rows = -(-len(profiles) // columns)
    grid = panels(rows, columns, across=0.07, down=0.28)[: len(profiles)]
    traces, shapes, titles, names, axes = [], [], [], [], {}
    for number, (place, profile) in enumerate(zip(grid, profiles, strict=True)):
        x_axis = axis(theme, **distance_axis(*span, log, 9))
        y_axis = axis(theme, exponentformat="e", nticks=6, range=shared_range(profiles, profile, span, head))
        if number % columns == 0 and profile.unit == "score":
            y_axis["title"] |= {"text": _("score round its mean"), "standoff": 4}
        if number + columns >= len(profiles):
            x_axis["title"] |= {"text": distance_title(np.array(span)), "standoff": 6}
        axes |= place.axes(x_axis, y_axis)
        font = {"size": 13, "color": readable(profile.colour or theme.ink, dark)}
        titles.append(heading(profile.title, place, yshift=26, font=font))
        traces += heads_of(profile, span, head, log, place, dark)
        lines, its_names = marked(marks, span, log, place, theme)
        shapes += beyond(trained, span, log, place, theme) + lines
        names += its_names
    height, margin = 102 + 208 * rows, MARGIN | {"t": 58}
    return chart(traces, theme, axes, shapes, titles + names, height=height, margin=margin, hovermode="closest")


def shared_range(profiles: Sequence[Profile], profile: Profile, span: tuple[int, int], head: int) -> list[float] | None:
    """Give the range of all of a profile's unit, curves and bands, with some room; None without a finite number."""
    low, high = np.inf, -np.inf
    for other in profiles:
        if other.unit == profile.unit:
            drawn = (other.distance >= span[0]) & (other.distance <= span[1])
            shown = [other.curves[:, drawn]]
            if other.spread is not None:
                bold, spread = other.curves[head, drawn], other.spread[drawn]
                shown += [np.maximum(bold - spread, 0 if other.unit == "probability" else -np.inf), bold + spread]
            for values in shown:
                values = values[np.isfinite(values)]
                low, high = min(low, values.min(initial=np.inf)), max(high, values.max(initial=-np.inf))
    if not low <= high:
        return None
    room = 0.06 * (high - low) or 1.0
    return [float(low - room), float(high + room)]


def heads_of(profile: Profile, span: tuple[int, int], head: int, log: bool, place: Place, dark: bool) -> list[dict]:
    """Draw a curve a head, the chosen one last and over its spread."""
    colour = profile.colour or theme_of(dark).ink
    shown = (profile.distance >= span[0]) & (profile.distance <= span[1])
    distance = profile.distance[shown]
    x, curves = places(distance, log), finite(profile.curves[:, shown])
    thin = {"color": translucent(colour, 0.45 if dark else 0.3), "width": 1}
    traces = [
        scatter(
            place, x=x, y=curves[other], mode="lines", name=f"H{other}", customdata=distance,
            line={"color": colour, "width": 2.5} if other == head else thin,
            hovertemplate=_("distance %{customdata}") + f"<br><b>%{{y:.4g}}</b><extra>H{other}</extra>",
        )
        for other in [*(i for i in range(len(curves)) if i != head), head]
    ]  # fmt: skip
    if profile.spread is None:
        return traces
    middle, spread = np.nan_to_num(curves[head]), np.nan_to_num(profile.spread[shown])
    low, high = middle - spread, middle + spread
    if profile.unit == "probability":
        low, high = np.maximum(low, 0), np.minimum(high, 1)
    return [*traces[:-1], area(x, low, high, translucent(colour, 0.22), place, name="spread"), traces[-1]]


def beyond(trained: int | None, span: tuple[int, int], log: bool, place: Place, theme: Theme) -> list[dict]:
    """Shade a panel where no training reached, on either side of 0."""
    if trained is None:
        return []
    sides = [(side, *places(np.array([trained, far]), log)) for side, far in ((1, span[1]), (-1, -span[0]))]
    return [vband(side * near, side * far, theme.faint, 0.1, place) for side, near, far in sides if far > near]


def marked(
    marks: Mapping[str, int], span: tuple[int, int], log: bool, place: Place, theme: Theme
) -> tuple[list[dict], list[dict]]:
    """Draw a line at each marked distance of a panel, and its name, every other one a step higher."""
    lines, names = [], []
    ends = places(np.array(span), log)
    for step, (name, distance) in enumerate(sorted(marks.items(), key=lambda item: item[1])):
        x = float(places(np.array(distance), log))
        right = (x - ends[0]) / (ends[1] - ends[0]) < 0.4
        lines.append(vline(x, {"color": theme.faint, "width": 1, "dash": "dash"}, place))
        names.append(note(
            name, x, 1, place, yref=f"{place.y} domain", yanchor="bottom", xanchor="left" if right else "right",
            yshift=12 * (step % 2), font={"size": 10, "color": theme.faint},
        ))  # fmt: skip
    return lines, names


class Reach(NamedTuple):
    """Hold how far one head looks, in tokens; NaN where there is nothing to tell."""

    name: str
    half: float  # half of the attention lies at most so far away
    most: float  # 90 % do
    alone: float  # half of what the position term would give by itself
    half_life: float  # of its curve


def reach_figure(heads: Sequence[Reach], chosen: str, colour: str, alone: str, log: bool, dark: bool) -> go.Figure:
    """Draw heads side by side, the nearest first: a line from half of the attention to 90 %, and the term alone."""
    theme = theme_of(dark)
    x, names = list(range(len(heads))), [head.name for head in heads]
    half, most, by_position, half_life = np.array([head[1:] for head in heads], float).T
    strokes = scatter(
        x=np.repeat(x, 3), y=np.stack([places(half, log), places(most, log), half * np.nan], 1).ravel(), mode="lines",
        line={"color": translucent(theme.faint, 0.5), "width": 2}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    wide = {"line": {"width": 2, "color": colour}}
    kinds = [
        (most, _("90 %"), {"symbol": "circle-open", "color": theme.ink, "size": 7}),
        (half, _("half of its attention"), {"symbol": "circle", "color": theme.ink, "size": 8}),
        (by_position, alone, {"symbol": "diamond", "color": colour, "size": 7}),
        (half_life, _("half-life of v_bias"), {"symbol": "line-ew-open", "color": colour, "size": 9} | wide),
    ]
    dots = [
        scatter(
            x=x, y=places(values, log), mode="markers", name=name, marker=marker, customdata=finite(values), text=names,
            hovertemplate="%{text}<br>" + _("within <b>%{customdata:.0f}</b>") + "<extra>%{fullData.name}</extra>",
        )
        for values, name, marker in kinds
        if np.isfinite(values).any()
    ]  # fmt: skip
    shapes = [vband(place - 0.5, place + 0.5, theme.faint, 0.18) for place in x if names[place] == chosen]
    top = int(np.nanmax(np.concatenate([half, most, by_position, half_life, [1]])))
    labels = [f"<b>{name}</b>" if name == chosen else name for name in names]
    ticks = {"tickvals": x, "ticktext": labels, "tickangle": -90, "tickfont": {"size": 11, "color": theme.faint}}
    axes = WHOLE.axes(
        axis(theme, showgrid=False, zeroline=False, range=[-0.7, len(heads) - 0.3], **ticks),
        axis(theme, _("distance, tokens"), **distance_axis(0, round(1.1 * top) + 1, log)),
    )
    looks = {"height": 320, "showlegend": True, "legend": LEGEND, "margin": MARGIN | {"b": 56}}
    return chart([strokes, *dots], theme, axes, shapes, **looks)


def within_figure(
    head: np.ndarray, alone: np.ndarray, name: str, alone_name: str, colour: str, log: bool, dark: bool = False
) -> go.Figure:
    """Draw the share of attention on keys at most so far away, [query distance]: its mean, and 10 to 90 % of queries.

    `alone` is what one term would do by itself.
    """
    theme, traces = theme_of(dark), []
    distance = np.arange(head.shape[1])
    x = places(distance, log)
    for values, label, line in (
        (head, name, {"color": theme.ink, "width": 2.5}),
        (alone, alone_name, {"color": colour, "width": 2, "dash": "dash"}),
    ):
        low, high = np.quantile(values, [0.1, 0.9], axis=0)
        mean = scatter(
            x=x, y=values.mean(0), mode="lines", name=label, line=line, customdata=distance,
            hovertemplate=_("within %{customdata}") + "<br><b>%{y:.1%}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
        traces += [area(x, low, high, translucent(line["color"], 0.12)), mean]
    lines = [hline(share, {"color": theme.faint, "width": 1, "dash": "dot"}) for share in (0.5, 0.9)]
    axes = WHOLE.axes(
        axis(theme, _("distance, tokens"), **distance_axis(0, len(distance) - 1, log)),
        axis(theme, range=[0, 1.02], tickformat=".0%"),
    )
    margin = MARGIN | {"b": 56}
    return chart(traces, theme, axes, lines, height=320, showlegend=True, legend=LEGEND, margin=margin)


def every_head_figure(
    curves: np.ndarray, distance: np.ndarray, chosen: tuple[int, int], colour: str, trained: int | None, log: bool,
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw v_bias of every head of a model, [layer head distance], as one small curve each.

    Rows are layers, columns heads. Every layer has its own scale, which stands at the end of its row; the curve lies
    round its mean. The small stroke is where training ended.
    """
    theme, traces = theme_of(dark), []
    n_layer, n_head, _n = curves.shape
    ends = places(distance[[0, -1]], log)
    grid = np.linspace(*ends, min(CELL_POINTS, len(distance)))
    pick = np.unique(np.abs(places(distance, log)[None] - grid[:, None]).argmin(1))
    across = 0.86 * (places(distance[pick], log) - ends[0]) / max(ends[1] - ends[0], 1e-9) - 0.43
    shown = finite(curves[:, :, pick].astype(float))
    real = np.isfinite(curves)
    there = real.any(-1)
    high = np.where(there, curves.max(-1, initial=-np.inf, where=real), 0)
    low = np.where(there, curves.min(-1, initial=np.inf, where=real), 0)
    middle, half = (high + low) / 2, (high - low) / 2
    size = np.where(half.max(1) > 0, half.max(1), 1.0)  # of each layer
    for bold in (False, True):
        x, y, text, data = [], [], [], []
        for layer in range(n_layer):
            for head in range(n_head):
                if bold and (layer, head) != chosen:
                    continue
                up = (shown[layer, head] - middle[layer, head]) / size[layer]
                x += [*(head + across), None]
                y += [*(layer - 0.42 * up), None]
                text += [f"L{layer}H{head}"] * (len(pick) + 1)
                data += [*np.stack([distance[pick], shown[layer, head]], 1), (0, 0)]
        line = {"color": colour, "width": 2.5 if bold else 1.4}
        hover = "%{text}, " + _("distance %{customdata[0]}") + "<br><b>%{customdata[1]:.4g}</b><extra></extra>"
        traces.append(scatter(
            x=x, y=y, mode="lines", line=line, text=text, customdata=np.array(data), connectgaps=False,
            hovertemplate=hover,
        ))  # fmt: skip
    if trained is not None and distance[0] <= trained < distance[-1]:
        at = 0.86 * (places(np.array(trained), log) - ends[0]) / (ends[1] - ends[0]) - 0.43
        strokes = [(head + at, layer) for layer in range(n_layer) for head in range(n_head)]
        traces.append(scatter(
            x=[x for x, _layer in strokes for _end in range(3)],
            y=[y for _x, layer in strokes for y in (layer - 0.42, layer + 0.42, None)],
            mode="lines", line={"color": theme.faint, "width": 1, "dash": "dot"}, hoverinfo="skip",
        ))  # fmt: skip
    frame = box(chosen[1], chosen[0], 0.48, 0.48, {"color": theme.accent, "width": 1.5})
    font = {"size": 11, "color": theme.faint}
    scales = [note(f"± {size[layer]:.2g}", n_head - 0.5, layer, xanchor="left", font=font) for layer in range(n_layer)]
    bare = {"showgrid": False, "zeroline": False}
    axes = WHOLE.axes(
        axis(theme, **bare, side="top", range=[-0.55, n_head - 0.45], **place_ticks("H", n_head)),
        axis(theme, **bare, range=[n_layer - 0.45, -0.55], **place_ticks("L", n_layer)),
    )
    height, margin = 50 + 70 * n_layer, {"l": 40, "r": 64, "t": 30, "b": 12}
    return chart(traces, theme, axes, [frame], scales, height=height, margin=margin, hovermode="closest")
