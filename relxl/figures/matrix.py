"""The second renderer of a grid of matrices: a plotly figure, for export and for notebooks."""

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import Place, chart, heatmap, note, panels, scatter
from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.matrix_view.panel import Grid, Scale
from relxl.style import Theme, axis, readable, theme_of


def matrix_figure(grid: Grid, dark: bool = False) -> go.Figure:
    """Draw a grid of matrices as linked heatmaps, with the scales, marks, seam and pin that the matrix view draws."""
    theme, columns = theme_of(dark), grid.columns
    rows = -(-len(grid.panels) // columns)
    places = panels(rows, columns, across=0.07 / columns, down=0.22 / rows)
    scales = list(dict.fromkeys(panel.scale for panel in grid.panels))
    hover = _("query %{y}, key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>"
    traces = []
    for place, panel in zip(places, grid.panels, strict=False):
        z = np.ascontiguousarray(panel.dense(*grid.shape), dtype=np.float32)
        coloraxis = axis_name(scales.index(panel.scale))
        cells = heatmap(place, z=z, coloraxis=coloraxis, hovertemplate=hover, hoverongaps=False)
        traces += [cells, *marks(grid, theme, place)]
    colours = {axis_name(i): colour_axis(scale, i, len(scales), theme) for i, scale in enumerate(scales)}
    query_len, key_len = grid.shape
    height = rows * min(max(round(960 / columns * query_len / key_len), 90), 420) + 40 * rows + 60
    margin = {"l": 48, "r": 8, "t": 34, "b": 44}
    axes = linked_axes(grid, theme, places) | colours
    return chart(traces, theme, axes, notes=titles(grid, theme, places), height=height, margin=margin)


def titles(grid: Grid, theme: Theme, places: list[Place]) -> list[dict]:
    """Write over every panel what it shows, with a sign before the chosen ones."""
    made = []
    for number, (place, panel) in enumerate(zip(places, grid.panels, strict=False)):
        text = f"{'▸ ' if number in grid.chosen else ''}<b>{panel.title}</b>  <i>{panel.formula}</i>"
        font = {"size": 13, "color": readable(panel.colour, theme.dark) if panel.colour else theme.ink}
        above = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "font": font}
        made.append(note(text, sum(place.width) / 2, place.height[1], **above))
    return made


def linked_axes(grid: Grid, theme: Theme, places: list[Place]) -> dict:
    """Let all panels show the same cells, as the lower left one does, and name the axes of the outer ones."""
    (query_len, key_len), columns, axes = grid.shape, grid.columns, {}
    corner = places[-columns]
    ticks = {"showgrid": False, "zeroline": False, "ticks": "outside" if grid.axes else "", "ticklen": 3}
    ticks["showticklabels"] = grid.axes
    keys = ticks | token_ticks(grid.tokens) | {"range": [-0.5, key_len - 0.5]}
    queries = ticks | token_ticks(grid.tokens[grid.mem_len :]) | {"range": [query_len - 0.5, -0.5]}
    frame = {"showline": True, "mirror": True, "linecolor": theme.accent}
    for number, place in enumerate(places):
        x = axis(theme, _("key") if grid.axes and number >= len(places) - columns else "", **keys)
        y = axis(theme, _("query") if grid.axes and number % columns == 0 else "", **queries)
        if place is not corner:
            x, y = x | {"matches": corner.x}, y | {"matches": corner.y}
        framed = frame if number in grid.chosen else {}
        axes |= place.axes(x | framed, y | framed)
    return axes


def colour_axis(scale: Scale, number: int, count: int, theme: Theme) -> dict:
    """Give the colours of a scale and its bar, the first of `count` on top."""
    bar = {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}, "len": 0.8 / count}
    bar |= {"y": 1 - (number + 0.5) / count, "title": {"text": scale.label, "side": "right", "font": {"size": 11}}}
    low = -scale.limit if scale.kind == "diverging" else 0
    return {"colorscale": getattr(theme, scale.kind), "cmin": low, "cmax": scale.limit, "colorbar": bar}


def axis_name(scale: int) -> str:
    return f"coloraxis{scale + 1 if scale else ''}"


def marks(grid: Grid, theme: Theme, place: Place) -> list[dict]:
    """Make what is drawn over every panel: the outline of the hidden cells, the memory seam, the ring of the pin."""
    x, y = hidden_outline(grid.mask)
    made = [scatter(place, x=x, y=y, mode="lines", line={"color": theme.faint, "width": 1}, hoverinfo="skip")]
    if grid.seam_at > 0:
        seam = {"color": theme.ink, "width": 1.5, "dash": "dot"}
        ends = [-0.5, grid.shape[0] - 0.5]
        made.append(scatter(place, x=[grid.seam_at - 0.5] * 2, y=ends, mode="lines", line=seam, hoverinfo="skip"))
    if grid.pin is not None:
        ring = {"symbol": "circle-open", "size": 11, "color": theme.accent, "line": {"width": 2}}
        query, key = grid.pin
        made.append(scatter(place, x=[key], y=[query], mode="markers", marker=ring, cliponaxis=False, hoverinfo="skip"))
    return made


def hidden_outline(mask: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    """Give the borders between visible and hidden cells of a mask [query key] as segments (x, y), None between them."""
    x: list[float | None] = []
    y: list[float | None] = []
    for query, key in np.argwhere(mask[:, 1:] != mask[:, :-1]):
        x += [key + 0.5, key + 0.5, None]
        y += [query - 0.5, query + 0.5, None]
    for query, key in np.argwhere(mask[1:] != mask[:-1]):
        x += [key - 0.5, key + 0.5, None]
        y += [query + 0.5, query + 0.5, None]
    return x, y
