"""The figures of the page "Score terms": the four matrices with sum and probabilities, and what goes with them."""

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.language import _
from relxl.style import Term, Theme, axis, layout, plot_text, readable, theme_of

PANEL_TICKS = 12
LABELLED_TOKENS = 24
NO_TITLE = {"l": 48, "r": 16, "t": 12, "b": 40}


def score_range(matrices: list[np.ndarray], mask: np.ndarray) -> float:
    """Give the half width of one symmetric range for matrices [query key]: the largest finite visible value."""
    largest = max((float(np.abs(m[mask & np.isfinite(m)]).max(initial=0)) for m in matrices), default=0.0)
    return largest or 1.0


def token_ticks(tokens: list[str]) -> dict:
    """Label an integer axis with tokens, or with every so many positions where there are too many to read."""
    if len(tokens) <= LABELLED_TOKENS:
        return {
            "tickvals": list(range(len(tokens))),
            "ticktext": [plot_text(token) for token in tokens],
            "tickangle": 0,
        }
    step = max(1, 2 ** round(math.log2(len(tokens) / PANEL_TICKS)))
    return {"tickvals": list(range(0, len(tokens), step)), "tickangle": 0}


def future_outline(query_len: int, key_len: int, mem_len: int) -> tuple[list[float], list[float]]:
    """Give the staircase around the cells that a causal query may not see, as a closed path (x, y)."""
    x, y = [key_len - 0.5], [-0.5]
    for query in range(query_len):
        edge = min(mem_len + query + 0.5, key_len - 0.5)
        x += [edge, edge]
        y += [query - 0.5, query + 0.5]
    return [*x, key_len - 0.5], [*y, query_len - 0.5]


def add_matrix(
    figure: go.Figure,
    row: int,
    col: int,
    z: np.ndarray,
    mem_len: int,
    pin: tuple[int, int] | None,
    coloraxis: str,
    theme: Theme,
) -> None:
    """Draw one matrix [query key] with the future outlined and hatched, the memory seam and the pinned cell."""
    query_len, key_len = z.shape
    place = {"row": row, "col": col}
    z = np.ascontiguousarray(z, dtype=np.float32)
    hover = _("query %{y}, key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>"
    figure.add_trace(go.Heatmap(z=z, coloraxis=coloraxis, hovertemplate=hover, hoverongaps=False), **place)
    x, y = future_outline(query_len, key_len, mem_len)
    pattern = {"shape": "/", "size": 7, "solidity": 0.12, "fgcolor": theme.hatch, "bgcolor": "rgba(0,0,0,0)"}
    line = {"color": theme.faint, "width": 1}
    outline = go.Scatter(x=x, y=y, mode="lines", line=line, fill="toself", fillpattern=pattern, hoverinfo="skip")
    figure.add_trace(outline, **place)
    if mem_len:
        seam = {"color": theme.ink, "width": 1.5, "dash": "dot"}
        figure.add_trace(
            go.Scatter(x=[mem_len - 0.5] * 2, y=[-0.5, query_len - 0.5], mode="lines", line=seam, hoverinfo="skip"),
            **place,
        )
    if pin is not None:
        ring = {"symbol": "circle-open", "size": 11, "color": theme.accent, "line": {"width": 2}}
        figure.add_trace(
            go.Scatter(x=[pin[1]], y=[pin[0]], mode="markers", marker=ring, cliponaxis=False, hoverinfo="skip"), **place
        )


def matrices_figure(
    terms: dict[str, np.ndarray],
    logits: np.ndarray,
    probs: np.ndarray,
    mask: np.ndarray,
    tokens: list[str],
    looks: dict[str, Term],
    pin: tuple[int, int] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Draw the four terms, their sum and the probabilities, [query key] each, as six linked panels.

    The terms and the sum share one diverging range, symmetric around zero, that covers every visible cell; the
    probabilities go from 0 to their maximum. Zooming one panel zooms all.
    """
    theme = theme_of(dark)
    query_len, key_len = logits.shape
    mem_len = key_len - query_len
    titles = {name: f"<b>({look.letter}) {name}</b>  <i>{look.formula}</i>" for name, look in looks.items()}
    names = list(terms)
    order = [names[0], names[1], "sum", names[2], names[3], "probs"]
    titles |= {
        "sum": _("<b>sum</b>  logits before the mask"),
        "probs": _("<b>probabilities</b>  after mask and softmax"),
    }
    figure = make_subplots(
        2, 3, shared_xaxes="all", shared_yaxes="all", horizontal_spacing=0.025, vertical_spacing=0.11,
        subplot_titles=[titles[name] for name in order],
    )  # fmt: skip
    for index, name in enumerate(order):
        z = {"sum": logits, "probs": probs}.get(name)
        z = terms[name] if z is None else z
        add_matrix(
            figure,
            index // 3 + 1,
            index % 3 + 1,
            z,
            mem_len,
            pin,
            "coloraxis2" if name == "probs" else "coloraxis",
            theme,
        )
    for annotation, name in zip(figure.layout.annotations, order, strict=True):
        colour = looks[name].colour if name in looks else theme.ink
        annotation.update(
            font={"size": 13, "color": readable(colour, dark)}, x=annotation.x, xanchor="center", yshift=2
        )
    limit = score_range([*terms.values(), logits], mask)
    height = 2 * min(max(round(330 * query_len / key_len), 150), 330) + 110
    bar = {"thickness": 10, "len": 0.45, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}, "x": 1.005}
    figure.update_layout(
        layout(theme, height=height, margin={"l": 44, "r": 8, "t": 34, "b": 44}),
        coloraxis={
            "colorscale": theme.diverging, "cmin": -limit, "cmax": limit, "cmid": 0,
            "colorbar": {**bar, "y": 0.78, "title": {"text": _("score"), "side": "right", "font": {"size": 11}}},
        },
        coloraxis2={
            "colorscale": theme.sequential, "cmin": 0, "cmax": float(probs[np.isfinite(probs)].max(initial=0)) or 1.0,
            "colorbar": {**bar, "y": 0.22, "title": {"text": _("probability"), "side": "right", "font": {"size": 11}}},
        },
    )  # fmt: skip
    ticks = {"showgrid": False, "zeroline": False, "ticks": "outside", "ticklen": 3, "constrain": "domain"}
    figure.update_xaxes(axis(theme, **ticks, **token_ticks(tokens), range=[-0.5, key_len - 0.5]))
    figure.update_yaxes(axis(theme, **ticks, **token_ticks(tokens[mem_len:]), range=[query_len - 0.5, -0.5]))
    figure.update_xaxes(title_text=_("key"), row=2)
    figure.update_yaxes(title_text=_("query"), col=1)
    return figure


def heads_figure(matrices: np.ndarray, mask: np.ndarray, chosen: int, layer: int, dark: bool = False) -> go.Figure:
    """Draw one term of all heads of a layer, [head query key], side by side on one diverging range."""
    theme = theme_of(dark)
    n_head, query_len, key_len = matrices.shape
    columns = min(n_head, 8 if query_len * 1.5 > key_len else 4)
    rows = math.ceil(n_head / columns)
    titles = [f"<b>▸ L{layer}H{head}</b>" if head == chosen else f"L{layer}H{head}" for head in range(n_head)]
    figure = make_subplots(
        rows, columns, shared_xaxes="all", shared_yaxes="all", subplot_titles=titles,
        horizontal_spacing=0.012, vertical_spacing=0.14 / rows,
    )  # fmt: skip
    for head in range(n_head):
        add_matrix(
            figure,
            head // columns + 1,
            head % columns + 1,
            matrices[head],
            key_len - query_len,
            None,
            "coloraxis",
            theme,
        )
    limit = score_range(list(matrices), mask)
    figure.update_annotations(font={"size": 12, "color": theme.ink})
    height = rows * round(1000 / columns * query_len / key_len) + 50
    figure.update_layout(
        layout(theme, height=height, margin={"l": 8, "r": 8, "t": 28, "b": 8}),
        coloraxis={
            "colorscale": theme.diverging, "cmin": -limit, "cmax": limit, "cmid": 0,
            "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11, "color": theme.faint}},
        },
    )  # fmt: skip
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(bare, range=[-0.5, key_len - 0.5])
    figure.update_yaxes(bare, range=[query_len - 0.5, -0.5])
    return figure


def strip_figure(u_bias: np.ndarray, tokens: list[str], look: Term, dark: bool = False) -> go.Figure:
    """Draw u_bias [key] as bars, and below them as the strip of which the matrix repeats one a row."""
    theme = theme_of(dark)
    u_bias = u_bias.astype(np.float32)
    limit = float(np.abs(u_bias[np.isfinite(u_bias)]).max(initial=0)) or 1.0
    hover = _("key %{x}") + "<br><b>%{y:.4g}</b><extra></extra>"
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.86, 0.14], vertical_spacing=0.02)
    figure.add_bar(y=u_bias, marker={"color": look.colour, "line": {"width": 0}}, hovertemplate=hover, row=1, col=1)
    figure.add_heatmap(
        z=u_bias[None], colorscale=theme.diverging, zmin=-limit, zmid=0, zmax=limit, showscale=False, row=2, col=1,
        hovertemplate=_("key %{x}") + "<br><b>%{z:.4g}</b><extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=220, bargap=0.1, margin=NO_TITLE))
    figure.update_xaxes(axis(theme, showgrid=False))
    figure.update_xaxes(title_text=_("key"), row=2, **token_ticks(tokens))
    figure.update_yaxes(axis(theme, _("score")), row=1)
    figure.update_yaxes(visible=False, row=2)
    return figure


def curve_figure(
    v_bias: np.ndarray, distances: np.ndarray, look: Term, marks: dict[str, int], dark: bool = False
) -> go.Figure:
    """Draw v_bias [distance] as a curve: what distance alone adds.

    The future, which a causal query never reads, is dotted. `marks` names distances to draw a line at.
    """
    theme = theme_of(dark)
    v_bias = v_bias.astype(np.float32)
    past = distances >= 0
    hover = _("distance %{x}") + "<br><b>%{y:.4g}</b><extra></extra>"
    line = {"color": look.colour, "width": 2}
    figure = go.Figure()
    figure.add_scatter(
        x=distances[~past], y=v_bias[~past], mode="lines", line={**line, "width": 1, "dash": "dot"}, hovertemplate=hover
    )
    figure.add_scatter(x=distances[past], y=v_bias[past], mode="lines", line=line, hovertemplate=hover)
    for name, distance in marks.items():
        figure.add_vline(
            distance, line={"color": theme.faint, "width": 1, "dash": "dash"},
            annotation={"text": name, "font": {"size": 11, "color": theme.faint}},
        )  # fmt: skip
    figure.update_layout(layout(theme, height=220, margin=NO_TITLE))
    figure.update_xaxes(axis(theme, _("distance to the key, tokens (positive is the past)")))
    figure.update_yaxes(axis(theme, _("score")))
    return figure


def dimensions_figure(cell: dict[str, np.ndarray], looks: dict[str, Term], dark: bool = False) -> go.Figure:
    """Draw what each dimension of the head adds to each term of one cell, [d_head] a term, stacked."""
    theme = theme_of(dark)
    figure = go.Figure()
    for name, contributions in cell.items():
        figure.add_bar(
            y=contributions.astype(np.float32), name=f"({looks[name].letter}) {name}", marker_color=looks[name].colour,
            hovertemplate=_("dimension %{x}") + "<br><b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        layout(
            theme,
            height=260,
            barmode="relative",
            showlegend=True,
            bargap=0.25,
            margin={"l": 48, "r": 16, "t": 8, "b": 40},
        ),
        legend={"orientation": "h", "y": 1.15, "x": 0},
    )
    figure.update_xaxes(axis(theme, _("dimension of the head"), showgrid=False))
    figure.update_yaxes(axis(theme, _("adds to the score")))
    return figure
