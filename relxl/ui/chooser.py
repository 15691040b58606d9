"""Find out what a page looks at: checkpoint, text or hidden states, layer and head, and draw their controls."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from relxl import diagnostics, style
from relxl.checkpoint import Checkpoint, UnansweredError
from relxl.language import _, translated
from relxl.trace import split_memory
from relxl.ui.card import show_card
from relxl.ui.library import hidden_box, kept_answers, kept_hidden, kept_place
from relxl.ui.show import escape
from relxl.ui.state import TEXT, Kept, choose, keep, kept_values
from relxl.ui.view import Source, View, cached_checkpoint, cached_measures, cached_trace, random_frames, source_of
from relxl.vocab import IdVocab, show_token, whole

MAX_CHARACTERS = 20_000
LONG_TEXT = 1024  # tokens; the bundled models read so many in half a second
LONGER_SEGMENTS = (512, 1024, 2048)
LONGEST_MEMORY = 1600  # more than any model was trained with
DEFAULT_TOKENS = 48  # random ids, where nothing better is known
DEFAULT_CHARACTERS = 96  # the default text ends at the last line break before this
Controls = list[Callable[[], object]]  # what the sidebar draws, after the picture


@dataclass(frozen=True)
class Look:
    """Hold a checkpoint that is looked at without running it, and the layer and head chosen."""

    checkpoint: Checkpoint
    source: Source
    layer: int
    head: int
    dark: bool
    controls: tuple[Callable[[], object], ...]


def choose_look(controls: Controls) -> Look:
    """Find out which checkpoint, layer and head are looked at. Raises ValueError for one that can not be opened."""
    checkpoint, source = choose_checkpoint(controls)
    layer, head = choose_head(checkpoint, (0, 0), controls)
    return Look(checkpoint, source, layer, head, st.context.theme.type == "dark", tuple(controls))


def choose_view(controls: Controls, corner: DeltaGenerator) -> View:
    """Find out what is looked at, and collect in `controls` what the sidebar will draw, each below what it depends on.

    Raises ValueError with one sentence when there is nothing to look at.
    """
    checkpoint, source = choose_checkpoint(controls)
    choose_input = choose_text if checkpoint.config.n_token else choose_hidden
    source = choose_input(checkpoint, source, controls)
    with waiting(source, corner):
        trace = cached_trace(source)
        terms = list(style.terms_of(checkpoint.config.positions))
        best = diagnostics.most_telling_head(cached_measures(source), terms)
    layer, head = choose_head(checkpoint, best, controls)
    dark = st.context.theme.type == "dark"
    return View(checkpoint, source, trace.names(checkpoint.vocab), layer, head, dark, corner, tuple(controls))


def choose_checkpoint(controls: Controls) -> tuple[Checkpoint, Source]:
    """Find out which checkpoint is looked at, and open it. Raises ValueError for one that can not be opened."""
    name, found = kept_place()
    label = lambda place: found[place].label  # noqa: E731
    controls.append(lambda: st.selectbox(_("Checkpoint"), list(found), format_func=label, **keep("ck", name).widget))
    place, answers = found[name], kept_answers()
    try:
        source = source_of(place.path, place.label, answers)
        checkpoint = cached_checkpoint(source)
    except UnansweredError:
        raise
    except ValueError as error:
        if not answers:
            raise
        st.toast(escape(translated(str(error))))  # answers to another file's questions
        choose(a="")
        source = source_of(place.path, place.label)
        checkpoint = cached_checkpoint(source)
    controls.append(lambda: show_card(checkpoint))
    return checkpoint, source


def choose_head(checkpoint: Checkpoint, best: tuple[int, int], controls: Controls) -> tuple[int, int]:
    """Find out which layer and head are looked at; at first the best."""
    layers, heads = range(checkpoint.config.n_layer), range(checkpoint.config.n_head)
    layer, head = keep("l", best[0], layers), keep("h", best[1], heads)
    pick = partial(st.segmented_control, required=True)
    controls.append(lambda: pick(_("Layer"), layers, format_func="L{}".format, **layer.widget))
    controls.append(lambda: pick(_("Head"), heads, format_func="H{}".format, **head.widget))
    return layer.value, head.value


def choose_hidden(checkpoint: Checkpoint, source: Source, controls: Controls) -> Source:
    """Find out which hidden states are read, by a model that reads no tokens."""
    hidden = kept_hidden()
    if not hidden:
        message = _("Hidden states: {n} random frames, N(0, 1), since none were given.")
        controls.append(partial(st.caption, message.format(n=random_frames(checkpoint))))
    controls.append(hidden_box)
    return source._replace(hidden=hidden)


def waiting(source: Source, corner: DeltaGenerator) -> AbstractContextManager:
    """Say in the corner that a text is read, if it is long enough to wait for."""
    tokens = len(source.ids) // 4
    if tokens < LONG_TEXT:
        return nullcontext()
    with corner:
        return st.spinner(_("Reading {n} tokens").format(n=tokens), show_time=True)


def choose_text(checkpoint: Checkpoint, source: Source, controls: Controls) -> Source:
    """Find out which run the text, memory and length ask for. Raises ValueError when no token is left."""
    config, vocab = checkpoint.config, checkpoint.vocab
    text = keep(text_key(checkpoint), str(kept_values().pop(TEXT, ""))[:MAX_CHARACTERS] or default_text(checkpoint))
    label = _("Token ids") if isinstance(vocab, IdVocab) else _("Text")
    controls.append(lambda: st.text_area(label, height=90, max_chars=MAX_CHARACTERS, **text.widget))
    if reason := getattr(vocab, "reason", ""):
        controls.append(partial(st.caption, escape(translated(reason))))
    lengths = [config.segment_len, *(length for length in LONGER_SEGMENTS if length > config.segment_len)]
    memory, segment = keep("m", 1, (0, 1)), keep("n", config.segment_len, lengths)
    controls.append(lambda: draw_lengths(memory, segment, lengths))
    encoded = vocab.encode(text.value)
    if encoded.unknown:
        count, some = sum(encoded.unknown.values()), " ".join(show_token(c) for c in list(encoded.unknown)[:8])
        message = _("Unknown to this model, and left out or read as its unknown token: {count} ({some})")
        controls.append(partial(st.caption, escape(message.format(count=count, some=some))))
    if not encoded.ids:
        message = _(
            "The text has no token that this model knows, and at least one is needed: type some, as in {sample}"
        )
        middle = len(vocab.tokens) // 2
        sample = vocab.decode(list(range(middle, len(vocab.tokens)))[:12])
        raise ValueError(message.format(sample=whole(sample)))
    mem_len = max(config.mem_len, segment.value) if memory.value else 0
    mem_len = min(mem_len, LONGEST_MEMORY)
    used, mem_len = split_memory(len(encoded.ids), segment.value, mem_len)
    if used < len(encoded.ids):
        message = _("{n} tokens; the last {used} are looked at, {memory} of them as memory.")
        controls.append(partial(st.caption, message.format(n=len(encoded.ids), used=used, memory=mem_len)))
    segment_at = 0
    if getattr(checkpoint.model, "has_segments", False):
        start = keep("sg", 0, range(used - mem_len))
        segment_at = start.value
        help = _("The first query of the second segment; 0: one segment, so that the segment terms are left out.")
        controls.append(
            lambda: st.number_input(_("Second segment"), 0, used - mem_len - 1, step=1, help=help, **start.widget)
        )
    ids = np.array(encoded.ids[-used:], np.int32).tobytes()
    return source._replace(ids=ids, mem_len=mem_len, segment_at=segment_at)


def text_key(checkpoint: Checkpoint) -> str:
    """Name the text's control: it is kept for each vocabulary, a Chinese model does not get the English one's."""
    return f"text {hash(checkpoint.vocab)}"


def draw_lengths(memory: Kept, segment: Kept, lengths: list[int]) -> None:
    left, right = st.columns(2)
    names = {0: _("off"), 1: _("on")}
    left.segmented_control(_("Memory"), (0, 1), format_func=names.get, required=True, **memory.widget)
    help = _("Most tokens in the segment; as many before them are memory. The first is the length of the training.")
    right.selectbox(_("Segment"), lengths, help=help, **segment.widget)


def default_text(checkpoint: Checkpoint) -> str:
    """Take the first lines of the validation sample that the checkpoint brings along, else some of its tokens."""
    sample = checkpoint.training.get("sample", {}).get("text")
    if sample is None or isinstance(checkpoint.vocab, IdVocab):
        n_token = checkpoint.config.n_token
        ids = torch.randint(n_token, (DEFAULT_TOKENS,), generator=torch.Generator().manual_seed(0)).tolist()
        return whole(checkpoint.vocab.decode(ids))
    first = next((i for i, character in enumerate(sample) if character.isalnum()), 0)
    start = sample[first : first + DEFAULT_CHARACTERS]
    return start[: start.rfind("\n")] if "\n" in start else start
