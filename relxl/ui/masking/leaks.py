"""What leaks, on the page "Masking": row by row, head by head, output by output, and in a recorded training."""

import math

import numpy as np
import streamlit as st
import torch

from relxl import style
from relxl.canonical import AttentionModel
from relxl.causality import (
    CHANGED_AT_ONCE,
    Causality,
    LayerLeak,
    causality_test,
    layer_leaks,
    model_stages,
    stage_names,
)
from relxl.figures import masking as figures
from relxl.language import _
from relxl.masking import MaskRule
from relxl.matrix_view import Grid, Panel, Scale
from relxl.model import join_mems
from relxl.ui.library import BUNDLED
from relxl.ui.loss import no_loss
from relxl.ui.masking.sections import fault_names, leak_sentence
from relxl.ui.matrix import matrix_view
from relxl.ui.recorded import read_record
from relxl.ui.show import plain, show
from relxl.ui.speak import fragment
from relxl.ui.view import FILLS, Source, View, cached_trace, last_tokens

LEAKY = "shakespeare-leaky"
CHANGED_TOKENS = 48  # of a text, so many last tokens are changed in turn by the causality test
LOGITS_AT_ONCE = 20_000_000  # a vocabulary may have a quarter of a million words


def rows_and_frontier(view: View, rule: MaskRule) -> None:
    """Show the leak of each row, and of every head against the fill, for both orders."""
    head = view.masked(rule)
    rows, frontier = st.columns(2, gap="large")
    with rows:
        st.markdown("##### " + _("Leak of each row"))
        tokens = view.tokens[view.mem_len :]
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
        notes = [alt, _("Thin lines are the other heads of the layer.")]
        if rule.zero:
            notes.append(_("Before forbidden probabilities are set to 0, as this model’s code does."))
        st.caption(" ".join(notes))


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


@fragment
def causality(view: View, rules: tuple[MaskRule, ...]) -> None:
    """Show which outputs move when a token is changed, stage by stage, and what each layer by itself lets in."""
    tokens = view.checkpoint.config.n_token > 0
    words = _("Which outputs move when a token is changed?") if tokens else _("Which outputs move with a frame?")
    st.markdown("##### " + words)
    with st.spinner(_("Changing every token in turn"), show_time=True):
        result, layers = cached_causality(view.source, rules)
    if result is None:
        st.markdown(
            _(
                "Of this model the attention alone is known, so no change can be followed from layer to layer: each "
                "layer is tested by itself, the keys of its input changed in turn."
            )
        )
    else:
        draw_moved(view, rules, result)
    table = {
        _("layer"): [f"L{leak.layer}" for leak in layers],
        _("by itself"): [mechanisms()[leak.mechanism] for leak in layers],
        _("forbidden cells read"): [leak.forbidden for leak in layers],
        _("allowed cells not read"): [leak.unread for leak in layers],
    }
    st.dataframe(table, hide_index=True)


def draw_moved(view: View, rules: tuple[MaskRule, ...], result: Causality) -> None:
    """Draw how far every output moves with every token, a panel a stage, and say where a leak enters."""
    moved = result.moved.cpu().numpy().swapaxes(1, 2)[1:]  # [stage output changed], without the embedding
    tokens = tuple(view.tokens[-moved.shape[1] :])
    digits = np.where(moved > 0, np.maximum(np.log10(np.clip(moved, 1e-12, 1e9)) + 9, 0.2), 0).astype(np.float32)
    scale = Scale("sequential", 9.0, _("log10 |difference| + 9"))
    entered = _("Every output before the changed token stays the same to the last bit: nothing leaks in this model.")
    if not no_loss(view) and math.isnan(view.loss(rules)):
        entered = _("Outputs are NaN, which hides whatever leaks: look at the layers below.")
    elif result.entry is not None:
        entered = _("The leak enters in **{layer}**; {n} pairs of (changed token, earlier output) move at the end.")
        entered = entered.format(layer=result.entry, n=int(result.leaks[-1].sum()))
    if any(hasattr(layer, "convolution") for layer in view.checkpoint.model.layers):
        entered += " " + _(
            "This model’s convolutions mix neighbouring frames whatever the mask is: what attention itself lets in "
            "stands in the table below."
        )
    st.markdown(entered)
    last = _("output logits") if view.checkpoint.config.n_token else _("last hidden state")
    names = [_("after L{layer}").format(layer=layer) for layer in range(len(moved) - 1)] + [last]
    grid = Grid(
        panels=tuple(Panel(name, values, scale) for name, values in zip(names, digits, strict=True)),
        mask=np.tri(moved.shape[1], dtype=bool),
        tokens=tokens,
        columns=min(len(names), 4),
        label=plain(entered),
        axes=True,
    )
    matrix_view(grid, key="causality", dark=view.dark)
    words = _("The last {n} tokens, read without memory. Row: the output, column: the token that was changed.")
    if not view.checkpoint.config.n_token:
        words = _("The last {n} frames, read without memory. Row: the output, column: the frame that was changed.")
    elif view.checkpoint.model.first_mems(1) is not None:
        words = _("The last {n} tokens, read over a memory of zeros. Row: the output, column: the token changed.")
    compared = _("Compared bit by bit, so that a leak of 1e-7 has a colour.")
    st.caption(words.format(n=len(tokens)) + " " + compared)


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_causality(source: Source, rules: tuple[MaskRule, ...]) -> tuple[Causality | None, list[LayerLeak]]:
    """Change every token, or frame, of the end of a run in turn; None where layers can not be run one after another."""
    trace = cached_trace(source)
    model, mem_len = trace.model, 0
    if model.config.n_token:
        tokens = last_tokens(source, CHANGED_TOKENS)
        others, mem_len = (tokens + 1) % model.config.n_token, min(trace.mem_len, len(tokens) // 3)
    else:
        tokens = trace.hidden[0][0, trace.mem_len :][-CHANGED_TOKENS:]
        others = torch.linspace(0.5, 1.5, tokens.shape[1], dtype=tokens.dtype) - tokens.roll(1, dims=0)
    if isinstance(model, AttentionModel):
        return None, layer_leaks(model, [tokens[None]] * len(model.layers), 0, rules)
    forward = model_stages(model, rules)
    at_once = min(max(LOGITS_AT_ONCE // (max(model.config.n_token, 1) * len(tokens)), 1), CHANGED_AT_ONCE)
    result = causality_test(forward, tokens, others, stage_names(model), at_once=at_once)
    with torch.no_grad():
        hidden = forward(tokens[None])[:-1]
    zeros = model.first_mems(1)
    if zeros is not None:  # as many of them as another model's memory would have
        hidden = join_mems([x[:, :mem_len] for x in zeros], hidden)
    return result, layer_leaks(model, hidden, mem_len, rules)


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
    file = BUNDLED / LEAKY / "training.json"
    if not file.exists():
        return
    training = read_record(file)
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
