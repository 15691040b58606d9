"""The page "Checkpoint" in a real Chromium: a foreign file is dropped, recognised, asked about, and looked at."""

import re

import pytest
from playwright.sync_api import expect

from tests.conftest import ROOT

CASES = ROOT / "tests/fixtures"


@pytest.mark.parametrize("scheme", ["light"])
def test_a_pickled_state_dict_is_dropped_recognised_and_looked_at(watch, scheme):
    app = watch(scheme)
    app.page.goto(app.server + "/Checkpoint")
    expect(app.page.get_by_text("Known by", exact=False).or_(app.page.get_by_text("known by")).first).to_be_visible()
    app.page.locator("input[type=file]").first.set_input_files(CASES / "txl_official/mem_2seg/state_dict.pt")
    expect(app.page.get_by_text("Transformer-XL, the authors' PyTorch code").first).to_be_visible()
    expect(app.page.get_by_text("the file does not say").first).to_be_visible()  # clamp_len and others
    app.page.get_by_role("link", name="Score terms").click()
    app.settle()
    expect(app.page.get_by_text(re.compile("exact to")).first).to_be_visible()


def test_what_is_no_checkpoint_is_one_sentence(watch, tmp_path):
    bad = tmp_path / "page.bin"
    bad.write_bytes(b"<!DOCTYPE html><html><body>404</body></html>")
    app = watch()
    app.page.goto(app.server + "/Checkpoint")
    app.page.locator("input[type=file]").first.set_input_files(bad)
    expect(app.page.get_by_text(re.compile("page.bin is a web page"))).to_be_visible()
    named = {"name": "![x](http://h.example/t.png).pt", "mimeType": "application/octet-stream", "buffer": b"no"}
    app.page.locator("input[type=file]").first.set_input_files(named)
    expect(app.page.get_by_text("![x](http://h.example/t.png).pt is a text file", exact=False)).to_be_visible()
