"""The sections of the page "Max len" that look at the chosen head: the wall, moved by hand, and its v_bias."""

import math
from typing import NamedTuple

import numpy as np
import streamlit as st

from relxl import style
from relxl.config import ModelConfig
from relxl.experiments.max_len import (
    CONVENTIONS,
    ScoreChange,
    beyond_wall,
    score_change,
    touched_queries,
    trained_reach,
)
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.reading import Reading, with_positions
from relxl.ui.chooser import text_key
from relxl.ui.library import ROOT
from relxl.ui.matrix import matrix_view
from relxl.ui.score_terms import pin, step_head
from relxl.ui.show import plain
from relxl.ui.state import chips, choose, chosen, keep, kept_cell
from relxl.ui.view import Source, View, cached_trace, text_loss

NO_WALL = "none"
FIRST_WALL = 8
LONG_TEXT = 1024  # characters of the preset that is longer than any training


class Wall(NamedTuple):
    """Hold what the controls ask for, and where the wall then stands."""

    asked: int | str  # the largest distance that is told apart, or NO_WALL
    flipped: bool
    own: int | None  # the model's own wall: the end of its table, or its clamp_len
    largest: int  # distance that the text has

    @property
    def reading(self) -> Reading:
        return Reading(clamp_len=None if self.asked == NO_WALL else self.asked, flip=self.flipped)

    @property
    def at(self) -> int | None:
        """Give where the wall stands that the head is looked at with, the model's own if there is no other."""
        walls = [wall for wall in (self.own, self.asked) if isinstance(wall, int)]
        return min(walls, default=None)


def own_wall(config: ModelConfig) -> int | None:
    """Give the largest distance that a model tells apart by itself; None: any."""
    walls = [config.max_len - 1] if config.positions == "learned" else []
    return min([*walls, *([] if config.clamp_len is None else [config.clamp_len])], default=None)


def wall_options(view: View) -> list[int | str]:
    """Name where a wall can stand so that it changes something, and none at all."""
    own = own_wall(view.checkpoint.config)
    end = view.key_len - 1 if own is None else min(view.key_len - 1, own)
    return [*range(end), NO_WALL]


def kept_wall(view: View) -> Wall:
    """Read wall and direction off the controls. A wall beyond all that there is to tell apart is none."""
    options = wall_options(view)
    raw = str(chosen("xr")[0])
    if raw.isdecimal() and len(raw) < 6 and int(raw) not in options:
        choose(xr=NO_WALL)
    asked = keep("xr", FIRST_WALL if FIRST_WALL in options else NO_WALL, options).value
    flipped = keep("xd", CONVENTIONS[0], CONVENTIONS).value != CONVENTIONS[0]
    return Wall(asked, flipped, own_wall(view.checkpoint.config), view.key_len - 1)


def is_absolute(view: View) -> bool:
    return view.checkpoint.config.positions == "absolute"


def presets(view: View) -> None:
    """Draw chips that each show something about the wall."""
    if is_absolute(view):
        return
    config = view.checkpoint.config
    usual = {"xd": CONVENTIONS[0]}
    shown = {
        _("Wall at {n}").format(n=FIRST_WALL): usual | {"xr": FIRST_WALL},
        _("Only itself and the rest"): usual | {"xr": 0},
        _("No wall"): usual | {"xr": NO_WALL},
        _("Direction flipped"): usual | {"xr": NO_WALL, "xd": CONVENTIONS[1]},
    }
    if text := long_text(view.checkpoint.training.get("text", {}).get("name", "")):
        beyond = usual | {"xr": trained_reach(config), "n": 512, "m": 1, text_key(view.checkpoint): text}
        shown[_("Wall at the training length, in a longer text")] = beyond
    chips(_("Try this:"), shown, "max_len_preset")


@st.cache_data(max_entries=4, show_spinner=False)
def long_text(name: str) -> str:
    """Take the beginning of the validation part of a bundled text; nothing where it is not there."""
    file = ROOT / "data" / name
    if not name or "/" in name or not file.is_file():
        return ""
    text = file.read_text(encoding="utf-8")
    return text[math.ceil(len(text) * 0.9) :][:LONG_TEXT].strip("\n")


def controls(view: View) -> None:
    """Draw the wall's slider and the direction."""
    if is_absolute(view):
        return
    slider, direction = st.columns([4, 1], gap="medium", vertical_alignment="bottom")
    options = wall_options(view)
    kept = keep("xr", FIRST_WALL if FIRST_WALL in options else NO_WALL, options)
    label = lambda option: _("no wall") if option == NO_WALL else str(option)  # noqa: E731
    with slider:
        if len(options) > 1:
            help = _("A table of max_len n tells n − 1 apart; a sinusoid with clamp_len c tells c apart.")
            st.select_slider(_("Largest distance told apart"), options, format_func=label, help=help, **kept.widget)
        else:
            st.caption(_("One token has no distance to tell apart: give a longer text."))
    names = {CONVENTIONS[0]: "i − j", CONVENTIONS[1]: "j − i"}
    with direction:
        kept = keep("xd", CONVENTIONS[0], CONVENTIONS)
        st.segmented_control(_("Row of"), CONVENTIONS, format_func=names.get, required=True, **kept.widget)


def change_of(view: View, wall: Wall) -> ScoreChange:
    return cached_change(view.source, view.layer, view.head, wall.reading)


@st.cache_resource(max_entries=24, show_spinner=False)
def cached_change(source: Source, layer: int, head: int, reading: Reading) -> ScoreChange:
    return score_change(cached_trace(source), layer, head, reading)


@st.cache_resource(max_entries=128, show_spinner=False)
def cached_reading_loss(source: Source, reading: Reading | None) -> float:
    """Give the mean loss on the text, read as one segment, as the model is (None) or under another reading."""
    model = cached_trace(source).model
    return text_loss(model if reading is None else with_positions(model, reading), source)


def picture(view: View, wall: Wall) -> None:
    """Show scores and probabilities of the head, as they are and behind the wall, and what differs."""
    if is_absolute(view):
        absolute_picture(view)
        return
    change = change_of(view, wall)
    query, cell = kept_cell(change.mask, change.probs_before)
    everything = {
        _("scores as they are"): change.before,
        after_title(wall): change.after,
        _("difference"): change.after - change.before,
    }
    scores = Scale("diverging", shared_limit(list(everything.values()), change.mask), _("score"))
    both = [change.probs_before, change.probs_after]
    probs = Scale("sequential", shared_limit(both, change.mask), _("probability"))
    panels = [Panel(title, values, scores) for title, values in everything.items()]
    titles = [_("probability as it is"), _("probability then"), _("probability moved, |then − as it is|")]
    both.append(np.abs(change.probs_after - change.probs_before))
    panels += [Panel(title, values, probs) for title, values in zip(titles, both, strict=True)]
    grid = Grid(
        panels=tuple(panels),
        mask=change.mask,
        tokens=tuple(view.tokens),
        columns=3,
        label=f"{view.label}: {plain(cells_sentence(view, wall, change))}",
        pin=cell,
        wall=wall.at if wall.at is not None and wall.at < wall.largest else None,
    )
    matrix_view(grid, key="wall", dark=view.dark, on_pin=pin, on_head=lambda step: step_head(view, step))
    if st.toggle(_("Show row {query} as table").format(query=query), key="table_wall"):
        table = {"key": np.arange(view.key_len), "token": view.tokens, "distance": view.terms.distance[query]}
        table |= {title: values[query] for title, values in everything.items()}
        table |= {title: values[query] for title, values in zip(titles, both, strict=True)}
        st.dataframe(table, hide_index=True, height=280)


def after_title(wall: Wall) -> str:
    if wall.flipped:
        return _("scores, direction flipped")
    return _("scores without a wall") if wall.asked == NO_WALL else _("scores, wall at {n}").format(n=wall.asked)


def absolute_picture(view: View) -> None:
    """Say why absolute positions have no wall, and show the head as it is."""
    terms = view.terms
    st.markdown(
        _(
            "**Absolute positions have no wall:** each token gets the vector of its own place before the first layer, "
            "so no distance is looked up and none can be clamped; what fails is a place that training never had. "
            "Choose a relative checkpoint to move the wall."
        )
    )
    scores = Scale("diverging", shared_limit([terms.logits], terms.mask), _("score"))
    probs = Scale("sequential", shared_limit([terms.probs], terms.mask), _("probability"))
    panels = (Panel(_("scores as they are"), terms.logits, scores), Panel(_("probability"), terms.probs, probs))
    label = _("{head} with absolute positions: there is no wall.").format(head=view.label)
    grid = Grid(panels=panels, mask=terms.mask, tokens=tuple(view.tokens), columns=2, label=label)
    matrix_view(grid, key="wall", dark=view.dark, on_head=lambda step: step_head(view, step))


def cells_sentence(view: View, wall: Wall, change: ScoreChange) -> str:
    """Say how many cells lie beyond the wall, in which queries, and what it does to a probability; markdown."""
    query_len, key_len = change.mask.shape
    mem_len, allowed = key_len - query_len, int(change.mask.sum())
    text = _("Queries see the distances 0 to {largest}.").format(largest=wall.largest)
    moved = float(np.abs(change.probs_after - change.probs_before).max(where=change.mask, initial=0))
    if wall.at is not None and wall.at < wall.largest:
        beyond = int(beyond_wall(query_len, key_len, mem_len, wall.at, causal=True).sum())
        touched = touched_queries(query_len, mem_len, wall.at)
        words = _("**{beyond} of {cells}** visible cells lie beyond {wall}, in {which}.")
        name = _("the wall at {n}").format(n=wall.at)
        if wall.at == wall.own:
            name = _("the end of the model’s own reach, {n}, as they do already without any wall").format(n=wall.at)
        which = _("all {n} queries") if touched.all() else _("{n} queries, from {first} on")
        which = which.format(n=int(touched.sum()), first=int(touched.argmax()))
        text += " " + words.format(beyond=grouped(beyond), cells=grouped(allowed), wall=name, which=which)
    if not (change.changed & change.mask).any():
        return text + " " + _("**Nothing changes:** every score of {head} is bit-equal.").format(head=view.label)
    worst = np.unravel_index(np.abs(change.probs_after - change.probs_before).argmax(), change.mask.shape)
    numbers = {"moved": style.number(moved), "query": int(worst[0]), "key": int(worst[1]), "head": view.label}
    return (
        text
        + " "
        + _("In {head} a probability changes by up to **{moved}** (query {query}, key {key}).").format(**numbers)
    )


def finding(view: View, wall: Wall) -> str:
    """Say what the wall does to the head and to the model's loss on this text; markdown."""
    if is_absolute(view):
        return ""
    text = cells_sentence(view, wall, change_of(view, wall))
    before, after = cached_reading_loss(view.source, None), cached_reading_loss(view.source, wall.reading)
    if math.isnan(before):
        return text
    if before == after:
        return text + " " + _("So is the model’s loss on this text, {loss:.3f} nats per token.").format(loss=before)
    words = _(
        "With every layer read so, the loss on this text goes from {before:.3f} to **{after:.3f}** nats per token."
    )
    text += " " + words.format(before=before, after=after)
    if wall.flipped:
        text += " " + _(
            "The article calls i − j and j − i “only transposes”; with a trained model they are different vectors."
        )
    return text
