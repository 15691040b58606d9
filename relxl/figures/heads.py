"""The figures of the page "Heads": every head as a cell of a grid, and as a dot on a simplex."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from relxl.figures.chart import WHOLE, box, chart, heatmap, scatter
from relxl.figures.ticks import place_ticks
from relxl.style import LEGEND, LIGHT, Theme, axis, theme_of

MOST_SPREADS = 8  # columns that leave a cell the room to write its spread
MANY_DOTS = 64  # above it dots are smaller
NAMED_LAYERS = 6  # in the legend, from the first to the last
BESIDE = " ".join(("middle", "right"))  # plotly's words, which nobody reads
LABEL_SIZE = (0.16, 0.05)  # of a label on the simplex, over the triangle's side
PLAIN = {"showgrid": False, "zeroline": False, "showline": False, "fixedrange": True, "ticks": ""}


def grid_figure(
    values: np.ndarray,
    spread: np.ndarray,
    chosen: tuple[int, int],
    title: str,
    write: Callable[[float], str],
    ticks: str = "",
    dark: bool = False,
) -> go.Figure:
    """Draw one measure of every head, values [layer head], layers down; its spread stands beside it where it is known.

    `write` says how a number is written in a cell, `ticks` how on the scale, which goes from 0 to the largest. The
    chosen (layer, head) is outlined. A dot that nobody sees lies on every cell, with (layer, head) as its data.
    """
    theme, (n_layer, n_head) = theme_of(dark), values.shape
    known = np.isfinite(values)
    top = float(values[known].max(initial=0)) or 1.0
    wide = n_head <= MOST_SPREADS
    bar = {"thickness": 8, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}, "x": 1.01, "xpad": 4}
    shaded = heatmap(
        z=np.where(known, values, np.nan).astype(np.float32), zmin=0, zmax=top, xgap=2, ygap=2, hoverinfo="skip",
        colorscale=theme.sequential, colorbar=bar | {"nticks": 5, "tickformat": ticks}, hoverongaps=False,
    )  # fmt: skip
    cells = list(np.ndindex(values.shape))
    text = {it: write(float(values[it])) if known[it] else "–" for it in cells}
    beside = {it: f"±{write(float(spread[it]))}" if np.isfinite(spread[it]) else "" for it in cells}
    shades = sample_colorscale(scale_of(theme), [min(max(values[it] / top, 0), 1) if known[it] else 0 for it in cells])
    words = []
    for ink in (LIGHT.ink, LIGHT.halo):
        its = [it for it, shade in zip(cells, shades, strict=True) if readable_ink(shade) == ink]
        same = {"textfont": {"color": ink}}  # a click would dim what was not clicked
        words.append(scatter(
            x=[head for _layer, head in its], y=[layer for layer, _head in its], mode="text", hoverinfo="skip",
            text=[f"{text[it]} <span style='font-size:10px'>{beside[it]}</span>" if wide else text[it] for it in its],
            textfont={"size": 13 if wide else 11, "color": ink}, selected=same, unselected=same,
        ))  # fmt: skip
    unseen = {"marker": {"opacity": 0}}
    dots = scatter(
        x=[head for _layer, head in cells], y=[layer for layer, _head in cells], mode="markers",
        marker={"size": 18, "opacity": 0, "color": theme.ink}, selected=unseen, unselected=unseen,
        customdata=[[*it, text[it], beside[it]] for it in cells],
        hovertemplate="L%{customdata[0]}H%{customdata[1]}<br><b>%{customdata[2]}</b> %{customdata[3]}<extra></extra>",
    )  # fmt: skip
    layer, head = chosen
    lines = ({"color": theme.halo, "width": 6}, {"color": theme.accent, "width": 3})
    outline = [box(head, layer, 0.47, 0.45, line) for line in lines]
    x = axis(theme, side="top", range=[-0.5, n_head - 0.5], **PLAIN, **place_ticks("H", n_head, head))
    y = axis(theme, range=[n_layer - 0.5, -0.5], **PLAIN, **place_ticks("L", n_layer, layer))
    row = 56 if n_layer <= 6 else max(420 // n_layer, 24)
    return chart(
        [shaded, *words, dots], theme, WHOLE.axes(x, y), outline, height=max(row * n_layer, 200) + 56,
        margin={"l": 40, "r": 8, "t": 48, "b": 8}, dragmode=False, hovermode="closest", hoverdistance=-1,
        title={"text": title, "x": 0, "xref": "paper", "font": {"size": 13, "color": theme.faint}},
    )  # fmt: skip


def scale_of(theme: Theme) -> list[list]:
    """Give the sequential scale in the form that plotly samples."""
    return [list(stop) for stop in theme.sequential]


def readable_ink(shade: str) -> str:
    """Choose the ink that stands out on a shade, which plotly gives as rgb(r, g, b)."""
    channels = [float(part) / 255 for part in shade[4:-1].split(",")]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return LIGHT.ink if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else LIGHT.halo


def simplex_figure(
    parts: np.ndarray,
    negative: np.ndarray,
    chosen: tuple[int, int],
    corners: Sequence[str],
    dark: bool = False,
) -> go.Figure:
    """Draw every head as a dot between three corners, parts [layer head corner] that add up to 1, coloured by layer.

    A dot where a share is negative, [layer head] bool, is open. Labels that would cover others are left out; the chosen
    head always has its own, and a ring.
    """
    theme, (n_layer, n_head, _three) = theme_of(dark), parts.shape
    depth = np.linspace(0.45, 1, n_layer) if n_layer > 1 else [0.8]
    colours = sample_colorscale(scale_of(theme), depth)
    labels = labels_of(parts, chosen)
    shares = "".join(f"<br>{name} <b>%{{{it}:.0%}}</b>" for name, it in zip(corners, "abc", strict=True))
    size = 9 if n_layer * n_head <= MANY_DOTS else 6
    named = set(np.linspace(0, n_layer - 1, min(n_layer, NAMED_LAYERS)).round().astype(int).tolist())
    same = {"marker": {"opacity": 1}, "textfont": {"color": theme.ink}}
    label = {"textposition": BESIDE, "selected": same, "unselected": same, "showlegend": False, "cliponaxis": False}
    traces = []
    for layer in range(n_layer):
        content, position, rest = parts[layer].T
        traces.append(ternary(
            a=content, b=position, c=rest, mode="markers+text", text=labels[layer],
            textfont={"size": 11, "color": theme.ink},
            marker={
                "size": size, "color": colours[layer], "line": {"color": colours[layer], "width": 1.5},
                "symbol": ["circle-open" if it else "circle" for it in negative[layer]],
            },
            customdata=[[layer, head] for head in range(n_head)],
            hovertemplate=f"L{layer}H%{{customdata[1]}}{shares}<extra></extra>", **label,
        ))  # fmt: skip
        if layer in named:
            marker = {"size": 9, "color": colours[layer]}
            traces.append(ternary(a=[None], b=[None], c=[None], mode="markers", name=f"L{layer}", marker=marker))
    ring = parts[chosen]
    traces.append(ternary(
        a=ring[:1], b=ring[1:2], c=ring[2:], mode="markers+text", hoverinfo="skip",
        text=[f"&nbsp;<b>L{chosen[0]}H{chosen[1]}</b>"], textfont={"size": 12, "color": theme.ink},
        marker={"size": 17, "color": "rgba(0,0,0,0)", "line": {"color": theme.accent, "width": 2.5}}, **label,
    ))  # fmt: skip
    lines = {"gridcolor": theme.grid, "linecolor": theme.faint, "ticks": "", "tickvals": [0.25, 0.5, 0.75]}
    lines |= {"showticklabels": False, "min": 0}
    sides = {
        side: {**lines, "title": {"text": name, "font": {"size": 13, "color": theme.ink}}}
        for side, name in zip(("aaxis", "baxis", "caxis"), corners, strict=True)
    }
    corner = {"orientation": "v", "x": -0.04, "y": 1, "yanchor": "top"}  # which no dot reaches
    legend = LEGEND | corner | {"itemclick": False, "itemdoubleclick": False}
    return chart(
        traces, theme, {"ternary": {"sum": 1, "bgcolor": "rgba(0,0,0,0)", **sides}}, height=400, showlegend=True,
        legend=legend, margin={"l": 40, "r": 48, "t": 36, "b": 36}, hovermode="closest", dragmode=False,
    )  # fmt: skip


def ternary(**given) -> dict:
    return {"type": "scatterternary", **given}


def labels_of(parts: np.ndarray, chosen: tuple[int, int]) -> np.ndarray:
    """Name the dots whose labels cover no other label and no other dot, those near a corner first.

    The chosen one has its room, and no label here.
    """
    n_layer, n_head, _three = parts.shape
    x, y = parts[..., 2] + parts[..., 0] / 2, parts[..., 0] * np.sqrt(3) / 2
    wide, high = LABEL_SIZE
    labels = np.full((n_layer, n_head), "", object)
    order = sorted(np.ndindex(n_layer, n_head), key=lambda it: (it != chosen, -np.nan_to_num(parts[it]).max()))
    written: list[tuple[int, int]] = []
    for it in order:
        if not np.isfinite(parts[it]).all():
            continue
        clear = all(abs(x[it] - x[other]) > wide or abs(y[it] - y[other]) > high for other in written)
        right = (x - x[it] > 0) & (x - x[it] < wide) & (np.abs(y - y[it]) < high / 2)
        if it == chosen or (clear and not right.any()):
            labels[it] = "" if it == chosen else f"L{it[0]}H{it[1]}"
            written.append(it)
    return labels
