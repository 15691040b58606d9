"""The figures of the page "Memory": mass across the seam, what each slot receives, losses with and without memory."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, bar, box, chart, heatmap, note, panels, scatter, vline
from relxl.figures.distance import distance_axis, places
from relxl.figures.max_len import Series, bands, position_figure
from relxl.figures.ticks import place_ticks, token_ticks
from relxl.language import _
from relxl.style import COLOURS, DARK, LEGEND, LIGHT, MONO, axis, percent, plot_text, theme_of, translucent

MARGIN = {"l": 52, "r": 16, "t": 40, "b": 44}
MOST_NUMBERS = 16  # heads whose cells have room for their number


def seam_figure(mass: np.ndarray, chosen: tuple[int, int], dark: bool = False) -> go.Figure:
    """Draw the share of attention that every head gives to the memory, [layer head], from 0 to 1."""
    theme = theme_of(dark)
    n_layer, n_head = mass.shape
    written = n_head <= MOST_NUMBERS
    cells = heatmap(
        z=mass.astype(np.float32), zmin=0, zmax=1, colorscale=theme.sequential, showscale=not written, xgap=2, ygap=2,
        colorbar={"tickformat": ".0%", "thickness": 10, "outlinewidth": 0},
        hovertemplate="L%{y}H%{x}<br><b>%{z:.1%}</b><extra></extra>",
    )  # fmt: skip
    layer, head = np.divmod(np.arange(mass.size), n_head)
    ink, paper = (DARK.ink, DARK.halo) if dark else (LIGHT.ink, LIGHT.halo)
    numbers = scatter(
        x=head, y=layer, mode="text", text=[percent(share) for share in mass.ravel()], hoverinfo="skip",
        textfont={"size": 12, "color": [ink if share < 0.5 else paper for share in mass.ravel()]},
    )  # fmt: skip
    ticks = {"showgrid": False, "zeroline": False, "ticks": ""}
    axes = WHOLE.axes(
        axis(theme, **ticks, side="top", **place_ticks("H", n_head)),
        axis(theme, **ticks, range=[n_layer - 0.5, -0.5], **place_ticks("L", n_layer)),
    )
    frame = box(chosen[1], chosen[0], 0.5, 0.5, {"color": theme.accent, "width": 2})
    height, margin = max(300, 60 + 22 * n_layer), MARGIN | {"l": 36, "t": 28, "b": 12}
    return chart([cells, numbers] if written else [cells], theme, axes, [frame], height=height, margin=margin)


def queries_figure(
    mass: np.ndarray, even: np.ndarray, head: int, layer: int, first: int, dark: bool = False
) -> go.Figure:
    """Draw what each query of a segment gives to the memory, [head query]: the chosen head bold, the mean of all thin.

    `even` [query] is what a head would give that looks everywhere alike; the first query stands at `first`.
    """
    theme = theme_of(dark)
    shown = [
        (mass.mean(0), _("layer {n}, mean").format(n=layer), {"color": theme.faint, "width": 1.5}),
        (mass[head], f"L{layer}H{head}", {"color": theme.ink, "width": 2.5}),
        (even, _("spread evenly"), {"color": COLOURS[1], "width": 1.5, "dash": "dash"}),
    ]
    curves = [
        scatter(
            x=first + np.arange(len(even)), y=values, mode="lines", name=name, line=line,
            hovertemplate=_("query %{x}") + "<br><b>%{y:.1%}</b><extra>%{fullData.name}</extra>",
        )
        for values, name, line in shown
    ]  # fmt: skip
    axes = WHOLE.axes(
        axis(theme, _("position in the segment, tokens"), zeroline=False),
        axis(theme, _("attention to the memory"), range=[0, 1.03], tickformat=".0%"),
    )
    return chart(curves, theme, axes, height=300, showlegend=True, legend=LEGEND, margin=MARGIN | {"t": 36})


def slots_figure(
    mass: np.ndarray, head: int, layer: int, tokens: Sequence[str], zeros: np.ndarray, dark: bool = False
) -> go.Figure:
    """Draw what each memory slot receives on average, [head slot]: bars for the chosen head, a line for all heads.

    `zeros` [slot] marks vectors of zeros, whose bars are hollow. The seam is at the right end.
    """
    theme = theme_of(dark)
    x = np.arange(len(tokens))
    solid, hollow = np.array([theme.ink, "rgba(0,0,0,0)"], object)
    bars = bar(
        x=x, y=mass[head], name=f"L{layer}H{head}",
        marker={"color": np.where(zeros, hollow, solid), "line": {"color": theme.ink, "width": zeros * 1}},
        customdata=[plot_text(token) for token in tokens],
        hovertemplate=_("slot %{x}") + " %{customdata}<br><b>%{y:.2%}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    mean = scatter(
        x=x, y=mass.mean(0), mode="lines", name=_("mean of all heads of the layer"),
        line={"color": COLOURS[1], "width": 1.5, "shape": "hvh"},
        hovertemplate=_("slot %{x}") + "<br><b>%{y:.2%}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    seam = vline(len(tokens) - 0.5, {"color": theme.accent, "width": 2})
    title, ends = _("memory slot, the oldest at the left, the seam at the right"), [-0.6, len(tokens) - 0.3]
    axes = WHOLE.axes(
        axis(theme, title, zeroline=False, range=ends, **slot_ticks(tokens)),
        axis(theme, _("attention"), rangemode="tozero", tickformat=".1~%"),
    )
    margin = MARGIN | {"t": 36}
    return chart(
        [bars, mean], theme, axes, [seam], height=250, bargap=0.12, showlegend=True, legend=LEGEND, margin=margin
    )


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
    top, foot = panels(2, down=0.08, heights=[3, 2])
    lines = ({"color": theme.ink, "width": 2}, {"color": COLOURS[1], "width": 2, "dash": "dot"})
    labels = [plot_text(token) for token in tokens]
    curves = [
        scatter(
            top, y=values, mode="lines", name=name, line=line, customdata=labels,
            hovertemplate=_("after query %{x}") + " %{customdata}<br><b>%{y:.3f}</b><extra>%{fullData.name}</extra>",
        )
        for (name, values), line in zip(losses.items(), lines, strict=True)
    ]  # fmt: skip
    with_memory, without = losses.values()
    saved = scatter(
        foot, y=np.cumsum(without - with_memory), mode="lines", fill="tozeroy", showlegend=False,
        line={"color": COLOURS[2], "width": 2}, fillcolor=translucent(COLOURS[2], 0.2),
        hovertemplate=_("up to query %{x}") + "<br><b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    queries = axis(theme, _("query"), zeroline=False, **slot_ticks(tokens))
    bare = axis(theme, zeroline=False, **slot_ticks(tokens), matches=foot.x, showticklabels=False)
    axes = top.axes(bare, axis(theme, _("loss, nats per token"), rangemode="tozero"))
    axes |= foot.axes(queries, axis(theme, _("saved so far, nats"), nticks=4))
    margin = MARGIN | {"t": 36}
    return chart([*curves, saved], theme, axes, height=340, showlegend=True, legend=LEGEND, margin=margin)


def memory_position_figure(curves: Mapping[str, Series], dark: bool = False) -> go.Figure:
    """Draw the loss against the position in the segment, a curve a memory; the band is two standard errors."""
    return position_figure(curves, None, dark, _("loss, nats per token"))


def memory_loss_figure(curve: Series, trained: int | None, effective: int, dark: bool = False) -> go.Figure:
    """Draw the loss against the memory's length, on a logarithmic axis with 0; the band is two standard errors."""
    theme = theme_of(dark)
    lengths = curve.x.astype(int)
    label = _("memory {n}")
    under, line = bands({_("loss"): curve._replace(x=places(lengths, True))}, "")
    under |= {"fillcolor": translucent(theme.ink, 0.14)}
    line |= {
        "text": [label.format(n=n) for n in lengths],
        "line": {"color": theme.ink, "width": 2},
        "showlegend": False,
        "hovertemplate": "%{text}<br><b>%{y:.3f}</b>, %{customdata[0]:.3f} – %{customdata[1]:.3f}<extra></extra>",
    }
    marks = {_("training"): trained, _("enough"): effective}
    if effective == lengths.max():  # nobody knows yet
        marks = {_("training"): trained}
    elif trained == effective:
        marks = {_("training, and enough"): trained}
    at = {
        name: float(places(np.array(place), True))
        for name, place in marks.items()
        if place is not None and lengths.min() <= place <= lengths.max()
    }
    lines = [vline(x, {"color": theme.faint, "width": 1, "dash": "dash"}) for x in at.values()]
    font = {"size": 11, "color": theme.faint}
    names = [note(name, x, 1, yref="paper", yanchor="bottom", xanchor="center", font=font) for name, x in at.items()]
    ends = distance_axis(int(lengths.min()), int(lengths.max()), True)["range"]
    ticks = {"tickvals": places(lengths, True).tolist(), "ticktext": [str(n) for n in lengths]}
    axes = WHOLE.axes(
        axis(theme, _("memory, tokens"), range=ends, zeroline=False, **ticks), axis(theme, _("loss, nats per token"))
    )
    return chart([under, line], theme, axes, lines, names, height=320, margin=MARGIN)
