"""The page "Compare", of two checkpoints on one text: what each term carries in every head of both, and the losses."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.figures import compare as figures
from relxl.language import _, translated
from relxl.ui.compare.sections import Pair
from relxl.ui.loss import cached_reading_loss
from relxl.ui.show import escape, show
from relxl.ui.view import cached_measures, cached_trace


def shares(pair: Pair) -> None:
    """Show what each term carries in every head of the layer, in a and in b, and both losses on the text."""
    st.markdown("##### " + _("What carries the scores, on the text in view"))
    view, other = pair.view, pair.other
    if view.checkpoint.vocab is None or other.vocab is None or view.checkpoint.vocab != other.vocab:
        st.markdown(_("The two do not read the same vocabulary, so no text is the same to both."))
        return
    try:
        a, b = view.measures, cached_measures(pair.source)
    except ValueError as error:
        st.markdown(escape(translated(str(error))))
        return
    losses_line(pair)
    if not pair.layer_fits:
        st.markdown(_("b has {n} layers: choose one of them in the sidebar.").format(n=other.config.n_layer))
        return
    looks = view.looks
    names = [name for name in looks if name in a and name in b]
    n_head = min(view.checkpoint.config.n_head, other.config.n_head)
    one, two = ({name: measured[name][view.layer, :n_head] for name in names} for measured in (a, b))
    gaps = {name: np.abs(two[name] - one[name]) for name in names}
    flat = np.nan_to_num(np.array(list(gaps.values())), nan=-1)
    term, head = np.unravel_index(flat.argmax(), flat.shape)
    alt = _("({letter}) {term} differs most, in L{layer}H{head}: {a} in a, {b} in b.").format(
        letter=looks[names[term]].letter, term=escape(names[term]), layer=view.layer, head=head,
        a=style.percent(one[names[term]][head]), b=style.percent(two[names[term]][head]),
    )  # fmt: skip
    st.markdown(alt)
    if left_out := [name for name in set(a) ^ set(b) if name != "previous_token"]:
        only = ", ".join(escape(name) for name in sorted(left_out))
        st.caption(_("Only one of the two has {terms}: not drawn, but in its sum.").format(terms=only))
    figure = figures.dumbbell_figure(one, two, looks, view.head, view.dark)
    rows = {f"{name}, {which}": values[name] for name in names for which, values in (("a", one), ("b", two))}
    show(figure, key="shares", alt=alt, table=lambda: {"head": np.arange(n_head)} | rows)


def losses_line(pair: Pair) -> None:
    """Say the loss of both on the text, where both predict the next token."""
    sources = (pair.view.source, pair.source)
    traces = [cached_trace(source) for source in sources]
    if any(trace.output_logits is None or trace.rule.sees == "both" for trace in traces):
        st.markdown(_("One of the two does not predict the next token, so their losses can not be compared."))
        return
    a, b = (cached_reading_loss(source, None) for source in sources)
    if np.isfinite([a, b]).all():
        text = _("Loss on this text, read as one segment: a **{a}**, b **{b}** nats per token.")
        st.markdown(text.format(a=style.number(a), b=style.number(b)))
