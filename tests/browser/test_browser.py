"""What a person does, in a real Chromium. Every test also fails on a console error or a request to another host."""

import io
import re
import zipfile

import pytest
from playwright.sync_api import expect


def button(watched, name):
    return watched.page.get_by_test_id("stSidebar").get_by_role("radio", name=name, exact=True)


def test_home_paints_and_the_door_leads_to_score_terms_with_the_same_head(watch):
    home = watch().open("/?l=0&h=0")
    expect(home.page.get_by_text("exact to").first).to_be_visible()
    home.change(button(home, "L2").click)
    home.change(button(home, "H6").click)
    home.page.get_by_test_id("stSidebar").get_by_role("link", name="Score terms").click()
    expect(home.page.get_by_role("heading", name="What is this head's score made of")).to_be_visible()
    home.settle()
    expect(home.page).to_have_url(re.compile("l=2.*h=6"))
    expect(home.page.get_by_text("Explain this cell")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_layer_head_memory_and_checkpoint_repaint(watch, scheme):
    app = watch(scheme).open("/Score_terms?l=0&h=0")
    app.change(button(app, "L3").click)
    app.change(button(app, "H5").click)
    app.change(button(app, "off").click)
    app.page.get_by_role("combobox").first.click()
    app.change(app.page.get_by_role("option", name="shakespeare-sinusoid").click)
    expect(app.page.get_by_text("exact to").first).to_be_visible()
    background = app.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 21, 27)"}[scheme]


def test_a_link_opened_elsewhere_shows_the_same(watch):
    first = watch().open("/Score_terms?l=1&h=2&q=7&k=20&m=1")
    other = watch(fresh=True).open(first.page.url.removeprefix(first.server))
    assert first.pixels() == other.pixels()
    for watched in (first, other):
        expect(watched.page.get_by_label("Query", exact=True)).to_have_value("7")
        expect(watched.page.get_by_label("Key", exact=True)).to_have_value("20")


def test_arrow_keys_move_the_cell(watch):
    app = watch().open("/Score_terms?q=7&k=5")
    query = app.page.get_by_label("Query", exact=True)
    query.press("ArrowUp")
    query.press("Enter")
    expect(app.page.get_by_text("Query 8", exact=False).last).to_be_visible()


def test_typing_a_text_repaints_and_strange_text_is_shown_as_it_is(watch):
    app = watch().open("/Score_terms")
    box = app.page.get_by_role("textbox", name="Text")

    def write(text):
        box.fill(text)
        box.press("Control+Enter")

    app.change(lambda: write("To be, or not to be: that is the question"))
    app.change(lambda: write("<b>![x](http://elsewhere.example/t.png)</b> & $x$ &lt;"))
    write("")
    expect(app.page.get_by_text("The text has no token that this model knows")).to_be_visible()
    write("a")
    app.settle()


def test_chinese_is_shown(watch):
    app = watch().open("/Score_terms?ck=songci-learned")
    box = app.page.get_by_role("textbox", name="Text")
    expect(box).to_have_value(re.compile("[\u4e00-\u9fff]"))
    expect(app.page.get_by_text("exact to").first).to_be_visible()


def test_downloads_hold_the_head(watch):
    app = watch().open("/Score_terms?ck=shakespeare-learned&l=1&h=2")
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="NPZ", exact=True).click()
    assert download.value.suggested_filename == "shakespeare-learned_L1H2.npz"
    assert "L1.v_bias.npy" in zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())).namelist()
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="CSV", exact=True).click()
    assert (
        download.value.path()
        .read_text("utf-8-sig")
        .startswith("query,key,query_token,key_token,distance,visible,content,")
    )
