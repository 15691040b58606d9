"""A copied link opens the same numbers in a fresh browser; a page that is taken along opens without a network."""

from pathlib import PurePath

from playwright.sync_api import expect

from relxl.ui.frame import all_pages

RUNNING = "[data-testid=stApp][data-test-script-state=running]"
PATHS = {name: "/" + PurePath(page.file).stem.partition("_")[2] for name, page in all_pages().items() if name != "home"}
PATHS |= {"home": "/"}


def ready(app):
    """Wait for the end of the script: the sidebar is drawn last."""
    expect(app.page.get_by_role("button", name="Copy link")).to_be_visible()
    app.page.wait_for_function(f"!document.querySelector('{RUNNING}')")


def numbers(app):
    """Give all words and numbers of the page."""
    ready(app)
    main = app.page.get_by_test_id("stMain")
    return [line for line in main.inner_text().splitlines() if line.strip() and " s" not in line]  # no measured times


def test_a_copied_link_shows_the_same_in_a_fresh_browser_on_every_page(watch):
    app, fresh = watch(), watch(fresh=True)  # every address that is opened begins a session of its own
    app.page.goto(f"{app.server}/?l=1&h=2&q=9&ck=shakespeare-sinusoid")
    for name, path in PATHS.items():
        door = all_pages()[name]
        app.page.get_by_test_id("stSidebar").get_by_role("link", name=door.name, exact=True).click()
        expect(app.page.get_by_role("heading", name=door.question)).to_be_visible()
        ready(app)
        app.page.get_by_role("button", name="Copy link").click()
        link = app.page.get_by_test_id("stPopoverBody").locator("code").inner_text()
        assert link.startswith(app.server + path) and "shakespeare-sinusoid" in link, name
        app.page.keyboard.press("Escape")
        fresh.page.goto(link)
        for _wait in range(60):  # what takes long comes after the sidebar
            if numbers(fresh) == numbers(app):
                break
            fresh.page.wait_for_timeout(500)
        assert numbers(fresh) == numbers(app), name


def test_a_page_taken_along_opens_with_the_network_off(watch, browser, tmp_path):
    app = watch().open("/Score_terms?l=1&h=2")
    ready(app)
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="HTML, offline").click()
    file = tmp_path / "page.html"
    download.value.save_as(file)
    context = browser.new_context(offline=True)
    page, asked, errors = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(file.as_uri())
    expect(page.locator("figure .main-svg").first).to_be_visible()
    assert page.locator("figure").count() >= 5 and "L1H2" in page.locator("figcaption").first.inner_text()
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()] and errors == []
    context.close()
