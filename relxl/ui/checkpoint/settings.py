"""The section of the page "Checkpoint" about what tensors can not tell: each answer, its origin, its switch."""

import re

import streamlit as st

from relxl.checkpoint import Checkpoint
from relxl.families import BY_NAME, FamilyError, Setting
from relxl.families.family import Ask, checked
from relxl.language import _, translated
from relxl.ui.show import code, escape
from relxl.ui.state import choose, chosen, keep, remember

ORIGINS = ("assumed", "chosen", "file")  # in the order of the rows: what is open first
BAD = "refused_setting"
CHANGE = "set {name}"  # how the control of a setting is kept


def effects() -> dict[str, str]:
    """Say of each setting what it does to the numbers."""
    epsilon = _("What is added to a variance before the root: it hardly shows unless the input is tiny.")
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
        "mem_len": _("How many tokens are kept from before: more keys, larger distances. In XLNet 0 is no limit."),
        "tgt_len": _("How many tokens are read at once. It changes no score, only where a segment ends."),
        "ext_len": _("How many of the newest steps the memory leaves out."),
        "reuse_len": _("How much of a segment goes into the memory."),
        "cutoffs": _("Where the vocabulary is cut into clusters: it changes which token a row belongs to."),
        "ff_activation": _("The function inside the feed-forward: it changes the input of every later layer."),
        "hidden_act": _("The function inside the feed-forward: it changes the input of every layer."),
        "layer_norm_eps": epsilon,
        "layer_norm_epsilon": epsilon,
        "use_mems": _("Whether anything is kept from before at all."),
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
        st.error(escape(translated(bad)))
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
