"""The figures of the page "Memory": mass across the seam, what each slot receives, losses with and without memory."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from relxl.figures.distance import distance_axis, places
from relxl.figures.max_len import Series, add_curves, position_figure
from relxl.figures.ticks import token_ticks
from relxl.language import _
from relxl.style import COLOURS, DARK, LEGEND, LIGHT, MONO, axis, layout, percent, plot_text, theme_of, translucent

MARGIN = {"l": 52, "r": 16, "t": 40, "b": 44}
MOST_NUMBERS = 16  # heads whose cells have room for their number


def seam_figure(mass: np.ndarray, chosen: tuple[int, int], dark: bool = False) -> go.Figure:
    """Draw the share of attention that every head gives to the memory, [layer head], from 0 to 1."""
    theme, figure = theme_of(dark), go.Figure()
    n_layer, n_head = mass.shape
    written = n_head <= MOST_NUMBERS
    figure.add_heatmap(
        z=mass.astype(np.float32), zmin=0, zmax=1, colorscale=theme.sequential, showscale=not written, xgap=2, ygap=2,
        colorbar={"tickformat": ".0%", "thickness": 10, "outlinewidth": 0},
        hovertemplate="L%{y}H%{x}<br><b>%{z:.1%}</b><extra></extra>",
    )  # fmt: skip
    if written:
        layer, head = np.divmod(np.arange(mass.size), n_head)
        ink, paper = (DARK.ink, DARK.halo) if dark else (LIGHT.ink, LIGHT.halo)
        figure.add_scatter(
            x=head, y=layer, mode="text", text=[percent(share) for share in mass.ravel()], hoverinfo="skip",
            textfont={"size": 12, "color": [ink if share < 0.5 else paper for share in mass.ravel()]},
        )  # fmt: skip
    figure.add_shape(
        type="rect", x0=chosen[1] - 0.5, x1=chosen[1] + 0.5, y0=chosen[0] - 0.5, y1=chosen[0] + 0.5,
        line={"color": theme.accent, "width": 2},
    )  # fmt: skip
    heads, layers = list(range(n_head)), list(range(n_layer))
    height = max(300, 60 + 22 * n_layer)
    figure.update_layout(layout(theme, height=height, margin=MARGIN | {"l": 36, "t": 28, "b": 12}))
    ticks = {"showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(axis(theme, **ticks, side="top", tickvals=heads, ticktext=[f"H{i}" for i in heads]))
    figure.update_yaxes(axis(theme, **ticks, tickvals=layers, ticktext=[f"L{i}" for i in layers]))
    figure.update_yaxes(range=[n_layer - 0.5, -0.5])
    return figure


def queries_figure(
    mass: np.ndarray, even: np.ndarray, head: int, layer: int, first: int, dark: bool = False
) -> go.Figure:
    """Draw what each query of a segment gives to the memory, [head query]: the chosen head bold, the mean of all thin.

    `even` [query] is what a head would give that looks everywhere alike; the first query stands at `first`.
    """
    theme, figure = theme_of(dark), go.Figure()
    x = first + np.arange(len(even))
    shown = [
        (mass.mean(0), _("layer {n}, mean").format(n=layer), {"color": theme.faint, "width": 1.5}),
        (mass[head], f"L{layer}H{head}", {"color": theme.ink, "width": 2.5}),
    ]
    for values, name, line in shown:
        figure.add_scatter(
            x=x, y=values, mode="lines", name=name, line=line,
            hovertemplate=_("query %{x}") + "<br><b>%{y:.1%}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=x, y=even, mode="lines", name=_("spread evenly"),
        line={"color": COLOURS[1], "width": 1.5, "dash": "dash"},
        hovertemplate=_("query %{x}") + "<br><b>%{y:.1%}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=300, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}))
    figure.update_xaxes(axis(theme, _("position in the segment, tokens"), zeroline=False))
    figure.update_yaxes(axis(theme, _("attention to the memory"), range=[0, 1.03], tickformat=".0%"))
    return figure


def slots_figure(
    mass: np.ndarray, head: int, layer: int, tokens: Sequence[str], zeros: np.ndarray, dark: bool = False
) -> go.Figure:
    """Draw what each memory slot receives on average, [head slot]: bars for the chosen head, a line for all heads.

    `zeros` [slot] marks vectors of zeros, whose bars are hollow. The seam is at the right end.
    """
    theme, figure = theme_of(dark), go.Figure()
    x = np.arange(len(tokens))
    solid, hollow = np.array([theme.ink, "rgba(0,0,0,0)"], object)
    figure.add_bar(
        x=x, y=mass[head], name=f"L{layer}H{head}",
        marker={"color": np.where(zeros, hollow, solid), "line": {"color": theme.ink, "width": zeros * 1}},
        customdata=[plot_text(token) for token in tokens],
        hovertemplate=_("slot %{x}") + " %{customdata}<br><b>%{y:.2%}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=mass.mean(0), mode="lines", name=_("mean of all heads of the layer"),
        line={"color": COLOURS[1], "width": 1.5, "shape": "hvh"},
        hovertemplate=_("slot %{x}") + "<br><b>%{y:.2%}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.add_vline(len(tokens) - 0.5, line={"color": theme.accent, "width": 2})
    layout_of = layout(theme, height=250, bargap=0.12, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36})
    figure.update_layout(layout_of)
    title = _("memory slot, the oldest at the left, the seam at the right")
    figure.update_xaxes(axis(theme, title, zeroline=False, **slot_ticks(tokens)), range=[-0.6, len(tokens) - 0.3])
    figure.update_yaxes(axis(theme, _("attention"), rangemode="tozero", tickformat=".1~%"))
    return figure


def slot_ticks(tokens: Sequence[str], most: int = 72) -> dict:
    """Write the token under every slot while there is room for one character each."""
    face = {"showgrid": False, "tickfont": {"family": MONO, "size": 12}}
    if len(tokens) > most or any(len(token) > 1 for token in tokens):
        return face | token_ticks(tokens)
    labels = [plot_text(token) for token in tokens]
    return face | {"tickvals": list(range(len(tokens))), "ticktext": labels, "tickangle": 0}


def token_loss_figure(losses: Mapping[str, np.ndarray], tokens: Sequence[str], dark: bool = False) -> go.Figure:
    """Draw the loss on the token after each query of a segment, with memory and without, and what is saved so far.

    losses: name -> [query], the first with memory; nats.
    """
    theme = theme_of(dark)
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[3, 2])
    lines = ({"color": theme.ink, "width": 2}, {"color": COLOURS[1], "width": 2, "dash": "dot"})
    labels = [plot_text(token) for token in tokens]
    for (name, values), line in zip(losses.items(), lines, strict=True):
        figure.add_scatter(
            y=values, mode="lines", name=name, line=line, customdata=labels, row=1, col=1,
            hovertemplate=_("after query %{x}") + " %{customdata}<br><b>%{y:.3f}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    with_memory, without = losses.values()
    figure.add_scatter(
        y=np.cumsum(without - with_memory), mode="lines", fill="tozeroy", showlegend=False, row=2, col=1,
        line={"color": COLOURS[2], "width": 2}, fillcolor=translucent(COLOURS[2], 0.2),
        hovertemplate=_("up to query %{x}") + "<br><b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    figure.update_layout(layout(theme, height=340, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36}))
    figure.update_xaxes(axis(theme, zeroline=False, **slot_ticks(tokens)))
    figure.update_xaxes(title_text=_("query"), row=2, col=1)
    figure.update_yaxes(axis(theme, _("loss, nats per token"), rangemode="tozero"), row=1, col=1)
    figure.update_yaxes(axis(theme, _("saved so far, nats"), nticks=4), row=2, col=1)
    return figure


def memory_position_figure(curves: Mapping[str, Series], dark: bool = False) -> go.Figure:
    """Draw the loss against the position in the segment, a curve a memory; the band is two standard errors."""
    figure = position_figure(curves, None, dark)
    figure.update_yaxes(title_text=_("loss, nats per token"))
    return figure


def memory_loss_figure(curve: Series, trained: int | None, effective: int, dark: bool = False) -> go.Figure:
    """Draw the loss against the memory's length, on a logarithmic axis with 0; the band is two standard errors."""
    theme, figure = theme_of(dark), go.Figure()
    lengths = curve.x.astype(int)
    add_curves(figure, {_("loss"): curve._replace(x=places(lengths, True))}, "")
    label = _("memory {n}")
    figure.data[-1].update(
        text=[label.format(n=n) for n in lengths], line={"color": theme.ink}, showlegend=False,
        hovertemplate="%{text}<br><b>%{y:.3f}</b> ± %{customdata:.3f}<extra></extra>",
    )  # fmt: skip
    figure.data[0].update(fillcolor=translucent(theme.ink, 0.14))
    marks = {_("training"): trained, _("enough"): effective}
    if effective == lengths.max():  # nobody knows yet
        marks = {_("training"): trained}
    elif trained == effective:
        marks = {_("training, and enough"): trained}
    for name, place in marks.items():
        if place is not None and lengths.min() <= place <= lengths.max():
            at = float(places(np.array(place), True))
            figure.add_vline(at, line={"color": theme.faint, "width": 1, "dash": "dash"})
            figure.add_annotation(
                x=at, y=1, yref="paper", yanchor="bottom", xanchor="center", text=name, showarrow=False,
                font={"size": 11, "color": theme.faint},
            )  # fmt: skip
    figure.update_layout(layout(theme, height=320, margin=MARGIN))
    ends = distance_axis(int(lengths.min()), int(lengths.max()), True)["range"]
    ticks = {"tickvals": places(lengths, True).tolist(), "ticktext": [str(n) for n in lengths]}
    figure.update_xaxes(axis(theme, _("memory, tokens"), range=ends, zeroline=False, **ticks))
    figure.update_yaxes(axis(theme, _("loss, nats per token")))
    return figure
