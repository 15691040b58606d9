"""The sections of the page "Checkpoint" that need no input: v_bias of every head, and the bias on the query."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.checkpoint import Checkpoint
from relxl.figures import checkpoint as figures
from relxl.language import _
from relxl.ui.show import show
from relxl.ui.view import key_of
from relxl.weights_only import Reach, folded_curves, gauge, reach, v_bias_curves


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_curves(key: tuple, layer: int, _checkpoint: Checkpoint) -> tuple[Reach, np.ndarray | None]:
    """Compute v_bias of all heads of a layer for all distances that are shown: [head distance]."""
    span = reach(_checkpoint.opened)
    attn = _checkpoint.model.layers[layer].attn
    return span, v_bias_curves(attn, span.distances, _checkpoint.config.clamp_len)


def weights_only(checkpoint: Checkpoint, layer: int, head: int, dark: bool) -> None:
    """Show v_bias of every head of a layer over distance: what position alone says, before anything is read."""
    st.markdown("##### " + _("(d) v_bias of every head, from the weights alone"))
    span, curves = cached_curves(key_of(checkpoint), layer, checkpoint)
    if curves is None:
        st.markdown(
            _(
                "This model has absolute positions, so no number belongs to a distance: its fourth term depends on two "
                "places and is not one curve."
            )
        )
        return
    distances, name = span.distances.numpy(), f"L{layer}H{head}"
    alt, odd = curve_sentence(name, curves[head], distances), int((~np.isfinite(curves)).sum())
    st.markdown(alt + (" " + _("**Not finite: {k} numbers**, left out.").format(k=odd) if odd else ""))
    if odd == curves.size:
        return
    places = {_("training"): span.trained, _("table ends"): span.table, _("clamp"): span.clamp}
    if span.table == span.trained:
        places = {_("training and table end"): span.table, _("clamp"): span.clamp}
    marks = {label: place for label, place in places.items() if place is not None and place <= span.high}
    figure = figures.heads_figure(curves, distances, head, style.RELATIVE_TERMS["v_bias"], marks, dark)
    show(
        figure,
        key="every_v_bias",
        alt=alt,
        table=lambda: {"distance": distances} | {f"H{i}": curve for i, curve in enumerate(curves)},
    )
    st.caption(
        _("All {n} heads of layer {layer}; {name} is bold. No text was read.").format(
            n=len(curves), layer=layer, name=name
        )
    )


def curve_sentence(name: str, curve: np.ndarray, distances: np.ndarray) -> str:
    """Say where a curve is highest and lowest and how fast it falls; markdown."""
    past = (distances >= 0) & np.isfinite(curve)
    if not past.any():
        return _("The curve of {name} has no finite number.").format(name=name)
    places, values = distances[past], curve[past].astype(float)
    high, low = int(values.argmax()), int(values.argmin())
    if values[high] == values[low]:
        return _("The curve of {name} is level: position alone says nothing here.").format(name=name)
    text = _("The curve of **{name}** is highest at distance {high} ({top}) and lowest at {low} ({bottom})")
    if distances.min() < 0:
        text = _(
            "In the past the curve of **{name}** is highest at distance {high} ({top}), lowest at {low} ({bottom})"
        )
    text = text.format(
        name=name,
        high=places[high],
        top=style.number(values[high]),
        low=places[low],
        bottom=style.number(values[low]),
    )
    below = places[(places > places[high]) & (values < (values[high] + values[low]) / 2)]
    return text + (_("; it has fallen half of that way at {n}.").format(n=below[0]) if len(below) else _("."))


# The bias on the query -----------------------------------------------------------------------------------------------


def q_bias_gauge(checkpoint: Checkpoint, layer: int, head: int, dark: bool) -> None:
    """Show how large the bias of the query projection is beside u and v, and v_bias under both ways to count it."""
    attn = checkpoint.model.layers[layer].attn
    if not hasattr(attn, "u"):
        return
    st.markdown("##### " + _("The bias on the query"))
    sizes = gauge(attn)
    if sizes is None:
        st.markdown(
            _("The query projection has no bias here, so the four terms are what they are: there is one way to count.")
        )
        return
    means = {name: mean(sizes[name]) for name in ("b_q", "u")}
    ratio = means["b_q"] / max(means["u"], 1e-30)
    st.markdown(
        _(
            "W\\_q adds a bias b to every query, and in every cell that acts as if both u and v were longer by b: "
            "(q + b + u) · k + (q + b + v) · p. In layer {layer} it is **{ratio} times** as long as u, on average. The "
            "code counts it to (a) and (b), where this app leaves it; counted as in the paper, (c) and (d) would have "
            "it. The sum is the same."
        ).format(layer=layer, ratio=style.number(ratio))
    )
    bars, curves = st.columns(2, gap="large")
    with bars:
        alt = _("Lengths of the vectors of {n} heads: the bias {b}, u {u}, on average.").format(
            n=len(sizes["u"]), b=style.number(means["b_q"]), u=style.number(means["u"])
        )
        figure = figures.gauge_figure(sizes, head, dark)
        show(figure, key="gauge", alt=alt, table=lambda: {"head": np.arange(len(sizes["u"]))} | sizes)
    with curves:
        span, counted = cached_curves(key_of(checkpoint), layer, checkpoint)
        folded = folded_curves(attn, span.distances, checkpoint.config.clamp_len)
        if not np.isfinite([counted[head], folded[head]]).any():
            return
        distances = span.distances.numpy()
        both = {_("v · p, as the code counts"): counted[head], _("(v + b) · p, as the paper would"): folded[head]}
        with np.errstate(invalid="ignore", over="ignore"):
            change = np.abs(folded[head] - counted[head])
        alt = _("v_bias of L{layer}H{head} counted both ways: they differ by up to {most}.").format(
            layer=layer, head=head, most=style.number(float(change.max(where=np.isfinite(change), initial=0)))
        )
        ink = style.theme_of(dark).ink
        figure = figures.lines_figure(both, distances, (style.RELATIVE_TERMS["v_bias"].colour, ink), dark)
        show(figure, key="gauge_curve", alt=alt, table=lambda: {"distance": distances} | both)


def mean(values: np.ndarray) -> float:
    """Give the mean of the finite values, 0 without any."""
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else 0.0
