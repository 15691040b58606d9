"""The term mixer of the page "Score terms": a fader a term, what the model loses by it, and who makes a row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from relxl import style
from relxl.diagnostics import shapley_shares
from relxl.experiments.ablation import Ablation, ablate
from relxl.figures import mixer as figures
from relxl.jobs import Progress
from relxl.language import _
from relxl.ui.jobs import show_job
from relxl.ui.loss import no_loss
from relxl.ui.show import plain, show
from relxl.ui.state import choose, keep
from relxl.ui.view import Mix, Source, View, cached_trace, last_tokens

FADER = tuple(round(0.1 * step, 1) for step in range(21))
SCOPES = ("head", "layer", "model")
KEYS = ("fa", "fb", "fc", "fd", "fe", "ff")  # the faders, one a term
ABLATION_TOKENS = 512  # of a long text, the last so many are read with each term muted


def mixed(view: View) -> View:
    """Look at the model as the faders have it; with all of them at 1 that is the model itself."""
    factors = tuple(keep(key, 1.0, FADER).value for key, _name in zip(KEYS, view.looks, strict=False))
    if all(factor == 1 for factor in factors):
        return view
    scope = keep("fs", "head", SCOPES).value
    layer = None if scope == "model" else view.layer
    mix = Mix(factors, layer, view.head if scope == "head" else None)
    return replace(view, source=view.source._replace(mix=mix))


def faders(view: View) -> None:
    """Draw a fader for each term, with mute and solo, and what they do to the loss on the text."""
    names = {"head": view.label, "layer": f"L{view.layer}", "model": _("every head")}
    top = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    with top:
        st.markdown("##### " + _("Term mixer"), width="content")
        st.segmented_control(
            _("Acts on"), SCOPES, format_func=names.get, required=True, label_visibility="collapsed", width="content",
            **keep("fs", "head", SCOPES).widget,
        )  # fmt: skip
        st.button(_("All to 1"), on_click=choose, kwargs=dict.fromkeys(KEYS, 1.0))
    keys = dict(zip(view.looks, KEYS, strict=False))
    for column, (name, key) in zip(st.columns(len(keys), gap="medium"), keys.items(), strict=True):
        fader, look = keep(key, 1.0, FADER), view.looks[name]
        with column:
            st.select_slider(
                f"({look.letter}) {name}".replace("_", r"\_"), FADER, format_func=style.number, **fader.widget
            )
            with st.container(horizontal=True, gap="small"):
                mute = {key: 1.0 if fader.value == 0 else 0.0}
                label = _("Unmute") if fader.value == 0 else _("Mute")
                st.button(label, key=f"mute_{key}", on_click=choose, kwargs=mute)
                solo = dict.fromkeys(keys.values(), 0.0) | {key: 1.0}
                st.button(_("Solo"), key=f"solo_{key}", on_click=choose, kwargs=solo)
    if reason := no_loss(view):
        st.caption(reason)
    else:
        st.markdown(loss_sentence(view))


def loss_sentence(view: View) -> str:
    """Say what the mix does to the loss on the text."""
    rules = (view.checkpoint.model.rule_at(0),) * view.checkpoint.config.n_layer
    untouched = replace(view, source=view.source._replace(mix=None)).loss(rules)
    if view.source.mix is None:
        return _("Loss on this text, read as one segment: {loss} nats per token.").format(loss=style.number(untouched))
    loss = view.loss(rules)
    return _(
        "Loss on this text, read as one segment: **{loss}** nats per token with this mix, {plain} without: {change}."
    ).format(
        loss=style.number(loss), plain=style.number(untouched), change=f"{loss - untouched:+.3f}".replace("-", "−")
    )


def who_makes_the_row(view: View, query: int) -> None:
    """Show the exact Shapley shares of the chosen row beside its covariance shares."""
    terms = view.terms
    visible = terms.mask[query]
    if visible.sum() < 2 or not np.isfinite(terms.logits[query][visible]).all():
        return
    st.markdown("##### " + _("Who makes this row's attention"))
    shapley = shapley_shares({name: term[query][visible] for name, term in terms.terms.items()})
    covariance = {name: float(np.nan_to_num(rows[query])) for name, rows in view.shares[1].items()}
    whole = sum(shapley.values())
    first = max(shapley, key=shapley.get)
    finding = _(
        "Query {query} is {whole} nats from uniform attention; ({letter}) brings {share} of that, counted over every "
        "order in which the terms could be added."
    ).format(
        query=query, whole=style.number(whole), letter=view.looks[first].letter,
        share=style.percent(shapley[first] / whole if whole else np.nan),
    )  # fmt: skip
    st.caption(finding)
    table = {
        "term": list(shapley),
        "shapley_nats": list(shapley.values()),
        "covariance_share": [covariance[name] for name in shapley],
    }
    figure = figures.shapley_figure(shapley, covariance, view.looks, view.dark)
    show(figure, key="shapley", alt=plain(finding), table=lambda: table)


def ablation(view: View) -> None:
    """Offer to mute every term of every head in turn, and show what each is worth."""
    config = view.checkpoint.config
    if no_loss(view) or view.key_len - view.mem_len < 3:
        return
    st.markdown("##### " + _("What each term of each head is worth"))
    source = view.source._replace(mix=None)
    n = config.n_layer * config.n_head * len(view.looks)
    title = _("Mute {n} terms in turn on the last {tokens} tokens").format(
        n=n, tokens=min(view.key_len, ABLATION_TOKENS)
    )
    key = f"ablation {view.checkpoint.digest} {source.answers} {hash(source.ids)} {source.mem_len}"
    show_job(key, title, partial(ablation_work, source, len(view.looks)), partial(draw_ablation, view=view))


def ablation_work(source: Source, n_term: int) -> Iterator[Progress]:
    """Mute in turn; the result is what came of each so far."""
    tokens, found = last_tokens(source, ABLATION_TOKENS)[None], ()
    mem_len = min(source.mem_len, tokens.shape[1] // 2)
    for done, one in ablate(cached_trace(source).model, tokens, mem_len, n_term):
        found += (one,)
        yield Progress(done, "Muting", found)


def draw_ablation(found: Sequence[Ablation], view: View) -> None:
    """Draw what was found so far, and say which term is worth most."""
    config, names = view.checkpoint.config, list(view.looks)
    changes = {name: np.full((config.n_layer, config.n_head), np.nan) for name in names}
    for one in found:
        changes[names[one.term]][one.layer, one.head] = one.change
    most = max(found, key=lambda one: one.change)
    finding = _("Muting ({letter}) of {head} costs most: {change} nats per token over {plain}.").format(
        letter=view.looks[names[most.term]].letter, head=f"L{most.layer}H{most.head}",
        change=f"{most.change:+.3f}".replace("-", "−"), plain=style.number(most.plain),
    )  # fmt: skip
    st.markdown(finding)
    rows = {
        "layer": [one.layer for one in found],
        "head": [one.head for one in found],
        "term": [names[one.term] for one in found],
        "change": [one.change for one in found],
        "loss": [one.loss for one in found],
    }
    show(
        figures.ablation_figure(changes, view.looks, view.dark), key="ablation", alt=plain(finding), table=lambda: rows
    )
    lines = ["layer,head,term,change,loss", *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    st.download_button("CSV", "\n".join(lines), "ablation.csv", "text/csv", on_click="ignore")
