"""The section of the page "Memory" about time: a token with memory against one whose window is recomputed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from relxl.experiments.memory import SURE
from relxl.experiments.recurrence import (
    PAPER,
    ROUNDS,
    Measured,
    counted_cost,
    lead_of,
    measure_recurrence,
)
from relxl.figures.memory_cost import Ratios, speedup_figure, ways_figure
from relxl.figures.shift import grouped
from relxl.jobs import Progress
from relxl.language import _
from relxl.style import milliseconds, number
from relxl.ui.jobs import show_job
from relxl.ui.library import ROOT
from relxl.ui.loss import no_loss
from relxl.ui.memory.sections import Part, ids_of, whole_text
from relxl.ui.recorded import read_record
from relxl.ui.show import escape, show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.texts import held_out_tokens, training_file
from relxl.ui.view import Source, View, cached_checkpoint

RECORDED = ROOT / "data" / "memory_cost.json"
COMMAND = "python -m relxl bench memory --json data/memory_cost.json"
CONTEXTS = (64, 128, 256, 512, 1024, 2048)
SPOKEN = 1024  # the context of which the sentence speaks, where it was measured

Row = Mapping[str, object]


def section(view: View) -> None:
    """Show the recorded speed-up against the context, and offer to measure the chosen checkpoint."""
    st.markdown("##### " + _("What does the memory save in time?"))
    if RECORDED.is_file():
        draw_recorded(view.checkpoint.name, view.dark)
    else:
        st.markdown(_("The recorded result is not here yet: this command writes it, in some minutes."))
        st.code(COMMAND, language="sh", wrap_lines=True)
    offer(view)


@fragment
def draw_recorded(name: str, dark: bool) -> None:
    """Draw the recorded speed-up of all checkpoints, and say what it is for the chosen one, else for the first."""
    result = read_record(RECORDED)
    models = dict.fromkeys(row["checkpoint"] for row in result["rows"])
    of = {model: [row for row in result["rows"] if row["checkpoint"] == model] for model in models}
    rows = of.get(name) or next(iter(of.values()))
    text = cost_sentence(rows, result["segment_len"])
    ratios = lambda key: Ratios([row["context"] for row in rows], [row[key] for row in rows])  # noqa: E731
    measured = {
        model: Ratios([row["context"] for row in its], [row["window_ratio"] for row in its])
        for model, its in of.items()
    }
    paper, stride = Ratios(list(PAPER), list(PAPER.values())), result["segment_len"]
    figure = speedup_figure(measured, ratios("window_counted"), ratios("strided_ratio"), stride, paper, dark)
    show(figure, key="memory_cost", alt=text, table=lambda: cost_table(result["rows"]))
    st.markdown(text)
    st.markdown(loss_sentence(rows, result["tokens"]))
    st.caption(conditions(result))
    st.code(result["command"], language="sh", wrap_lines=True)


def cost_sentence(rows: Sequence[Row], segment_len: int) -> str:
    """Say what a token costs with memory and with a window, measured and counted; markdown."""
    row = next((row for row in rows if row["context"] == SPOKEN), rows[-1])
    text = _(
        "**{name}:** a token with {context} tokens of context costs **{memory}** with memory and **{window}** with a "
        "window that is recomputed for it: **{times} times**; counting multiplications gives {counted}. A window that "
        "is recomputed only every {segment} tokens, as many as memory reads at once, costs {strided} times."
    ).format(
        name=row["checkpoint"],
        context=grouped(row["context"]),
        memory=milliseconds(row["memory_ms"]),
        window=milliseconds(row["window_ms"]),
        times=times(row["window_ratio"]),
        counted=times(row["window_counted"]),
        segment=segment_len,
        strided=times(row["strided_ratio"]),
    )
    last = max(rows, key=lambda row: row["context"])
    if last["context"] > row["context"]:
        longest = _("At {context}, {many} times the segment, it is {times} times.")
        text += " " + longest.format(
            context=grouped(last["context"]),
            many=round(last["context"] / segment_len),
            times=times(last["window_ratio"]),
        )
    return text


def loss_sentence(rows: Sequence[Row], tokens: int) -> str:
    """Say what the losses are when every token sees the same keys both ways, and why they are not equal; markdown."""
    first, last = rows[0], rows[-1]
    every = first["every_token_loss"]
    if first["positions"] == "absolute" and every is not None:
        return _(
            "With absolute positions the memory is fast and wrong: its places collide with those of the segment. Over "
            "{n} tokens the loss is **{memory:.3f}** nats per token with a memory of {context}, and **{window:.3f}** "
            "with a window of {context} for every token."
        ).format(n=grouped(tokens), memory=first["memory_loss"], context=first["context"], window=every)
    text = _(
        "When windows give every token exactly the keys that it sees with memory, their loss minus that with memory is "
        "{first} nats per token at {near} tokens and {last} at {far}, over {n} tokens. With one layer it would be 0; "
        "with more, what a layer keeps was itself computed with a memory, so memory reaches further back."
    )
    if all(abs(row["difference"]) <= SURE * (row["difference_error"] or 0) for row in rows):
        text += " " + _("These tokens do not tell the two apart.")
    return text.format(
        first=plus_minus(first),
        near=grouped(first["context"]),
        last=plus_minus(last),
        far=grouped(last["context"]),
        n=grouped(tokens),
    )


def plus_minus(row: Row) -> str:
    difference = f"{row['difference']:+.4f}".replace("-", "−")
    return difference if row["difference_error"] is None else f"{difference} ± {row['difference_error']:.4f}"


def conditions(result: Mapping[str, object]) -> str:
    """Say where and how it was measured; markdown."""
    machine = result["machine"]
    return _(
        "{clock}, batch 1, float32, threads: {threads}, {cpu}, torch {torch}. The machine had other work too: the ways "
        "take turns, a ratio is of one round, and shown is the median of {rounds}. All windows of one length cost the "
        "same, so one of a segment’s {segment} is timed. What is counted leaves out softmax, masks and caches. The "
        "paper’s numbers (Dai et al. 2019, table 9) are of a larger model."
    ).format(
        clock=_("CPU time") if result["clock"] == "CPU time" else _("Time"),
        threads=machine["threads"],
        cpu=escape(machine["cpu"]),
        torch=machine["torch"],
        rounds=result["rounds"],
        segment=result["segment_len"],
    )


def cost_table(rows: Sequence[Row]) -> dict[str, list]:
    """Put the recorded rows into columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def times(value: float) -> str:
    return grouped(round(value)) if value >= 100 else number(value)


# Live ----------------------------------------------------------------------------------------------------------------


@fragment
def offer(view: View) -> None:
    """Offer to measure the chosen checkpoint at one context, on the text of its training or the one in view."""
    if no_loss(view):
        return
    checkpoint, file = view.checkpoint, training_file(view.checkpoint)
    ids = b"" if file else whole_text(view).astype(np.int32).tobytes()
    n_tokens = len(ids_of(Part(view.source, ids))) - 1 if ids else None
    segment_len = checkpoint.config.segment_len if file else min(checkpoint.config.segment_len, max(n_tokens // 8, 1))
    rounds = ROUNDS if file else 4
    contexts = [it for it in CONTEXTS if file or lead_of(it, segment_len) + rounds * segment_len <= n_tokens]
    if not contexts:
        st.markdown(_("To measure it on this machine, give a text of some hundred tokens."))
        return
    kept = keep("rcc", contexts[min(2, len(contexts) - 1)], contexts)
    st.segmented_control(_("Context to measure here, tokens"), contexts, required=True, **kept.widget)
    title = _("{name}: a token with {n} tokens of context, {rounds} rounds, segments of {segment}").format(
        name=checkpoint.name, n=grouped(kept.value), rounds=rounds, segment=segment_len
    )
    key = f"memory_cost {checkpoint.digest} {view.source.answers} {kept.value} {segment_len} {rounds} {hash(ids)}"
    work = partial(cost_work, view.source.checkpoint, file, ids, kept.value, segment_len, rounds)
    absolute = checkpoint.config.positions == "absolute"
    show_job(key, title, work, partial(draw_measured, absolute=absolute, dark=view.dark))
    write_link()


def cost_work(
    source: Source, file: Path | None, ids: bytes, context: int, segment_len: int, rounds: int
) -> Iterator[Progress]:
    """Measure one context; the result is what was measured so far, and the multiplications of a token for each way."""
    checkpoint = cached_checkpoint(source)
    tokens = ids_of(Part(source, ids)) if file is None else held_out_tokens(checkpoint, file)
    counted = counted_cost(checkpoint.model, context, segment_len)
    result = None
    for done, measured in measure_recurrence(checkpoint.model, tokens[None], context, segment_len, rounds):
        result = (measured, counted) if measured else result
        yield Progress(done, "Measuring", result)


def draw_measured(result: tuple[Measured, dict[str, float]], absolute: bool, dark: bool) -> None:
    """Draw what a job has measured: the time of a token for each way, measured and counted, and the losses."""
    measured, counted = result
    names = {
        "memory": _("with memory"),
        "strided": _("a window every {n} tokens").format(n=measured.segment_len),
        "window": _("a window for every token"),
    }
    text = live_sentence(measured, counted)
    if not absolute:  # its windows end at places that were never trained
        text += " " + live_loss(measured)
    table = {
        _("way"): list(names.values()),
        "ms": [measured.ms(way) for way in names],
        _("times, measured"): [measured.ratio(way) for way in names],
        _("times, counted"): [counted[way] / counted["memory"] for way in names],
        _("loss, nats per token"): [measured.loss.get(way) for way in names],
    }
    figure = ways_figure({name: measured.ms(way) for way, name in names.items()}, dark)
    show(figure, key="memory_cost_live", alt=text, table=lambda: table)
    st.markdown(text)


def live_sentence(measured: Measured, counted: Mapping[str, float]) -> str:
    """Say what a token costs here; markdown."""
    return _(
        "Here a token with {context} tokens of context costs **{memory}** with memory and **{window}** with a window "
        "for every token: **{times} times**, counted {counted}."
    ).format(
        context=grouped(measured.context),
        memory=milliseconds(measured.ms("memory")),
        window=milliseconds(measured.ms("window")),
        times=times(measured.ratio("window")),
        counted=times(counted["window"] / counted["memory"]),
    )


def live_loss(measured: Measured) -> str:
    """Say how the losses differ; markdown."""
    difference, error = measured.difference
    row = {"difference": difference, "difference_error": None if np.isnan(error) else error}
    return _(
        "Over {n} tokens that see the same keys both ways the loss of the windows minus that with memory is "
        "{difference} nats per token."
    ).format(n=grouped(measured.losses["memory"].size), difference=plus_minus(row))
