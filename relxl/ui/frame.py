"""The frame of every page: its question, the proof badge, and the sidebar with its shared controls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relxl.checkpoint import UnansweredError
from relxl.language import LANGUAGE, _
from relxl.ui.chooser import Look, choose_look, choose_view, text_key
from relxl.ui.library import answer_box
from relxl.ui.show import escape, said, show_proof
from relxl.ui.shown import begin_page
from relxl.ui.speak import pick_language, settle_language
from relxl.ui.state import chosen, write_link
from relxl.ui.take_along import copy_link, take_along
from relxl.ui.view import View

SPACING = """
.stMainBlockContainer {padding: 2.5rem 3.5rem 3rem}
[data-testid=stSidebarHeader] {height: 2rem; padding-bottom: 0; margin-bottom: 0}
[data-testid=stSidebarUserContent] [data-testid=stVerticalBlock] {gap: 0.6rem}
"""  # the picture and all controls fit into 1280 x 720
GLYPHS = {"zh": '.stApp {-webkit-locale: "zh-Hans"}'}  # else a browser may take Japanese ones


@dataclass(frozen=True)
class Page:
    """Hold a door: the file, its short name, its question and what to look for."""

    file: str
    name: str
    question: str
    sentence: str


def all_pages() -> dict[str, Page]:
    """Name every page, in the order of the sidebar."""
    return {
        "home": Page(
            "app.py",
            _("Home"),
            _("What does this model's attention score consist of?"),
            _(
                "Four terms add up to every score. Columns are keys that every query wants, diagonals are distances "
                "that every query wants."
            ),
        ),
        "score_terms": Page(
            "pages/1_Score_terms.py",
            _("Score terms"),
            _("What is this head's score made of, for this token?"),
            _(
                "(a) to (d) add up to the sum; a softmax over the visible cells gives the probabilities. The ring is "
                "the chosen cell, hatched cells are the future."
            ),
        ),
        "heads": Page(
            "pages/2_Heads.py",
            _("Heads"),
            _("Which heads do what?"),
            _(
                "A cell is a head: layers down, heads across, one measure at a time. Near a corner of the triangle one "
                "kind of term decides where a head looks."
            ),
        ),
        "distance": Page(
            "pages/3_Distance.py",
            _("Distance"),
            _("How far does each head look, and what does position alone say?"),
            _(
                "Over distance: what the position terms say, and what attention becomes. One line a head, the chosen "
                "one bold; (d) v_bias is the same for every query."
            ),
        ),
        "masking": Page(
            "pages/4_Masking.py",
            _("Masking"),
            _("How does the future get in?"),
            _(
                "The hatched triangle is what a query must not see. Whatever has colour there in the last panel has "
                "leaked."
            ),
        ),
        "shift": Page(
            "pages/5_Shift.py",
            _("Shift"),
            _("Which distance does each cell really read, and what does it cost?"),
            _(
                "A cell says row:distance of what it reads. Right is its own row at distance m + i − j; red is "
                "foreign, hatched is hidden by the mask."
            ),
        ),
        "initialisation": Page(
            "pages/6_Initialisation.py",
            _("Initialisation"),
            _("What does the starting scale do to attention?"),
            _("A fresh layer, drawn from a seed. Move the scale: too small and it averages, too large and it stares."),
        ),
        "max_len": Page(
            "pages/7_Max_len.py",
            _("Max len"),
            _("What happens beyond the table?"),
            _(
                "Left of the red wall all keys are equally far away: they share one row of the table. Move the wall "
                "and see what the head loses."
            ),
        ),
        "memory": Page(
            "pages/9_Memory.py",
            _("Memory"),
            _("What crosses the segment seam?"),
            _(
                "How much of its attention each head gives to the cached segment. The first token of a segment has "
                "hardly anything else to read."
            ),
        ),
        "relative_absolute": Page(
            "pages/12_Relative_vs_absolute.py",
            _("Relative vs absolute"),
            _("Is relative really better, and when?"),
            _(
                "The same small model three times, on the same batches. Above the line at 0 relative positions win; a "
                "band is the range over the seeds."
            ),
        ),
        "checkpoint": Page(
            "pages/8_Checkpoint.py",
            _("Checkpoint"),
            _("What is in this file?"),
            _(
                "Whose it is and how it was recognised, what the weights can not tell, and what position alone says in "
                "every head, without any input."
            ),
        ),
        "doctor": Page(
            "pages/10_Doctor.py",
            _("Doctor"),
            _("What is wrong with it?"),
            _(
                "Every check that has what it needs, on the file and on this run of it. The worst comes first: where, "
                "what to try, and the numbers that say so."
            ),
        ),
        "compare": Page(
            "pages/11_Compare.py",
            _("Compare"),
            _("What changed between these two?"),
            _(
                "Two checkpoints, or one training step by step: which tensors moved, what position alone says in each "
                "head, and how the terms share the scores."
            ),
        ),
        "bug_museum": Page(
            "pages/14_Bug_museum.py",
            _("Bug museum"),
            _("What goes wrong in the wild?"),
            _(
                "Failures that were reported in public, played on this head: broken at the left, right beside it, and "
                "the difference. The switch repairs it; below, a model to find the fault in."
            ),
        ),
        "lessons": Page(
            "pages/13_Lessons.py",
            _("Lessons"),
            _("Teach me."),
            _("Ten short lessons on the model on screen. Each step has a figure, and what to look for in it."),
        ),
    }


def page(name: str) -> View:
    """Draw the head of a page and give what it looks at, or stop with one clear sentence.

    The sidebar is not drawn yet: its values are known without it, and the picture comes first. `finish` draws it.
    """
    corner = draw_head(name, [5, 1])
    return look_at(lambda controls: choose_view(controls, corner))


def weights_page(name: str) -> Look:
    """Draw the head of a page that looks at a checkpoint and runs nothing; give the checkpoint, layer and head."""
    draw_head(name, [1])
    return look_at(choose_look)


def look_at(choose: Callable[[list[Callable[[], object]]], object]):
    """Find out what is looked at, or stop with one clear sentence beside the sidebar's controls."""
    controls: list[Callable[[], object]] = []
    try:
        return choose(controls)
    except (ValueError, OSError) as error:
        draw_sidebar(controls)
        st.error(escape(said(error)))
        if isinstance(error, UnansweredError):
            answer_box(error.ask)
        st.stop()


def plain_page(name: str) -> bool:
    """Draw the head of a page that looks at no model; give whether the theme is dark. `finish` draws the sidebar."""
    draw_head(name, [1])
    return st.context.theme.type == "dark"


def draw_head(name: str, widths: list[int]) -> DeltaGenerator:
    """Settle the language, draw title and sentence of a page, and give the last column of the title's line."""
    settle_language()
    this = all_pages()[name]
    begin_page(this.name)
    st.set_page_config(f"{this.name} · relxl", layout="wide")
    st.html(f"<style>{SPACING}{GLYPHS.get(LANGUAGE.get(), '')}</style>")
    columns = st.columns(widths, vertical_alignment="center")
    columns[0].subheader(this.question, anchor=False)
    st.caption(this.sentence)
    return columns[-1]


def finish(view: View | Look | None = None, proof: bool = True) -> None:
    """Draw what the picture must not wait for: the sidebar, and in the corner whether what is shown is exact.

    A page that does not show scores of the loaded checkpoint has nothing to prove.
    """
    looked_at = view.checkpoint if view else None
    take_along(looked_at)
    text = chosen(text_key(looked_at))[0] if isinstance(view, View) and looked_at.config.n_token else None
    draw_sidebar(view.controls if view else (), text)
    if isinstance(view, View) and proof:
        with view.corner:
            show_proof(view.proof)


def draw_sidebar(controls: Sequence[Callable[[], object]], text: str | None = None) -> None:
    with st.sidebar:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("### relxl", width="content")
            pick_language()
        for door in all_pages().values():
            st.page_link(door.file, label=door.name)
        for draw in controls:
            draw()
        copy_link(text)
    write_link()


def doors() -> None:
    """Draw a door to every page but home."""
    for name, door in all_pages().items():
        if name != "home":
            with st.container(border=True):
                st.page_link(door.file, label=f"**{door.name}**")
                st.caption(door.question)
