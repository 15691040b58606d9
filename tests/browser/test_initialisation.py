"""The page "Initialisation" in a real Chromium: a slider repaints, a sweep streams and can be cancelled."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("scheme", ["dark"])
def test_the_slider_and_a_preset_repaint(watch, scheme):
    app = watch(scheme).open("/Initialisation?il=32")
    slider = app.page.get_by_role("slider", name="Standard deviation")
    expect(slider).to_be_visible()
    app.change(lambda: slider.press("ArrowRight"))
    expect(app.page).to_have_url(re.compile(r"is=0\.0252"))
    app.change(app.page.get_by_role("button", name="Saturated").click)
    expect(app.page.get_by_text("heads are peaked")).to_be_visible()


def test_a_sweep_streams_and_a_training_can_be_cancelled(watch):
    app = watch().open("/Initialisation?il=32")
    app.page.get_by_role("button", name="Start").first.click()
    expect(app.page.get_by_text(re.compile(r"Measuring · \d+ %"))).to_be_visible()
    expect(app.page.get_by_text(re.compile(r"Done in \d+"))).to_be_visible(timeout=60_000)
    app.page.get_by_role("button", name="Start").first.click()  # the training, half a minute: not over before the click
    expect(app.page.get_by_text(re.compile(r"Training · \d+ %"))).to_be_visible()
    app.page.get_by_role("button", name="Cancel").first.click()
    expect(app.page.get_by_text("this is what there is")).to_be_visible()
