"""The sections of the page "Memory": what every head reads across the seam, and what each memory slot holds."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from relxl import diagnostics, style
from relxl.experiments.max_len import known_reach
from relxl.experiments.memory import segment_starts, segment_trace
from relxl.figures import memory as figures
from relxl.language import _
from relxl.split import to_numpy
from relxl.trace import NO_TOKEN, Trace
from relxl.ui.chooser import text_key
from relxl.ui.show import code, show
from relxl.ui.state import chips, chosen, keep
from relxl.ui.texts import held_out_text
from relxl.ui.view import Source, View, cached_checkpoint, cached_trace

LONGEST_WALK = 512  # tokens of a segment; to read as many as there are layers of longer ones takes many seconds
LARGE = 1 << 18  # cells of a head that one waits for
MOST_SCORES = 1 << 22  # of the heads that are read at once


class Part(NamedTuple):
    """Identify a run: the view's own, or one segment of a longer text with the memory that the others left."""

    source: Source
    ids: bytes = b""  # int32, of the whole text
    segment: int = 0
    segment_len: int = 0
    mem_len: int = 0


@dataclass(frozen=True)
class Seam:
    """Hold the run that is looked at and where it is cut: keys before `at` are memory, or would be in a cache."""

    part: Part
    trace: Trace
    at: int
    first: int  # the first query after the seam
    tokens: list[str]
    real: bool  # whether the model had a memory, or the input is only looked at as if it were cut
    n_segments: int = 1

    @property
    def zeros(self) -> np.ndarray:
        """Mark the slots that hold vectors of zeros: [slot] bool."""
        with_tokens = bool(self.trace.model.config.n_token)
        return (self.trace.tokens[0, : self.at] == NO_TOKEN) & with_tokens

    @property
    def mass(self) -> np.ndarray:
        """Give what each query after the seam gives to the keys before it: [layer head query]."""
        return cached_mass(self.part, self.at, self.first)[0]

    @property
    def slots(self) -> np.ndarray:
        """Give what each key before the seam receives on average: [layer head slot]."""
        return cached_mass(self.part, self.at, self.first)[1]


def seam_of(view: View) -> Seam:
    """Find the segment and its memory, and measure them; for a model without memory cut the input in the middle."""
    if view.trace.query_len * view.key_len < LARGE:
        return find_seam(view)
    with st.spinner(_("Reading {n} tokens").format(n=view.key_len), show_time=True):
        seam = find_seam(view)
        cached_mass(seam.part, seam.at, seam.first)
    return seam


def find_seam(view: View) -> Seam:
    if not view.mem_len:
        at = view.key_len // 2
        return Seam(Part(view.source), view.trace, at, at, view.tokens, False)
    own = not view.checkpoint.config.n_token or view.trace.differs is not None
    if own or view.trace.query_len > LONGEST_WALK:
        return Seam(Part(view.source), view.trace, view.mem_len, 0, view.tokens, True)
    ids = whole_text(view)
    segment_len = view.trace.query_len
    n_segments = len(segment_starts(len(ids), segment_len))
    back = keep("rs", 0, range(n_segments - 1)).value
    part = Part(
        view.source.checkpoint, ids.astype(np.int32).tobytes(), n_segments - 1 - back, segment_len, view.mem_len
    )
    trace = cached_segment(part)
    return Seam(part, trace, trace.mem_len, 0, trace.names(view.checkpoint.vocab), True, n_segments)


def whole_text(view: View) -> np.ndarray:
    """Give the ids of all of the text, of which the view shows the end: [token]."""
    (text,) = chosen(text_key(view.checkpoint))
    return np.array(view.checkpoint.vocab.encode(text).ids)


def ids_of(part: Part) -> torch.Tensor:
    return torch.tensor(np.frombuffer(part.ids, np.int32).copy()).long()


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_segment(part: Part) -> Trace:
    """Read one segment of a text as the model meets it."""
    if not part.ids:
        return cached_trace(part.source)
    model = cached_checkpoint(part.source).model
    return segment_trace(model, ids_of(part)[None], part.segment, part.segment_len, part.mem_len)


@st.cache_resource(max_entries=32, show_spinner=False)
@torch.no_grad()
def cached_mass(part: Part, at: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Measure every head: mass across the seam, [layer head query], and on each slot, [layer head slot]."""
    trace, mass, slots = cached_segment(part), [], []
    queries, n_head = trace.query_len - first, trace.model.config.n_head
    step = max(MOST_SCORES // max(queries * trace.key_len, 1), 1)
    for layer in range(trace.model.config.n_layer):
        for begin in range(0, n_head, step):
            heads = list(range(begin, min(begin + step, n_head)))
            probs = to_numpy(trace.scores(layer, queries, trace.rule, heads).probs[0])
            mass.append(diagnostics.seam_mass(probs, at))
            slots.append(diagnostics.slot_mass(probs, at))
    shape = trace.model.config.n_layer, n_head, -1
    return np.concatenate(mass).reshape(shape), np.concatenate(slots).reshape(*shape[:2], at)


def even_mass(seam: Seam) -> np.ndarray:
    """Give what a query would give to the memory that looks everywhere alike: [query]."""
    trace = seam.trace
    mask = trace.rule.allowed(trace.query_len, trace.key_len, trace.mem_len).numpy()
    return diagnostics.even_mass(mask[seam.first :], seam.at)


def presets(view: View, seam: Seam) -> None:
    """Draw chips that lead to heads worth seeing, and to a text of several segments."""
    mean, even = seam.mass.mean(-1), even_mass(seam)
    late = seam.mass[:, :, -1] - even[-1]
    shown = {}
    for label, score in {
        _("Most from memory"): mean,
        _("Least"): -mean,
        _("Still at the end"): late,
    }.items():
        layer, head = np.unravel_index(np.nan_to_num(score, nan=-1).argmax(), score.shape)
        if label != _("Still at the end") or late.max() > 0.1:  # a claim that does not hold is not made
            shown[f"{label} · L{layer}H{head}"] = {"l": int(layer), "h": int(head)}
    text = held_out_text(view.checkpoint) if view.checkpoint.vocab else ""
    if text and seam.n_segments < 3:
        shown[_("A text of several segments")] = {text_key(view.checkpoint): text, "m": 1, "rs": 0}
    chips(_("Try this:"), shown, "memory_preset")


def controls(seam: Seam) -> None:
    """Draw which segment of the text is looked at, where there are several with a memory."""
    n = seam.n_segments
    if n < 3:
        return
    kept = keep("rs", 0, range(n - 1))
    label = lambda back: _("{i} of {n}").format(i=n - back, n=n)  # noqa: E731
    left, _right = st.columns([2, 3])
    left.select_slider(_("Segment of the text"), list(range(n - 2, -1, -1)), format_func=label, **kept.widget)


def what_is_cut(view: View, seam: Seam) -> str:
    """Say in one sentence why there is no memory, where there is none; markdown."""
    if seam.real:
        return ""
    if view.checkpoint.config.n_token and view.key_len > 1 and not chosen("m")[0]:
        why = _("**Memory is off**, so nothing is cached;")
    elif view.checkpoint.config.n_token:
        why = _("**This text is too short for a memory;**")
    else:
        why = _("**This model reads hidden states, and these came without a memory;**")
    return (
        why
        + " "
        + _("shown is what would have to cross if the input were cut in its middle, after {n}.").format(n=seam.at)
    )


def picture(view: View, seam: Seam) -> None:
    """Show how much every head reads across the seam, and how that falls from query to query."""
    if text := what_is_cut(view, seam):
        st.markdown(text)
    left, right = st.columns([1, 1], gap="medium")
    mass, mean = seam.mass, seam.mass.mean(-1)
    with left:
        layer, head = np.unravel_index(np.nan_to_num(mean).argmax(), mean.shape)
        alt = _("Attention across the seam: {mean} over all heads, most in L{layer}H{head} with {most}.").format(
            mean=style.percent(mean.mean()), layer=layer, head=head, most=style.percent(mean.max())
        )
        figure = figures.seam_figure(mean, (view.layer, view.head), view.dark)
        show(figure, key="seam", alt=alt, table=lambda: diagnostics.seam_table(mass))
    with right:
        of_layer, even = mass[view.layer], even_mass(seam)
        alt = _("{head} gives {first} across the seam at the first query and {last} at the last.").format(
            head=view.label, first=style.percent(of_layer[view.head, 0]), last=style.percent(of_layer[view.head, -1])
        )
        figure = figures.queries_figure(of_layer, even, view.head, view.layer, seam.first, view.dark)
        columns = {"query": seam.first + np.arange(len(even))}
        columns |= {f"H{i}": row for i, row in enumerate(of_layer)} | {"even": even}
        show(figure, key="seam_queries", alt=alt, table=lambda: columns)


def finding(view: View, seam: Seam) -> str:
    """Say what the chosen head reads from memory, when, and where; markdown."""
    mass, slots = seam.mass[view.layer, view.head], seam.slots[view.layer, view.head]
    if not len(slots) or not np.isfinite(mass).all():
        return _("**{head}** has nothing to read across the seam.").format(head=view.label)
    even = even_mass(seam)
    text = _(
        "**{head}** gives **{mean}** of its attention to the memory: {first} at the first query of the segment, {last} "
        "at the last, where a head that looks everywhere alike would give {even}."
    )
    if not seam.real:
        text = _(
            "**{head}** gives **{mean}** of its attention to what is before the cut: {first} at the first query after "
            "it, {last} at the last, where a head that looks everywhere alike would give {even}."
        )
    text = text.format(
        head=view.label,
        mean=style.percent(mass.mean()),
        first=style.percent(mass[0]),
        last=style.percent(mass[-1]),
        even=style.percent(even[-1]),
    )
    slot = int(slots.argmax())
    where = _("Of a single slot it reads most from {token}, {n} before the seam: {share}.").format(
        token=code(seam.tokens[slot]), n=seam.at - slot, share=f"{100 * slots[slot]:.1f} %"
    )
    if seam.real and known_reach(view.checkpoint) is not None and not view.checkpoint.config.mem_len:
        where += " " + _("It was trained without a memory.")
    return f"{text} {where}"


def slots(view: View, seam: Seam) -> None:
    """Show what each memory slot holds, and how much attention it receives."""
    if not seam.at:
        return
    st.markdown("##### " + (_("What does each memory slot hold?") if seam.real else _("What would each slot hold?")))
    mass, zeros = seam.slots[view.layer], seam.zeros
    of_head = mass[view.head]
    heavy = np.argsort(-of_head, kind="stable")[:3]
    named = ", ".join(f"{code(seam.tokens[slot])} {100 * of_head[slot]:.1f} %" for slot in heavy)
    alt = _("{n} slots; {head} gives most to {named}.").format(n=seam.at, head=view.label, named=named)
    tokens = seam.tokens[: seam.at]
    figure = figures.slots_figure(mass, view.head, view.layer, tokens, zeros, view.dark)
    distance = seam.trace.mem_len + seam.first - np.arange(seam.at)
    show(figure, key="slots", alt=alt, table=lambda: diagnostics.slot_table(mass, tokens, distance))
    st.caption(" ".join([alt.replace("**", ""), *provenance(view, seam)]))


def provenance(view: View, seam: Seam) -> list[str]:
    """Say what a slot of the chosen layer is made of, and what zeros get."""
    words = []
    if view.layer == 0:
        words.append(_("A slot of layer 0 is the input at that token alone."))
    elif seam.real and view.checkpoint.config.n_token:
        words.append(
            _(
                "A slot of layer {layer} is not the token but what the layers below made of it. Each of them read a "
                "memory of {n} itself, so the slot may carry something from up to {far} tokens before."
            ).format(layer=view.layer, n=seam.trace.mem_len, far=view.layer * seam.trace.mem_len)
        )
    else:
        words.append(_("A slot of layer {layer} is what that layer reads at that place.").format(layer=view.layer))
    if seam.zeros.any():
        words.append(
            _("{n} slots are vectors of zeros (∅), with which this family starts; {head} gives them {share}.").format(
                n=int(seam.zeros.sum()),
                head=view.label,
                share=style.percent(seam.slots[view.layer, view.head][seam.zeros].sum()),
            )
        )
    return words


def how() -> None:
    """Say how the numbers are computed."""
    with st.expander(_("How this is computed")):
        st.latex(r"\text{mass}_i = \sum_{j < m} p_{ij}, \qquad \text{even}_i = \tfrac{m}{m + i + 1}")
        st.markdown(
            _(
                "The text is cut into segments that end with it; `relxl.experiments.memory.segment_trace` reads as "
                "many before the one shown as can matter, and keeps each layer’s inputs as memory. `seam_mass`, "
                "`slot_mass`, `even_mass` and `colliding_keys` of `relxl.diagnostics` take arrays. `loss_by_memory` "
                "measures the same tokens under every length of memory; `effective_memory` gives the shortest one that "
                "a longer one does not improve by more than 0.005 nats a token, or two standard errors of the "
                "difference."
            )
        )
        st.markdown(
            _(
                "`relxl.experiments.recurrence`: `window_losses` reads every window from scratch, `measure_recurrence` "
                "times it beside a segment with memory, `multiplications` counts those of the matrix products: of a "
                "piece of queries over its keys, as it is read."
            )
        )
