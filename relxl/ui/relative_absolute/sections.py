"""The recorded result of the page "Relative vs absolute": what relative positions gain, over length, and where."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from relxl.config import POSITIONS
from relxl.diagnostics import relative_absolute as diagnostics
from relxl.diagnostics.relative_absolute import SeedCurve, Table
from relxl.experiments.relative_absolute import TIMES
from relxl.figures import relative_absolute as figures
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.style import signed
from relxl.ui.library import ROOT
from relxl.ui.recorded import read_record
from relxl.ui.show import escape, show
from relxl.ui.state import Kept, chips, keep

RECORDED = ROOT / "data" / "relative_vs_absolute.csv"
COMMAND = " ".join(("python", "-m", "relxl", "sweep", "relative-vs-absolute", "--out", "data/relative_vs_absolute.csv"))
RELATIVE = ("learned", "sinusoid")
CLAIMED, SHORT = 256, 50  # tokens: the article's section 4.6 says that the gap opens above, and what happens below


def kind_names() -> dict[str, str]:
    return {"learned": _("relative (learned)"), "sinusoid": _("relative (sinusoid)"), "absolute": _("absolute")}


@st.cache_resource(max_entries=2, show_spinner=False)
def read_table(file: str, changed: int) -> dict[str, np.ndarray]:
    """Read what `sweep relative-vs-absolute` writes: numbers as columns of numbers."""
    with Path(file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = {name: np.array([row[name] or "nan" for row in rows]) for name in rows[0]}
    numbers = [name for name in columns if name not in ("text", "positions")]
    return columns | {name: columns[name].astype(np.float64) for name in numbers}


def presets() -> None:
    """Draw chips that each show something worth seeing."""
    usual = {"rt": "tinyshakespeare", "rm": 0, "rk": 1}
    shown = {
        _("The article’s claim"): usual,
        _("Read segments eight times as long"): usual | {"rk": 8},
        _("With memory"): usual | {"rm": 1},
        _("Chinese lyrics"): usual | {"rt": "songci"},
    }
    chips(_("Try this:"), shown, "relative_absolute_preset")


class Result(NamedTuple):
    """Hold the recorded rows, and what of them the controls ask for."""

    table: Table
    text: str
    memory: int  # 0: none, 1: one segment
    times: int  # the training's segment length
    measure: str  # at the right: "loss" or "perplexity"

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """Keep the rows of the chosen text, with memory or without."""
        rows = diagnostics.rows_where(self.table, text=self.text)
        with_memory = (rows["mem_len"] > 0) == bool(self.memory)
        return {name: column[with_memory] for name, column in rows.items()}

    @property
    def whole(self) -> dict[str, np.ndarray]:
        """Keep of these the losses over all positions of segments that are `times` as long as in training."""
        return diagnostics.whole_segments(self.rows, self.times)

    @property
    def gaps(self) -> dict[str, SeedCurve]:
        return {kind: diagnostics.gap_curve(self.whole, kind, "segment_len") for kind in RELATIVE}


def recorded_table() -> dict[str, np.ndarray] | None:
    """Give the recorded table, or None where it is not there."""
    return read_table(str(RECORDED), RECORDED.stat().st_mtime_ns) if RECORDED.is_file() else None


def recorded() -> Result | None:
    """Give the recorded result as the controls ask for it, or None where it is not there."""
    table = recorded_table()
    return None if table is None else Result(table, *(control.value for control in kept(table)))


def kept(table: Table) -> tuple[Kept, Kept, Kept, Kept]:
    texts = list(dict.fromkeys(table["text"].tolist()))
    return (
        keep("rt", texts[0], texts),
        keep("rm", 0, (0, 1)),
        keep("rk", 1, TIMES),
        keep("rp", "loss", ("loss", "perplexity")),
    )


def controls(table: Table) -> None:
    """Draw what the picture is about: text, memory, how long the segments are that are read."""
    texts, memory, times, measure = kept(table)
    columns = st.columns([3, 3, 3, 3], vertical_alignment="bottom")
    names = {"tinyshakespeare": _("Shakespeare"), "songci": _("Song lyrics")}
    with columns[0]:
        options = list(dict.fromkeys(table["text"].tolist()))
        label = lambda name: names.get(name, name)  # noqa: E731
        st.segmented_control(_("Text"), options, format_func=label, required=True, **texts.widget)
    with columns[1]:
        labels = {0: _("none"), 1: _("one segment")}
        st.segmented_control(_("Memory"), (0, 1), format_func=labels.get, required=True, **memory.widget)
    with columns[2]:
        help = _("1: segments as long as in training. 8: the same models read segments eight times as long.")
        label = lambda n: f"{n} ×"  # noqa: E731
        st.segmented_control(_("Segments read"), TIMES, format_func=label, required=True, help=help, **times.widget)
    with columns[3]:
        labels = {"loss": _("loss"), "perplexity": _("perplexity")}
        st.segmented_control(_("At the right"), list(labels), format_func=labels.get, required=True, **measure.widget)


def by_kind(rows: Table, x: str, y: str = "loss") -> dict[str, SeedCurve]:
    """Average each kind over its seeds, by the name that is shown."""
    names = kind_names()
    return {
        names[kind]: diagnostics.seed_curve(diagnostics.rows_where(rows, positions=kind), x, y) for kind in POSITIONS
    }


def picture(result: Result, dark: bool) -> None:
    """Draw the gap over the segment's length, and what each kind loses."""
    names, gaps, measure = kind_names(), result.gaps, result.measure
    left, right = st.columns(2, gap="large")
    x_title = _("segment length in training, tokens")
    claims = {_("the article: above 256"): CLAIMED, _("“below 50 absolute may win”"): SHORT}
    with left:
        figure = figures.gap_figure({names[kind]: gap for kind, gap in gaps.items()}, claims, x_title, dark)
        show(figure, key="gap", alt=finding(result), table=lambda: curve_table(gaps, "gap"))
    with right:
        titles = {"loss": _("loss, nats per character"), "perplexity": _("perplexity")}
        curves = by_kind(result.whole, "segment_len", measure)
        figure = figures.kinds_figure(curves, x_title, titles[measure], dark=dark)
        lowest = min(curves, key=lambda name: curves[name].mean[-1])
        alt = _("{measure} of each kind over the segment’s length; lowest at {n}: {name}, {value}.").format(
            measure=titles[measure], n=int(curves[lowest].x[-1]), name=lowest, value=f"{curves[lowest].mean[-1]:.3f}"
        )
        show(figure, key="gap_losses", alt=alt, table=lambda: curve_table(curves, measure))


def curve_table(curves: dict[str, SeedCurve], measure: str) -> dict[str, list]:
    rows = [(name, *point) for name, curve in curves.items() for point in zip(*vars(curve).values(), strict=True)]
    return dict(zip(("positions", "x", measure, "lowest_seed", "highest_seed"), zip(*rows, strict=True), strict=True))


def finding(result: Result) -> str:
    """Say where the gap opens, how wide it is at both ends, and what became of the article's two claims; markdown."""
    gaps = result.gaps
    best = max(gaps, key=lambda kind: gaps[kind].mean[-1])
    gap, names = gaps[best], kind_names()
    first, last = int(gap.x[0]), int(gap.x[-1])
    opens = diagnostics.opens_at(gap)
    ends = _("**{low}** nats per character at {first} tokens, **{high}** at {last}").format(
        low=signed(gap.mean[0]), high=signed(gap.mean[-1]), first=first, last=last
    )
    if opens is None:
        text = _("Here no gap stays open at the longest segments: {name} gains {ends}.")
        return text.format(name=names[best], ends=ends)
    text = _("Here the gap is open from **{opens} tokens** on, in every seed: {name} gains {ends}.").format(
        opens=int(opens), name=names[best], ends=ends
    )
    verdicts = []
    if opens < CLAIMED:
        verdicts.append(_("earlier than the article’s 256"))
    short = gap.mean[gap.x < SHORT]
    if len(short):
        won = float(short.min()) < 0
        verdicts.append(_("below 50 absolute does win") if won else _("below 50 absolute does not win either"))
    return text + (" " + _("That is {verdicts}.").format(verdicts=_("; ").join(verdicts)) if verdicts else "")


def lengths(result: Result, dark: bool) -> None:
    """Draw, for one training length, the loss over the length that is read, and over the position in a segment."""
    rows = result.rows
    options = [int(n) for n in np.unique(rows["segment_len"])]
    st.markdown("##### " + _("Beyond the training length, and within a segment"))
    chosen = keep("rn", 128, options)
    st.segmented_control(_("Trained on segments of"), options, required=True, **chosen.widget)
    rows = diagnostics.rows_where(rows, segment_len=chosen.value)
    left, right = st.columns(2, gap="large")
    whole = {name: column[(rows["begin"] == 0) & (rows["end"] == rows["eval_len"])] for name, column in rows.items()}
    curves = by_kind(whole, "eval_len")
    with left:
        text = longer_sentence(curves, chosen.value)
        titles = (_("length of the segments read, tokens"), _("loss, nats per character"))
        figure = figures.kinds_figure(curves, *titles, chosen.value, dark)
        show(figure, key="longer", alt=text, table=lambda: curve_table(curves, "loss"))
    times = result.times
    places = position_curves(rows, times * chosen.value)
    with right:
        title = _("position in segments of {n} tokens (mean of each bin)").format(n=times * chosen.value)
        trained = chosen.value if times > 1 else None
        figure = figures.kinds_figure(places, title, _("loss, nats per character"), trained, dark)
        alt = _("Loss by position in segments of {n} tokens; in the last bin {losses}.").format(
            n=times * chosen.value,
            losses=", ".join(f"{name} {curve.mean[-1]:.3f}" for name, curve in places.items()),
        )
        show(figure, key="places", alt=alt, table=lambda: curve_table(places, "loss"))
    st.markdown(text)


def position_curves(rows: Table, eval_len: int) -> dict[str, SeedCurve]:
    """Average each kind over its seeds, a point a bin of positions, at the bin's middle."""
    kept = (rows["eval_len"] == eval_len) & ~((rows["begin"] == 0) & (rows["end"] == eval_len))
    bins = {name: column[kept] for name, column in rows.items()}
    return by_kind(bins | {"middle": (bins["begin"] + bins["end"]) / 2}, "middle")


def longer_sentence(curves: dict[str, SeedCurve], trained: int) -> str:
    """Say what each kind gains or loses in segments eight times as long; markdown."""
    changes = {name: curve.mean[-1] - curve.mean[0] for name, curve in curves.items()}
    times = int(next(iter(curves.values())).x[-1] // trained)
    listed = ", ".join(f"{name} **{signed(change)}**" for name, change in changes.items())
    return _("Read in segments {times} times as long as in training ({n} tokens), a loss changes by: {listed}.").format(
        times=times, n=times * trained, listed=listed
    )


def how_made() -> None:
    """Say how the recorded numbers came about, with the command and the file."""
    how = read_record(RECORDED.with_suffix(".json"))
    settings = how["settings"]
    words = _(
        "{n} trainings: {n_layer} layers × {n_head} heads, d_model {d_model}, {steps} steps of {step_tokens} "
        "characters at a learning rate of up to {lr:g}; of one seed all three kinds see the same batches, at every "
        "length as many characters. A band is the range over {seeds} seeds. {scored} characters of the held-out text "
        "are scored, the same ones everywhere. These are small models, early in training: absolute positions may catch "
        "up later."
    )
    n = len(POSITIONS) * 2 * len(how["texts"]) * len(how["lengths"]) * len(how["seeds"])
    numbers = settings | {"n": n, "seeds": len(how["seeds"]), "scored": grouped(settings["scored"])}
    st.caption(words.format(**numbers))
    st.code(how["command"], language="sh", wrap_lines=True)
    minutes = _("{minutes:.0f} minutes on the machine that recorded it, torch {torch}.")
    st.caption(minutes.format(minutes=how["minutes"], torch=escape(how["versions"]["torch"])))
    st.download_button(_("Table as CSV"), RECORDED.read_bytes(), RECORDED.name, "text/csv", on_click="ignore")


def missing() -> None:
    """Say how to get the recorded result."""
    st.markdown(_("The recorded result is not here yet: this command writes it, in about two hours on two cores."))
    st.code(COMMAND, language="sh", wrap_lines=True)
