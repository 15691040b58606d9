"""The figures of the page "Checkpoint": v_bias from weights alone, two answers side by side, one tensor."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.ticks import head_ticks
from relxl.language import _
from relxl.style import COLOURS, CURVES, LEGEND, Term, axis, layout, plot_text, theme_of, translucent

MARGIN = {"l": 56, "r": 16, "t": 16, "b": 44}
DASHES = ("solid", "dash", "dot", "dashdot")
ODD = ("NaN", "∞", "−∞")


def finite(values: np.ndarray) -> np.ndarray:
    """Give values that a chart can take: a gap where a number is not finite."""
    return np.where(np.isfinite(values), values, np.array(np.nan, values.dtype))


def heads_figure(
    curves: np.ndarray, distances: np.ndarray, head: int, look: Term, marks: Mapping[str, int], dark: bool = False
) -> go.Figure:
    """Draw v_bias [head distance] of every head of a layer, the chosen one bold and named, with marked distances."""
    theme, figure = theme_of(dark), go.Figure()
    for other in [*(i for i in range(len(curves)) if i != head), head]:
        bold = other == head
        colour = look.colour if bold else translucent(look.colour, 0.6 if dark else 0.45)
        figure.add_scatter(
            x=distances, y=finite(curves[other]), mode="lines", line={"color": colour, "width": 3 if bold else 1},
            name=f"H{other}", hovertemplate=_("distance %{x}") + f"<br><b>%{{y:.4g}}</b><extra>H{other}</extra>",
        )  # fmt: skip
    add_marks(figure, marks, dark)
    add_name(figure, distances, curves[head], f"H{head}", dark)
    figure.update_layout(layout(theme, height=380, margin=MARGIN | {"t": 30}, hovermode="closest"))
    figure.update_xaxes(axis(theme, distance_title(distances)), range=[int(distances.min()), int(distances.max())])
    figure.update_yaxes(axis(theme, _("adds to the score"), exponentformat="e"))
    return figure


def add_name(figure: go.Figure, distances: np.ndarray, curve: np.ndarray, name: str, dark: bool) -> None:
    """Write a curve's name at its highest point in the past."""
    there = np.isfinite(curve) & (distances >= 0)
    if not there.any():
        return
    top = int(np.argmax(np.where(there, curve, -np.inf)))
    left = distances[top] > 0.8 * distances.max()
    figure.add_annotation(
        x=int(distances[top]), y=float(curve[top]), text=f"<b>{name}</b>", showarrow=False, xshift=-8 if left else 8,
        yshift=6, xanchor="right" if left else "left", font={"size": 13, "color": theme_of(dark).ink},
        bgcolor=theme_of(dark).halo, opacity=0.85,
    )  # fmt: skip


def distance_title(distances: np.ndarray) -> str:
    if distances.min() < 0:
        return _("distance, tokens (positive is the past)")
    return _("distance into the past, tokens")


def add_marks(figure: go.Figure, marks: Mapping[str, int], dark: bool) -> None:
    """Draw a named line at each distance; names of lines that are close stand on either side of theirs."""
    theme, before = theme_of(dark), None
    for name, place in sorted(marks.items(), key=lambda item: item[1]):
        after = before is not None and place - before < 0.2 * max(marks.values(), default=1)
        figure.add_vline(place, line={"color": theme.faint, "width": 1, "dash": "dash"})
        figure.add_annotation(
            x=place, y=1, yref="paper", yanchor="bottom", xanchor="left" if after else "right", text=name,
            showarrow=False, font={"size": 11, "color": theme.faint},
        )  # fmt: skip
        before = place


def lines_figure(
    curves: Mapping[str, np.ndarray], distances: np.ndarray, colours: Sequence[str] = CURVES, dark: bool = False
) -> go.Figure:
    """Draw curves over distance, told apart by colour and dashes: name -> [distance]."""
    theme, figure = theme_of(dark), go.Figure()
    for place, (name, curve) in enumerate(curves.items()):
        line = {"color": colours[place % len(colours)], "width": 3 if place == 0 else 2}
        figure.add_scatter(
            x=distances, y=finite(curve), mode="lines", name=plot_text(name, 60),
            line=line | {"dash": DASHES[place % len(DASHES)]},
            hovertemplate=_("distance %{x}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_layout(layout(theme, height=260, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}))
    figure.update_xaxes(axis(theme, distance_title(distances)))
    figure.update_yaxes(axis(theme, _("adds to the score"), exponentformat="e"))
    return figure


def gauge_figure(sizes: Mapping[str, np.ndarray], head: int, dark: bool = False) -> go.Figure:
    """Draw the sizes of u, v, the query's bias and their sums as bars: name -> [head]; the sums are hatched."""
    theme, figure = theme_of(dark), go.Figure()
    colours = {"u": COLOURS[2], "u + b_q": COLOURS[2], "v": COLOURS[3], "v + b_q": COLOURS[3], "b_q": theme.faint}
    for name, values in sizes.items():
        shape = "/" if "+" in name else ""
        pattern = {"shape": shape, "fgcolor": colours[name], "bgcolor": "rgba(0,0,0,0)", "size": 5, "solidity": 0.5}
        marker = {"color": colours[name], "line": {"color": colours[name], "width": 1 if shape else 0}}
        marker |= {"pattern": pattern} if shape else {}
        label = label_of(name)
        figure.add_bar(
            x=list(range(len(values))), y=finite(values), name=label, marker=marker,
            hovertemplate=f"H%{{x}}<br><b>%{{y:.4g}}</b><extra>{label}</extra>",
        )  # fmt: skip
    n_head = len(next(iter(sizes.values())))
    figure.update_layout(
        layout(
            theme, height=260, barmode="group", bargap=0.3, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}
        )
    )
    figure.update_xaxes(axis(theme, showgrid=False, zeroline=False, **head_ticks(n_head, head)))
    figure.update_yaxes(axis(theme, _("length of the vector"), rangemode="tozero", exponentformat="e"))
    return figure


def label_of(name: str) -> str:
    return "|" + name.replace("b_q", "b<sub>q</sub>") + "|"


def tensor_figure(
    values: np.ndarray, kind: np.ndarray, first: tuple[int, int], block: tuple[int, int], limit: float,
    names: tuple[str, str], dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw blocks [row col] of a matrix on a diverging scale; `kind` marks those with a number that is not finite.

    `first` is the row and column of the first cell, `block` the cells of a block, `names` what rows and columns are.
    """
    theme, figure = theme_of(dark), go.Figure()
    (row, col), (high, wide) = first, block
    rows, cols = (row + high * np.arange(len(values)), col + wide * np.arange(values.shape[1]))
    bar = {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}, "len": 0.9}
    figure.add_heatmap(
        z=values, x0=col, dx=wide, y0=row, dy=high, colorscale=theme.diverging, zmin=-limit, zmid=0, zmax=limit,
        colorbar=bar, hoverongaps=False,
        hovertemplate=f"{names[0]} %{{y}}, {names[1]} %{{x}}<br><b>%{{z:.4g}}</b><extra></extra>",
    )  # fmt: skip
    for number, (name, colour) in enumerate(zip(ODD, (theme.nan, theme.plus_inf, theme.minus_inf), strict=True), 1):
        odd = np.where(kind == number, np.float32(1), np.float32(np.nan))
        if (kind == number).any():
            figure.add_heatmap(
                z=odd, x0=col, dx=wide, y0=row, dy=high, colorscale=[[0, colour], [1, colour]], showscale=False,
                name=name, hoverongaps=False,
                hovertemplate=f"{names[0]} %{{y}}, {names[1]} %{{x}}<br><b>{name}</b><extra></extra>",
            )  # fmt: skip
            figure.add_scatter(
                x=[None], y=[None], mode="markers", name=name, marker={"color": colour, "symbol": "square", "size": 10},
            )  # fmt: skip
    height = int(min(max(16 * len(rows), 160), 460)) + 60
    ticks = {"showgrid": False, "zeroline": False, "ticks": "outside", "ticklen": 3}
    figure.update_layout(layout(theme, height=height, margin=MARGIN | {"t": 30}, legend=LEGEND, showlegend=True))
    figure.update_xaxes(axis(theme, names[1], **ticks), **whole(cols), range=[col - wide / 2, cols[-1] + wide / 2])
    figure.update_yaxes(axis(theme, names[0], **ticks), **whole(rows), range=[rows[-1] + high / 2, row - high / 2])
    return figure


def whole(places: np.ndarray) -> dict:
    """Tick every place of a short axis: a tick between two rows would say nothing."""
    return {"tickvals": places.tolist()} if len(places) <= 16 else {}


def line_figure(values: np.ndarray, first: int, name: str, dark: bool = False) -> go.Figure:
    """Draw a tensor of one axis [entry] as a curve."""
    theme, figure = theme_of(dark), go.Figure()
    figure.add_scatter(
        x=first + np.arange(len(values)), y=finite(values), mode="lines+markers" if len(values) <= 64 else "lines",
        line={"color": theme.ink, "width": 1.5}, marker={"size": 5},
        hovertemplate=f"{name} %{{x}}<br><b>%{{y:.4g}}</b><extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=260, margin=MARGIN))
    figure.update_xaxes(axis(theme, name))
    figure.update_yaxes(axis(theme, _("value"), exponentformat="e"))
    return figure


def histogram_figure(counts: np.ndarray, edges: np.ndarray, dark: bool = False) -> go.Figure:
    """Draw how many numbers [bin] of a tensor lie between two edges [bin + 1]."""
    theme, figure = theme_of(dark), go.Figure()
    middle, width = (edges[1:] + edges[:-1]) / 2, edges[1:] - edges[:-1]
    figure.add_bar(
        x=middle, y=counts, width=width, marker={"color": theme.faint, "line": {"width": 0}},
        hovertemplate=_("near %{x:.3g}") + "<br><b>%{y}</b><extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=260, bargap=0, margin=MARGIN))
    figure.update_xaxes(axis(theme, _("value"), exponentformat="e"))
    figure.update_yaxes(axis(theme, _("how many"), rangemode="tozero"))
    return figure
