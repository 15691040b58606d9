"""The sections of the page "Distance" below its picture: how far heads reach, and v_bias of every head of the model."""

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.figures import distance as figures
from relxl.language import _
from relxl.ui.distance.sections import POSITION, Controls, Span, cached_reach, curves_of, span_of
from relxl.ui.show import show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.view import View

MOST_DOTS = 64  # heads that one plot has room for


def how_far(view: View, wanted: Controls) -> None:
    """Show how far every head looks, the nearest first, and how attention adds up over distance in the chosen one."""
    measured, config = cached_reach(view.source), view.checkpoint.config
    left, right = st.columns([3, 2], gap="large")
    alone = _("half by {term} alone").format(term=POSITION[config.positions])
    with left:
        st.markdown("##### " + _("How far does each head look?"))
        whole = config.n_layer * config.n_head <= MOST_DOTS
        table = diagnostics.reach_table(measured | {"half_life": half_lives(view)})
        table = table if whole else table[table["layer"] == view.layer]
        heads = [
            figures.Reach(*row) for row in table[["name", "half", "most", "alone", "half_life"]].itertuples(index=False)
        ]
        colour = view.looks[POSITION[config.positions]].colour
        figure = figures.reach_figure(heads, view.label, colour, alone, wanted.log, view.dark)
        alt = _("{near} looks nearest, half of its attention within {n}; {far} farthest, within {m}.").format(
            near=heads[0].name, n=style.number(heads[0].half), far=heads[-1].name, m=style.number(heads[-1].half)
        )
        show(figure, key="reach", alt=alt, table=lambda: table)
        st.caption(alt if whole else alt + " " + _("The heads of layer {layer}.").format(layer=view.layer))
    with right:
        st.markdown("##### " + _("Attention within a distance"))
        shown = view.all_heads.head(view.head)
        term = shown.terms[POSITION[config.positions]]
        real = diagnostics.mass_within(shown.probs, shown.distance, shown.mask)
        position = diagnostics.mass_within(diagnostics.alone(term, shown.mask), shown.distance, shown.mask)
        name = _("{term} alone").format(term=POSITION[config.positions])
        figure = figures.within_figure(
            real, position, view.label, name, view.looks[POSITION[config.positions]].colour, wanted.log, view.dark
        )
        near = min(8, real.shape[1] - 1)
        alt = _("{head} keeps {real} of its attention within {n} tokens; its position term alone {alone}.").format(
            head=view.label,
            n=near,
            real=style.percent(real[:, near].mean()),
            alone=style.percent(position[:, near].mean()),
        )
        columns = {"distance": np.arange(real.shape[1]), view.label: real.mean(0), name: position.mean(0)}
        show(figure, key="within", alt=alt, table=lambda: columns)
        st.caption(alt + " " + _("Bands hold 80 % of the queries."))


def half_lives(view: View) -> np.ndarray:
    """Give the half-life of v_bias of every head within the training's length: [layer head]; NaN for none."""
    config, span = view.checkpoint.config, span_of(view, 1)
    found = np.full((config.n_layer, config.n_head), np.nan)
    for layer in range(config.n_layer):
        curves = curves_of(view, layer, span)
        if curves is not None:
            found[layer] = [diagnostics.half_life(curve, span.distances) for curve in curves]
    return found


@fragment
def every_head(view: View, wanted: Controls, far: Span) -> None:
    """Show v_bias of every head of the model as small curves, when it is asked for."""
    if curves_of(view, view.layer, far) is None:
        return
    st.markdown("##### " + _("(d) v_bias of every head of the model, from the weights alone"))
    kept = keep("da", 0, (0, 1))
    labels = {0: _("hidden"), 1: _("shown")}
    st.segmented_control(
        _("All layers"), (0, 1), format_func=labels.get, required=True, label_visibility="collapsed", **kept.widget
    )
    write_link()
    if not kept.value:
        return
    layers = range(view.checkpoint.config.n_layer)
    curves = np.stack([curves_of(view, layer, far) for layer in layers])
    size = np.ptp(np.where(np.isfinite(curves), curves, 0), axis=-1)
    layer, head = np.unravel_index(size.argmax(), size.shape)
    alt = _(
        "v_bias over the distances {low} to {high}: it has most to say in L{layer}H{head}, over a range of {size}."
    ).format(low=str(far.low).replace("-", "−"), high=far.high, layer=layer, head=head, size=style.number(size.max()))
    look = view.looks["v_bias"]
    figure = figures.every_head_figure(
        curves, far.distances, (view.layer, view.head), look.colour, far.trained, wanted.log, view.dark
    )
    columns = {"distance": far.distances}
    columns |= {f"L{i}H{j}": curves[i, j] for i in layers for j in range(curves.shape[1])}
    show(figure, key="every_head", alt=alt, table=lambda: columns)
    st.caption(alt + " " + _("A row has one scale, written at its end; the dotted stroke is where training ended."))


def how() -> None:
    """Say how the numbers are computed."""
    with st.expander(_("How this is computed")):
        st.latex(r"\bar t(d) = \operatorname{mean}_i\,\bigl(t_{i,\,m+i-d} - \operatorname{mean}_j\, t_{ij}\bigr)")
        st.markdown(
            _(
                "`relxl.diagnostics.distance_profile` averages over the queries that have a key at distance d; "
                "`row_centred` takes the mean over the visible keys of each row away first, because a constant in a "
                "row changes nothing after the softmax. `attention_reach` adds up the attention of all queries from "
                "the nearest key on and says where it passes 50 % and 90 %. “Alone” is the softmax of one term over "
                "the visible keys (`alone`). (d) v_bias, scale · v · W_kR R_d, needs no text "
                "(`relxl.weights_only.v_bias_curves`). All take arrays; `profile_table` and `reach_table` give tables."
            )
        )
