"""The sections of the page "Masking"."""

import json
import math
from pathlib import Path

import numpy as np
import streamlit as st

from relxl import style
from relxl.figures import masking as figures
from relxl.language import _
from relxl.masking import DTYPES, FAULTS, ORDERS, RIGHT_RULE, MaskRule
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.trace import MaskedHead
from relxl.ui.frame import CHECKPOINTS
from relxl.ui.mask_gallery import fill_text, gallery
from relxl.ui.matrix import matrix_view
from relxl.ui.score_terms import pin, step_head
from relxl.ui.show import escape, plain, show
from relxl.ui.state import choose, keep, keep_cell
from relxl.ui.view import FILLS, View

CHOICES = ["-inf", "min", "-1e+09", "-10000", "-100", "-30", "-10", "-1", "1e-09", "multiply"]
DEFAULT_WINDOW = 16
LEAKY = "shakespeare-leaky"


def kept_rule(view: View) -> MaskRule:
    """Read the rule off the controls. One that can not be is reported, and the right one shown."""
    orders = ORDERS if view.checkpoint.config.positions != "absolute" else ORDERS[:2]
    order, fault = keep("mo", "after", orders).value, keep("mx", "none", FAULTS).value
    dtype, window = keep("md", "model", ("model", *DTYPES)).value, keep("mw", 0, range(view.key_len + 1)).value
    fill = str(keep("mf", "-inf").value)
    try:
        number = fill if fill in ("min", "multiply") else float(fill)
        if fault == "window_short" and not window:
            window = DEFAULT_WINDOW
        return MaskRule(order, number, None if dtype == "model" else dtype, fault, window or None)
    except ValueError:
        message = _("The fill {fill} is not one: give a number such as -1e4, min or multiply. Showing −∞.")
        st.error(message.format(fill=escape(fill[:40])))
        choose(mf="-inf")
        return MaskRule(order, dtype=None if dtype == "model" else dtype, fault=fault, window=window or None)


def kept_rules(view: View, rule: MaskRule) -> tuple[MaskRule, ...]:
    """Give the rule of every layer: this one everywhere, or only in the chosen layer."""
    n_layer = view.checkpoint.config.n_layer
    if keep("ml", "all", ("all", "one")).value == "all":
        return (rule,) * n_layer
    right = RIGHT_RULE if rule.window is None else MaskRule(window=rule.window)
    return tuple(rule if layer == view.layer else right for layer in range(n_layer))


def presets(view: View, rule: MaskRule) -> None:
    """Draw the gallery, one click each, and say what is wrong with the one that is shown."""
    shown = gallery()
    if view.checkpoint.config.positions == "absolute":
        del shown["before_shift"]
    chosen = next((name for name, preset in shown.items() if preset.rule == rule), None)
    st.session_state.mask_preset = chosen
    label = _("Ways to mask, right and wrong")
    st.pills(
        label, shown, format_func=lambda name: shown[name].name, key="mask_preset", on_change=choose_preset,
        label_visibility="collapsed",
    )  # fmt: skip
    if chosen is None:
        st.markdown(_("A rule of your own."))
    else:
        preset = shown[chosen]
        st.markdown(f"**{preset.name}.** {preset.text} :gray[{escape(preset.where)}]")


def choose_preset() -> None:
    if name := st.session_state.mask_preset:
        rule = gallery()[name].rule
        choose(mo=rule.order, mf=fill_text(rule.fill), mx=rule.fault, md=rule.dtype or "model", mw=rule.window or 0)


def controls(view: View) -> None:
    """Draw the controls of the rule."""
    orders = {"after": _("after the sum"), "before": _("content only, before"), "before_shift": _("before the shift")}
    if view.checkpoint.config.positions == "absolute":
        del orders["before_shift"]
    faults = {"none": _("none"), **fault_names()}
    fills = {"-inf": "−∞", "min": _("lowest of dtype"), "multiply": _("multiply by mask")}
    layers = {"all": _("every layer"), "one": _("this layer")}
    st.selectbox(_("Mask"), orders, format_func=orders.get, **keep("mo", "after", orders).widget)
    fill = keep("mf", "-inf")
    options = CHOICES if fill.value in CHOICES else [*CHOICES, fill.value]
    help = _("Any number can be typed.")
    label = lambda name: fills.get(name, str(name).replace("-", "−"))  # noqa: E731
    st.selectbox(_("Fill"), options, format_func=label, accept_new_options=True, help=help, **fill.widget)
    st.selectbox(_("Computed in"), ["model", *DTYPES], **keep("md", "model").widget)
    st.selectbox(_("Fault"), faults, format_func=faults.get, **keep("mx", "none").widget)
    window = keep("mw", 0, range(view.key_len + 1))
    help = _("Keys that a query sees, itself among them; 0 is all of the past.")
    st.number_input(_("Window"), 0, view.key_len, step=1, help=help, **window.widget)
    st.selectbox(_("In"), layers, format_func=layers.get, **keep("ml", "all").widget)


def stages(view: View, rule: MaskRule) -> None:
    """Show the scores on their way: content, sum, what the softmax gets, probabilities; the future is marked."""
    head = view.masked(rule)
    query, key, pinned = (kept.value for kept in keep_cell(head.allowed, head.probs))
    cell = (query, key) if pinned else None
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
    blind = int((head.empty & head.uniform).sum())
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
    wrong, right = view.loss(rules), view.loss((RIGHT_RULE,) * len(rules))
    if math.isnan(right):
        return leak_sentence(view, view.masked(rule))
    loss = _("The model's loss on this text is **{wrong}** with this mask and {right} with the right one.").format(
        wrong="NaN" if math.isnan(wrong) else f"{wrong:.3f}", right=f"{right:.3f}"
    )
    return f"{leak_sentence(view, view.masked(rule))} {loss}"


def rows_and_frontier(view: View, rule: MaskRule) -> None:
    """Show the leak of each row, and of every head against the fill, for both orders."""
    head = view.masked(rule)
    rows, frontier = st.columns(2, gap="large")
    with rows:
        st.markdown("##### " + _("Leak of each row"))
        tokens = view.tokens[view.source.mem_len :]
        numbers = {"query": np.arange(len(tokens)), "token": tokens, "leak": head.leak, "margin": head.margin}
        if np.nan_to_num(head.leak).any():
            figure = figures.leak_figure(head.leak, tokens, view.dark)
            show(figure, key="leak", alt=plain(leak_sentence(view, head)), table=lambda: numbers)
        else:
            st.markdown(_("No row gives a forbidden key anything."))
    with frontier:
        st.markdown("##### " + _("How deep must a finite fill be?"))
        names = {"after": _("after the sum"), "before": _("content only, before")}
        results = {name: view.frontier(order) for order, name in names.items()}
        leaks = {name: leak for name, (leak, _safe) in results.items()}
        marks = {name: float(safe[view.head]) for name, (_leak, safe) in results.items()}
        alt = _(
            "In {head} no row leaks a millionth once the fill is below {after} (after the sum) or {before} (before)."
        )
        deep = {order: style.number(marks[name]) for order, name in names.items()}
        alt = alt.format(head=view.label, **deep)
        figure = figures.frontier_figure(FILLS, leaks, view.head, marks, view.dark)
        show(
            figure,
            key="frontier",
            alt=alt,
            table=lambda: {"fill": FILLS, **{n: v[view.head] for n, v in leaks.items()}},
        )
        st.caption(alt + " " + _("Thin lines are the other heads of the layer."))


def every_head(view: View, rule: MaskRule) -> None:
    """Put the mean leak of every head of the model into a table: a row a layer, a column a head."""
    leaks = view.leaks(rule)
    st.markdown("##### " + _("Mean leak of every head"))
    layers = {_("layer"): [f"L{layer}" for layer in range(len(leaks))]}
    columns = {f"H{head}": leaks[:, head] for head in range(leaks.shape[1])}
    formats = {name: st.column_config.NumberColumn(format="%.3g") for name in columns}
    st.dataframe(layers | columns, hide_index=True, column_config=formats)


def what_is_true() -> None:
    """Set what is often said about the order beside what is true."""
    st.markdown("##### " + _("Does the order matter?"))
    said, true = st.columns(2, gap="large")
    said.markdown(_("*Often said:* mask the content score before the position score is added, and the future leaks."))
    true.markdown(
        _(
            "*True:* with −∞ the order makes no difference, because −∞ + x = −∞ for every finite x, and exp(−∞) is "
            "exactly 0. The order matters for a finite fill: before the sum it is no longer the lowest number, it is "
            "the lowest number plus the other three terms. Try “Early, but −∞” and then “Content times mask”."
        )
    )


@st.fragment
def causality(view: View, rules: tuple[MaskRule, ...]) -> None:
    """Show which outputs move when a token is changed, stage by stage, and what each layer by itself lets in."""
    st.markdown("##### " + _("Which outputs move when a token is changed?"))
    with st.spinner(_("Changing every token in turn"), show_time=True):
        result, layers = view.causality(rules)
    moved = result.moved.cpu().numpy().swapaxes(1, 2)[1:]  # [stage output changed], without the embedding
    tokens = tuple(view.tokens[-moved.shape[1] :])
    digits = np.where(moved > 0, np.maximum(np.log10(np.clip(moved, 1e-12, 1e9)) + 9, 0.2), 0).astype(np.float32)
    scale = Scale("sequential", 9.0, _("log10 |difference| + 9"))
    entered = _("Every output before the changed token stays the same to the last bit: nothing leaks in this model.")
    if math.isnan(view.loss(rules)):
        entered = _("Outputs are NaN, which hides whatever leaks: look at the layers below.")
    elif result.entry is not None:
        entered = _("The leak enters in **{layer}**; {n} pairs of (changed token, earlier output) move at the end.")
        entered = entered.format(layer=result.entry, n=int(result.leaks[-1].sum()))
    st.markdown(entered)
    names = [_("after L{layer}").format(layer=layer) for layer in range(len(moved) - 1)] + [_("output logits")]
    grid = Grid(
        panels=tuple(Panel(name, values, scale) for name, values in zip(names, digits, strict=True)),
        mask=np.tri(moved.shape[1], dtype=bool),
        tokens=tokens,
        columns=min(len(names), 4),
        label=plain(entered),
        axes=True,
    )
    matrix_view(grid, key="causality", dark=view.dark)
    st.caption(
        _(
            "The last {n} tokens, read without memory. Row: the output, column: the token that was changed. Compared "
            "bit by bit, so that a leak of 1e-7 has a colour."
        ).format(n=len(tokens))
    )
    table = {
        _("layer"): [f"L{leak.layer}" for leak in layers],
        _("by itself"): [mechanisms()[leak.mechanism] for leak in layers],
        _("forbidden cells read"): [leak.forbidden for leak in layers],
        _("allowed cells not read"): [leak.unread for leak in layers],
    }
    st.dataframe(table, hide_index=True)


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


def mechanisms() -> dict[str, str]:
    """Say in words what `LayerLeak.mechanism` names."""
    return {
        "none": _("right"),
        **fault_names(),
        "before_shift": _("masked before the shift"),
        "weak_fill_after": _("a fill that does not hold, after the sum"),
        "weak_fill_before": _("a fill that does not hold, before the sum"),
        "not_finite": _("cannot be told: its scores are not finite"),
        "unknown": _("leaks, by none of the known ways"),
    }


def recorded() -> None:
    """Show the recorded training of a model whose mask leaked."""
    file = CHECKPOINTS / LEAKY / "training.json"
    if not file.exists():
        return
    training = recorded_training(str(file), file.stat().st_mtime_ns)
    curve, validation = training["loss_curve"], training["validation"]
    st.markdown("##### " + _("What training makes of a leak"))
    words = _(
        "A small model was trained with its content score multiplied by the mask before the position score was added. "
        "Its loss reached **{leaky:.3f}** nats per character, which no language model can; under the right mask the "
        "same weights have {right:.3f}."
    ).format(leaky=validation["loss_with_training_mask"], right=validation["loss"])
    st.markdown(words)
    loss = np.array(curve["train"], np.float32)
    steps = np.arange(1, len(loss) + 1)
    every = slice(None, None, max(len(loss) // 300, 1))
    figure = figures.training_figure(
        steps[every], loss[every], curve["validation_step"], curve["validation"], st.context.theme.type == "dark"
    )
    show(figure, key="leaky", alt=words, table=lambda: {"step": steps, "loss": loss})
    st.caption(_("Choose {name} in the sidebar to look at its heads. Made by:").format(name=f"`{LEAKY}`"))
    st.code(training["command"], language="sh", wrap_lines=True)


@st.cache_data(max_entries=2, show_spinner=False)
def recorded_training(file: str, changed: int) -> dict:
    return json.loads(Path(file).read_text(encoding="utf-8"))


def how() -> None:
    """Say how the numbers on the page are computed."""
    with st.expander(_("How this is computed")):
        st.latex(
            r"\text{leak}_i(F) = \sigma\Bigl(F + \log\!\!\sum_{j\,\text{forbidden}} e^{r_{ij}}"
            r" - \log\!\!\sum_{j\,\text{allowed}} e^{s_{ij}}\Bigr)"
        )
        st.markdown(
            _(
                "s is the sum of the four terms; r is what is added to the fill F: 0 where the mask comes after the "
                "sum, the other three terms where it comes before. `relxl.masking.mask_scores` sends the terms through "
                "a `MaskRule`, in the dtype that it names; a model takes the same rule as an argument, `model(tokens, "
                "rule=...)`, and nothing is patched. `relxl.causality.causality_test` changes every token in turn and "
                "compares bits; `layer_leaks` changes the keys of one layer at a time and names what it finds."
            )
        )
