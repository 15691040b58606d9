"""The sections of the page "Checkpoint" that need no input: v_bias of every head, open answers, the query's bias."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.checkpoint import Checkpoint
from relxl.figures import checkpoint as figures
from relxl.figures.shift import STYLE, Cell, Table, stage_html
from relxl.language import _
from relxl.ui.checkpoint import key_of
from relxl.ui.shift_tables import signed
from relxl.ui.show import code, escape, show
from relxl.weights_only import (
    CLAMPS,
    Answer,
    Reach,
    answers,
    folded_curves,
    gauge,
    open_questions,
    reach,
    v_bias_curves,
)


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
    distances = span.distances.numpy()
    name = f"L{layer}H{head}"
    alt = curve_sentence(name, curves[head], distances)
    odd = int((~np.isfinite(curves)).sum())
    st.markdown(alt + (" " + _("**Not finite: {k} numbers**, left out.").format(k=odd) if odd else ""))
    marks = {}
    if span.trained is not None:
        marks[_("training")] = span.trained
    if span.table is not None:
        same = span.table == span.trained
        marks.pop(_("training"), None) if same else None
        marks[_("training and table end") if same else _("table ends")] = span.table
    if span.clamp is not None:
        marks[_("clamp")] = span.clamp
    marks = {label: place for label, place in marks.items() if place <= span.high}
    looks = style.RELATIVE_TERMS["v_bias"]
    figure = figures.heads_figure(curves, distances, head, looks, marks, dark)
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
    return text + (_("; it has fallen half of that way at {n}.").format(n=below[0]) if len(below) else ".")


# Two answers side by side --------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_answers(
    key: tuple, name: str, layer: int, head: int, _checkpoint: Checkpoint
) -> tuple[np.ndarray, list[Answer]]:
    span = reach(_checkpoint.opened)
    high = max(span.high, round(1.25 * max(CLAMPS))) if name == "clamp_len" and span.table is None else span.high
    wide = Reach(-high if span.low else 0, high, None, None, None)
    return wide.distances.numpy(), answers(_checkpoint, name, layer, head, wide.distances)


def both_results(checkpoint: Checkpoint, layer: int, head: int, dark: bool) -> None:
    """Show for each question that the file leaves open what every answer gives for the chosen head."""
    names = open_questions(checkpoint.opened)
    if not names:
        return
    st.markdown("##### " + _("What each answer gives, for {head}").format(head=f"L{layer}H{head}"))
    st.html(STYLE)
    for name, tab in zip(names, st.tabs([code(name) for name in names]), strict=True):
        with tab:
            distances, found = cached_answers(key_of(checkpoint), name, layer, head, checkpoint)
            draw_answers(name, distances, found, dark)


def draw_answers(name: str, distances: np.ndarray, found: list[Answer], dark: bool) -> None:
    """Draw what the answers to one question differ in: the curve, the cells, or what queries and keys are made of."""
    for answer in found:
        if answer.refused:
            st.caption(f"{escape(label(answer))}: {escape(answer.refused)}")
    found = [answer for answer in found if not answer.refused]
    if not found:
        return
    curves = {label(answer): answer.curve for answer in found}
    curves_differ = any(not np.array_equal(found[0].curve, answer.curve, equal_nan=True) for answer in found)
    cells = differing_cells(found)
    st.markdown(answer_sentence(name, found, distances, curves_differ, int(cells.sum())))
    if curves_differ:
        alt = _("v_bias over distance, one curve an answer: {names}.").format(names=", ".join(curves))
        figure = figures.lines_figure(curves, distances, dark=dark)
        show(figure, key=f"answers_{name}", alt=alt, table=lambda: {"distance": distances} | curves)
    if cells.any():
        tables = [reads_table(answer) for answer in found]
        longest = max(len(cell.label) for table in tables for row in table.cells for cell in row)
        rows, columns = found[0].reads.mask.shape
        st.html(stage_html(tables, legend(found), (rows, len(tables) * columns, longest), dark))
    elif not curves_differ:
        sizes = {_("answer"): [], _("size of W_q"): [], _("size of W_k"): []}
        for answer in found:
            for column, value in zip(sizes.values(), (label(answer), *answer.sizes), strict=True):
                column.append(value)
        if len(set(zip(*list(sizes.values())[1:], strict=True))) > 1:
            st.dataframe(sizes, hide_index=True, width="content")


def label(answer: Answer) -> str:
    """Name an answer by what was answered, as a config would."""
    words = {True: "true", False: "false", -1: "−1"}
    values = [f"{name} {words.get(value, value)}" for name, value in answer.changes.items()]
    return ", ".join(values) + (" · " + _("as read now") if answer.is_now else "")


def differing_cells(found: list[Answer]) -> np.ndarray:
    """Mark the cells that read something else, or are seen by another answer alone: [query key] bool."""
    first, differ = found[0].reads, np.zeros(found[0].reads.mask.shape, bool)
    for answer in found[1:]:
        reads = answer.reads
        differ |= (reads.row != first.row) | (reads.mask != first.mask)
        differ |= (reads.distance != first.distance) & (reads.row >= 0)
    return differ


def answer_sentence(name: str, found: list[Answer], distances: np.ndarray, curves_differ: bool, cells: int) -> str:
    """Say in numbers what the answers differ in; markdown."""
    parts = []
    if curves_differ:
        stack = np.array([answer.curve for answer in found])
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.where(np.isfinite(stack).all(0), stack.max(0) - stack.min(0), -1.0)
        most = int(apart.argmax())
        if apart[most] > 0:
            parts.append(
                _("v\\_bias differs most at distance {d}, by **{gap}**.").format(
                    d=signed(distances[most]), gap=style.number(float(apart[most]))
                )
            )
    else:
        parts.append(_("v\\_bias is the same under every answer."))
    if cells:
        size = found[0].reads.mask.size
        text = _("**{n} of {size} cells** of a small score read something else or are seen by one answer alone.")
        parts.append(text.format(n=cells, size=size))
    elif not curves_differ:
        parts.append(_("So is what every cell reads and sees: queries and keys are made of something else."))
    if name == "same_length":
        parts.append(_("Drawn for a memory of {n}.").format(n=found[0].changes["mem_len"]))
    if name == "bi_data":
        parts.append(_("True shows the second half of a batch; the first half is read as under false."))
    return " ".join(parts)


def reads_table(answer: Answer) -> Table:
    """Lay out the distance that each cell (query, key) reads; a foreign row stands before it."""
    reads, lines = answer.reads, []
    reach = max(int(np.abs(reads.distance[reads.row >= 0]).max(initial=1)), 1)
    for i, row in enumerate(reads.row):
        line = []
        for j, source in enumerate(row):
            distance, kinds = int(reads.distance[i, j]), ()
            text = signed(distance) if source == i else f"{source}:{signed(distance)}"
            says = _("query {query}, key {key}: row {row} at distance {distance}").format(
                query=i, key=j, row=source, distance=signed(distance)
            )
            if source < 0:
                text, kinds = "0", ("pad",)
                says = _("query {query}, key {key}: reads no position").format(query=i, key=j)
            elif not reads.right[i, j]:
                kinds = ("foreign",)
            if not reads.mask[i, j]:
                kinds += ("hidden",)
                says += "; " + _("the mask hides it")
            line.append(Cell(text, kinds, says, depth=max(0.0, 1 - abs(distance) / reach)))
        lines.append(line)
    query_len, key_len = reads.mask.shape
    mem_len = key_len - query_len
    groups = [(_("memory"), mem_len), (_("key"), query_len)] if mem_len else [(_("key"), key_len)]
    keys, queries = ([str(i) for i in range(n)] for n in (key_len, query_len))
    hidden, foreign = int((~reads.mask).sum()), int((~reads.right & reads.mask).sum())
    says = _("{hidden} cells are hidden, {foreign} visible ones read a foreign row or distance.").format(
        hidden=hidden, foreign=foreign
    )
    return Table(label(answer), f"[{query_len} {key_len}]", groups, keys, _("query"), queries, lines, says)


def legend(found: list[Answer]) -> list[tuple[Cell, str]]:
    """Name the kinds of cells that are there to be seen."""
    reads = [answer.reads for answer in found]
    wrong = any((~r.right & r.mask & (r.row >= 0)).any() for r in reads)
    entries = [
        (Cell("d", depth=0.6), _("the distance that the cell reads"), True),
        (Cell("i:d", ("foreign",)), _("another distance than its own, or (i:) another query’s row"), wrong),
        (Cell("0", ("pad",)), _("reads no position"), any((r.row < 0).any() for r in reads)),
        (Cell("", ("hidden",)), _("hidden by the mask"), any((~r.mask).any() for r in reads)),
    ]
    return [(cell, text) for cell, text, there in entries if there]


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
