"""The figures of the page "Distance": profiles over distance, how far heads reach, v_bias of every head of a model."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.checkpoint import distance_title, finite
from relxl.language import _
from relxl.style import LEGEND, axis, layout, readable, theme_of, translucent

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
    panels: Sequence[Profile],
    span: tuple[int, int],
    head: int,
    marks: Mapping[str, int],
    trained: int | None,
    log: bool,
    dark: bool = False,
) -> go.Figure:
    """Draw panels over the distances low .. high: every head thin, the chosen one bold in its band.

    `marks` names distances to draw a line at; beyond `trained` the page is shaded, on both sides where both are seen.
    """
    theme, columns = theme_of(dark), min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = make_subplots(
        rows, columns, horizontal_spacing=0.07, vertical_spacing=0.28, subplot_titles=[panel.title for panel in panels]
    )
    for place, panel in enumerate(panels):
        at, colour = {"row": place // columns + 1, "col": place % columns + 1}, panel.colour or theme.ink
        add_profile(figure, panel, span, head, log, colour, at, dark)
        figure.layout.annotations[place].update(
            font={"size": 13, "color": readable(colour, dark)}, x=figure.get_subplot(**at).xaxis.domain[0],
            xanchor="left", yshift=26,
        )  # fmt: skip
        figure.update_xaxes(axis(theme, **distance_axis(*span, log, 9)), **at)
        figure.update_yaxes(
            axis(theme, exponentformat="e", nticks=6, range=shared_range(panels, panel, span, head)), **at
        )
        if place % columns == 0 and panel.unit == "score":
            figure.update_yaxes(title_text=_("score round its mean"), title_standoff=4, **at)
        if place + columns >= len(panels):
            figure.update_xaxes(title_text=distance_title(np.array(span)), title_standoff=6, **at)
    if trained is not None:
        for side in (1, -1):
            ends = places(np.array([trained, span[1] if side > 0 else -span[0]]), log)
            if ends[1] > ends[0]:
                for place in range(len(panels)):
                    figure.add_vrect(
                        side * ends[0], side * ends[1], fillcolor=theme.faint, opacity=0.1, line_width=0,
                        layer="below", row=place // columns + 1, col=place % columns + 1,
                    )  # fmt: skip
    add_marks(figure, marks, len(panels), columns, span, log, dark)
    figure.update_layout(layout(theme, height=102 + 208 * rows, margin=MARGIN | {"t": 58}, hovermode="closest"))
    return figure


def shared_range(panels: Sequence[Profile], panel: Profile, span: tuple[int, int], head: int) -> list[float] | None:
    """Give the range of all panels of a panel's unit, curves and band, with some room; None without a finite number."""
    low, high = np.inf, -np.inf
    for other in panels:
        if other.unit == panel.unit:
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


def add_profile(
    figure: go.Figure, panel: Profile, span: tuple[int, int], head: int, log: bool, colour: str, at: dict, dark: bool
) -> None:
    shown = (panel.distance >= span[0]) & (panel.distance <= span[1])
    distance = panel.distance[shown]
    x = places(distance, log)
    for other in [*(i for i in range(len(panel.curves)) if i != head), head]:
        bold, y = other == head, finite(panel.curves[other][shown])
        if bold and panel.spread is not None:
            spread = np.nan_to_num(panel.spread[shown])
            low, high = np.nan_to_num(y) - spread, np.nan_to_num(y) + spread
            if panel.unit == "probability":
                low, high = np.maximum(low, 0), np.minimum(high, 1)
            figure.add_scatter(
                x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), fill="toself", mode="lines",
                line={"width": 0}, fillcolor=translucent(colour, 0.22), hoverinfo="skip", name="spread", **at,
            )  # fmt: skip
        line = {"color": colour, "width": 2.5} if bold else {"color": translucent(colour, 0.45 if dark else 0.3)}
        figure.add_scatter(
            x=x, y=y, mode="lines", name=f"H{other}", line={"width": 1} | line, customdata=distance,
            hovertemplate=_("distance %{customdata}") + f"<br><b>%{{y:.4g}}</b><extra>H{other}</extra>", **at,
        )  # fmt: skip


def add_marks(
    figure: go.Figure, marks: Mapping[str, int], n_panel: int, columns: int, span: tuple[int, int], log: bool,
    dark: bool,
) -> None:  # fmt: skip
    """Draw a line at each marked distance through every panel, and name it, every other one a step higher."""
    theme = theme_of(dark)
    ends = places(np.array(span), log)
    for place in range(n_panel):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        for step, (name, distance) in enumerate(sorted(marks.items(), key=lambda item: item[1])):
            x = float(places(np.array(distance), log))
            figure.add_vline(x, line={"color": theme.faint, "width": 1, "dash": "dash"}, **at)
            right = (x - ends[0]) / (ends[1] - ends[0]) < 0.4
            figure.add_annotation(
                x=x, y=1, yref="y domain", yanchor="bottom", xanchor="left" if right else "right", text=name,
                showarrow=False, yshift=12 * (step % 2), font={"size": 10, "color": theme.faint}, **at,
            )  # fmt: skip


class Reach(NamedTuple):
    """Hold how far one head looks, in tokens; NaN where there is nothing to tell."""

    name: str
    half: float  # half of the attention lies at most so far away
    most: float  # 90 % do
    alone: float  # half of what the position term would give by itself
    half_life: float  # of its curve


def reach_figure(heads: Sequence[Reach], chosen: str, colour: str, alone: str, log: bool, dark: bool) -> go.Figure:
    """Draw heads side by side, the nearest first: a line from half of the attention to 90 %, and the term alone."""
    theme, figure = theme_of(dark), go.Figure()
    x = list(range(len(heads)))
    half, most, by_position, half_life = np.array([head[1:] for head in heads], float).T
    figure.add_scatter(
        x=np.repeat(x, 3), y=np.stack([places(half, log), places(most, log), half * np.nan], 1).ravel(), mode="lines",
        line={"color": translucent(theme.faint, 0.5), "width": 2}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    kinds = [
        (most, _("90 %"), {"symbol": "circle-open", "color": theme.ink, "size": 7}),
        (half, _("half of its attention"), {"symbol": "circle", "color": theme.ink, "size": 8}),
        (by_position, alone, {"symbol": "diamond", "color": colour, "size": 7}),
        (half_life, _("half-life of v_bias"), {"symbol": "line-ew-open", "color": colour, "size": 9}),
    ]
    for values, name, marker in kinds:
        if not np.isfinite(values).any():
            continue
        marker |= {"line": {"width": 2, "color": marker["color"]}} if values is half_life else {}
        figure.add_scatter(
            x=x, y=places(values, log), mode="markers", name=name, marker=marker, customdata=finite(values),
            text=[head.name for head in heads],
            hovertemplate="%{text}<br>" + _("within <b>%{customdata:.0f}</b>") + "<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    names = [head.name for head in heads]
    if chosen in names:
        place = names.index(chosen)
        figure.add_vrect(place - 0.5, place + 0.5, fillcolor=theme.faint, opacity=0.18, line_width=0, layer="below")
    top = int(np.nanmax(np.concatenate([half, most, by_position, half_life, [1]])))
    labels = [f"<b>{name}</b>" if name == chosen else name for name in names]
    figure.update_layout(layout(theme, height=320, showlegend=True, legend=LEGEND, margin=MARGIN | {"b": 56}))
    figure.update_xaxes(axis(theme, showgrid=False, zeroline=False, tickvals=x, ticktext=labels, tickangle=-90))
    figure.update_xaxes(range=[-0.7, len(heads) - 0.3], tickfont={"size": 11})
    figure.update_yaxes(axis(theme, _("distance, tokens"), **distance_axis(0, round(1.1 * top) + 1, log)))
    return figure


def within_figure(
    head: np.ndarray, alone: np.ndarray, name: str, alone_name: str, colour: str, log: bool, dark: bool = False
) -> go.Figure:
    """Draw the share of attention on keys at most so far away, [query distance]: its mean, and 10 to 90 % of queries.

    `alone` is what one term would do by itself.
    """
    theme, figure = theme_of(dark), go.Figure()
    distance = np.arange(head.shape[1])
    x = places(distance, log)
    for values, label, line in (
        (head, name, {"color": theme.ink, "width": 2.5}),
        (alone, alone_name, {"color": colour, "width": 2, "dash": "dash"}),
    ):
        low, high = np.quantile(values, [0.1, 0.9], axis=0)
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), fill="toself", mode="lines",
            line={"width": 0}, fillcolor=translucent(line["color"], 0.12), hoverinfo="skip", showlegend=False,
        )  # fmt: skip
        figure.add_scatter(
            x=x, y=values.mean(0), mode="lines", name=label, line=line, customdata=distance,
            hovertemplate=_("within %{customdata}") + "<br><b>%{y:.1%}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    for share in (0.5, 0.9):
        figure.add_hline(share, line={"color": theme.faint, "width": 1, "dash": "dot"})
    figure.update_layout(layout(theme, height=320, showlegend=True, legend=LEGEND, margin=MARGIN | {"b": 56}))
    figure.update_xaxes(axis(theme, _("distance, tokens"), **distance_axis(0, len(distance) - 1, log)))
    figure.update_yaxes(axis(theme, range=[0, 1.02], tickformat=".0%"))
    return figure


def every_head_figure(
    curves: np.ndarray, distance: np.ndarray, chosen: tuple[int, int], colour: str, trained: int | None, log: bool,
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw v_bias of every head of a model, [layer head distance], as one small curve each.

    Rows are layers, columns heads. Every layer has its own scale, which stands at the end of its row; the curve lies
    round its mean. The small stroke is where training ended.
    """
    theme, figure = theme_of(dark), go.Figure()
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
        figure.add_scatter(
            x=x, y=y, mode="lines", line=line, text=text, customdata=np.array(data), connectgaps=False,
            hovertemplate=hover,
        )  # fmt: skip
    if trained is not None and distance[0] <= trained < distance[-1]:
        at = 0.86 * (places(np.array(trained), log) - ends[0]) / (ends[1] - ends[0]) - 0.43
        strokes = [(head + at, layer) for layer in range(n_layer) for head in range(n_head)]
        figure.add_scatter(
            x=[x for x, _layer in strokes for _end in range(3)],
            y=[y for _x, layer in strokes for y in (layer - 0.42, layer + 0.42, None)],
            mode="lines", line={"color": theme.faint, "width": 1, "dash": "dot"}, hoverinfo="skip",
        )  # fmt: skip
    figure.add_shape(
        type="rect", x0=chosen[1] - 0.48, x1=chosen[1] + 0.48, y0=chosen[0] - 0.48, y1=chosen[0] + 0.48,
        line={"color": theme.accent, "width": 1.5},
    )  # fmt: skip
    for layer in range(n_layer):
        figure.add_annotation(
            x=n_head - 0.5, y=layer, text=f"± {size[layer]:.2g}", showarrow=False, xanchor="left",
            font={"size": 11, "color": theme.faint},
        )  # fmt: skip
    margin = {"l": 40, "r": 64, "t": 30, "b": 12}
    figure.update_layout(layout(theme, height=50 + 70 * n_layer, margin=margin, hovermode="closest"))
    ticks = {"showgrid": False, "zeroline": False}
    heads, layers = list(range(n_head)), list(range(n_layer))
    figure.update_xaxes(axis(theme, **ticks, side="top", tickvals=heads, ticktext=[f"H{i}" for i in heads]))
    figure.update_xaxes(range=[-0.55, n_head - 0.45])
    figure.update_yaxes(axis(theme, **ticks, tickvals=layers, ticktext=[f"L{i}" for i in layers]))
    figure.update_yaxes(range=[n_layer - 0.45, -0.55])
    return figure
