"""The figures of the page "Checkpoint": v_bias from weights alone, two answers side by side, one tensor."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, chart, heatmap, note, scatter, vline
from relxl.figures.ticks import place_ticks
from relxl.language import _
from relxl.style import COLOURS, CURVES, LEGEND, Term, Theme, axis, plot_text, theme_of, translucent

MARGIN = {"l": 56, "r": 16, "t": 16, "b": 44}
NAMED = {"showlegend": True, "legend": LEGEND, "margin": MARGIN | {"t": 36}}  # with the names in a row above
DASHES = ("solid", "dash", "dot", "dashdot")
ODD = ("NaN", "∞", "−∞")


def finite(values: np.ndarray) -> np.ndarray:
    """Give values that a chart can take: a gap where a number is not finite."""
    return np.where(np.isfinite(values), values, np.array(np.nan, values.dtype))


def heads_figure(
    curves: np.ndarray, distances: np.ndarray, head: int, look: Term, marks: Mapping[str, int], dark: bool = False
) -> go.Figure:
    """Draw v_bias [head distance] of every head of a layer, the chosen one bold and named, with marked distances."""
    theme = theme_of(dark)
    thin = {"color": translucent(look.colour, 0.6 if dark else 0.45), "width": 1}
    bold = {"color": look.colour, "width": 3}
    lines = [
        scatter(
            x=distances, y=finite(curves[other]), mode="lines", line=bold if other == head else thin, name=f"H{other}",
            hovertemplate=_("distance %{x}") + f"<br><b>%{{y:.4g}}</b><extra>H{other}</extra>",
        )
        for other in [*(i for i in range(len(curves)) if i != head), head]
    ]  # fmt: skip
    dashed = {"color": theme.faint, "width": 1, "dash": "dash"}
    marked = [vline(distance, dashed) for distance in sorted(marks.values())]
    notes = [*mark_notes(marks, theme), *name_note(distances, curves[head], f"H{head}", theme)]
    ends = [int(distances.min()), int(distances.max())]
    x = axis(theme, distance_title(distances), range=ends)
    axes = WHOLE.axes(x, axis(theme, _("adds to the score"), exponentformat="e"))
    margin = MARGIN | {"t": 30}
    return chart(lines, theme, axes, marked, notes, height=380, margin=margin, hovermode="closest")


def name_note(distances: np.ndarray, curve: np.ndarray, name: str, theme: Theme) -> list[dict]:
    """Write a curve's name at its highest point in the past, where it has one."""
    there = np.isfinite(curve) & (distances >= 0)
    if not there.any():
        return []
    top = int(np.argmax(np.where(there, curve, -np.inf)))
    left = distances[top] > 0.8 * distances.max()
    beside = {"xshift": -8, "xanchor": "right"} if left else {"xshift": 8, "xanchor": "left"}
    look = {"font": {"size": 13, "color": theme.ink}, "bgcolor": theme.halo, "opacity": 0.85}
    return [note(f"<b>{name}</b>", int(distances[top]), float(curve[top]), yshift=6, **beside, **look)]


def distance_title(distances: np.ndarray) -> str:
    if distances.min() < 0:
        return _("distance, tokens (positive is the past)")
    return _("distance into the past, tokens")


def mark_notes(marks: Mapping[str, int], theme: Theme) -> list[dict]:
    """Name the line at each distance; names of lines that are close stand on either side of theirs."""
    near, before, notes = 0.2 * max(marks.values(), default=1), None, []
    for name, distance in sorted(marks.items(), key=lambda item: item[1]):
        side = "left" if before is not None and distance - before < near else "right"
        look = {"xanchor": side, "yanchor": "bottom", "font": {"size": 11, "color": theme.faint}}
        notes.append(note(name, distance, 1, yref="paper", **look))
        before = distance
    return notes


def lines_figure(
    curves: Mapping[str, np.ndarray], distances: np.ndarray, colours: Sequence[str] = CURVES, dark: bool = False,
    height: int = 260,
) -> go.Figure:  # fmt: skip
    """Draw curves over distance, told apart by colour and dashes: name -> [distance]."""
    theme = theme_of(dark)
    lines = [
        scatter(
            x=distances, y=finite(curve), mode="lines", name=plot_text(name, 60),
            line={
                "color": colours[place % len(colours)], "width": 2 if place else 3, "dash": DASHES[place % len(DASHES)],
            },
            hovertemplate=_("distance %{x}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )
        for place, (name, curve) in enumerate(curves.items())
    ]  # fmt: skip
    y = axis(theme, _("adds to the score"), exponentformat="e")
    return chart(lines, theme, WHOLE.axes(axis(theme, distance_title(distances)), y), height=height, **NAMED)


def gauge_figure(sizes: Mapping[str, np.ndarray], head: int, dark: bool = False) -> go.Figure:
    """Draw the sizes of u, v, the query's bias and their sums as bars: name -> [head]; the sums are hatched."""
    theme = theme_of(dark)
    colours = {"u": COLOURS[2], "u + b_q": COLOURS[2], "v": COLOURS[3], "v + b_q": COLOURS[3], "b_q": theme.faint}
    bars = [
        bar(
            x=list(range(len(values))), y=finite(values), name=label_of(name), marker=fill(colours[name], "+" in name),
            hovertemplate=f"H%{{x}}<br><b>%{{y:.4g}}</b><extra>{label_of(name)}</extra>",
        )
        for name, values in sizes.items()
    ]  # fmt: skip
    n_head = len(next(iter(sizes.values())))
    x = axis(theme, showgrid=False, zeroline=False, **place_ticks("H", n_head, head))
    y = axis(theme, _("length of the vector"), rangemode="tozero", exponentformat="e")
    return chart(bars, theme, WHOLE.axes(x, y), height=260, barmode="group", bargap=0.3, **NAMED)


def fill(colour: str, hatched: bool) -> dict:
    """Fill a bar with a colour, or hatch it."""
    if not hatched:
        return {"color": colour, "line": {"color": colour, "width": 0}}
    pattern = {"shape": "/", "fgcolor": colour, "bgcolor": "rgba(0,0,0,0)", "size": 5, "solidity": 0.5}
    return {"color": colour, "line": {"color": colour, "width": 1}, "pattern": pattern}


def label_of(name: str) -> str:
    return "|" + name.replace("b_q", "b<sub>q</sub>") + "|"


def tensor_figure(
    values: np.ndarray, kind: np.ndarray, first: tuple[int, int], block: tuple[int, int], limit: float,
    names: tuple[str, str], dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw blocks [row col] of a matrix on a diverging scale; `kind` marks those with a number that is not finite.

    `first` is the row and column of the first cell, `block` the cells of a block, `names` what rows and columns are.
    """
    theme = theme_of(dark)
    (row, col), (high, wide) = first, block
    rows, cols = (row + high * np.arange(len(values)), col + wide * np.arange(values.shape[1]))
    cells = {"x0": col, "dx": wide, "y0": row, "dy": high, "hoverongaps": False}
    hover = f"{names[0]} %{{y}}, {names[1]} %{{x}}<br>"
    scale = {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}, "len": 0.9}
    traces = [
        heatmap(
            z=values, colorscale=theme.diverging, zmin=-limit, zmid=0, zmax=limit, colorbar=scale,
            hovertemplate=hover + "<b>%{z:.4g}</b><extra></extra>", **cells,
        )
    ]  # fmt: skip
    for number, (name, colour) in enumerate(zip(ODD, (theme.nan, theme.plus_inf, theme.minus_inf), strict=True), 1):
        if (kind == number).any():
            odd = np.where(kind == number, np.float32(1), np.float32(np.nan))
            plain = {"colorscale": [[0, colour], [1, colour]], "showscale": False}
            square = {"color": colour, "symbol": "square", "size": 10}
            traces += [
                heatmap(z=odd, name=name, hovertemplate=hover + f"<b>{name}</b><extra></extra>", **plain, **cells),
                scatter(x=[None], y=[None], mode="markers", name=name, marker=square),  # which the legend shows
            ]
    height = int(min(max(16 * len(rows), 160), 460)) + 60
    ticks = {"showgrid": False, "zeroline": False, "ticks": "outside", "ticklen": 3}
    x = axis(theme, names[1], **ticks, **whole(cols), range=[col - wide / 2, cols[-1] + wide / 2])
    y = axis(theme, names[0], **ticks, **whole(rows), range=[rows[-1] + high / 2, row - high / 2])
    return chart(traces, theme, WHOLE.axes(x, y), height=height, **NAMED | {"margin": MARGIN | {"t": 30}})


def whole(places: np.ndarray) -> dict:
    """Tick every place of a short axis: a tick between two rows would say nothing."""
    return {"tickvals": places.tolist()} if len(places) <= 16 else {}


def line_figure(values: np.ndarray, first: int, name: str, dark: bool = False) -> go.Figure:
    """Draw a tensor of one axis [entry] as a curve."""
    theme = theme_of(dark)
    line = scatter(
        x=first + np.arange(len(values)), y=finite(values), mode="lines+markers" if len(values) <= 64 else "lines",
        line={"color": theme.ink, "width": 1.5}, marker={"size": 5},
        hovertemplate=f"{name} %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>",
    )  # fmt: skip
    axes = WHOLE.axes(axis(theme, name), axis(theme, _("value"), exponentformat="e"))
    return chart([line], theme, axes, height=260, margin=MARGIN)


def histogram_figure(counts: np.ndarray, edges: np.ndarray, dark: bool = False) -> go.Figure:
    """Draw how many numbers [bin] of a tensor lie between two edges [bin + 1]."""
    theme = theme_of(dark)
    middle, width = (edges[1:] + edges[:-1]) / 2, edges[1:] - edges[:-1]
    bars = bar(
        x=middle, y=counts, width=width, marker={"color": theme.faint, "line": {"width": 0}},
        hovertemplate=_("near %{x:.3g}") + "<br><b>%{y}</b><extra></extra>",
    )  # fmt: skip
    axes = WHOLE.axes(axis(theme, _("value"), exponentformat="e"), axis(theme, _("how many"), rangemode="tozero"))
    return chart([bars], theme, axes, height=260, bargap=0, margin=MARGIN)
