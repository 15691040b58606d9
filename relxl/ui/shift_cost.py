"""The section of the page "Shift" about cost: the explicit tensor against the table projected first."""

import time
from collections.abc import Callable
from contextlib import closing
from threading import Lock

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relxl.experiments import cost
from relxl.figures.shift import HeldRow, cost_figure, grouped, held_html
from relxl.language import _, translated
from relxl.style import number
from relxl.ui.show import escape, show
from relxl.ui.speak import fragment
from relxl.ui.state import choose, chosen, keep

LENGTHS, HEADS, WIDTHS = (128, 256, 512, 1024), (1, 2, 4, 8, 16), (32, 64, 128, 256)
ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
KNOWN = 67_108_864, 268_435_456  # the two numbers that are quoted


def sections(dark: bool) -> Callable[[], None]:
    """Draw the section; give what is to run at the end of the page, the measurement when it was asked for."""
    st.markdown("##### " + _("What does it cost?"))
    formula(dark)
    asked, rows = chosen("cost_asked", "cost_rows")
    choose(cost_asked=False)  # whatever interrupts the measurement has ended it
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Stop") if asked else _("Measure on this machine"),
            key="measure",
            icon=":material/stop:" if asked else ":material/speed:",
            on_click=choose,
            kwargs={} if asked else {"cost_asked": True, "cost_rows": []},
        )
        place = st.empty()
    if rows and not asked:
        result(rows, dark)
    st.caption(conditions())
    return (lambda: measure(place)) if asked else (lambda: None)


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


@st.cache_resource(max_entries=1)
def only_one() -> Lock:
    """Give the lock that lets one session measure at a time: two would slow each other down."""
    return Lock()


def measure(place: DeltaGenerator) -> None:
    """Measure with a progress bar in `place`; what is there is kept, also when it is interrupted."""
    lock, plan, rows = only_one(), cost.planned(), []
    if not lock.acquire(blocking=False):
        place.warning(
            _("Another session measures just now, and two would disturb each other: try again in 15 seconds.")
        )
        return
    try:
        begin = time.monotonic()
        with closing(cost.measure_apart()) as measuring:
            for row in measuring:
                rows += [row] if row else []
                choose(cost_rows=rows)
                if len(rows) < len(plan):
                    place.progress(*progress(plan, len(rows), time.monotonic() - begin))
    except RuntimeError as error:
        place.error(escape(translated(str(error))))
        return
    finally:
        lock.release()
    st.rerun()


def progress(plan: list[tuple[str, int]], done: int, elapsed: float) -> tuple[float, str]:
    """Give how far the measurement is, 0 to 1, and what it does and how long it still takes."""
    costs = [0.2 + 9e-9 * cost.formula_bytes(*step) for step in plan]
    costs[0] += 3  # the process starts; all in seconds of a small machine
    passed = min(elapsed, sum(costs[: done + 1]))
    method, length = plan[done]
    text = _("{method}, L = {length}: {place} of {count}, about {seconds} s left").format(
        method=method_names()[method],
        length=length,
        place=done + 1,
        count=len(plan),
        seconds=max(1, round(sum(costs) - passed)),
    )
    return passed / sum(costs), text


def result(rows: list[cost.Row], dark: bool) -> None:
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


def compare(rows: list[cost.Row]) -> str:
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
        slow_time=duration(slow.ms),
        slow_size=size(slow.bytes_measured),
        fast_time=duration(fast.ms),
        fast_size=size(fast.bytes_measured),
        faster=number(slow.ms / fast.ms),
        smaller=number(slow.bytes_measured / fast.bytes_measured),
        difference=number(difference),
        largest=number(max(row.largest_score for row in rows)),
    )


def shape_text(shape: tuple[int, ...]) -> str:
    return f"[{' '.join(map(str, shape))}]"


def duration(ms: float) -> str:
    return f"{number(ms / 1000)} s" if ms >= 1000 else f"{number(ms)} ms"


def size(count: int) -> str:
    return f"{number(count / 1e9)} GB" if count >= 1e9 else f"{number(count / 1e6)} MB"
