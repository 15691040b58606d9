"""The page "Max len" in a real Chromium: slider and presets repaint, the wall is seen, a job can be stopped."""

import re

import pytest
from playwright.sync_api import expect

WALL_PIXELS = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    count += data[i] > 180 && data[i] - data[i + 1] > 100 && Math.abs(data[i + 1] - data[i + 2]) < 40;
  }
  return count;
}"""


def red(app, panel):
    """Count the pixels of a panel that are red as the wall is."""
    return app.view.locator(".panel canvas").nth(panel).evaluate(WALL_PIXELS)


@pytest.mark.parametrize("scheme", ["light"])
def test_presets_and_slider_repaint_and_the_wall_is_drawn(watch, scheme):
    app = watch(scheme).open("/Max_len?l=2&h=6")
    expect(app.page.get_by_text("visible cells lie beyond the wall at 8")).to_be_visible()
    at_eight = app.pixels(1)
    assert red(app, 2) > 50 and red(app, 5) > 50
    app.page.get_by_role("button", name="No wall").click()
    expect(app.page.get_by_text("is bit-equal")).to_be_visible()
    app.settle()
    unwalled = app.pixels(1)
    assert red(app, 5) < 20 and unwalled != at_eight
    app.page.get_by_role("button", name="Direction flipped").click()
    expect(app.page.get_by_text("only transposes")).to_be_visible()
    app.settle()
    assert app.pixels(1) not in (at_eight, unwalled)
    app.page.get_by_role("button", name="Wall at 8").click()
    expect(app.page.get_by_text("visible cells lie beyond the wall at 8")).to_be_visible()
    app.settle()
    slider = app.page.get_by_role("slider", name="Largest distance told apart")
    slider.focus()
    slider.press("ArrowRight")
    expect(app.page.get_by_text("visible cells lie beyond the wall at 9")).to_be_visible()
    expect(app.page).to_have_url(re.compile("xr=9"))
    app.settle()
    assert app.pixels(1) != at_eight


def test_a_longer_text_is_brought_by_its_preset(watch):
    app = watch().open("/Max_len?ck=shakespeare-sinusoid")
    app.page.get_by_role("button", name="Wall at the training length").click()
    expect(app.page.get_by_text("visible cells lie beyond the wall at 255")).to_be_visible()
    app.settle()
    assert red(app, 5) > 50


def test_the_index_matrix_follows_its_controls(watch):
    app = watch().open("/Max_len")
    table = app.page.get_by_role("table", name="m + i − j runs from −4 to 9.")
    expect(table.locator("b.wall")).to_have_count(10)
    needed = app.page.get_by_role("spinbutton", name="max_len")
    needed.fill("10")
    needed.press("Enter")
    expect(app.page.get_by_text("Each distance has a row of its own.")).to_be_visible()
    expect(table.locator("b.wall")).to_have_count(0)
    expect(app.page).to_have_url(re.compile("xl=10"))


def start(app):
    expect(app.page.get_by_text("How this is computed")).to_be_visible()
    app.settle()
    app.page.get_by_role("button", name="Start").click()


def test_a_measurement_draws_what_it_has_and_ends_by_itself(watch):
    app = watch().open("/Max_len?ck=shakespeare-leaky")
    start(app)
    expect(app.page.get_by_text("Done in")).to_be_visible(timeout=60_000)
    expect(app.page.get_by_text("In segments of 512 tokens, 4 times the training’s").last).to_be_visible()


def test_a_measurement_can_be_stopped(watch):
    app = watch().open("/Max_len?ck=shakespeare-learned")
    start(app)
    expect(app.page.get_by_text("Measuring ·")).to_be_visible()
    app.page.get_by_role("button", name="Cancel").click()
    expect(app.page.get_by_text("Cancelled at")).to_be_visible()
