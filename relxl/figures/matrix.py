"""The second renderer of a grid of matrices: a plotly figure, for export and for notebooks."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.matrix_view.panel import Grid
from relxl.style import Theme, axis, layout, readable, theme_of


def matrix_figure(grid: Grid, dark: bool = False) -> go.Figure:
    """Draw a grid of matrices as linked heatmaps, with the scales, marks, seam and pin that the matrix view draws."""
    theme = theme_of(dark)
    (query_len, key_len), columns = grid.shape, grid.columns
    rows = -(-len(grid.panels) // columns)
    titles = [
        f"{'▸ ' if place in grid.chosen else ''}<b>{panel.title}</b>  <i>{panel.formula}</i>"
        for place, panel in enumerate(grid.panels)
    ]
    figure = make_subplots(
        rows, columns, shared_xaxes="all", shared_yaxes="all", subplot_titles=titles,
        horizontal_spacing=0.07 / columns, vertical_spacing=0.22 / rows,
    )  # fmt: skip
    for annotation, panel in zip(figure.layout.annotations, grid.panels, strict=True):
        annotation.font = {"size": 13, "color": readable(panel.colour, dark) if panel.colour else theme.ink}
    scales = list(dict.fromkeys(panel.scale for panel in grid.panels))
    hover = _("query %{y}, key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>"
    for i, panel in enumerate(grid.panels):
        place = {"row": i // columns + 1, "col": i % columns + 1}
        z = np.ascontiguousarray(panel.dense(query_len, key_len), dtype=np.float32)
        coloraxis = axis_name(scales.index(panel.scale))
        figure.add_trace(go.Heatmap(z=z, coloraxis=coloraxis, hovertemplate=hover, hoverongaps=False), **place)
        for mark in marks(grid, theme):
            figure.add_trace(mark, **place)
    for i, scale in enumerate(scales):
        bar = {
            "thickness": 10,
            "len": 0.8 / len(scales),
            "outlinewidth": 0,
            "tickfont": {"size": 11, "color": theme.faint},
        }
        bar |= {"y": 1 - (i + 0.5) / len(scales), "title": {"text": scale.label, "side": "right", "font": {"size": 11}}}
        low = -scale.limit if scale.kind == "diverging" else 0
        colours = {"colorscale": getattr(theme, scale.kind), "cmin": low, "cmax": scale.limit, "colorbar": bar}
        figure.update_layout({axis_name(i): colours})
    height = rows * min(max(round(960 / columns * query_len / key_len), 90), 420) + 40 * rows + 60
    figure.update_layout(layout(theme, height=height, margin={"l": 48, "r": 8, "t": 34, "b": 44}))
    ticks = {"showgrid": False, "zeroline": False, "ticks": "outside" if grid.axes else "", "ticklen": 3}
    ticks["showticklabels"] = grid.axes
    figure.update_xaxes(axis(theme, **ticks, **token_ticks(grid.tokens), range=[-0.5, key_len - 0.5]))
    figure.update_yaxes(axis(theme, **ticks, **token_ticks(grid.tokens[grid.mem_len :]), range=[query_len - 0.5, -0.5]))
    if grid.axes:
        figure.update_xaxes(title_text=_("key"), row=rows)
        figure.update_yaxes(title_text=_("query"), col=1)
    frame = {"showline": True, "mirror": True, "linecolor": theme.accent}
    for place in grid.chosen:
        row, column = place // columns + 1, place % columns + 1
        figure.update_xaxes(frame, row=row, col=column).update_yaxes(frame, row=row, col=column)
    return figure


def axis_name(scale: int) -> str:
    return f"coloraxis{scale + 1 if scale else ''}"


def marks(grid: Grid, theme: Theme) -> list[go.Scatter]:
    """Make what is drawn over every panel: the outline of the hidden cells, the memory seam, the ring of the pin."""
    x, y = hidden_outline(grid.mask)
    made = [go.Scatter(x=x, y=y, mode="lines", line={"color": theme.faint, "width": 1}, hoverinfo="skip")]
    if grid.seam_at > 0:
        seam = {"color": theme.ink, "width": 1.5, "dash": "dot"}
        ends = [-0.5, grid.shape[0] - 0.5]
        made.append(go.Scatter(x=[grid.seam_at - 0.5] * 2, y=ends, mode="lines", line=seam, hoverinfo="skip"))
    if grid.pin is not None:
        ring = {"symbol": "circle-open", "size": 11, "color": theme.accent, "line": {"width": 2}}
        query, key = grid.pin
        made.append(go.Scatter(x=[key], y=[query], mode="markers", marker=ring, cliponaxis=False, hoverinfo="skip"))
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
