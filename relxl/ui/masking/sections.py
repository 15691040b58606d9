"""The rule and the picture of the page "Masking"; what leaks is in mask_leaks.py."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from relxl import style
from relxl.language import _
from relxl.masking import DTYPES, FAULTS, ORDERS, MaskRule, read_fill
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.trace import MaskedHead
from relxl.ui.loss import no_loss
from relxl.ui.masking.gallery import fill_text, gallery
from relxl.ui.matrix import matrix_view, pin, step_head
from relxl.ui.show import escape, plain
from relxl.ui.state import choose, keep, kept_cell
from relxl.ui.view import View

CHOICES = ["-inf", "min", "-1e+09", "-10000", "-100", "-30", "-10", "-1", "1e-09", "multiply"]
DEFAULT_WINDOW = 16


def base_rule(view: View, mem_len: int | None = None) -> MaskRule:
    """Give what the page starts from: the model's own rule, over the run's memory or another.

    Where both sides are seen it is the same made causal, which is an experiment.
    """
    own = view.trace.rule if mem_len is None else view.checkpoint.model.rule_at(mem_len)
    return replace(own, sees="past")


def sees_both(view: View) -> bool:
    return view.trace.rule.sees == "both"


def orders_of(view: View) -> tuple[str, ...]:
    """Name where a mask can be laid: the triangle before the paper's shift needs the paper's shift."""
    shifts = view.checkpoint.config.positions != "absolute" and not sees_both(view)
    return ORDERS if shifts else ORDERS[:2]


def kept_rule(view: View) -> MaskRule:
    """Read the rule off the controls. One that can not be is reported, and the right one shown."""
    base = base_rule(view)
    order, fault = keep("mo", "after", orders_of(view)).value, keep("mx", "none", FAULTS).value
    dtype, window = keep("md", "model", ("model", *DTYPES)).value, keep("mw", 0, range(view.key_len + 1)).value
    fill = str(keep("mf", fill_text(base.fill)).value)
    try:
        number = read_fill(fill)
    except ValueError:
        message = _("The fill {fill} is not one: give a number such as -1e4, min or multiply. Showing −∞.")
        st.error(message.format(fill=escape(fill[:40])))
        choose(mf="-inf")
        number = -math.inf
    window = window or base.window
    if fault == "window_short" and not window:
        window = DEFAULT_WINDOW
    return MaskRule(order, number, None if dtype == "model" else dtype, fault, window, zero=base.zero)


def kept_rules(view: View, rule: MaskRule) -> tuple[MaskRule, ...]:
    """Give the rule of every layer for a text without memory: this one everywhere, or only in the chosen layer."""
    n_layer, alone = view.checkpoint.config.n_layer, base_rule(view, 0)
    if rule.window == base_rule(view).window:
        rule = replace(rule, window=alone.window)
    if keep("ml", "all", ("all", "one")).value == "all":
        return (rule,) * n_layer
    right = replace(alone, window=rule.window)
    return tuple(rule if layer == view.layer else right for layer in range(n_layer))


def presets(view: View, rule: MaskRule) -> None:
    """Draw the gallery, one click each, and say what is wrong with the one that is shown."""
    base = base_rule(view)
    shown = gallery(base)
    if "before_shift" not in orders_of(view):
        del shown["before_shift"]
    if sees_both(view):
        st.markdown(
            _(
                "**This model sees both sides:** its mask hides padding alone, so there is no future that could leak "
                "in. What a causal mask would do to its scores:"
            )
        )
    chosen = next((name for name, preset in shown.items() if preset.rule == rule), None)
    st.session_state.mask_preset = chosen
    label = _("Ways to mask, right and wrong")
    st.pills(
        label, shown, format_func=lambda name: shown[name].name, key="mask_preset", on_change=choose_preset,
        args=(base,), label_visibility="collapsed",
    )  # fmt: skip
    if chosen is None:
        st.markdown(_("A rule of your own."))
    else:
        preset = shown[chosen]
        st.markdown(f"**{preset.name}{_('.')}** {preset.text} :gray[{escape(preset.where)}]")


def choose_preset(base: MaskRule) -> None:
    if name := st.session_state.mask_preset:
        rule = gallery(base)[name].rule
        window = 0 if rule.window == base.window else rule.window
        choose(mo=rule.order, mf=fill_text(rule.fill), mx=rule.fault, md=rule.dtype or "model", mw=window or 0)


def controls(view: View) -> None:
    """Draw the controls of the rule."""
    orders = {"after": _("after the sum"), "before": _("content only, before"), "before_shift": _("before the shift")}
    orders = {name: orders[name] for name in orders_of(view)}
    base = base_rule(view)
    faults = {"none": _("none"), **fault_names()}
    fills = {"-inf": "−∞", "min": _("lowest of dtype"), "multiply": _("multiply by mask")}
    layers = {"all": _("every layer"), "one": _("this layer")}
    st.selectbox(_("Mask"), orders, format_func=orders.get, **keep("mo", "after", orders).widget)
    fill = keep("mf", fill_text(base.fill))
    options = CHOICES if fill.value in CHOICES else [*CHOICES, fill.value]
    help = _("Any number can be typed.")
    label = lambda name: fills.get(name, str(name).replace("-", "−"))  # noqa: E731
    st.selectbox(_("Fill"), options, format_func=label, accept_new_options=True, help=help, **fill.widget)
    st.selectbox(_("Computed in"), ["model", *DTYPES], **keep("md", "model").widget)
    st.selectbox(_("Fault"), faults, format_func=faults.get, **keep("mx", "none").widget)
    window = keep("mw", 0, range(view.key_len + 1))
    help = _("Keys that a query sees, itself among them; 0 is all of the past.")
    if base.window is not None:
        help = _("Keys that a query sees, itself among them; 0 is the model’s own window, {n}.").format(n=base.window)
    st.number_input(_("Window"), 0, view.key_len, step=1, help=help, **window.widget)
    st.selectbox(_("In"), layers, format_func=layers.get, **keep("ml", "all").widget)


def stages(view: View, rule: MaskRule) -> None:
    """Show the scores on their way: content, sum, what the softmax gets, probabilities; the future is marked."""
    head = view.masked(rule)
    query, cell = kept_cell(head.allowed, head.probs)
    scores = Scale("diverging", shared_limit([head.content, head.total], head.allowed), _("score"))
    everywhere = np.ones_like(head.allowed)
    probs = Scale("sequential", shared_limit([head.probs], everywhere), _("probability"))
    names = {"content": head.content, "sum": head.total, "masked": head.masked}
    titles = {
        "content": _("(a) content, masked") if rule.order == "before" else _("(a) content"),
        "sum": _("sum of the terms"),
        "masked": _("what the softmax gets"),
    }
    panels = [Panel(titles[name], values, scores) for name, values in names.items()]
    grid = Grid(
        panels=(*panels, Panel(_("probability"), head.probs, probs)),
        mask=head.allowed,
        tokens=tuple(view.tokens),
        columns=2,
        label=f"{view.label}: {plain(leak_sentence(view, head))}",
        pin=cell,
    )
    matrix_view(grid, key="stages", dark=view.dark, on_pin=pin, on_head=lambda step: step_head(view, step))
    if st.toggle(_("Show row {query} as table").format(query=query), key="table_stages"):
        table = {"key": np.arange(view.key_len), "token": view.tokens, "allowed": head.allowed[query]}
        table |= {titles[name]: values[query] for name, values in names.items()}
        st.dataframe(table | {_("probability"): head.probs[query]}, hide_index=True, height=280)


def leak_sentence(view: View, head: MaskedHead) -> str:
    """Say in numbers what leaks in the chosen head; markdown."""
    leak = head.leak[~head.nan]
    if not len(leak) or leak.max() == 0:
        what = _("In {head} no forbidden key gets anything: the leak is exactly 0.0.").format(head=view.label)
    else:
        worst = int(np.nan_to_num(head.leak).argmax())
        what = _(
            "In {head} forbidden keys get **{mean}** of the attention on average, and **{most}** in row {row}."
        ).format(
            head=view.label,
            mean=style.number(float(leak.mean())),
            most=style.number(float(head.leak[worst])),
            row=worst,
        )
    notes = []
    shut = int((head.filled & head.allowed).sum())
    if shut:
        notes.append(_("Allowed cells that are shut: {n}.").format(n=shut))
    if head.nan.any():
        notes.append(
            _("**Rows that are NaN: {n}**, because the mask leaves them no key.").format(n=int(head.nan.sum()))
        )
    sums = head.probs.sum(1)
    if base_rule(view).zero and (least := float(sums.min(where=~head.empty, initial=1))) < 0.999:
        words = _("They are set to 0 after the softmax, so what a row gave them is lost: its sum falls to {least}.")
        notes.append(words.format(least=style.number(least)))
    nothing = head.empty & (sums == 0)
    if nothing.any():
        notes.append(_("Rows without a key, which get nothing: {n}.").format(n=int(nothing.sum())))
    blind = int((head.empty & head.uniform & ~nothing).sum())
    if blind:
        notes.append(_("Rows without a key that became uniform: {n}.").format(n=blind))
    if head.not_finite:
        notes.append(
            _("The first number that is not finite, unasked, appears in: {step}.").format(step=head.not_finite)
        )
    finite = head.margin[np.isfinite(head.margin)]
    if len(finite):
        words = _("The best forbidden score stays {margin} below the best allowed one in the tightest row.")
        if finite.min() <= 0:
            words = _("In the worst row a forbidden score beats every allowed one by {margin}.")
        notes.append(words.format(margin=style.number(abs(float(finite.min())))))
    return " ".join([what, *notes])


def finding(view: View, rule: MaskRule, rules: tuple[MaskRule, ...]) -> str:
    """Say what leaks in the head, and what it does to the model's loss on this text; markdown."""
    if reason := no_loss(view):
        return f"{leak_sentence(view, view.masked(rule))} {reason}"
    wrong, right = view.loss(rules), view.loss((base_rule(view, 0),) * len(rules))
    if math.isnan(right):
        return leak_sentence(view, view.masked(rule))
    loss = _("The model's loss on this text is **{wrong}** with this mask and {right} with the right one.").format(
        wrong="NaN" if math.isnan(wrong) else f"{wrong:.3f}", right=f"{right:.3f}"
    )
    return f"{leak_sentence(view, view.masked(rule))} {loss}"


def fault_names() -> dict[str, str]:
    """Say in words what each fault of a MaskRule is."""
    return {
        "sees_next": _("sees the next key"),
        "misses_itself": _("misses itself"),
        "memory_forgotten": _("memory forgotten"),
        "inverted": _("inverted"),
        "no_mask": _("no mask"),
        "window_short": _("window short by one"),
    }
