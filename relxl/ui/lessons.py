"""The page "Lessons": which lesson and step, the step itself, its questions, and the list of all lessons."""

import os
from dataclasses import dataclass, replace
from html import escape as html_escape
from pathlib import Path

import streamlit as st

import relxl
from relxl import style
from relxl.figures.larger import larger_figure
from relxl.language import LANGUAGE, _, translated
from relxl.lesson import (
    Block,
    Known,
    Lesson,
    LessonError,
    harmless,
    lesson_files,
    one_of,
    read_lesson,
    spoken_file,
    word,
)
from relxl.matrix_view import Grid
from relxl.ui.frame import all_pages
from relxl.ui.lesson_asking import Question
from relxl.ui.lesson_figures import FIGURES
from relxl.ui.lesson_questions import QUESTIONS, asked
from relxl.ui.lesson_view import HEAD, MEASURES, Cells, aimed, known_settings, label_of, suited
from relxl.ui.matrix import matrix_view
from relxl.ui.show import escape, show
from relxl.ui.state import LINK, choose, chosen, keep, kept_values
from relxl.ui.view import View

OURS = Path(relxl.__file__).parent / "lessons"
FOLDER = "RELXL_LESSONS"  # names a folder with lessons of a teacher's own
LARGER = 1.4  # type on a projector
CSS = """<style>
.st-key-lesson_options button {justify-content: flex-start; text-align: left; min-height: 2.2rem; padding: .1rem .5rem}
.st-key-lesson_options {gap: .15rem}
.st-key-lesson_options code {font-size: 1em}
.dots {display: flex; align-items: center; gap: .45rem; height: 2.5rem; color: var(--ink)}
.dots i {width: .72rem; height: .72rem; border-radius: 50%; box-sizing: border-box; border: 2px solid var(--faint)}
.dots i.seen {background: var(--faint)}
.dots i.right {background: var(--good); border-color: var(--good)}
.dots i.wrong {background: var(--alarm); border-color: var(--alarm)}
.dots i.here {outline: 2px solid var(--ink); outline-offset: 2px}
.dots span {font-size: .85rem; color: var(--faint); padding-left: .3rem; white-space: nowrap}
</style>"""
PRESENTER = """<style>
:root {font-size: 22.4px !important}
[data-testid=stSidebar], [data-testid=stExpandSidebarButton], [data-testid=stHeader] {display: none}
.stMainBlockContainer {padding: 1.2rem 2rem 1rem !important}
.stMainBlockContainer [data-testid=stLayoutWrapper]:has(h3),
.stMainBlockContainer [data-testid=stLayoutWrapper]:has(h3) + [data-testid=stElementContainer] {display: none}
.stMainBlockContainer > * > [data-testid=stLayoutWrapper]:has(.st-key-take_html) {display: none}
.st-key-lesson_picture {zoom: 1.25}
.st-key-lesson_cells {zoom: .84}
.st-key-lesson_text p {line-height: 1.42}
.st-key-lesson_bar button {min-height: 2.1rem; padding: .1rem .6rem}
</style>"""
GOOD = {False: "#1f7a4d", True: "#4cc38a"}


@dataclass(frozen=True)
class Listed:
    """Hold a lesson of the list: the name in the link, and the lesson or what is wrong with its file."""

    name: str
    lesson: Lesson | None
    problem: str = ""
    ours: bool = True


@dataclass(frozen=True)
class Place:
    """Hold where a person is: the lessons that can be read, the one chosen, its step, and the way it is shown."""

    lessons: tuple[Listed, ...]
    at: int
    step: int
    presenting: bool

    @property
    def listed(self) -> Listed:
        return self.lessons[self.at]

    @property
    def steps(self) -> int:
        return len(self.listed.lesson.steps)

    def moved(self, way: int) -> dict | None:
        """Give lesson and step one before or one after, over the border of a lesson; None at either end."""
        if 0 <= self.step + way < self.steps:
            return {"le": self.listed.name, "ls": self.step + way}
        if not 0 <= self.at + way < len(self.lessons):
            return None
        there = self.lessons[self.at + way]
        return {"le": there.name, "ls": 0 if way > 0 else len(there.lesson.steps) - 1}


def known() -> Known:
    """Name all that a lesson may ask for."""
    links = {name: word() for name in LINK if name not in HEAD} | HEAD | {"head": one_of(*MEASURES)}
    return {
        "figure": known_settings(FIGURES),
        "question": known_settings(QUESTIONS),
        "try": dict.fromkeys((name for name in all_pages() if name != "lessons"), links),
    }


def shelf() -> list[Listed]:
    """Read all lessons in the language of the session: ours, then those of the teacher's folder."""
    what, found = known(), []
    folder = os.environ.get(FOLDER, "")
    for root, ours in ((OURS, True), (Path(folder), False)):
        if not ours and not folder:
            continue
        for name, files in lesson_files(root).items():
            name = name.split("-", 1)[-1] if ours else f"own-{name}"
            try:
                found.append(Listed(name, read_lesson(spoken_file(files, LANGUAGE.get()), what), "", ours))
            except LessonError as error:
                found.append(Listed(name, None, str(error), ours))
    return found


def kept_place(listed: list[Listed]) -> Place:
    """Find out which lesson and step are shown, and note that the step was seen."""
    lessons = tuple(it for it in listed if it.lesson)
    names = [it.name for it in lessons]
    at = names.index(keep("le", names[0], names).value)
    step = keep("ls", 0, range(len(lessons[at].lesson.steps))).value
    presenting = bool(keep("lp", 0, (0, 1)).value)
    kept_values().setdefault("lessons_seen", set()).add((names[at], step))
    return Place(lessons, at, step, presenting)


def title_of(place: Place, at: int) -> str:
    return f"{at + 1}  {place.lessons[at].lesson.title}"


def bar(place: Place, dark: bool) -> None:
    """Draw the line above a step: the lesson, the dots, the way back and forth, and the presenter's switch."""
    st.html(CSS + PRESENTER * place.presenting)
    title, rest = st.columns([4, 7], gap="large", vertical_alignment="center")
    with title:
        if place.presenting:
            st.markdown(f"##### {escape(title_of(place, place.at))}")
        else:
            names = [it.name for it in place.lessons]
            label = lambda name: title_of(place, names.index(name))  # noqa: E731
            kept = keep("le", names[0], names)
            widget = kept.widget | {"on_change": pick_lesson}
            widget.pop("args")
            st.selectbox(_("Lesson"), names, format_func=label, label_visibility="collapsed", **widget)
    with rest, st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson_bar"):
        st.html(dots(place, dark), width="stretch")
        way(place, -1, _("Back"), "Left")
        way(place, 1, _("Next"), "Right")
        help = None if place.presenting else _("Large type, one step a screen, arrow keys go on and back.")
        st.toggle(_("Presenter"), help=help, **presenter())


def presenter() -> dict:
    """Give the arguments of the presenter's switch, whose value in the link is 0 or 1."""
    on = bool(keep("lp", 0, (0, 1)).value)
    st.session_state.lesson_presenter = on
    return {"key": "lesson_presenter", "on_change": switch_presenter}


def switch_presenter() -> None:
    choose(lp=int(st.session_state.lesson_presenter))


def pick_lesson() -> None:
    choose(le=st.session_state.control_le, ls=0)


def way(place: Place, step: int, label: str, key: str) -> None:
    """Draw the button that goes one step back or on; a presenter's arrow keys press it."""
    there = place.moved(step)
    shortcut = key if place.presenting else None
    st.button(
        label, key=f"lesson_way_{step}", on_click=choose, kwargs=there or {}, disabled=there is None, shortcut=shortcut,
        type="primary" if step > 0 else "secondary",
    )  # fmt: skip


def dots(place: Place, dark: bool) -> str:
    """Draw a dot a step: seen, answered rightly or wrongly, here."""
    seen, answers = kept_values().get("lessons_seen", set()), kept_answers()
    theme, marks = style.theme_of(dark), []
    for step in range(place.steps):
        here = (place.listed.name, step)
        given = [right for where, (_screen, _option, right) in answers.items() if where[:2] == here]
        kinds = ["here"] * (step == place.step)
        kinds += ["right" if all(given) else "wrong"] if given else ["seen"] * (here in seen)
        marks.append(f'<i class="{" ".join(kinds)}"></i>')
    words = f"{place.step + 1} / {place.steps}"
    colours = f"--ink:{theme.ink};--faint:{theme.faint};--alarm:{theme.alarm};--good:{GOOD[dark]}"
    return f'<div class="dots" style="{colours}">{"".join(marks)}<span>{html_escape(words)}</span></div>'


# A step --------------------------------------------------------------------------------------------------------------


def step(view: View, place: Place) -> None:
    """Draw the step: its text and questions at the left, its figures at the right."""
    blocks = place.listed.lesson.steps[place.step]
    pictures = [block for block in blocks if block.kind == "figure"]
    left, right = st.columns([4, 7] if pictures else [1, 0.01], gap="large")
    with right:
        for number, block in enumerate(pictures):
            picture(view, block, f"{place.listed.name}_{place.step}_{number}", place.presenting)
    with left, st.container(key="lesson_text"):
        for number, block in enumerate(blocks):
            if block.kind == "text":
                st.markdown(harmless(block.text))
            elif block.kind == "question":
                question(view, block, (place.listed.name, place.step, number), place.presenting)
            elif block.kind == "try":
                try_it(view, block)


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
        with st.container(key="lesson_picture"):
            matrix_view(
                pinned(drawn, key), key=f"lesson_{key}", dark=view.dark, on_pin=lambda cell, _panel: pin(key, cell)
            )
    elif isinstance(drawn, Cells):
        with st.container(key="lesson_cells"):
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


def question(view: View, block: Block, where: tuple[str, int, int], presenting: bool) -> None:
    """Ask a question, and once it is answered say whether that was right, with the numbers."""
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
    with st.container(key="lesson_options", horizontal=presenting):
        for place in range(len(found.options)):
            answer = {"where": where, "given": (screen, place, place == found.right)}
            st.button(
                marked(found, place, choice)[0], key=f"answer_{'_'.join(map(str, where))}_{place}", type="tertiary",
                icon=marked(found, place, choice)[1], on_click=take_answer, kwargs=answer, wrap=True,
            )  # fmt: skip
    if choice is not None:
        verdict(found, choice)


def marked(found: Question, place: int, choice: int | None) -> tuple[str, str]:
    """Give an option's label and icon: after an answer the right one is marked, and a wrong one that was chosen."""
    option = found.options[place]
    if choice is not None and place == found.right:
        return f":green[{option}]", ":material/check_circle:"
    if choice == place:
        return f":red[{option}]", ":material/cancel:"
    return option, ":material/radio_button_unchecked:"


def take_answer(where: tuple[str, int, int], given: tuple[int, int, bool]) -> None:
    kept_answers()[where] = given


def verdict(found: Question, choice: int) -> None:
    """Say right or wrong, and the numbers of this model that make it so."""
    word = _("Right.") if choice == found.right else _("Not this one.")
    colour = "green" if choice == found.right else "red"
    st.markdown(f":{colour}[**{word}**] {found.because}")


def try_it(view: View, block: Block) -> None:
    """Offer the page that goes deeper, with the settings set."""
    door = all_pages()[block.text]
    settings = dict(block.settings)
    if settings.keys() & HEAD.keys():
        aim = aimed(view, settings)
        settings = {name: value for name, value in settings.items() if name != "head"} | {"l": aim.layer, "h": aim.head}
    if st.button(_("Try it yourself: {page}").format(page=door.name), icon=":material/arrow_forward:", type="primary"):
        choose(**settings)
        st.switch_page(door.file)


# All lessons ---------------------------------------------------------------------------------------------------------


def contents(listed: list[Listed], place: Place) -> None:
    """List all lessons, how far each was read, and what is wrong with a file that can not be."""
    if place.presenting:
        return
    st.markdown("##### " + _("All lessons"))
    seen = kept_values().get("lessons_seen", set())
    columns = st.columns(2, gap="large")
    for at, it in enumerate(place.lessons):
        n = len(it.lesson.steps)
        done = sum((it.name, step) in seen for step in range(n))
        with columns[2 * at // len(place.lessons)], st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                escape(title_of(place, at)), key=f"lesson_open_{it.name}", on_click=choose,
                kwargs={"le": it.name, "ls": 0}, type="tertiary", disabled=at == place.at, wrap=True,
            )  # fmt: skip
            st.caption(_("{done} of {n} steps").format(done=done, n=n), width="content")
    for it in listed:
        if it.problem:
            st.warning(escape(translated(it.problem)))
    st.caption(
        _(
            "Lessons of your own: Markdown files in the folder that the environment variable {name} names. "
            "CONTRIBUTING.md says how they are written."
        ).format(name=f"`{FOLDER}`")
    )
