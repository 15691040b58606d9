"""The page "Lessons": which lesson and step, the step itself, its questions, and the list of all lessons."""

import os
from dataclasses import dataclass
from html import escape as html_escape
from pathlib import Path

import streamlit as st

import relxl
from relxl import style
from relxl.language import LANGUAGE, _, translated
from relxl.lesson import (
    Known,
    Lesson,
    LessonError,
    lesson_files,
    one_of,
    read_lesson,
    spoken_file,
    word,
)
from relxl.ui.frame import all_pages
from relxl.ui.lessons.figures import FIGURES
from relxl.ui.lessons.questions import QUESTIONS
from relxl.ui.lessons.step import draw_step, kept_answers
from relxl.ui.lessons.view import HEAD, MEASURES, known_settings
from relxl.ui.show import escape
from relxl.ui.state import LINK, choose, keep, kept_values
from relxl.ui.view import View

OURS = Path(relxl.__file__).parent / "lessons"
FOLDER = "RELXL_LESSONS"  # names a folder with lessons of a teacher's own
CSS = """<style>
[class*=st-key-lesson_options] button {justify-content: flex-start; text-align: left; min-height: 2.2rem;
  padding: .1rem .5rem}
[class*=st-key-lesson_options] {gap: .15rem}
[class*=st-key-lesson_options] code {font-size: 1em}
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
[class*=st-key-lesson_picture] {zoom: 1.25}
[class*=st-key-lesson_cells] {zoom: .84}
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
                found.append(Listed(name, read_lesson(spoken_file(files, LANGUAGE.get()), what)))
            except LessonError as error:
                found.append(Listed(name, None, str(error)))
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
    return f"{at + 1} {place.lessons[at].lesson.title}"


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


def step(view: View, place: Place) -> None:
    """Draw the step that is shown."""
    draw_step(view, place.listed.name, place.step, place.listed.lesson.steps[place.step], place.presenting)


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
