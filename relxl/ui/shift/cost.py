"""The section of the page "Shift" about cost: the explicit tensor against the table projected first."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

import streamlit as st

from relxl.experiments import cost
from relxl.figures.shift import HeldRow, cost_figure, grouped, held_html
from relxl.jobs import Progress
from relxl.language import _
from relxl.style import milliseconds, number
from relxl.ui.jobs import show_job
from relxl.ui.show import escape, show
from relxl.ui.speak import fragment
from relxl.ui.state import keep

LENGTHS, HEADS, WIDTHS = (128, 256, 512, 1024), (1, 2, 4, 8, 16), (32, 64, 128, 256)
ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
KNOWN = 67_108_864, 268_435_456  # the two numbers that are quoted


def sections(dark: bool) -> None:
    """Draw what each way makes by formula, and offer to measure both on this machine."""
    st.markdown("##### " + _("What does it cost?"))
    formula(dark)
    title = _("Both ways at {lengths} tokens, on this machine").format(
        lengths=", ".join(str(length) for length in dict.fromkeys(length for _method, length in cost.planned()))
    )
    show_job("shift_cost", title, cost_work, partial(result, dark=dark))
    st.caption(conditions())


@fragment
def formula(dark: bool) -> None:
    """Show what each way makes in one layer, tensor by tensor, for sizes that one can choose."""
    picture, controls = st.columns([3, 1], gap="medium")
    length, heads = keep("cost_length", 512, LENGTHS), keep("cost_heads", cost.N_HEAD, HEADS)
    d_head, d_pos = keep("cost_d_head", cost.D_HEAD, WIDTHS), keep("cost_d_pos", cost.D_POS, WIDTHS)
    dtype = keep("cost_dtype", "float32", ITEM_BYTES)
    sizes = (length.value, heads.value, d_head.value, d_pos.value, ITEM_BYTES[dtype.value])
    held = cost.held_tensors(*sizes)
    sums = {name: sum(it.bytes for it in held if it.method == name) for name in cost.METHODS}
    with picture:
        ways = method_names()
        rows = [HeldRow(ways[it.method], it.name, shape_text(it.shape), it.bytes, it.bytes in KNOWN) for it in held]
        st.html(held_html(rows, dark))
        st.markdown(
            _(
                "For {length} tokens and one layer the explicit form makes **{explicit}**, and the table projected "
                "first **{table}**: {times} times less, and nothing [query key d] in it."
            ).format(
                length=length.value,
                explicit=size(sums["explicit"]),
                table=size(sums["table_first"]),
                times=number(sums["explicit"] / sums["table_first"]),
            )
        )
        st.caption(known_numbers())
    with controls:
        left, right = st.columns(2)
        left.selectbox(_("Length L"), LENGTHS, **length.widget)
        right.selectbox(_("Heads"), HEADS, **heads.widget)
        left.selectbox(_("d_head"), WIDTHS, **d_head.widget)
        right.selectbox(_("d_pos"), WIDTHS, help=_("Columns of the table R"), **d_pos.widget)
        st.selectbox(_("Kind of number"), list(ITEM_BYTES), **dtype.widget)


def known_numbers() -> str:
    """Say which tensors the two numbers are that are quoted so often."""
    shared, projected, *_rest = cost.held_tensors(512, n_head=8, d_head=32, d_pos=64)
    longer = cost.held_tensors(1024, d_pos=64)[0]
    same = (
        _("; `rel_emb` of {length} tokens is as large").format(length=1024) if longer.bytes == projected.bytes else ""
    )
    return _(
        "The two numbers that are quoted: {shared} bytes are `rel_emb` {shared_shape} in float32, once a layer, "
        "because all heads share it; it is not one head's. {projected} bytes are the projected tensor of 8 heads × 32, "
        "{projected_shape}{same}."
    ).format(
        shared=grouped(shared.bytes),
        shared_shape=escape(shape_text(shared.shape)),
        projected=grouped(projected.bytes),
        projected_shape=escape(shape_text(projected.shape)),
        same=same,
    )


def method_names() -> dict[str, str]:
    return {"explicit": _("explicit"), "table_first": _("table projected first")}


def conditions() -> str:
    """Say what is measured, and how; markdown."""
    return _(
        "Measured: {heads} heads × {d_head}, d_pos {d_pos}, float32, batch 1, on one thread in a process of its own. "
        "Time is the median of three runs. Memory is the most that torch's allocator held at a time during one call, "
        "without the inputs; what it is above the dotted formula are copies that a product needs. The explicit form "
        "stops at {longest}: at {next} its tensors alone take {needed}."
    ).format(
        heads=cost.N_HEAD,
        d_head=cost.D_HEAD,
        d_pos=cost.D_POS,
        longest=cost.LONGEST_EXPLICIT,
        next=2 * cost.LONGEST_EXPLICIT,
        needed=size(cost.formula_bytes("explicit", 2 * cost.LONGEST_EXPLICIT)),
    )


def cost_work() -> Iterator[Progress]:
    """Measure both ways in a process of their own, length by length; the result is the rows so far."""
    costs = [0.2 + 9e-9 * cost.formula_bytes(*step) for step in cost.planned()]  # seconds of a small machine
    rows: tuple[cost.Row, ...] = ()
    with closing(cost.measure_apart()) as measuring:
        for row in measuring:
            rows += (row,) if row else ()
            yield Progress(sum(costs[: len(rows)]) / sum(costs), "Measuring", rows or None)


def result(rows: Sequence[cost.Row], dark: bool) -> None:
    """Show what was measured: a sentence, the curves and their numbers."""
    names = method_names()
    of = {method: [row for row in rows if row.method == method] for method in names}
    of = {method: found for method, found in of.items() if found}
    sentence = compare(rows)
    st.markdown(sentence)
    figure = cost_figure(
        {names[method]: [row.length for row in found] for method, found in of.items()},
        {names[method]: [row.ms for row in found] for method, found in of.items()},
        {names[method]: [row.bytes_measured / 1e6 for row in found] for method, found in of.items()},
        {names[method]: [row.bytes_formula / 1e6 for row in found] for method, found in of.items()},
        dark,
    )
    table = {
        _("way"): [names[row.method] for row in rows],
        "L": [row.length for row in rows],
        "ms": [row.ms for row in rows],
        _("bytes by formula"): [row.bytes_formula for row in rows],
        _("bytes measured"): [row.bytes_measured for row in rows],
        _("largest difference"): [row.difference for row in rows],
    }
    show(figure, key="cost", alt=sentence, table=lambda: table)


def compare(rows: Sequence[cost.Row]) -> str:
    """Say how the two ways compare at the longest length that both were run at, and that they agree; markdown."""
    at = {(row.method, row.length): row for row in rows}
    both = [length for method, length in at if method == "explicit" and ("table_first", length) in at]
    if not both:
        return _("Stopped before both ways were measured at one length.")
    slow, fast = at["explicit", max(both)], at["table_first", max(both)]
    difference = max(at["table_first", length].difference for length in both)
    return _(
        "At {length} tokens: explicit {slow_time} and {slow_size}, the table projected first {fast_time} and "
        "{fast_size}. That is **{faster} times faster** in **{smaller} times less memory**, and the scores are the "
        "same: largest difference {difference} in scores up to {largest}."
    ).format(
        length=max(both),
        slow_time=milliseconds(slow.ms),
        slow_size=size(slow.bytes_measured),
        fast_time=milliseconds(fast.ms),
        fast_size=size(fast.bytes_measured),
        faster=number(slow.ms / fast.ms),
        smaller=number(slow.bytes_measured / fast.bytes_measured),
        difference=number(difference),
        largest=number(max(row.largest_score for row in rows)),
    )


def shape_text(shape: tuple[int, ...]) -> str:
    return f"[{' '.join(map(str, shape))}]"


def size(count: int) -> str:
    return f"{number(count / 1e9)} GB" if count >= 1e9 else f"{number(count / 1e6)} MB"
