"""The sections of the page "Checkpoint" about the file: what it is, and what of it plays a part."""

import streamlit as st

from relxl import style
from relxl.canonical import LearnedPositions
from relxl.checkpoint import Checkpoint
from relxl.figures.shift import grouped
from relxl.language import _, translated
from relxl.ui.show import escape, shown
from relxl.ui.view import key_of
from relxl.weights_only import shared_biases, shared_embedding

MOST_NAMES = 200


def card(rows: dict[str, str]) -> None:
    """Show facts as two columns; the values are markdown."""
    lines = [f"| {escape(name)} | {value} |" for name, value in rows.items() if value]
    st.markdown("\n".join(["| | |", "|---|---|", *lines]))


def identity(checkpoint: Checkpoint) -> None:
    """Show whose file this is and how it was recognised, its sizes, what is shared, and what was done on opening it."""
    opened, weights, config = checkpoint.opened, checkpoint.weights, checkpoint.config
    evidence = opened.match.evidence[opened.match.families.index(opened.family)]
    others = ", ".join(translated(family.title) for family in opened.match.families if family is not opened.family)
    known = shown(translated(evidence), 300)
    if others:
        known += _(".") + " " + _("**The same names are those of {others}.**").format(others=shown(others))
    tokens = _("vocabulary {n}").format(n=grouped(config.n_token)) if config.n_token else _("reads hidden states")
    rows = {
        _("family"): f"**{shown(translated(opened.family.title))}** ({shown(opened.family.source)})",
        _("known by"): known,
        _("file"): f"{shown(weights.container)}, {megabytes(weights.size)}, "
        + _("{tensors} tensors, {numbers} parameters").format(
            tensors=grouped(len(weights.tensors)), numbers=grouped(checkpoint.n_parameters)
        ),
        "sha256": f"`{weights.digest[:16]}`",
        _("sizes"): _("{layers} × {heads} of {d_head}, d\\_model {d_model}, {tokens}").format(
            layers=_("1 layer") if config.n_layer == 1 else _("{n} layers").format(n=config.n_layer),
            heads=_("1 head") if config.n_head == 1 else _("{n} heads").format(n=config.n_head),
            d_head=config.d_head,
            d_model=config.d_model,
            tokens=tokens,
        ),
        _("lengths"): lengths(checkpoint),
        _("positions"): escape(positions(checkpoint)),
        _("u and v"): escape(biases(checkpoint)),
        _("embeddings"): escape(embeddings(checkpoint)),
    }
    rows |= {_("note") + " " * place: shown(translated(note), 400) for place, note in enumerate(weights.notes)}
    st.markdown("##### " + _("What it is"))
    card(rows)


def megabytes(size: int) -> str:
    return _("{n} MB").format(n=style.number(size / 1e6))


def lengths(checkpoint: Checkpoint) -> str:
    """Say the lengths that are known, and the wall."""
    config, parts = checkpoint.config, []
    told = {setting.ask.name: setting.origin for setting in checkpoint.opened.settings}
    if checkpoint.opened.family.name == "relxl" or told.get("tgt_len", "assumed") != "assumed":
        parts.append(_("segment {n}").format(n=config.segment_len))
    endless = getattr(checkpoint.model, "use_mems", False)  # XLNet: a mem_len of 0 is no limit
    none = _("memory without a limit") if endless else _("no memory")
    parts.append(_("memory {n}").format(n=config.mem_len) if config.mem_len else none)
    if config.positions != "absolute":
        clamp = config.clamp_len
        parts.append(_("no clamp") if clamp is None else _("distances beyond {n} are clamped").format(n=clamp))
    sees = checkpoint.model.rule_at(config.mem_len)
    parts.append(_("a query sees both sides") if sees.sees == "both" else _("a query sees the past"))
    return ", ".join(parts)


def positions(checkpoint: Checkpoint) -> str:
    """Say how distances become vectors."""
    attn, config = checkpoint.model.layers[0].attn, checkpoint.config
    if config.positions == "absolute":
        return _("absolute: a sinusoid of a token’s place is added to its embedding, there are no distances")
    table = getattr(attn, "positions", None)
    if isinstance(table, LearnedPositions):
        text = _("a learned table for the distances {first} to {last}").format(
            first=style.number(table.first), last=table.last
        )
        text += ", " + (_("beyond it the last row") if table.clamps else _("beyond it there is nothing"))
        return text + (", " + _("v_bias is learned as a curve of its own") if table.v_curve is not None else "")
    if config.positions == "learned":
        n = config.max_len - 1
        return _("a learned table for the distances −{n} to {n}, beyond it the last row, projected by W_kR").format(n=n)
    if getattr(table, "mirrored", False):
        return _("a sinusoid of |d|, projected by W_kR: past and future are not told apart")
    return _("a sinusoid, projected by W_kR")


def biases(checkpoint: Checkpoint) -> str:
    """Say by comparing numbers whether the layers share u and v."""
    kinds, n_layer = shared_biases(checkpoint.model), checkpoint.config.n_layer
    if not kinds:
        return ""
    names = _(" and ").join(kinds)
    if n_layer == 1:
        return _("{names} of a single layer").format(names=names)
    kind = "apart" if "apart" in kinds.values() else "equal" if "equal" in kinds.values() else "one"
    text = {
        "one": _("{names} shared by all {n} layers: the file holds them once"),
        "equal": _("{names} shared by all {n} layers: stored for each, and equal in every number"),
        "apart": _("{names} of each layer are its own: their numbers differ between the {n} layers"),
    }[kind]
    return text.format(names=names, n=n_layer)


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_embedding(key: tuple, _checkpoint: Checkpoint) -> str | None:
    return shared_embedding(_checkpoint.model)


def embeddings(checkpoint: Checkpoint) -> str:
    """Say by comparing numbers whether input and output share their matrix."""
    kind = cached_embedding(key_of(checkpoint), checkpoint)
    return {
        None: "",
        "one": _("one matrix for input and output"),
        "equal": _("input and output are stored apart and equal in every number"),
        "apart": _("input and output have matrices of their own: their numbers differ"),
    }[kind]


def matched(checkpoint: Checkpoint) -> None:
    """Say how many tensors the model is made of, and name those that play no part."""
    n, rest = len(checkpoint.weights.tensors), sorted(checkpoint.opened.unmatched)
    st.markdown("##### " + _("What plays a part"))
    if not rest:
        st.markdown(_("All {n} tensors are part of the model or follow from it.").format(n=grouped(n)))
        return
    st.markdown(
        _("**{used} of {n} tensors** are part of the model or follow from it; {rest} play no part here.").format(
            used=grouped(n - len(rest)), n=grouped(n), rest=grouped(len(rest))
        )
    )
    with st.expander(_("Names of the others")):
        st.markdown("\n".join(f"- {shown(name)}" for name in rest[:MOST_NAMES]))
        if len(rest) > MOST_NAMES:
            st.caption(_("The first {n} of {all}; the census has them all.").format(n=MOST_NAMES, all=len(rest)))


def how() -> None:
    """Say how the numbers on the page are computed."""
    with st.expander(_("How this is computed")):
        st.latex(r"\text{v\_bias}(d) = \text{scale} \cdot v \cdot p_d, \qquad p_d = W_{kR} R_d")
        st.markdown(
            _(
                "`relxl.containers.read_weights` turns the file into tensors without running anything in it, and "
                "`relxl.families.open_tensors` knows the family by names and shapes alone. What it can not know is a "
                "setting with an origin. `relxl.weights_only.v_bias_curves` is v\\_bias of all heads, "
                "[head distance]; `answers` opens the same tensors once for each answer and reads off which row each "
                "cell takes; `gauge` is the length of u, v and the bias of the query projection, whose sum with them "
                "gives the same score: (q + b + u) · k + (q + b + v) · p. `relxl.census.census` measures every tensor, "
                "and `relxl.tensor_view.picture` lets the number of largest magnitude stand for a block of cells."
            )
        )
