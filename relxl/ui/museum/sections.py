"""The gallery of the page "Bug museum": an exhibit wrong beside right, what happened in the wild, what finds it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from relxl import style
from relxl.checkpoint import list_checkpoints
from relxl.doctor.canon import canonical
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.museum import EXHIBITS, GROUPS, Exhibit, Scene, lacking, of_class, scene_of
from relxl.museum.measures import SHARES
from relxl.museum.scene import MEMORY, QUERIES
from relxl.trace import NO_TOKEN, ZERO
from relxl.ui.frame import all_pages
from relxl.ui.lessons.view import STAND_IN, bundled_view, label_of
from relxl.ui.library import BUNDLED
from relxl.ui.matrix import matrix_view
from relxl.ui.museum.exhibits import exhibit_words, group_names, needs_words
from relxl.ui.museum.words import Words
from relxl.ui.shift.words import thread
from relxl.ui.show import code, escape, plain
from relxl.ui.state import choose, chosen, keep
from relxl.ui.view import View

SINUSOID = "shakespeare-sinusoid"
REPOSITORY = "https://github.com/"


@dataclass(frozen=True)
class Played:
    """Hold an exhibit as it is shown: the scene wrong and right, and which of the two is on screen at the left."""

    exhibit: Exhibit
    wrong: Scene
    right: Scene
    repaired: bool

    @cached_property
    def values(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give what is shown, what is right, and the difference: [query key] each."""
        left = (self.right if self.repaired else self.wrong).shown(self.exhibit.shown)
        right = self.right.shown(self.exhibit.shown)
        return left, right, left - right

    @cached_property
    def numbers(self) -> dict[str, str]:
        """Give the measured numbers as they are written."""
        measured = self.exhibit.numbers(self.wrong, self.right)
        return {name: written(name, value) for name, value in measured.items()}

    @property
    def largest(self) -> float:
        """Give the largest difference of a cell; NaN where one is."""
        return float(np.abs(self.values[2]).max())


def written(name: str, value: float) -> str:
    if name in SHARES:
        return f"{100 * value:.1f} %".replace("-", "−") if np.isfinite(value) else "–"
    return f"{value}".replace("-", "−") if isinstance(value, int) else style.number(value)


# Which exhibit -------------------------------------------------------------------------------------------------------


def pick_exhibit() -> Exhibit:
    """Draw the rooms of the museum and the exhibits of the one that is entered; give the exhibit chosen."""
    names = [exhibit.name for exhibit in EXHIBITS]
    exhibit, words = of_class(keep("be", names[0], names).value), exhibit_words()
    st.session_state.museum_room, st.session_state.museum_exhibit = exhibit.group, exhibit.name
    st.segmented_control(
        _("Room"), GROUPS, format_func=group_names().get, required=True, key="museum_room", on_change=enter,
        label_visibility="collapsed",
    )  # fmt: skip
    inside = [it.name for it in EXHIBITS if it.group == exhibit.group]
    st.pills(
        _("Exhibit"), inside, format_func=lambda name: words[name].title, key="museum_exhibit", on_change=step_up,
        label_visibility="collapsed",
    )  # fmt: skip
    return exhibit


def enter() -> None:
    room = st.session_state.museum_room
    choose(be=next(exhibit.name for exhibit in EXHIBITS if exhibit.group == room), br=0)


def step_up() -> None:
    if st.session_state.museum_exhibit:
        choose(be=st.session_state.museum_exhibit, br=0)


# One exhibit ---------------------------------------------------------------------------------------------------------


def show_exhibit(view: View, exhibit: Exhibit) -> None:
    """Draw an exhibit: the picture with its switch, the sentence that is computed, and what is to be known of it."""
    view, why = staged(view, exhibit)
    words, repaired = exhibit_words()[exhibit.name], bool(keep("br", 0, (0, 1)).value)
    if view is None:
        st.info(escape(why))
        return
    played = play(view, exhibit, repaired)
    with st.container(horizontal=True, vertical_alignment="center"):
        names = {0: _("broken"), 1: _("repaired")}
        st.segmented_control(
            _("State"), (0, 1), format_func=names.get, required=True, label_visibility="collapsed", width="content",
            **keep("br", 0, (0, 1)).widget,
        )  # fmt: skip
        st.caption(escape(label_of(view)), width="content")
        st.caption(escape(why))
    draw(view, played, words)
    st.markdown(sentence(played, words))
    stories(played, words)


def staged(view: View, exhibit: Exhibit) -> tuple[View | None, str]:
    """Give the view that an exhibit is played on, or openly that of a bundled model; and the sentence that says so."""
    need = needed(view, exhibit)
    if not need:
        return view, ""
    name = SINUSOID if "sinusoid" in exhibit.needs else STAND_IN
    what = needs_words()[need]
    if name not in list_checkpoints(BUNDLED):
        return None, _("This exhibit needs {what}, and no bundled model has it here: run `make train`.").format(
            what=what
        )
    words = _("This exhibit needs {what}, which is not on screen: showing {name}.")
    return bundled_view(view, name), words.format(what=what, name=name)


def needed(view: View, exhibit: Exhibit) -> str:
    return lacking(canonical(view.checkpoint.model), view.trace, view.layer, exhibit.needs)


def play(view: View, exhibit: Exhibit, repaired: bool) -> Played:
    """Play an exhibit on the head that is looked at."""
    scene = scene_of(canonical(view.checkpoint.model), view.trace, view.layer, view.head)
    return Played(exhibit, *exhibit.play(scene), repaired)


def sentence(played: Played, words: Words) -> str:
    """Say in numbers what went wrong, or that nothing is wrong any more; markdown."""
    if played.repaired:
        return _("Repaired: the largest difference in a cell is **{largest}**.").format(
            largest=style.number(played.largest)
        )
    said = [words.says.format(**played.numbers)]
    if "moved" in played.numbers and played.numbers["moved"] != "–":
        said.append(_("{moved} of the attention goes to other keys.").format(moved=played.numbers["moved"]))
    return " ".join(said)


def draw(view: View, played: Played, words: Words) -> None:
    """Show what is on screen, what is right and the difference; click a cell to pin it."""
    shown = grid(view, played, words)
    matrix_view(shown, key="museum", dark=view.dark, on_pin=lambda cell, _panel: pin(played.exhibit.name, cell))
    if st.toggle(_("Show as table"), key="table_museum"):
        st.dataframe(shown.table(), hide_index=True, height=280)


def grid(view: View, played: Played, words: Words) -> Grid:
    """Lay out the three panels of an exhibit."""
    left, right, difference = played.values
    mask, probability = played.right.terms.mask, played.exhibit.shown == "probability"
    everywhere = np.ones_like(mask)
    name = _("probability") if probability else _("what position adds, (b) + (d)")
    kind, cells = ("sequential", everywhere) if probability else ("diverging", mask)
    scale = Scale(kind, shared_limit([left, right], cells), name)
    apart = Scale("diverging", shared_limit([difference], cells), _("difference"))
    state = _("repaired") if played.repaired else _("broken")
    tokens = tuple(ZERO if place == NO_TOKEN else view.tokens[place] for place in played.right.places)
    return Grid(
        (
            Panel(state, left, scale),
            Panel(_("right"), right, scale),
            Panel(_("difference"), difference, apart),
        ),
        mask,
        tokens,
        3,
        f"{words.title}, {view.label}{_(': ')}{plain(sentence(played, words))}",
        pin=pinned(played, mask),
    )


def pinned(played: Played, mask: np.ndarray) -> tuple[int, int] | None:
    """Give the cell that a person pinned in this exhibit, else the one that differs most."""
    name, cell = chosen("museum_pin")[0] or ("", None)
    if name == played.exhibit.name:
        return cell if cell is None or (cell[0] < mask.shape[0] and cell[1] < mask.shape[1]) else None
    wrong, right = (scene.shown(played.exhibit.shown) for scene in (played.wrong, played.right))
    apart = np.where(np.isfinite(wrong), np.abs(wrong - right), np.inf)
    cell = np.unravel_index(int(apart.argmax()), apart.shape)
    return int(cell[0]), int(cell[1])


def pin(name: str, cell: tuple[int, int] | None) -> None:
    choose(museum_pin=(name, cell))


def stories(played: Played, words: Words) -> None:
    """Tell what goes wrong, what happened in the wild, and how it is repaired and found."""
    exhibit = played.exhibit
    wrong, wild, found = st.columns(3, gap="large")
    with wrong:
        st.markdown("**" + _("What goes wrong") + "**")
        st.markdown(words.text.format(**played.numbers))
    with wild:
        st.markdown("**" + _("What happened in the wild") + "**")
        st.markdown(words.wild)
        if exhibit.reports:
            st.caption(_("Told in {threads}").format(threads=_(", ").join(map(thread, exhibit.reports))))
        else:
            link = f"[{exhibit.code}]({REPOSITORY}{exhibit.code})"
            st.caption(_("Read in the code of {source}; nobody reported it.").format(source=link))
    with found:
        st.markdown("**" + _("Repair and detection") + "**")
        st.markdown(words.repair)
        checks = _(", ").join(map(code, exhibit.finds))
        by_run = all(name.startswith("reference.") for name in exhibit.finds)
        text = (
            _("With a captured run the doctor finds it as {checks}.")
            if by_run
            else _("The doctor finds it as {checks}.")
        )
        entry = _("Entry {entry} of docs/doctor.md.").format(entry=exhibit.entry)
        st.caption(f"{text.format(checks=checks)} {entry}")
        go_and_see(exhibit)


def go_and_see(exhibit: Exhibit) -> None:
    """Offer the page that shows it, with its controls set."""
    door = all_pages()[exhibit.page]
    label = _("See it on {page}").format(page=door.name)
    if st.button(label, key="museum_page", icon=":material/arrow_forward:", type="tertiary"):
        choose(**exhibit.link)
        st.switch_page(door.file)


def how() -> None:
    """Say how the exhibits are computed."""
    with st.expander(_("How this is computed")):
        st.markdown(
            _(
                "An exhibit takes the first {queries} queries of the segment and the {memory} keys before them, sets a "
                "scene (an encoder that sees both sides, a padded query, a memory of zeros) and plays it twice, right "
                "and broken. Both times `relxl.split.attention_terms` splits the scores; what is broken is a shift of "
                "`relxl.shift`, a `MaskRule`, a reading of the positions or a tensor. The numbers come from "
                "`relxl.museum`."
            ).format(queries=QUERIES, memory=MEMORY)
        )
