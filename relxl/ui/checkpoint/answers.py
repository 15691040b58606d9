"""The section of the page "Checkpoint" that shows what each answer to an open question gives, side by side."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.checkpoint import Checkpoint
from relxl.figures import checkpoint as figures
from relxl.figures.shift import STYLE, Cell, Table, stage_html
from relxl.language import _, translated
from relxl.ui.shift.tables import signed
from relxl.ui.show import code, escape, show
from relxl.ui.view import key_of
from relxl.weights_only import CLAMPS, Answer, Reach, answers, open_questions, reach


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
            if name == "cross":
                st.caption(packed_rows(checkpoint.config.n_head, checkpoint.config.d_head, head))


def draw_answers(name: str, distances: np.ndarray, found: list[Answer], dark: bool) -> None:
    """Draw what the answers to one question differ in: the curve, the cells, or what queries and keys are made of."""
    for answer in found:
        if answer.refused:
            st.caption(f"{escape(label(answer))}: {escape(translated(answer.refused))}")
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
    elif not curves_differ and len({answer.sizes for answer in found}) > 1:
        columns = zip(*((label(answer), *answer.sizes) for answer in found), strict=True)
        st.dataframe(
            dict(zip((_("answer"), _("size of W_q"), _("size of W_k")), columns, strict=True)),
            hide_index=True,
            width="content",
        )


def packed_rows(n_head: int, d_head: int, head: int) -> str:
    """Say which rows of a packed projection a head takes under either answer."""
    width, first, own = n_head * d_head, 3 * d_head * head, d_head * head
    turns, apart = ([f"{row}–{row + d_head - 1}" for row in rows] for rows in (
        (first, first + d_head, first + 2 * d_head), (own, width + own, 2 * width + own)
    ))  # fmt: skip
    text = _("Rows of in_proj that are query, key and value of H{head}: {turns} under false, {apart} under true.")
    return escape(text.format(head=head, turns=", ".join(turns), apart=", ".join(apart)))


def label(answer: Answer) -> str:
    """Name an answer by what was answered, as a config would."""
    words = {True: "true", False: "false", -1: "−1"}
    values = [f"{name} {words.get(value, value)}" for name, value in answer.changes.items() if name != "mem_len"]
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
    elif np.isfinite(found[0].curve).any():
        parts.append(_("v\\_bias is the same under every answer."))
    else:
        parts.append(_("v\\_bias has no finite number."))
    if cells:
        size = found[0].reads.mask.size
        text = _("**{n} of {size} cells** of a small score read something else or are seen by one answer alone.")
        parts.append(text.format(n=cells, size=size))
    elif len({answer.sizes for answer in found}) > 1:
        parts.append(_("What every cell reads and sees is the same too: queries and keys are made of something else."))
    elif not curves_differ:
        parts = [_("Every answer gives the same here, as far as weights alone can tell.")]
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
