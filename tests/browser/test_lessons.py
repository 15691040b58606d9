"""The page "Lessons" in a real Chromium: all lessons in both languages, answers, a presenter's arrow keys."""

import re

import pytest
from playwright.sync_api import expect

from relxl.lesson import lesson_files, read_lesson
from relxl.ui.lessons.sections import OURS, known

FILES = lesson_files(OURS)
WORDS = {"en": ("Right.", "Not this one.", "Next"), "zh": ("对。", "不是这个。", "下一步")}


class Walk:
    """Go through lessons as a person does."""

    def __init__(self, watched, language: str):
        self.page, self.language = watched.page, language
        self.page.goto(f"{watched.server}/Lessons?lang={language}&lp=1")

    def at(self, name: str, step: int, steps: int) -> None:
        """Wait until a step is drawn, its figure too, and nothing runs any more."""
        expect(self.page.locator(".dots span")).to_have_text(f"{step + 1} / {steps}")
        expect(self.page).to_have_url(re.compile(f"le={name}&ls={step}"))
        self.page.wait_for_function("!document.querySelector('[data-test-script-state=running]')")
        picture = ".view[data-painted], .js-plotly-plot .main-svg, .cells table, .held table"
        expect(self.page.locator(picture).first).to_be_visible()
        assert self.page.locator("[data-testid=stException]").count() == 0

    def options(self):
        return self.page.locator("[class*=st-key-lesson_options] button")

    def answer(self) -> int:
        """Answer the question of the step wrongly and then rightly; give how many were answered."""
        if not self.options().count():
            return 0
        right, wrong, _next = WORDS[self.language]
        self.options().first.click()
        expect(self.page.get_by_text(re.compile(f"^({re.escape(right)}|{re.escape(wrong)})"))).to_be_visible()
        marks = self.options().locator("[data-testid=stIconMaterial]")
        place = marks.all_inner_texts().index("check_circle")
        if place == 0:
            self.options().nth(1).click()
        expect(self.page.get_by_text(wrong, exact=True)).to_be_visible()
        self.options().nth(place).click()
        expect(self.page.get_by_text(right, exact=True)).to_be_visible()
        return 1


@pytest.mark.parametrize("language", WORDS)
def test_all_lessons_are_walked_through_with_the_arrow_keys(watch, language):
    walk, answered = Walk(watch("dark" if language == "zh" else "light"), language), 0
    lessons = {name.split("-", 1)[1]: read_lesson(files[language], known()) for name, files in FILES.items()}
    for name, lesson in lessons.items():
        for step in range(len(lesson.steps)):
            walk.at(name, step, len(lesson.steps))
            answered += walk.answer()
            walk.page.keyboard.press("ArrowRight")
    assert answered >= len(lessons)
    expect(walk.page.get_by_role("button", name=WORDS[language][2])).to_be_disabled()
    walk.page.keyboard.press("ArrowLeft")
    walk.at("debug", 2, 4)


def test_arrow_keys_of_a_matrix_move_its_cell_and_not_the_lesson(watch):
    app = watch().open("/Lessons?le=four-terms&lp=1")
    walk = app.page
    app.view.click(position={"x": 200, "y": 60})
    app.view.focus()
    before = app.readout
    walk.keyboard.press("ArrowRight")
    expect(app.view.locator(".readout")).not_to_have_text(before)
    walk.wait_for_timeout(500)
    expect(walk.locator(".dots span")).to_have_text("1 / 5")
    walk.get_by_role("heading", name="Four terms").click()
    walk.keyboard.press("ArrowRight")
    expect(walk.locator(".dots span")).to_have_text("2 / 5")


def test_a_presenters_step_fits_the_screen_and_the_sidebar_is_out_of_the_way(watch):
    app = watch().open("/Lessons?le=masking&ls=2")
    small = app.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    expect(app.page.get_by_test_id("stSidebar")).to_be_visible()
    app.page.get_by_text("Presenter", exact=True).click()
    expect(app.page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(app.page).to_have_url(re.compile("lp=1"))
    app.settle()
    assert app.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 1.4 * small
    last = app.page.locator("[class*=st-key-lesson_options] button").last.bounding_box()
    assert last["y"] + last["height"] <= 720
    assert app.page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_try_it_yourself_opens_the_page_with_its_settings(watch):
    app = watch()
    app.page.goto(f"{app.server}/Lessons?le=masking&ls=4")
    app.page.get_by_role("button", name="Try it yourself: Masking").click()
    expect(app.page.get_by_role("heading", name="How does the future get in?")).to_be_visible()
    expect(app.page).to_have_url(re.compile("mo=before.*mf=multiply"))
