"""The page Shift in a real Chromium: what is painted is what the library computes, in both themes."""

import re

import pytest
from playwright.sync_api import expect

from relxl.shift import foreign_cells, pair_map, tagged_steps
from relxl.ui.shift.words import presets

CELLS = """table => [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('b')].map(cell => {
  const look = getComputedStyle(cell);
  return {label: cell.textContent.replaceAll('−', '-'), kinds: cell.className, back: look.backgroundColor,
          image: look.backgroundImage, ink: look.color, height: cell.getBoundingClientRect().height};
}))"""


class Shift:
    """Hold the page and what stands on it."""

    def __init__(self, watched, link=""):
        self.page = watched.page
        self.page.goto(f"{watched.server}/Shift{link}")
        expect(self.page.get_by_text("How this is computed")).to_be_visible()
        self.settle()

    def settle(self):
        self.page.wait_for_function("!document.querySelector('[data-test-script-state=running]')")
        self.page.wait_for_timeout(900)  # what moves has arrived

    @property
    def cells(self):
        return self.page.locator(".stage table").first.evaluate(CELLS)

    @property
    def labels(self):
        return [" ".join(cell["label"] for cell in row) for row in self.cells]

    def click(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).click()
        self.settle()


def labels_of(step):
    return [
        " ".join("P" if row < 0 else f"{row}:{distance}" for row, distance in zip(*line, strict=True))
        for line in zip(step.query_row.tolist(), step.distance.tolist(), strict=True)
    ]


@pytest.mark.parametrize("scheme", ["dark"])
def test_every_preset_repaints_and_says_the_number_of_the_library(watch, scheme):
    shift, seen = Shift(watch(scheme), "?s=labml&sq=3"), set()
    for label, controls in presets().values():
        shift.page.get_by_test_id("stButtonGroup").get_by_text(label, exact=True).click()
        name, query_len, mem_len, causal = controls.values()
        found = foreign_cells(pair_map(name, query_len, mem_len), mem_len)
        visible = int((found.visible if causal else found.foreign).sum())
        total = query_len * (query_len + mem_len)
        expected = (
            f"{int(found.foreign.sum())} of {total} cells carry a foreign distance; {visible} of them are visible"
        )
        expect(shift.page.get_by_text(expected)).to_be_visible()
        shift.settle()
        assert shift.labels == labels_of(tagged_steps(name, query_len, mem_len)[-1])
        seen.add(str(shift.cells))
        expect(shift.page).to_have_url(re.compile(f"s={name}&sq={query_len}&sm={mem_len}&sc={causal}&st=scores"))
    assert len(seen) == len(presets())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_wrong_can_be_told_from_what_is_right_and_what_is_hidden(watch, scheme):
    shift = Shift(watch(scheme), "?s=ascending&sq=4&sm=0&sc=0")
    looks = {cell["label"]: cell for row in shift.cells for cell in row}
    foreign, right = looks["0:3"], looks["1:2"]
    assert foreign["kinds"] == "foreign" == right["kinds"] and foreign["back"] == right["back"]
    shift.click("radio", "causal")
    hidden = shift.cells[0][3]
    assert hidden["kinds"] == "foreign hidden" and "gradient" in hidden["image"] and hidden["back"] != foreign["back"]
    should = shift.page.locator(".stage table").nth(1).evaluate(CELLS)
    assert should[0][0]["kinds"] == "" and should[0][0]["back"] not in (foreign["back"], "rgba(0, 0, 0, 0)")
    assert should[0][0]["back"] != should[3][0]["back"]  # near is darker than far


def test_stepping_by_buttons_and_by_the_steps(watch):
    shift = Shift(watch())
    steps = tagged_steps("pad_and_view", 4, 0)
    for step in reversed(steps[:-1]):
        shift.click("button", "Back")
        assert shift.labels == labels_of(step)
    expect(shift.page.get_by_role("button", name="Back", exact=True)).to_be_disabled()
    shift.click("radio", "3 view")
    assert shift.labels == labels_of(steps[2])
    shift.page.evaluate(
        "() => {window.moves = 0; document.addEventListener('animationstart', () => window.moves++, true)}"
    )
    shift.click("button", "Next")
    assert shift.labels == labels_of(steps[3]) and shift.page.evaluate("window.moves") == 16
    shift.click("radio", "5 scores")
    expect(shift.page.get_by_text("6 of 16 cells carry a foreign distance; 6 of them are visible.")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 1440])
def test_the_picture_fits_the_first_screen_and_wide_tables_scroll_in_themselves(watch, width):
    shift = Shift(watch())
    shift.page.set_viewport_size({"width": width, "height": 720})
    shift.settle()
    first, second = (shift.page.locator(".stage table").nth(n).bounding_box() for n in (0, 1))
    assert first["y"] == second["y"] and second["y"] + second["height"] < 500
    assert all(cell["height"] > 20 for row in shift.cells for cell in row)
    expect(shift.page.get_by_text("6 of 16 cells")).to_be_in_viewport()
    shift.page.goto(re.sub("s=.*", "s=legacy&sq=12&sm=12", shift.page.url))
    expect(shift.page.get_by_text("288 of 288 cells")).to_be_visible()
    shift.settle()
    assert shift.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert shift.page.locator(".stage .scroll").first.evaluate("box => box.scrollWidth > box.clientWidth")


def test_controls_change_the_picture_and_the_door_leads_here(watch):
    home = watch().open("/?l=1")
    home.page.get_by_test_id("stSidebar").get_by_role("link", name="Shift").click()
    expect(home.page.get_by_text("6 of 16 cells")).to_be_visible()
    expect(home.page).to_have_url(re.compile("l=1"))  # the controls of other pages stay in the link
    memory = home.page.get_by_label("Memory", exact=True)
    memory.fill("2")
    memory.press("Enter")
    expect(home.page.get_by_text("6 of 24 cells carry a foreign distance; 6 of them are visible.")).to_be_visible()
    home.page.get_by_role("radio", name="causal", exact=True).click()
    expect(home.page.get_by_text("0 of them are visible: the mask hides all.")).to_be_visible()


def test_a_measurement_can_be_stopped_and_a_finished_one_is_kept(watch):
    shift = Shift(watch())
    main = shift.page.get_by_test_id("stMain")
    main.get_by_role("button", name="Start").click()
    expect(shift.page.get_by_text("Measuring ·")).to_be_visible()
    main.get_by_role("button", name="Cancel").click()
    main.get_by_role("button", name=re.compile("Start|Run again")).click()
    expect(shift.page.get_by_text("the scores are the same: largest difference")).to_be_visible(timeout=200_000)
    expect(shift.page.locator(".js-plotly-plot")).to_have_count(1)
    sidebar = shift.page.get_by_test_id("stSidebar")
    sidebar.get_by_role("link", name="Score terms").click()
    expect(shift.page.get_by_text("Explain this cell")).to_be_visible()
    sidebar.get_by_role("link", name="Shift").click()
    expect(shift.page.get_by_text("the scores are the same: largest difference")).to_be_visible()
