"""The sections of the page "Memory" about losses: what memory saves on this segment, and how much of it is enough."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from relxl.experiments.max_len import known_reach
from relxl.experiments.max_len_losses import LengthLoss, loss_rows, loss_table, spread_streams
from relxl.experiments.memory import MEMORIES, effective_memory, loss_by_memory, segment_starts, token_losses
from relxl.figures import memory as figures
from relxl.figures.max_len import Series
from relxl.figures.shift import grouped
from relxl.jobs import Progress
from relxl.language import _
from relxl.style import signed
from relxl.trace import run
from relxl.ui.jobs import show_job
from relxl.ui.loss import no_loss
from relxl.ui.memory.sections import Part, Seam, cached_segment, ids_of, whole_text
from relxl.ui.show import show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.texts import held_out_tokens, training_file
from relxl.ui.view import Source, View, cached_checkpoint

SEGMENTS = (16, 32, 64)  # beside the model's own: memory many times the segment
SCORED = 512  # tokens of each of four streams that a job scores
FEWEST = 32  # tokens of a text that can be measured at all
NEAR = 8  # queries at either end of the segment that are averaged
BINS = 16  # of positions in the segment


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_losses(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Give the loss on the token after every query of a segment, with its memory and without: [query] each."""
    trace, ids = cached_segment(part), ids_of(part)
    start = segment_starts(len(ids), part.segment_len)[part.segment]
    targets = ids[start + 1 : start + 1 + trace.query_len][None]
    alone = run(trace.model, ids[None, start : start + trace.query_len], 0)
    return token_losses(trace, targets)[0], token_losses(alone, targets)[0]


def this_segment(view: View, seam: Seam) -> None:
    """Show the loss on every token of the segment with and without its memory."""
    if not seam.real or not seam.part.ids or no_loss(view):
        return
    st.markdown("##### " + _("What does the memory save on this segment?"))
    with_memory, without = cached_losses(seam.part)
    if not len(with_memory):
        st.markdown(_("One token has no next one to predict: give a longer text."))
        return
    text = saved_sentence(with_memory, without)
    tokens = seam.tokens[seam.at :][: len(with_memory)]
    losses = {_("with memory"): with_memory, _("without"): without}
    figure = figures.token_loss_figure(losses, tokens, view.dark)
    columns = {"query": np.arange(len(tokens)), "token": tokens, "with_memory": with_memory, "without": without}
    show(figure, key="token_loss", alt=text, table=lambda: columns)
    st.markdown(text)


def saved_sentence(with_memory: np.ndarray, without: np.ndarray) -> str:
    """Say what memory saves on a segment, at its beginning and at its end; markdown."""
    saved = without - with_memory
    text = _("With its memory the loss on this segment is **{a:.3f}** nats per token, without it {b:.3f}: {verdict}.")
    gain = float(saved.mean())
    verdict = _("the memory saves {x:.3f}") if gain >= 0 else _("the memory costs {x:.3f}")
    text = text.format(a=with_memory.mean(), b=without.mean(), verdict=verdict.format(x=abs(gain)))
    if len(saved) >= 2 * NEAR:
        ends = _("Over the first {n} tokens that is {first}, over the last {n} {last}.")
        first, last = (signed(part.mean() if gain >= 0 else -part.mean()) for part in (saved[:NEAR], saved[-NEAR:]))
        text += " " + ends.format(n=NEAR, first=first, last=last)
    return text


# How much memory is enough -------------------------------------------------------------------------------------------


def measure(view: View) -> None:
    """Offer to measure the model with its memory cut ever shorter, on the text of its training or the one in view."""
    st.markdown("##### " + _("How much memory is enough?"))
    if reason := no_loss(view):
        st.markdown(reason)
    else:
        offer(view)


@fragment
def offer(view: View) -> None:
    """Draw which segment the measurement is to have, and its job."""
    checkpoint, config = view.checkpoint, view.checkpoint.config
    file = training_file(checkpoint)
    if file:
        lengths, tokens, where = MEMORIES, 4 * (max(MEMORIES) + SCORED), file.name
    else:
        tokens, where = len(whole_text(view)) - 1, _("the text in view")
        lengths = tuple(n for n in MEMORIES if n <= tokens // 2)
        if tokens < FEWEST:
            message = _(
                "The text has {n} tokens, and at least {least} are needed to measure a loss: give a longer one."
            )
            st.markdown(message.format(n=tokens + 1, least=FEWEST + 1))
            return
    own = min(config.segment_len, max(tokens // 2, 1)) if file is None else config.segment_len
    segments = [*(n for n in SEGMENTS if n < own), own]
    kept = keep("rcs", own, segments)
    segment_len, label = kept.value, lambda n: _("{n}: memory up to {k} times").format(n=n, k=lengths[-1] // n)
    st.segmented_control(_("Segment, tokens"), segments, format_func=label, required=True, **kept.widget)
    title = _("{name}: memory {first} to {last}, segments of {segment}, {n} tokens of {where}").format(
        name=checkpoint.name, first=lengths[0], last=lengths[-1], segment=segment_len, n=grouped(tokens), where=where
    )
    ids = b"" if file else whole_text(view).astype(np.int32).tobytes()
    key = f"memory {checkpoint.digest} {view.source.answers} {lengths} {tokens} {segment_len} {hash(ids)}"
    work = partial(measure_work, view.source.checkpoint, file, ids, lengths, segment_len, tokens)
    trained = config.mem_len if known_reach(checkpoint) is not None else None
    show_job(key, title, work, partial(draw_measured, trained=trained, dark=view.dark))
    write_link()


def measure_work(
    source: Source, file: Path | None, ids: bytes, lengths: Sequence[int], segment_len: int, n_tokens: int
) -> Iterator[Progress]:
    """Measure every length of memory; the result is the lengths so far."""
    checkpoint = cached_checkpoint(source)
    if file is None:
        tokens = ids_of(Part(source, ids))[None]
    else:
        tokens = spread_streams(held_out_tokens(checkpoint, file), n_tokens)
    rows: tuple[LengthLoss, ...] = ()
    for done, row in loss_by_memory(checkpoint.model, tokens, lengths, segment_len):
        rows += (row,) if row else ()
        yield Progress(min(done, 1.0), "Measuring", rows or None)


def draw_measured(rows: Sequence[LengthLoss], trained: int | None, dark: bool) -> None:
    """Draw what a job has measured so far: the loss over memory, and over the position in the segment."""
    enough = effective_memory(rows)
    home = next(row for row in rows if row.mem_len == enough)
    text = enough_sentence(rows, enough, trained)
    left, right = st.columns(2, gap="large")
    table = loss_table(rows, home)
    with left:
        errors = table["change_error"].fillna(0).to_numpy()
        curve = Series(table["mem_len"].to_numpy(), table["loss"].to_numpy(), errors)
        figure = figures.memory_loss_figure(curve, trained, enough, dark)
        show(figure, key="loss_by_memory", alt=text, table=lambda: table.drop(columns=["variant", "begin", "end"]))
    with right:
        both = [row for row in rows if row.mem_len in (0, enough)]
        curves = position_curves(both, home)
        first, last = (curves[name].y for name in (next(iter(curves)), list(curves)[-1]))
        alt = _(
            "Loss against the position in the segment: {a:.3f} without memory at its beginning, {b:.3f} with."
        ).format(a=first[0], b=last[0])
        figure = figures.memory_position_figure(curves, dark)
        bins = {name: curve.y for name, curve in curves.items()}
        show(figure, key="loss_positions", alt=alt, table=lambda: {"position": curves[next(iter(curves))].x} | bins)
    st.markdown(text)


def position_curves(rows: Sequence[LengthLoss], home: LengthLoss) -> dict[str, Series]:
    """Average losses over bins of the position in the segment: a curve a memory length."""
    curves = {}
    for row in rows:
        bin_len = max(row.segment_len // BINS, 1)
        bins = [it for it in loss_rows([row], home, bin_len) if it["end"] - it["begin"] < row.segment_len]
        place, loss, error = (
            np.array(values)
            for values in zip(
                *(((it["begin"] + it["end"] - 1) / 2, it["loss"], it["change_error"]) for it in bins), strict=True
            )
        )
        name = _("memory {n}").format(n=row.mem_len) if row.mem_len else _("without memory")
        curves[name] = Series(place, loss, error)
    return curves


def enough_sentence(rows: Sequence[LengthLoss], enough: int, trained: int | None) -> str:
    """Say how much memory lowers the loss, from where on more of it does not, and what too much does; markdown."""
    rows = sorted(rows, key=lambda row: row.mem_len)
    loss = {row.mem_len: row.loss for row in rows}
    longest = rows[-1].mem_len
    if enough == 0:
        text = _("**No memory is enough:** without any the loss is **{a:.3f}** nats per token").format(a=rows[0].loss)
        worst = max(rows, key=lambda row: row.loss)
        if worst.loss - rows[0].loss > 0.05:
            text += _("; with {n} it is {b:.3f}").format(n=worst.mem_len, b=worst.loss)
        return text + _(".")
    text = _("Without memory the loss is {a:.3f} nats per token, with **{n}** tokens of it **{b:.3f}**").format(
        a=loss.get(0, math.nan), n=enough, b=loss[enough]
    )
    if longest > enough:
        text += _("; more, up to {longest}, gains nothing that could be told apart").format(longest=longest)
        worse = loss[longest] - loss[enough]
        if worse > 0.005:
            text += _(", and {longest} costs {x:.3f}").format(longest=longest, x=worse)
    text += _(".")
    if trained is not None and longest > trained:
        text += " " + _("Training had {n}.").format(n=trained)
    return text + " " + _("Every layer has such a memory, so what is read through all of them goes further back.")
