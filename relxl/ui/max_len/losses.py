"""The sections of the page "Max len" about losses beyond the training length: recorded, and measured by a job."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from relxl.config import ModelConfig, Sizes
from relxl.experiments.max_len import known_reach
from relxl.experiments.max_len_losses import BIN_LEN, LengthLoss, length_losses, loss_rows, spread_streams
from relxl.experiments.max_len_variants import GRID
from relxl.figures import max_len as figures
from relxl.figures.max_len import Series
from relxl.figures.shift import grouped
from relxl.jobs import Progress
from relxl.language import _
from relxl.ui.jobs import show_job
from relxl.ui.library import BUNDLED, ROOT
from relxl.ui.loss import no_loss
from relxl.ui.recorded import read_record
from relxl.ui.show import escape, plain, show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.texts import held_out_tokens, training_file
from relxl.ui.view import Source, View, cached_checkpoint

RECORDED = ROOT / "data" / "max_len.csv"
COMMAND = " ".join(("python", "-m", "relxl", "sweep", "max-len", "--out", "data/max_len.csv"))
ALL = "all"  # the choice that sets the checkpoints side by side, each as it was trained
OWN = "own"  # the memory that a checkpoint was trained with
SCORED = 512  # characters of each stream that a job scores
SURE = 2  # standard errors that a difference must have to be called one

Row = Mapping[str, object]


def names() -> dict[str, str]:
    """Name the ways of reading in the language of the session."""
    return {
        "as_trained": _("as trained"),
        "clamp": _("clamped at the training"),
        "window": _("far keys unseen"),
        "interpolate": _("table interpolated"),
        "interpolate_far": _("interpolated, near kept"),
    }


def recorded(view: View) -> None:
    """Show the recorded losses beyond the training length, or say how to get them."""
    st.markdown("##### " + _("Beyond the training length, recorded"))
    beside = RECORDED.with_suffix(".json")
    if not (RECORDED.is_file() and beside.is_file()):
        st.markdown(_("The recorded result is not here yet: this command writes it, in about half an hour."))
        st.code(COMMAND, language="sh", wrap_lines=True)
        return
    draw_recorded(view.checkpoint.name, view.dark)


@st.cache_resource(max_entries=2, show_spinner=False)
def read_rows(file: str, changed: int) -> list[dict]:
    """Read rows as `sweep max-len` writes them; an empty number is NaN."""
    text = Path(file).read_text(encoding="utf-8")
    sizes = ("segment_len", "mem_len", "begin", "end", "characters")
    numbers = ("loss", "loss_error", "change", "change_error")
    return [
        row | {name: int(row[name]) for name in sizes} | {name: float(row[name] or "nan") for name in numbers}
        for row in csv.DictReader(io.StringIO(text))
    ]


@st.cache_data(max_entries=16, show_spinner=False)
def trained_with(name: str) -> dict[str, int]:
    """Give the training's own segment and memory of a bundled checkpoint; nothing where it is not there."""
    file = BUNDLED / name / "config.json"
    config = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: config[name] for name in ("segment_len", "mem_len") if name in config}


@fragment
def draw_recorded(name: str, dark: bool) -> None:
    """Draw the recorded result; its controls redraw this section alone."""
    rows = read_rows(str(RECORDED), RECORDED.stat().st_mtime_ns)
    how = read_record(RECORDED.with_suffix(".json"))
    models = sorted({row["checkpoint"] for row in rows}, key=[row["checkpoint"] for row in rows].index)
    first, second, third = st.columns([3, 2, 2])
    model = keep("xc", ALL, [ALL, *models])
    with first:
        label = lambda option: _("all, as trained") if option == ALL else family(option)  # noqa: E731
        st.segmented_control(_("Model"), [ALL, *models], format_func=label, required=True, **model.widget)
    compared = [row for row in rows if model.value in (ALL, row["checkpoint"]) and row["variant"] in names()]
    compared = [row for row in compared if model.value != ALL or row["variant"] == "as_trained"]
    home = trained_with(models[0] if model.value == ALL else model.value)
    memories = [OWN, *sorted({row["mem_len"] for row in compared})]
    memory = keep("xe", OWN, memories)
    with second:
        label = lambda option: _("as trained") if option == OWN else str(option)  # noqa: E731
        st.selectbox(_("Memory, tokens"), memories, format_func=label, **memory.widget)
    compared = with_memory(compared, memory.value)
    lengths = sorted({row["segment_len"] for row in compared})
    length = keep("xn", lengths[-1], lengths)
    with third:
        st.segmented_control(_("Segment at the right, tokens"), lengths, required=True, **length.widget)
    draw_losses(compared, "checkpoint" if model.value == ALL else "variant", length.value, home, dark, "recorded")
    st.markdown(claim_sentence(rows))
    words = _(
        "{scored} characters of {text}, the same for every curve, memory full. A band is two standard errors of the "
        "change against the model’s own training length, character by character."
    )
    st.caption(words.format(scored=grouped(how["characters"]["scored"]), text=escape(how["text"]["name"])))
    st.code(how["command"], language="sh", wrap_lines=True)
    write_link()


def with_memory(rows: Sequence[Row], memory: int | str) -> list[Row]:
    """Keep the rows of one memory length; OWN: of each checkpoint those of its own training's."""
    own = {name: trained_with(name).get("mem_len", 0) for name in {row["checkpoint"] for row in rows}}
    return [row for row in rows if row["mem_len"] == (own[row["checkpoint"]] if memory == OWN else memory)]


def draw_losses(rows: Sequence[Row], by: str, length: int, home: Mapping[str, int], dark: bool, key: str) -> None:
    """Draw loss against segment length, and against the position in segments of `length`; say which curve is lowest.

    `rows` are of one memory; a curve is what `by` ("variant" or "checkpoint") names.
    """
    whole = [row for row in rows if (row["begin"], row["end"]) == (0, row["segment_len"])]
    bins = [row for row in rows if row["segment_len"] == length and (row["begin"], row["end"]) != (0, length)]
    left, right = st.columns(2, gap="large")
    text = best_sentence(whole, by, home)
    with left:
        figure = figures.length_figure(curves_of(whole, by, "segment_len"), home.get("segment_len"), dark)
        show(figure, key=f"{key}_lengths", alt=plain(text), table=lambda: table_of(whole, by))
    with right:
        if bins:
            trained = home.get("segment_len", length)
            curves = curves_of(bins, by, "begin")
            figure = figures.position_figure(curves, trained if trained < length else None, dark)
            alt = _("Loss against the position in segments of {n} tokens.").format(n=length)
            show(figure, key=f"{key}_positions", alt=alt, table=lambda: table_of(bins, by))
    st.markdown(text)


def curves_of(rows: Sequence[Row], by: str, x: str) -> dict[str, Series]:
    """Put rows into curves; a bin of positions stands at its middle.

    The error is that of the change against home, on the same characters, where there is one: how hard the text happens
    to be is the same for every curve.
    """
    curves = {}
    for name in dict.fromkeys(row[by] for row in rows):
        of_name = sorted((row for row in rows if row[by] == name), key=lambda row: row[x])
        place = [(row["begin"] + row["end"]) / 2 if x == "begin" else row[x] for row in of_name]
        loss, alone, paired = (
            np.array([row[column] for row in of_name], np.float32) for column in ("loss", "loss_error", "change_error")
        )
        curves[shown_name(name)] = Series(np.array(place), loss, np.where(np.isnan(paired), alone, paired))
    return curves


def shown_name(name: str) -> str:
    return names().get(name) or family(name)


def family(checkpoint: str) -> str:
    return checkpoint.rsplit("-", 1)[-1]


def table_of(rows: Sequence[Row], by: str) -> dict[str, list]:
    columns = (by, "segment_len", "mem_len", "begin", "end", "loss", "loss_error", "change", "change_error")
    return {column: [row[column] for row in rows] for column in columns}


def best_sentence(rows: Sequence[Row], by: str, home: Mapping[str, int]) -> str:
    """Say which curve is lowest at the longest segment, and by how much; markdown."""
    longest = max(row["segment_len"] for row in rows)
    there = sorted((row for row in rows if row["segment_len"] == longest), key=lambda row: row["loss"])
    best, *others = there
    times = longest / home["segment_len"] if home.get("segment_len") else 1
    where = _("{n} tokens").format(n=longest) + (_(", {n:g} times the training’s").format(n=times) if times > 1 else "")
    text = _("In segments of {where}, **{name}** has a loss of **{loss}**").format(
        where=where, name=escape(shown_name(best[by])), loss=f"{best['loss']:.3f}"
    )
    if not math.isnan(best["change"]):
        text += _(", {change} against its own training length").format(change=plus_minus(best, "change"))
    if not others:
        return text + _(".")
    same = [row for row in others if row["loss"] - best["loss"] <= SURE * both_errors(best, row)]
    if same:
        tied = ", ".join(escape(shown_name(row[by])) for row in same)
        text += _("; not to be told apart from: {names}").format(names=tied)
    worst = others[-1]
    if worst not in same:
        text += _("; the highest is {name} with {loss}").format(
            name=escape(shown_name(worst[by])), loss=f"{worst['loss']:.3f}"
        )
    return text + _(".")


def both_errors(one: Row, other: Row) -> float:
    """Give the standard error of a difference: of the changes, which are paired with home, where there are any."""
    kind = "change_error" if not math.isnan(one["change_error"] + other["change_error"]) else "loss_error"
    return math.hypot(*(0 if math.isnan(row[kind]) else row[kind] for row in (one, other)))


def plus_minus(row: Row, name: str) -> str:
    value = round(row[name], 3) + 0.0  # no negative zero
    return f"{value:+.3f} ± {SURE * row[f'{name}_error']:.3f}".replace("-", "−")


def claim_sentence(rows: Sequence[Row]) -> str:
    """Hold the article's claims about long segments to the recorded losses, each model at its own memory; markdown."""
    whole = {}
    for row in with_memory(rows, OWN):
        if (row["begin"], row["end"]) == (0, row["segment_len"]):
            whole[family(row["checkpoint"]), row["variant"], row["segment_len"]] = row
    longest = max(length for _kind, _variant, length in whole)
    learned, absolute = (whole.get((kind, "as_trained", longest)) for kind in ("learned", "absolute"))
    text = []
    if learned and absolute:
        holds = learned["change"] + SURE * both_errors(learned, absolute) < absolute["change"]
        words = _(
            "*The article: relative positions extrapolate better than absolute ones.* In segments of {n} {verdict}: "
            "{learned} for the learned table, {absolute} for the absolute model, each against its own training length."
        )
        verdict = _("that holds") if holds else _("that does not show")
        numbers = {"learned": plus_minus(learned, "change"), "absolute": plus_minus(absolute, "change")}
        text.append(words.format(verdict=verdict, n=longest, **numbers))
    stretched = whole.get(("learned", "interpolate", longest))
    if learned and stretched:
        gain, sure = learned["loss"] - stretched["loss"], SURE * both_errors(learned, stretched)
        verdict = _("it makes no difference that can be seen")
        if abs(gain) > sure:
            verdict = _("it helps") if gain > 0 else _("it hurts")
        words = _(
            "*The article: interpolate the position table.* Without further training {verdict}: {stretched} "
            "interpolated, {learned} with the last row shared."
        )
        losses = {"stretched": f"{stretched['loss']:.3f}", "learned": f"{learned['loss']:.3f}"}
        text.append(words.format(verdict=verdict, **losses))
        others = {name: whole.get(("learned", name, longest)) for name in ("interpolate_far", "window")}
        if all(others.values()):
            words = _("Near distances kept: {near}. Far keys not seen at all: {window}.")
            near, window = (f"{row['loss']:.3f}" for row in others.values())
            text[-1] += " " + words.format(near=near, window=window)
    return "  \n".join(text)


def measure(view: View) -> None:
    """Offer to measure the loaded checkpoint at longer segments, on a few characters."""
    st.markdown("##### " + _("Measure it on the loaded checkpoint"))
    if reason := no_loss(view):
        st.markdown(reason)
        return
    checkpoint, config = view.checkpoint, view.checkpoint.config
    file = training_file(checkpoint)
    if file is None:
        st.markdown(_("The text that this checkpoint was trained on is not in the folder data, so there is nothing."))
        return
    lengths = job_lengths(config)
    characters = 4 * (max(*lengths, config.mem_len) + SCORED)
    title = _("{name}: segments of {lengths}, memory {memory}, {n} characters of {text}").format(
        name=checkpoint.name,
        lengths=", ".join(map(str, lengths)),
        memory=config.mem_len,
        n=grouped(characters),
        text=file.name,
    )
    known = known_reach(checkpoint) is not None
    variants = GRID[config.positions] if known else ("as_trained",)  # others are about the training's own distances
    key = f"max_len {checkpoint.digest} {view.source.answers} {lengths} {characters}"
    work = partial(measure_work, view.source.checkpoint, file, lengths, characters, variants)
    home = {"segment_len": config.segment_len} if known else {}
    show_job(key, title, work, partial(draw_measured, home=home, dark=view.dark))


def job_lengths(config: ModelConfig | Sizes) -> list[int]:
    return [config.segment_len << n for n in range(3)]


def measure_work(
    source: Source, file: Path, lengths: Sequence[int], characters: int, variants: Sequence[str]
) -> Iterator[Progress]:
    """Measure every variant at every length; the result is the cells so far."""
    checkpoint = cached_checkpoint(source)
    config = checkpoint.config
    tokens = spread_streams(held_out_tokens(checkpoint, file), characters)
    cells: tuple[LengthLoss, ...] = ()
    for done, cell in length_losses(checkpoint.model, tokens, lengths, [config.mem_len], variants):
        cells += (cell,) if cell else ()
        yield Progress(min(done, 1.0), "Measuring", cells or None)


def draw_measured(cells: Sequence[LengthLoss], home: Mapping[str, int], dark: bool) -> None:
    """Draw what a job has measured so far."""
    longest = max(cell.segment_len for cell in cells)
    first = next((cell for cell in cells if cell.segment_len == home.get("segment_len")), None)
    draw_losses(loss_rows(cells, first, BIN_LEN), "variant", longest, home, dark, "measured")
