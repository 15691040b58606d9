"""The language in a real Chromium: it follows the browser, and what is redrawn by itself does not forget it."""

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def speaking(browser, server):
    """Open a page in a browser of some language."""
    opened = []

    def start(locale: str, path: str):
        opened.append(browser.new_context(locale=locale))
        page = opened[-1].new_page()
        page.goto(server + path)
        return page

    yield start
    for context in opened:
        context.close()


def test_a_browser_is_answered_in_its_language_and_a_link_in_the_link_s(speaking):
    expect(speaking("zh-CN", "/Shift").locator("[data-testid=stMain] h3").first).to_contain_text(
        "每个格子实际读的是哪个距离"
    )
    expect(speaking("en-US", "/Shift?lang=zh").locator("[data-testid=stMain] h3").first).to_contain_text(
        "每个格子实际读的是哪个距离"
    )
    expect(speaking("fr-FR", "/Shift").locator("[data-testid=stMain] h3").first).to_contain_text("Which distance")


def test_a_part_that_is_redrawn_by_itself_stays_in_its_language(speaking):
    chinese, english = speaking("zh-CN", "/Shift"), speaking("en-US", "/Shift")
    for page, back, title, drop in (
        (chinese, "上一步", "丢弃", "丢掉第一行"),
        (english, "Back", "drop", "The first row is dropped"),
    ):
        page.get_by_role("button", name=back, exact=True).click()
        expect(page.locator(".stage caption").first).to_contain_text(title)
        expect(page.get_by_text(drop).first).to_be_visible()


def test_a_job_speaks_the_language_of_who_watches_it(speaking):
    page = speaking("zh-CN", "/Score_terms")
    row = page.get_by_text("依次静音").locator("xpath=ancestor::*[@data-testid='stHorizontalBlock'][1]")
    row.get_by_role("button", name="开始").click()
    expect(
        page.get_by_role("button", name="取消").or_(page.get_by_role("button", name="重新运行")).first
    ).to_be_visible()
    expect(page.get_by_text("已完成，用时").first).to_be_visible(timeout=120_000)
    assert page.get_by_text("Cancel").count() == 0 and page.get_by_text("Muting").count() == 0


def test_the_switch_keeps_what_is_looked_at(speaking):
    page = speaking("en-US", "/Score_terms?l=1&h=4&q=7")
    expect(page.get_by_role("spinbutton", name="Query")).to_have_value("7")
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_role("spinbutton", name="查询")).to_have_value("7")
    for part in ("lang=zh", "l=1", "h=4", "q=7"):  # the address follows a moment after the words
        expect(page).to_have_url(re.compile(part))
