"""The sections of the page "Max len" that look at the chosen head: the wall, moved by hand, and its v_bias."""

import math
from typing import NamedTuple

import numpy as np
import streamlit as st

from relxl import style
from relxl.experiments.max_len import CONVENTIONS, ScoreChange, known_reach, own_wall, score_change
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.reading import Reading, can_flip
from relxl.ui.chooser import text_key
from relxl.ui.loss import cached_reading_loss, no_loss
from relxl.ui.matrix import matrix_view, pin, step_head
from relxl.ui.shift.tables import signed
from relxl.ui.show import plain
from relxl.ui.state import chips, choose, chosen, keep, kept_cell
from relxl.ui.texts import held_out_text
from relxl.ui.view import Source, View, cached_trace

NO_WALL = "none"
FIRST_WALL = 8


class Wall(NamedTuple):
    """Hold what the controls ask for, and where the wall then stands."""

    asked: int | str  # the largest distance that is told apart, or NO_WALL
    flipped: bool
    own: int | None  # the model's own wall: the end of its table, or its clamp_len
    largest: int  # distance that a query sees
    smallest: int = 0  # below 0 where the future is seen too

    @property
    def reading(self) -> Reading:
        return Reading(clamp_len=None if self.asked == NO_WALL else self.asked, flip=self.flipped)

    @property
    def at(self) -> int | None:
        """Give where the wall stands that the head is looked at with, the model's own if there is no other."""
        walls = [wall for wall in (self.own, self.asked) if isinstance(wall, int)]
        return min(walls, default=None)


def no_wall(view: View) -> str:
    """Say why there is no wall to move, or nothing where there is one; markdown."""
    if view.checkpoint.config.positions == "absolute":
        return _(
            "**Absolute positions have no wall:** each token gets the vector of its own place before the first layer, "
            "so no distance is looked up and none can be clamped; what fails is a place that training never had. "
            "Choose a relative checkpoint to move the wall."
        )
    length = getattr(view.attn, "legacy_len", None)
    if length is None:
        return ""
    return _(
        "**Cells of this encoding have no wall of their own:** ESPnet’s legacy form takes the first rows of a table "
        "of {length}, so a cell of the past reads m + i − j + {ahead}, and one of the future what is left over of "
        "another query’s row. If the model was trained with “latest”, choose that on the page Checkpoint."
    ).format(length=max(length, view.key_len), ahead=max(length - view.key_len, 0))


def seen_distances(view: View) -> tuple[int, int]:
    """Give the smallest and the largest distance that the model lets a query see in this text."""
    rule, largest = view.trace.rule, view.key_len - 1
    if rule.sees == "both":
        blind = getattr(view.attn, "zero_future", False)  # the future is seen, but not where it stands
        return 0 if blind else 1 - view.trace.query_len, largest
    return 0, largest if rule.window is None else min(largest, rule.window - 1)


def wall_options(view: View) -> list[int | str]:
    """Name where a wall can stand so that it changes something, and none at all."""
    own, largest = own_wall(view.checkpoint.model), seen_distances(view)[1]
    return [*range(largest if own is None else min(largest, own)), NO_WALL]


def directions(view: View) -> tuple[str, ...]:
    """Name the directions that there is something to read in."""
    return CONVENTIONS if can_flip(view.checkpoint.model) else CONVENTIONS[:1]


def kept_wall(view: View) -> Wall:
    """Read wall and direction off the controls. A wall beyond all that there is to tell apart is none."""
    options = wall_options(view)
    raw = str(chosen("xr")[0])
    if raw.isdecimal() and len(raw) < 6 and int(raw) not in options:
        choose(xr=NO_WALL)
    asked = keep("xr", FIRST_WALL if FIRST_WALL in options else NO_WALL, options).value
    flipped = keep("xd", CONVENTIONS[0], directions(view)).value != CONVENTIONS[0]
    smallest, largest = seen_distances(view)
    return Wall(asked, flipped, own_wall(view.checkpoint.model), largest, smallest)


def presets(view: View) -> None:
    """Draw chips that each show something about the wall."""
    if no_wall(view):
        return
    usual = {"xd": CONVENTIONS[0]}
    shown = {
        _("Wall at {n}").format(n=FIRST_WALL): usual | {"xr": FIRST_WALL},
        _("Only itself and the rest"): usual | {"xr": 0},
        _("No wall"): usual | {"xr": NO_WALL},
    }
    if len(directions(view)) > 1:
        shown[_("Direction flipped")] = usual | {"xr": NO_WALL, "xd": CONVENTIONS[1]}
    text, reach = held_out_text(view.checkpoint), known_reach(view.checkpoint)
    if text and reach is not None:
        beyond = usual | {"xr": reach, "n": 512, "m": 1, text_key(view.checkpoint): text}
        shown[_("Wall at the training length, in a longer text")] = beyond
    chips(_("Try this:"), shown, "max_len_preset")


def controls(view: View) -> None:
    """Draw the wall's slider and the direction."""
    if no_wall(view):
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
        kept = keep("xd", CONVENTIONS[0], directions(view))
        st.segmented_control(_("Row of"), directions(view), format_func=names.get, required=True, **kept.widget)


def change_of(view: View, wall: Wall) -> ScoreChange:
    return cached_change(view.source, view.layer, view.head, wall.reading)


@st.cache_resource(max_entries=24, show_spinner=False)
def cached_change(source: Source, layer: int, head: int, reading: Reading) -> ScoreChange:
    return score_change(cached_trace(source), layer, head, reading)


def picture(view: View, wall: Wall) -> None:
    """Show scores and probabilities of the head, as they are and behind the wall, and what differs."""
    if no_wall(view):
        wallless_picture(view)
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
        two_walls=wall.smallest < 0,
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


def wallless_picture(view: View) -> None:
    """Say why there is no wall, and show the head as it is."""
    terms = view.terms
    st.markdown(no_wall(view))
    scores = Scale("diverging", shared_limit([terms.logits], terms.mask), _("score"))
    probs = Scale("sequential", shared_limit([terms.probs], terms.mask), _("probability"))
    panels = (Panel(_("scores as they are"), terms.logits, scores), Panel(_("probability"), terms.probs, probs))
    label = _("{head}: there is no wall.").format(head=view.label)
    grid = Grid(panels=panels, mask=terms.mask, tokens=tuple(view.tokens), columns=2, label=label)
    matrix_view(grid, key="wall", dark=view.dark, on_head=lambda step: step_head(view, step))


def cells_sentence(view: View, wall: Wall, change: ScoreChange) -> str:
    """Say how many cells lie beyond the wall, in which queries, and what it does to a probability; markdown."""
    seen = change.distance[change.mask]
    text = _("Queries see the distances {smallest} to {largest}.").format(
        smallest=signed(int(seen.min(initial=0))), largest=int(seen.max(initial=0))
    )
    moved = float(np.abs(change.probs_after - change.probs_before).max(where=change.mask, initial=0))
    if wall.at is not None and wall.at < wall.largest:
        beyond = change.beyond(wall.at)
        touched = beyond.any(1)
        words = _("**{beyond} of {cells}** visible cells lie beyond {wall}, in {which}.")
        name = _("the wall at {n}").format(n=wall.at)
        if wall.at == wall.own:
            name = _("the end of the model’s own reach, {n}, as they do already without any wall").format(n=wall.at)
        which = _("{n} queries, from {first} on") if touched[touched.argmax() :].all() else _("{n} queries")
        which = _("all {n} queries") if touched.all() else which
        which = which.format(n=int(touched.sum()), first=int(touched.argmax()))
        cells = grouped(int(change.mask.sum()))
        text += " " + words.format(beyond=grouped(int(beyond.sum())), cells=cells, wall=name, which=which)
        if wall.smallest < 0:
            text += " " + _("The model sees both sides, so a wall stands on either.")
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
    if no_wall(view):
        return ""
    text = cells_sentence(view, wall, change_of(view, wall))
    if reason := no_loss(view):
        return text + " " + reason
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
