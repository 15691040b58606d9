"""The matrix view under a person's hands: read, pin, unpin, move, zoom."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from relxl.checkpoint import open_checkpoint
from relxl.trace import run, split_memory
from tests.conftest import ROOT

LINK = "/Score_terms?ck=shakespeare-learned&l=1&h=2&m=1&q=7&k=20"


def centre(watched, panel, row, col, rows, cols):
    """Give the place on the screen of a cell of a panel, inside the margins that the axes take."""
    box = watched.view.locator(".panel canvas").nth(panel).bounding_box()
    edge, left, bottom = 5.5, 38.5 if panel % 3 == 0 else 5.5, 30.5 if panel >= 3 else 5.5
    x = box["x"] + left + (box["width"] - left - edge) * (col + 0.5) / cols
    return x, box["y"] + edge + (box["height"] - edge - bottom) * (row + 0.5) / rows


class Fingers:
    """Touch the screen as one or two fingers do, and count what the page sends to the server from then on."""

    def __init__(self, app):
        self.page, self.sent = app.page, []
        self.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self.sent.append(frame)))
        self.device = app.context.new_cdp_session(app.page)
        self.device.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def send(self, kind, *places):
        points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
        self.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def tap(self, place):
        self.send("touchStart", place)
        self.send("touchEnd")

    def move(self, *fingers, steps=6):
        """Put down fingers one after another, move each from its first place to its second, and leave them there."""
        for count in range(len(fingers)):
            self.send("touchStart", *[start for start, _ in fingers[: count + 1]])
        for step in range(1, steps + 1):
            share = step / steps
            self.send("touchMove", *[[a + (b - a) * share for a, b in zip(*finger, strict=True)] for finger in fingers])
        self.page.wait_for_timeout(100)  # a frame or two


def shown_terms(watched, layer, head):
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    box = watched.page.get_by_role("textbox", name="Text")
    expect(box).not_to_have_value("")  # the sidebar is drawn after the picture
    ids = checkpoint.vocab.encode(box.input_value()).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    return run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len).terms(layer).head(head)


def numbers(readout):
    """Read the six numbers of a read-out, in the order of the panels."""
    after = readout.split(": ", 1)[1].replace("−", "-")
    return [float(text) for text in re.findall(r"[a-z]\)? ?\w* ?(-?\d+\.?\d*(?:e[+-]\d+)?)", after)]


def test_the_pointer_reads_every_panel_and_the_numbers_are_the_librarys(watch):
    app = watch().open(LINK)
    terms = shown_terms(app, 1, 2)
    rows, cols = terms.mask.shape
    for row, col, panel in [(3, 9, 0), (30, 60, 4), (rows - 1, 0, 2)]:
        app.page.mouse.move(*centre(app, panel, row, col, rows, cols))
        expect(app.view.locator(".readout")).to_contain_text(f"query {row} ")
        text = app.readout
        assert f"key {col} " in text and f"distance {cols - rows + row - col}".replace("-", "−") in text
        values = [term[row, col] for term in terms.terms.values()]
        expected = [*values[:2], terms.logits[row, col], *values[2:], terms.probs[row, col]]
        limit = max(np.abs(m).max() for m in (*terms.terms.values(), terms.logits))
        for got, want in zip(numbers(text), expected, strict=True):
            assert got == pytest.approx(want, abs=float(limit) / 32766 + abs(float(want)) * 5e-3)


def test_a_click_pins_escape_unpins_and_arrows_move(watch):
    app = watch().open(LINK)
    terms = shown_terms(app, 1, 2)
    app.page.mouse.click(*centre(app, 1, 12, 30, *terms.mask.shape))
    expect(app.page.get_by_label("Query", exact=True)).to_have_value("12")
    expect(app.page.get_by_label("Key", exact=True)).to_have_value("30")
    app.view.press("ArrowUp")
    app.view.press("ArrowRight")
    app.view.press("Shift+ArrowRight")
    expect(app.page.get_by_label("Query", exact=True)).to_have_value("11")
    expect(app.page.get_by_label("Key", exact=True)).to_have_value("41")
    expect(app.page.get_by_text("Query 11", exact=False).last).to_be_visible()
    app.settle()
    app.change(lambda: app.view.press("Escape"))
    expect(app.page.get_by_text("Click a cell of a matrix")).to_be_visible()
    expect(app.page).to_have_url(re.compile("c=0"))
    app.page.get_by_role("button", name="Strongest").click()
    expect(app.page.get_by_text("Click a cell of a matrix")).not_to_be_visible()


def test_page_keys_change_the_head(watch):
    app = watch().open(LINK)
    app.change(lambda: app.view.press("PageDown"))
    expect(app.page).to_have_url(re.compile("h=3"))
    app.change(lambda: app.view.press("PageUp"))
    app.change(lambda: app.view.press("PageUp"))
    expect(app.page).to_have_url(re.compile("h=1"))


def test_zoom_shows_a_part_in_every_panel_survives_a_rerun_and_is_reset(watch):
    app = watch().open(LINK)
    rows, cols = shown_terms(app, 1, 2).mask.shape
    whole = [app.pixels(panel) for panel in range(6)]
    x0, y0 = centre(app, 0, 5, 10, rows, cols)
    x1, y1 = centre(app, 0, 14, 29, rows, cols)
    app.page.mouse.move(x0, y0)
    app.page.mouse.down()
    app.page.mouse.move(x1, y1, steps=4)
    app.page.mouse.up()
    app.settle()
    assert all(app.pixels(panel) != whole[panel] for panel in range(6))
    app.page.mouse.move(*centre(app, 4, 0, 0, 10, 20))
    expect(app.view.locator(".readout")).to_contain_text("query 5 ")
    expect(app.view.locator(".readout")).to_contain_text("key 10 ")
    app.change(lambda: app.view.press("PageDown"))  # another head, the same part
    app.page.mouse.move(*centre(app, 4, 9, 19, 10, 20))
    expect(app.view.locator(".readout")).to_contain_text("query 14 ")
    app.canvas.dblclick()
    app.settle()
    app.page.mouse.move(*centre(app, 4, 0, 0, rows, cols))
    expect(app.view.locator(".readout")).to_contain_text("query 0 ")


def test_thirty_two_panels_are_drawn_and_a_click_opens_a_head(watch):
    app = watch().open(LINK + "&t=all")
    overview = app.page.locator(".view[data-painted]").nth(1)
    assert overview.locator(".panel canvas").count() == 32
    drawn = overview.evaluate(
        "view => new Set([...view.querySelectorAll('.panel canvas')].map(c => c.toDataURL())).size"
    )
    assert drawn == 32
    overview.locator(".panel canvas").nth(13).click()
    expect(app.page.get_by_role("radio", name="H5", exact=True)).to_be_checked()
    expect(overview.locator(".title", has_text="▸")).to_have_text([f"▸ ({letter}) L1H5" for letter in "abcd"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_through_in_both_themes(watch, scheme):
    app = watch(scheme).open(LINK)
    corner = (
        app.view.locator(".panel canvas")
        .nth(3)
        .evaluate("c => [...c.getContext('2d').getImageData(42 * c.width / c.clientWidth, c.height / 2, 1, 1).data]")
    )
    u_bias = shown_terms(app, 1, 2).u_bias
    assert abs(u_bias[0]) < 3  # near zero: the colour is near the middle of the scale, which is the page's
    assert (sum(corner[:3]) > 500) == (scheme == "light")


def test_the_view_is_reachable_and_named_for_those_who_can_not_see_it(watch):
    app = watch().open(LINK)
    label = app.view.get_attribute("aria-label")
    assert "%" in label and "L1H2" in label and app.view.get_attribute("tabindex") == "0"
    assert app.view.locator("canvas[role=img][aria-label]").count() == 6
    app.view.press("ArrowLeft")
    expect(app.view.locator("[aria-live=polite]")).to_contain_text("key 19")


def test_the_outer_panels_say_which_axis_is_which(watch):
    app = watch()
    app.page.add_init_script("""
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        (this.canvas.written ??= []).push(text);
        fillText.call(this, text, ...place);
      };
    """)
    app.open(LINK)
    written = app.view.evaluate("view => [...view.querySelectorAll('.panel canvas')].map((c) => c.written || [])")
    assert ["query" in texts for texts in written] == [True, False, False] * 2
    assert ["key" in texts for texts in written] == [False] * 3 + [True] * 3
    assert written[1] == [] and "8" in written[0] and "16" in written[4]


def test_reading_with_the_pointer_sends_nothing(watch):
    app = watch()
    frames = []
    app.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    app.open(LINK)
    rows, cols = shown_terms(app, 1, 2).mask.shape
    before = len(frames)
    for col in range(0, cols, 5):
        app.page.mouse.move(*centre(app, 1, 6, col, rows, cols))
    expect(app.view.locator(".readout")).to_contain_text("query 6 ")
    assert before > 0 and len(frames) == before


def test_a_long_text_is_pooled_says_so_and_zooms_to_exact_cells(watch):
    app = watch().open("/Score_terms?ck=shakespeare-learned&l=1&h=2&m=1&t=all")
    box = app.page.get_by_role("textbox", name="Text")
    overview = app.page.locator(".view[data-painted]").nth(1)
    box.fill("Is this the promised end? " * 12)
    box.press("Control+Enter")
    expect(overview.locator(".note")).to_contain_text("each pixel is the largest of 3 × 3 cells")
    overview.scroll_into_view_if_needed()
    canvas = overview.locator(".panel canvas").first.bounding_box()
    app.page.mouse.move(canvas["x"] + 20, canvas["y"] + 10)
    app.page.mouse.down()
    app.page.mouse.move(canvas["x"] + 50, canvas["y"] + 30, steps=3)
    app.page.mouse.up()
    expect(overview.locator(".note")).to_contain_text("drag to zoom, double-click to reset")
    app.settle()


def test_a_stroke_is_no_zoom_a_double_click_pins_nothing_and_shortcuts_stay_the_browsers(watch):
    app = watch().open(LINK)
    rows, cols = shown_terms(app, 1, 2).mask.shape
    before = app.pixels()
    for to in [(12, 60), (38, 31)]:  # along a row, along a column
        app.page.mouse.move(*centre(app, 0, 12, 30, rows, cols))
        app.page.mouse.down()
        app.page.mouse.move(*centre(app, 0, *to, rows, cols), steps=4)
        app.page.mouse.up()
    app.page.mouse.move(0, 0)
    app.settle()
    assert app.pixels() == before
    app.view.press("+")
    app.settle()
    app.canvas.dblclick()
    app.settle()
    expect(app.page.get_by_label("Query", exact=True)).to_have_value("7")
    expect(app.page.get_by_label("Key", exact=True)).to_have_value("20")
    taken = app.view.evaluate(
        "view => !view.dispatchEvent(new KeyboardEvent('keydown', {key: '+', ctrlKey: true, cancelable: true}))"
    )
    assert not taken


def test_quick_arrow_keys_lose_no_step(watch):
    app = watch().open(LINK)
    for pause in (0, 170, 0, 0, 250, 0, 0):
        app.view.press("ArrowRight")
        app.page.wait_for_timeout(pause)
    expect(app.page.get_by_label("Key", exact=True)).to_have_value("27")


def test_a_zoom_into_a_long_text_does_not_outlive_it(watch):
    app = watch().open("/Score_terms?ck=shakespeare-learned&l=1&h=2&m=0&n=512")
    box = app.page.get_by_role("textbox", name="Text")
    for text, note in [
        ("Is this the promised end? " * 20, "2 × 2 cells"),
        ("Is this the promised end? " * 16, "2 × 2 cells"),
    ]:
        box.fill(text)
        box.press("Control+Enter")
        expect(app.view.locator(".note")).to_contain_text(note)
        app.view.locator("button.in").click()
        expect(app.view.locator(".note")).to_contain_text("drag to zoom, double-click to reset")
        app.settle()


def test_two_fingers_zoom_and_move_all_panels_and_ask_for_the_exact_window_once(watch):
    app = watch()
    fingers = Fingers(app)
    app.open("/Score_terms?ck=shakespeare-learned&l=1&h=2&m=0&n=512")
    box = app.page.get_by_role("textbox", name="Text")
    box.fill("Is this the promised end? " * 20)
    box.press("Control+Enter")
    expect(app.view.locator(".note")).to_contain_text("2 × 2 cells; zoom in for exact ones")
    app.settle()
    app.page.wait_for_timeout(1000)  # what stands below the picture may still come
    whole, sent = [app.pixels(panel) for panel in range(6)], len(fingers.sent)
    x, y = centre(app, 1, 300, 200, 512, 512)
    fingers.move([(x - 5, y - 5), (x - 40, y - 40)], [(x + 5, y + 5), (x + 40, y + 40)])
    near = [app.pixels(panel) for panel in range(6)]
    assert all(a != b for a, b in zip(whole, near, strict=True)) and len(fingers.sent) == sent
    fingers.send("touchEnd")
    expect(app.view.locator(".note")).to_contain_text("pinch to zoom, double-tap to reset")
    app.settle()
    assert len(fingers.sent) == sent + 1
    app.page.mouse.move(x, y)
    query, key = map(int, re.findall(r"(?:query|key) (\d+)", app.readout))
    assert abs(query - 300) <= 1 and abs(key - 200) <= 1  # 64 of 512 cells, around the middle of the fingers

    cell = app.view.locator(".panel canvas").nth(1).bounding_box()["width"] / 67
    fingers.move([(x - 40, y), (x - 40 - 9 * cell, y)], [(x + 40, y), (x + 40 - 9 * cell, y)])
    assert len(fingers.sent) == sent + 1
    fingers.send("touchEnd")
    app.page.wait_for_timeout(500)
    app.settle()
    assert len(fingers.sent) == sent + 2
    app.page.mouse.move(x, y)
    query, key = map(int, re.findall(r"(?:query|key) (\d+)", app.readout))
    assert abs(query - 300) <= 1 and abs(key - 209) <= 2
    app.page.mouse.move(0, 0)
    expect(app.view.locator(".readout")).to_contain_text("probability–")  # the pin is not in the window

    fingers.move([(x - 40, y - 40), (x - 2, y - 2)], [(x + 40, y + 40), (x + 2, y + 2)])
    fingers.send("touchEnd")
    expect(app.view.locator(".note")).to_contain_text("2 × 2 cells")
    app.settle()
    assert [app.pixels(panel) for panel in range(6)] == whole


def test_one_finger_scrolls_a_tap_pins_and_a_double_tap_resets(watch):
    app = watch()
    fingers = Fingers(app)
    app.open(LINK)
    rows, cols = shown_terms(app, 1, 2).mask.shape
    whole = app.pixels()
    query, key = (app.page.get_by_label(name, exact=True) for name in ("Query", "Key"))
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    x, y = centre(app, 1, 20, 40, rows, cols)
    fingers.move([(x, y), (x - 30, y - 120)], steps=12)
    fingers.send("touchEnd")
    app.page.wait_for_timeout(300)
    assert app.page.evaluate(scrolled) > 50 and app.pixels() == whole
    app.page.evaluate(f"{scrolled} = 0")
    fingers.move([(x, y), (x + 60, y + 20)])  # sideways: it reads, and is no rectangle
    expect(app.view.locator(".readout")).not_to_contain_text("key 20 ")
    fingers.send("touchEnd")
    expect(app.view.locator(".readout")).to_contain_text("key 20 ")
    assert app.pixels() == whole
    fingers.tap((x, y))
    expect(query).to_have_value("20")
    expect(key).to_have_value("40")
    app.settle()
    fingers.move([(x - 10, y), (x - 50, y)], [(x + 10, y), (x + 50, y)])
    fingers.send("touchEnd")
    app.settle()
    near = app.pixels()
    fingers.tap((x + 50, y))
    fingers.tap((x + 50, y))
    app.page.wait_for_timeout(500)
    app.settle()
    expect(query).to_have_value("20")
    expect(key).to_have_value("40")
    app.page.mouse.move(*centre(app, 1, 0, 0, rows, cols))
    expect(app.view.locator(".readout")).to_contain_text("query 0 ")
    assert app.pixels() != near


def test_the_picture_can_be_saved_as_png(watch, tmp_path):
    app = watch().open("/Score_terms?l=1&h=2")
    with app.page.expect_download() as download:
        app.view.get_by_role("button", name="Save as PNG").click()
    file = tmp_path / "picture.png"
    download.value.save_as(file)
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000
    width = int.from_bytes(data[16:20], "big")
    assert width == round(app.view.bounding_box()["width"])
