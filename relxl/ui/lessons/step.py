"""A step of a lesson as it is drawn: text, figures, questions with their answers, and the door to a page."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relxl.figures.larger import larger_figure
from relxl.language import _
from relxl.lesson import Block, Step, harmless
from relxl.matrix_view import Grid
from relxl.ui.frame import all_pages
from relxl.ui.lessons.asking import marked, verdict
from relxl.ui.lessons.figures import FIGURES
from relxl.ui.lessons.questions import asked
from relxl.ui.lessons.view import HEAD, Cells, aimed, label_of, suited
from relxl.ui.matrix import matrix_view
from relxl.ui.show import escape, show
from relxl.ui.state import choose, chosen, kept_values
from relxl.ui.view import View

LARGER = 1.4  # type on a projector


def draw_step(view: View, name: str, step: int, blocks: Step, presenting: bool) -> None:
    """Draw the step: its text and questions at the left, its figures at the right.

    A presenter's screen has no room to scroll: there the reasons and the door stand below the figure.
    """
    pictures = [block for block in blocks if block.kind == "figure"]
    left, right = st.columns([4, 7] if pictures else [1, 0.01], gap="large")
    with right:
        for number, block in enumerate(pictures):
            picture(view, block, f"{name}_{step}_{number}", presenting)
    below = right if presenting and pictures else left
    with left, st.container(key="lesson_text"):
        for number, block in enumerate(blocks):
            if block.kind == "text":
                st.markdown(harmless(block.text))
            elif block.kind == "question":
                question(view, block, (name, step, number), below, presenting)
    with below:
        for number, block in enumerate(blocks):
            if block.kind == "try":
                try_it(view, block, number)


def picture(view: View, block: Block, key: str, presenting: bool) -> None:
    """Draw a figure of a step, on the model on screen or openly on another one."""
    entry, settings = FIGURES[block.text], dict(block.settings)
    shown, why = suited(aimed(view, settings), entry.needs)
    if why:
        st.caption(escape(why))
    if shown is None:
        return
    shown = aimed(shown, settings)
    drawn = entry.make(shown, settings)
    if isinstance(drawn, str):
        st.markdown(drawn)
    elif isinstance(drawn, Grid):
        with st.container(key=f"lesson_picture_{key}"):
            matrix_view(
                pinned(drawn, key), key=f"lesson_{key}", dark=view.dark, on_pin=lambda cell, _panel: pin(key, cell)
            )
    elif isinstance(drawn, Cells):
        with st.container(key=f"lesson_cells_{key}"):
            st.html(drawn.html)
    else:
        figure = larger_figure(drawn.figure, LARGER) if presenting else drawn.figure
        show(figure, key=f"lesson_{key}", alt=drawn.alt, table=None if presenting else lambda: drawn.table)
    if entry.needs:
        st.caption(escape((entry.shows or label_of)(shown)))


def pinned(grid: Grid, key: str) -> Grid:
    """Pin the cell that a person chose in this figure, in the place of the one that the lesson chose."""
    chosen_key, cell = chosen("lesson_pin")[0] or ("", None)
    inside = cell is None or (cell[0] < grid.shape[0] and cell[1] < grid.shape[1])
    return replace(grid, pin=cell) if chosen_key == key and inside else grid


def pin(key: str, cell: tuple[int, int] | None) -> None:
    choose(lesson_pin=(key, cell))


def kept_answers() -> dict:
    """Give the answers so far: (lesson, step, block) -> (what was on screen, the option, whether it was right)."""
    return kept_values().setdefault("lesson_answers", {})


def question(view: View, block: Block, where: tuple[str, int, int], below: DeltaGenerator, presenting: bool) -> None:
    """Ask a question, and once it is answered say `below` whether that was right, with the numbers."""
    settings = dict(block.settings)
    aim = aimed(view, settings)
    found = asked(aim, block.text, settings)
    if isinstance(found, str):
        st.caption(found)
        return
    screen = hash((aim.source, aim.layer, aim.head))
    given = kept_answers().get(where)
    choice = given[1] if given and given[0] == screen else None
    st.markdown(f"**{found.text}**")
    with st.container(key=f"lesson_options_{'_'.join(map(str, where))}", horizontal=presenting):
        for place in range(len(found.options)):
            right = place == found.right
            label, icon = marked(found.options[place], right, choice == place, choice is not None)
            answer = {"where": where, "given": (screen, place, right)}
            st.button(
                label, key=f"answer_{'_'.join(map(str, where))}_{place}", type="tertiary", icon=icon,
                on_click=take_answer, kwargs=answer, wrap=True,
            )  # fmt: skip
    if choice is not None:
        with below if presenting else st.container():
            st.markdown(f"{verdict(choice == found.right)} {found.because}")


def take_answer(where: tuple[str, int, int], given: tuple[int, int, bool]) -> None:
    kept_answers()[where] = given


def try_it(view: View, block: Block, number: int) -> None:
    """Offer the page that goes deeper, with the settings set."""
    door = all_pages()[block.text]
    settings = dict(block.settings)
    if settings.keys() & HEAD.keys():
        aim = aimed(view, settings)
        settings = {name: value for name, value in settings.items() if name != "head"} | {"l": aim.layer, "h": aim.head}
    label = _("Try it yourself: {page}").format(page=door.name)
    if st.button(label, key=f"lesson_try_{number}", icon=":material/arrow_forward:", type="primary"):
        choose(**settings)
        st.switch_page(door.file)
