"""The page "Masking" in a real Chromium: every exhibit repaints and says the number that the library returns."""

import re

import pytest
import torch
from playwright.sync_api import expect

from relxl.checkpoint import open_checkpoint
from relxl.style import number
from relxl.trace import run, split_memory
from relxl.ui.masking.gallery import gallery
from tests.conftest import ROOT


@pytest.mark.parametrize("scheme", ["dark"])
def test_every_exhibit_repaints_and_says_what_the_library_returns(watch, scheme):
    app = watch(scheme).open("/Masking?l=1&h=2")
    box = app.page.get_by_role("textbox", name="Text")
    expect(box).not_to_have_value("")
    text = box.input_value()
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    ids = checkpoint.vocab.encode(text).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    trace = run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len)
    before = app.pixels(2)
    for name, preset in gallery().items():
        app.page.get_by_role("radio", name=preset.name, exact=True).or_(
            app.page.get_by_role("button", name=preset.name, exact=True)
        ).first.click()
        expect(app.page.get_by_text(preset.text, exact=False)).to_be_visible()
        head = trace.masked(1, 2, preset.rule)
        leak = head.leak[~head.nan]
        said = "the leak is exactly 0.0" if leak.max() == 0 else f"get {number(float(leak.mean()))} of the attention"
        expect(app.page.get_by_text(said, exact=False).first).to_be_visible()
        app.settle()
        if name not in ("right", "early_inf", "beaten", "half", "window"):
            assert app.pixels(2) != before, name
        if name == "right":
            before = app.pixels(2)


def test_a_number_can_be_typed_as_a_fill_and_a_click_pins(watch):
    app = watch().open("/Masking?l=1&h=2")
    box = app.page.get_by_role("combobox", name="Fill")
    box.fill("-3.5")
    box.press("Enter")
    expect(app.page.get_by_text("A rule of your own.")).to_be_visible()
    expect(app.page).to_have_url(re.compile("mf=-3.5"))
    app.settle()
    app.canvas.click(position={"x": 120, "y": 60})
    expect(app.page.get_by_text("In L1H2 forbidden keys get").first).to_be_visible()
    expect(app.page).to_have_url(re.compile("c=1"))


def test_the_causality_map_is_drawn_and_a_leak_is_located(watch):
    app = watch().open("/Masking?l=1&h=2&mx=sees_next&ml=one")
    expect(app.page.get_by_text("The leak enters in L1")).to_be_visible()
    expect(app.page.locator(".view[data-painted]")).to_have_count(2)
