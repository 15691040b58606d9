"""What the page "Heads" shows: its measures, the scores in view, and what a job has averaged."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from relxl import diagnostics, style
from relxl.atlas import AtlasStep, atlas, entries_atlas, repeat_scores, trace_scores, windows_of
from relxl.diagnostics import HeadScores
from relxl.figures.shift import grouped
from relxl.jobs import Progress
from relxl.language import _
from relxl.ui.chooser import LONGEST_MEMORY, text_key
from relxl.ui.jobs import jobs, owner
from relxl.ui.state import choose, chosen, keep
from relxl.ui.texts import held_out_text, training_file
from relxl.ui.view import LAST_QUERIES, Source, View, cached_checkpoint, cached_trace
from relxl.vocab import IdVocab

CHARACTERS = 20_000  # of the text that a checkpoint was trained on, from the part that it was not trained on


class Measure(NamedTuple):
    """Say how a measure is shown: its name, its unit ("share", "nats" or "tokens"), and what it is."""

    name: str
    unit: str
    what: str

    def write(self, value: float) -> str:
        return style.percent(value) if self.unit == "share" else style.number(value)

    def short(self, value: float) -> str:
        """Write a number as it stands in a cell, whose unit stands beside it."""
        text = {"share": f"{100 * value:.0f}", "nats": f"{value:.2f}"}.get(self.unit) or style.number(value)
        return "0" if text == "-0" else text.replace("-", "−")


class Average(NamedTuple):
    """Hold a job that is to be had: its key, what it is over, in short too, and its work."""

    key: str
    title: str
    short: str
    work: partial


class Look(NamedTuple):
    """Hold what the page shows: scores of all heads, those that jobs have found, and the measure that is drawn."""

    scores: HeadScores
    averaged: dict[str, HeadScores]  # by the place in `averages`
    averages: dict[str, Average]
    measures: dict[str, Measure]
    measure: str

    @property
    def shown(self) -> Measure:
        return self.measures[self.measure]


def all_measures(looks: dict[str, style.Term]) -> dict[str, Measure]:
    """Name every measure that a head can have, in the order in which they are offered."""
    terms = {
        name: Measure(
            f"({look.letter}) {name}", "share", _("share of ({letter}) {term} in what tells the keys of a row apart")
            .format(letter=look.letter, term=name),
        )
        for name, look in looks.items()
    }  # fmt: skip
    return terms | {
        "previous_token": Measure(_("token before"), "share", _("attention to the token before")),
        "first_token": Measure(_("first key"), "share", _("attention to the first key in view")),
        "induction": Measure(
            _("after a copy"), "share", _("attention to what followed earlier copies of the query’s token in the text")
        ),
        "repeat": Measure(
            _("induction"), "share", _("attention to what followed the earlier copy, on random tokens that come twice")
        ),
        "mean_distance": Measure(_("mean distance"), "tokens", _("how far away a query looks on average, in tokens")),
        "entropy": Measure(_("entropy"), "nats", _("entropy of the attention, in nats")),
        "relative_entropy": Measure(
            _("entropy of possible"), "share", _("entropy over its largest value, that of equal attention")
        ),
        "by_distance": Measure(
            _("by distance"), "share", _("how much of the scores a function of distance alone explains")
        ),
        "by_key": Measure(_("by key"), "share", _("how much of the scores a function of the key alone explains")),
        "additive": Measure(
            _("by both"), "share", _("how much of the scores distance and key explain together, whatever the query")
        ),
        "memory_mass": Measure(_("memory"), "share", _("attention to keys before the segment")),
        "zero_mass": Measure(_("zeros"), "share", _("attention to memory slots that are vectors of zeros")),
    }


def kept_look(view: View) -> Look:
    """Find out what is shown: of this window at first, of many once a job has read them; and which measure."""
    scores = window_scores(view)
    averages = averages_of(view)
    averaged = {place: found for place, it in averages.items() if (found := ended(it)) is not None}
    if st.session_state.get("heads_from") not in (*averaged, "window"):
        st.session_state.pop("heads_from", None)  # of another checkpoint
    if averaged:
        scores = averaged.get(st.session_state.get("heads_from", next(iter(averaged))), scores)
    known = {name for name, values in scores.mean.items() if np.isfinite(values).any()}
    measures = {name: it for name, it in all_measures(view.looks).items() if name in known}
    measures = measures or dict([next(iter(all_measures(view.looks).items()))])  # a model of NaN has none
    default = "previous_token" if "previous_token" in measures else next(iter(measures))
    return Look(scores, averaged, averages, measures, keep("hm", default, measures).value)


def window_scores(view: View) -> HeadScores:
    """Measure all heads on the text that is in view."""
    scores = cached_scores(view.source)
    if not view.checkpoint.config.n_token:
        return scores
    return diagnostics.with_measure(scores, "repeat", cached_repeat(view.source.checkpoint), "induction")


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_scores(source: Source) -> HeadScores:
    return trace_scores(cached_trace(source), LAST_QUERIES)


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_repeat(source: Source) -> HeadScores:
    return repeat_scores(cached_checkpoint(source).model)


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_ids(source: Source, text: str) -> bytes:
    return np.array(cached_checkpoint(source).vocab.encode(text).ids, np.int32).tobytes()


def averages_of(view: View) -> dict[str, Average]:
    """Name what can be averaged over: the windows of the text, of a text the model knows, or the inputs of a batch."""
    checkpoint, source = view.checkpoint, view.source.checkpoint
    if not checkpoint.config.n_token:
        inputs = len(view.trace.tokens)
        if inputs < 2:
            return {}
        title = _("{n} inputs of hidden states").format(n=inputs)
        return {"inputs": Average(f"heads {view.source}", title, _("all inputs"), partial(inputs_work, view.source))}
    text, memory, window = chosen(text_key(checkpoint), "m", "n")
    mem_len = min(max(checkpoint.config.mem_len, window), LONGEST_MEMORY) if memory else 0
    texts = {"text": (text, _("this text"), _("this text"))}
    if not isinstance(checkpoint.vocab, IdVocab) and (other := held_out_text(checkpoint, CHARACTERS)):
        name = training_file(checkpoint).name
        texts["known"] = (other, _("{name}, the part it was not trained on").format(name=name), name)
    found = {}
    for place, (words, label, short) in texts.items():
        ids = cached_ids(source, words)
        starts, key_len, its_memory = windows_of(len(ids) // 4, window, mem_len)
        if len(starts) < 2:
            continue
        title = _("{windows} windows of {n} tokens: {tokens} tokens of {label}").format(
            windows=len(starts), n=key_len - its_memory, tokens=grouped(len(ids) // 4), label=label
        )
        key = f"heads {checkpoint.digest} {source.answers} {window} {mem_len} {sha256(ids).hexdigest()}"
        found[place] = Average(key, title, short, partial(atlas_work, source, ids, window, mem_len))
    return found


def atlas_work(source: Source, ids: bytes, window: int, mem_len: int) -> Iterator[Progress]:
    """Measure window after window; the result is the scores so far."""
    tokens = torch.tensor(np.frombuffer(ids, np.int32).copy()).long()
    yield from map(progress, atlas(cached_checkpoint(source).model, tokens, window, mem_len, LAST_QUERIES))


def inputs_work(source: Source) -> Iterator[Progress]:
    yield from map(progress, entries_atlas(cached_trace(source), LAST_QUERIES))


def progress(step: AtlasStep) -> Progress:
    return Progress(min(step.done, 1.0), "Measuring", step.scores)


def ended(average: Average) -> HeadScores | None:
    """Give what a job has found that is over, done or cancelled."""
    job = jobs().get(owner(), average.key)
    return None if job is None or job.alive or job.progress is None else job.progress.result


def choose_head(place: list) -> None:
    choose(l=int(place[0]), h=int(place[1]))
