"""The sections of the page "Checkpoint" about the file: what it is, what it leaves open, what of it plays a part."""

import re

import streamlit as st

from relxl import style
from relxl.canonical import LearnedPositions
from relxl.checkpoint import Checkpoint
from relxl.families import BY_NAME, FamilyError, Setting
from relxl.families.family import Ask, checked
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.ui.show import code, escape
from relxl.ui.state import choose, chosen, keep, remember
from relxl.weights_only import shared_biases, shared_embedding

LONGEST_NAME = 120  # characters of a name that a sentence shows
MOST_NAMES = 200
ORIGINS = ("assumed", "chosen", "file")  # in the order of the rows: what is open first
BAD = "setting that was refused"
CHANGE = "set {name}"  # how the control of a setting is kept


def shown(text: str, longest: int = LONGEST_NAME) -> str:
    """Make text from a file fit for a line of markdown: one line, not too long, nothing in it obeyed."""
    text = re.sub(r"\s+", " ", text)
    return escape(text if len(text) <= longest else f"{text[: longest - 20]} … {text[-18:]}")


def key_of(checkpoint: Checkpoint) -> tuple:
    """Say in small values all that an opened checkpoint depends on: a key for what is computed from it."""
    opened = checkpoint.opened
    answers = tuple((setting.ask.name, str(setting.value), setting.origin) for setting in opened.settings)
    return checkpoint.digest, opened.family.name, str(checkpoint.model.dtype), answers


def card(rows: dict[str, str]) -> None:
    """Show facts as two columns; the values are markdown."""
    lines = [f"| {escape(name)} | {value} |" for name, value in rows.items() if value]
    st.markdown("\n".join(["| | |", "|---|---|", *lines]))


def identity(checkpoint: Checkpoint) -> None:
    """Show whose file this is and how it was recognised, its sizes, what is shared, and what was done on opening it."""
    opened, weights, config = checkpoint.opened, checkpoint.weights, checkpoint.config
    evidence = opened.match.evidence[opened.match.families.index(opened.family)]
    others = ", ".join(family.title for family in opened.match.families if family is not opened.family)
    known = shown(evidence, 300)
    if others:
        known += " " + _("**The same names are those of {others}.**").format(others=shown(others))
    tokens = _("vocabulary {n}").format(n=grouped(config.n_token)) if config.n_token else _("reads hidden states")
    rows = {
        _("family"): f"**{shown(opened.family.title)}** ({shown(opened.family.source)})",
        _("known by"): known,
        _("file"): f"{shown(weights.container)}, {megabytes(weights.size)}, "
        + _("{tensors} tensors, {numbers} parameters").format(
            tensors=grouped(len(weights.tensors)), numbers=grouped(checkpoint.n_parameters)
        ),
        "sha256": f"`{weights.digest[:16]}`",
        _("sizes"): _("layers {layers}, heads {heads} of {d_head}, d\\_model {d_model}, {tokens}").format(
            layers=config.n_layer, heads=config.n_head, d_head=config.d_head, d_model=config.d_model, tokens=tokens
        ),
        _("lengths"): lengths(checkpoint),
        _("positions"): escape(positions(checkpoint)),
        _("u and v"): escape(biases(checkpoint)),
        _("embeddings"): escape(embeddings(checkpoint)),
    }
    rows |= {_("note") + " " * place: shown(note, 400) for place, note in enumerate(weights.notes)}
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
    parts.append(_("memory {n}").format(n=config.mem_len) if config.mem_len else _("no memory"))
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


# What the file leaves open -------------------------------------------------------------------------------------------


def effects() -> dict[str, str]:
    """Say of each setting what it does to the numbers."""
    return {
        "family": _("Whose code reads the file: how it masks, and what else it asks."),
        "rel_pos_type": _("Which row of the table a cell reads. Legacy reads rows from the far end of a reversed one."),
        "zero_triu": _("Cells of the future read no position: (b) and (d) are 0 there."),
        "pos_max_len": _("How many rows the reversed table of legacy has: it moves every distance."),
        "attn_type": _("Whether a query sees both sides or the past alone, in every layer."),
        "causal": _("Whether a query sees the past alone. The score itself stays."),
        "cross": _("Which rows of in_proj are query, key and value: other rows, other (a), (b) and (c)."),
        "clamp_len": _("Beyond this distance all keys are equally far: (b) and (d) stay level. −1 is no clamp."),
        "same_length": _("Each query sees equally many keys: the oldest of the memory are hidden."),
        "bi_data": _("The second half of a batch reads distances with the other sign."),
        "pre_lnorm": _("The norm comes before the projections and not after the sum: another input to every term."),
        "mem_len": _("How many tokens are kept from before: more keys, larger distances."),
        "tgt_len": _("How many tokens are read at once. It changes no score, only where a segment ends."),
        "ext_len": _("How many of the newest steps the memory leaves out."),
        "reuse_len": _("How much of a segment goes into the memory."),
        "cutoffs": _("Where the vocabulary is cut into clusters: it changes which token a row belongs to."),
        "ff_activation": _("The function inside the feed-forward: it changes the input of every later layer."),
        "hidden_act": _("The function inside the feed-forward: it changes the input of every layer."),
        "layer_norm_eps": _("What is added to a variance before the root: it hardly shows unless the input is tiny."),
    }


def settings(checkpoint: Checkpoint) -> None:
    """Show each answer that a model is read with, where it comes from, what it does, and the switch to change it."""
    every = sorted(checkpoint.opened.settings, key=lambda setting: ORIGINS.index(setting.origin))
    told = [setting for setting in every if setting.origin == "file"]
    ours = every[: len(every) - len(told)]
    if not every:
        return
    st.markdown("##### " + _("What tensors can not tell"))
    assumed = sum(setting.origin == "assumed" for setting in every)
    if assumed:
        text = _("**The file leaves {n} of {all} questions open.** What stands there is assumed: answer what you know.")
        st.markdown(text.format(n=assumed, all=len(every)))
    for setting in ours:
        draw_setting(setting)
    if told:
        names = ", ".join(code(setting.ask.name) for setting in told)
        with st.expander(_("What the config says: {names}").format(names=names)):
            for setting in told:
                draw_setting(setting)
    bad = chosen(BAD)[0]
    if bad:
        st.error(escape(bad))
        choose(**{BAD: None})


def draw_setting(setting: Setting) -> None:
    """Draw a row: name, where the answer comes from, what it does, the switch, and a way back."""
    ask, origins = setting.ask, {
        "assumed": _("**the file does not say**"),
        "chosen": _("you chose this"),
        "file": _("the file says so"),
    }  # fmt: skip
    name, words, control = st.columns([3, 7, 3], gap="small", vertical_alignment="center")
    name.markdown(f"{code(ask.name)}  \n{origins[setting.origin]}")
    words.markdown(effects().get(ask.name, ""))
    with control:
        draw_switch(ask, setting.value)
        if setting.origin == "chosen":
            help = _("Read it as the file says, or as it is assumed")
            st.button(_("Take back"), key=f"back {ask.name}", on_click=change, args=(ask.name, None), help=help)


def draw_switch(ask: Ask, value: object) -> None:
    """Draw the control of a setting; it always shows what the model is read with."""
    kind = ask.default if ask.default is not None else ()
    text = not ask.options and not isinstance(kind, bool | int)
    shown_value = in_text(value) if text else value
    name = CHANGE.format(name=ask.name)
    choose(**{name: shown_value})
    kept = keep(name, shown_value, ask.options or None)
    tied = kept.widget | {"on_change": take, "args": (ask, text), "label_visibility": "collapsed"}
    if ask.options:
        st.selectbox(ask.name, ask.options, **tied)
    elif isinstance(kind, bool):
        st.toggle(ask.name, **tied)
    elif isinstance(kind, int):
        st.number_input(ask.name, ask.least, 1 << 20, step=1, **tied)
    else:
        st.text_input(ask.name, placeholder=_("20000, 40000") if isinstance(kind, tuple) else "", **tied)


def in_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else "" if value is None else f"{value:g}"


def take(ask: Ask, is_text: bool) -> None:
    """Read a control and answer with what it says; a text that is no answer becomes one sentence."""
    name = CHANGE.format(name=ask.name)
    remember(name)
    value = chosen(name)[0]
    try:
        if is_text:
            value = float(value) if isinstance(ask.default, float) else whole_numbers(value)
        change(ask.name, checked(ask, value, _("the choice")))
    except (FamilyError, ValueError) as error:
        words = _("{text} is not one: give numbers such as {sample}").format(
            text=repr(str(value)[:40]), sample="20000, 40000" if isinstance(ask.default, tuple | None) else "1e-5"
        )
        choose(**{BAD: str(error) if isinstance(error, FamilyError) else words})


def whole_numbers(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers. Raises ValueError for anything else."""
    return tuple(int(part) for part in re.split(r"[\s,;\[\]()]+", text) if part)


def change(name: str, value: object) -> None:
    """Answer a question; another family is not asked what the one before was."""
    from relxl.ui.library import choose_setting, kept_answers

    if name == "family":
        asked = {ask.name for ask in BY_NAME[str(value)].asks} if value else set()
        for other in dict(kept_answers()).keys() - asked:
            choose_setting(other, None)
    choose_setting(name, value)


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
