"""A server of our own on a free port and a real Chromium, both started once for all browser tests."""

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from relxl.bench.chromium import chromium, serve
from tests.conftest import ROOT

# Streamlit itself asks below the page's path first when a page is opened by its address, and then finds the server.
STREAMLITS_OWN = ("/_stcore/health", "/_stcore/host-config")

expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def server():
    with serve(ROOT / "app.py", ROOT) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    with chromium() as browser:
        yield browser


class Watched:
    """Hold a page together with what went wrong on it: console errors, page errors, requests to another host."""

    def __init__(self, context: BrowserContext, server: str, scheme: str = "light"):
        self.server, self.context, self.problems = server, context, []
        self.page: Page = context.new_page()
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_default_timeout(60_000)
        self.page.on("console", self.note_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("request", self.note_request)

    def note_console(self, message):
        if message.type == "error" and not message.location["url"].endswith(STREAMLITS_OWN):
            self.problems.append(f"console: {message.text} {message.location['url']}")

    def note_request(self, request):
        own = (self.server, self.server.replace("http", "ws"), f"blob:{self.server}", "data:")
        if not request.url.startswith(own):
            self.problems.append(f"request to another host: {request.url}")

    def open(self, path: str = "/"):
        self.page.goto(self.server + path)
        self.settle()
        return self

    def settle(self):
        """Wait until the script has run and the first matrix view has been painted."""
        self.view.wait_for()
        running = "[data-testid=stApp][data-test-script-state=running]"
        self.page.wait_for_function(f"!document.querySelector('{running}')")
        self.page.wait_for_timeout(100)  # a frame or two

    @property
    def view(self) -> Locator:
        """Give the first matrix view of the page."""
        return self.page.locator(".view[data-painted]").first

    @property
    def canvas(self) -> Locator:
        return self.view.locator(".panel canvas").first

    @property
    def readout(self) -> str:
        return self.view.locator(".readout").inner_text()

    def pixels(self, panel: int = 0) -> str:
        """Give what is drawn in a panel of the first view."""
        return self.view.locator(".panel canvas").nth(panel).evaluate("canvas => canvas.toDataURL()")

    def change(self, action):
        """Do something and wait until the first panel shows other pixels."""
        before = self.pixels()
        action()
        for _ in range(600):
            if self.pixels() != before:
                return self.settle()
            self.page.wait_for_timeout(50)
        raise AssertionError("the first panel did not change")


@pytest.fixture
def watch(browser, server):
    """Open pages in the first context, which has compiled the app already, or in a fresh one that has seen nothing."""
    opened = []

    def start(scheme: str = "light", fresh: bool = False) -> Watched:
        opened.append(Watched(browser.new_context() if fresh else browser.contexts[0], server, scheme))
        return opened[-1]

    yield start
    for watched in opened:
        watched.page.close()
        if watched.context != browser.contexts[0]:
            watched.context.close()
        assert watched.problems == []
