"""Time what a person waits for: from a control to the painted matrices, in a real Chromium, beside the floor.

The floor is what Streamlit itself needs on this machine to bring a line of text to the screen after a click. Times are
medians in milliseconds from the event in the browser to the frame that draws the new picture; ratios are to the floor
of the same run.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from relxl.bench.chromium import chromium, serve
from relxl.bench.lengths import read_lengths

ROOT = Path(__file__).parents[2]
FLOOR_APP = """
import streamlit as st
choice = st.radio("choice", ["one", "two"])
st.text(f"chosen {choice}")
"""
EMPTY_APP = """
import streamlit as st
import torch
st.text("ready")
"""
TEXT = "Now is the winter of our discontent made glorious summer by this sun of York; and all the clouds. "
FIND_VIEW = """(place) => {
  const roots = [...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean);
  return roots.flatMap((root) => [...root.querySelectorAll(".view")])[place];
}"""
IDLE = '() => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"'
SHOWN_TEXT = '() => document.querySelector("[data-testid=stText]")?.textContent'


def shown_view(place: int) -> str:
    """Write the JavaScript that says what the view at `place` shows, undefined while it is not painted."""
    return f"""() => {{
      const view = ({FIND_VIEW})({place});
      return view && view.dataset.painted === view.dataset.picture ? view.dataset.shown : undefined;
    }}"""


def timed(page, shown: str, act: Callable[[], None], watched: str = "() => document.body") -> float:
    """Give the milliseconds from the first event that `act` causes to the frame that draws what `shown` then says.

    Changes of the element that `watched` finds are observed rather than polled for: a poll would get its turn only
    after what is drawn further down. Waits first until server and browser have come to rest.
    """
    page.wait_for_function(IDLE)
    page.evaluate(
        "() => new Promise((rest) => requestIdleCallback(() => setTimeout(() => requestIdleCallback(rest), 300)))"
    )
    page.evaluate(
        f"""() => {{
          const shown = {shown}, before = shown();
          let start;
          for (const type of ["click", "keydown"]) {{
            addEventListener(type, () => {{ start ??= performance.now(); }}, {{ capture: true, once: true }});
          }}
          window.relxlTimed = new Promise((done, fail) => {{
            const look = () => {{
              const now = shown();
              if (start === undefined || now === undefined || now === before) return;
              observer.disconnect();
              done(performance.now() - start);
            }};
            const observer = new MutationObserver(look);
            const all = {{ attributes: true, childList: true, characterData: true, subtree: true }};
            observer.observe(({watched})(), all);
            setTimeout(() => fail(new Error("no change in a minute")), 60000);
          }});
        }}"""
    )
    act()
    return page.evaluate("() => window.relxlTimed")


def timed_view(page, act: Callable[[], None], place: int = 0) -> float:
    """Time a change of the matrix view at `place`; its root says when it has drawn."""
    return timed(page, shown_view(place), act, f"() => ({FIND_VIEW})({place})")


def measure(rounds: int, act: Callable[[int], float]) -> float:
    """Give the median over rounds, after one round that does not count."""
    act(0)
    return statistics.median(act(i + 1) for i in range(rounds))


def radio(page, name: str) -> Callable[[], None]:
    return lambda: page.get_by_role("radio", name=name, exact=True).first.click()


def measure_floor(browser, rounds: int) -> float:
    """Time one click to one line of text in an app that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "floor.py"
        script.write_text(FLOOR_APP)
        with serve(script, Path(folder)) as address:
            page = browser.new_page()
            page.goto(address)
            page.wait_for_selector("[data-testid=stText]")
            labels = page.locator("[data-testid=stRadio] label")
            return measure(rounds, lambda i: timed(page, SHOWN_TEXT, labels.nth(2 - i % 2).click))


def measure_cold(browser, script: Path, folder: Path, ready: str) -> float:
    """Time the start of a server and the first paint of its page, in a browser that has seen nothing."""
    begin = time.monotonic()
    with serve(script, folder) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        page = context.new_page()
        page.goto(address)
        page.wait_for_function(ready, polling=20, timeout=120_000)
        elapsed = (time.monotonic() - begin) * 1000
        context.close()
    return elapsed


def cold_starts(browser, rounds: int) -> list[dict]:
    """Compare the first painted matrix with the first text of an empty page that imports torch, turn by turn."""
    times: dict[str, list[float]] = {"empty page with torch": [], "relxl": []}
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY_APP)
        for _ in range(rounds):
            times["empty page with torch"].append(measure_cold(browser, empty, Path(folder), SHOWN_TEXT))
            times["relxl"].append(measure_cold(browser, ROOT / "app.py", ROOT, shown_view(0)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians["empty page with torch"]
    return [{"what": f"cold start, {name}", "ms": ms, "ratio": ms / base} for name, ms in medians.items()]


class Session:
    """Hold one page of the running app, and count what its socket receives."""

    def __init__(self, browser, address: str, link: str):
        self.page = browser.new_page(viewport={"width": 1280, "height": 720})
        self.received = 0
        self.page.on("websocket", lambda socket: socket.on("framereceived", self.count))
        self.page.goto(f"{address}/Score_terms?ck=shakespeare-learned&{link}")
        self.page.wait_for_function(shown_view(0), timeout=120_000)

    def count(self, frame) -> None:
        self.received += len(frame)

    def write(self, text: str) -> float:
        box = self.page.get_by_role("textbox", name="Text")
        box.fill(text)
        return timed_view(self.page, lambda: box.press("Control+Enter"))

    def heap(self) -> float:
        client = self.page.context.new_cdp_session(self.page)
        client.send("HeapProfiler.enable")
        client.send("HeapProfiler.collectGarbage")
        return self.page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6


def measure_length(browser, address: str, length: int, rounds: int) -> list[dict]:
    """Time layer, head, text and zoom for the six panels of one head at `length` x `length` tokens."""
    session = Session(browser, address, f"l=1&h=0&m=0&n={max(length, 512) if length > 128 else 128}")
    page = session.page
    text = (TEXT * (length // len(TEXT) + 1))[:length]
    session.write(text)
    rows = []

    def row(what: str, act: Callable[[int], float]) -> None:
        before, counted = session.received, []
        ms = measure(rounds, lambda i: counted.append(1) or act(i))
        rows.append({"what": what, "length": length, "ms": ms, "bytes": (session.received - before) // len(counted)})

    row("head", lambda i: timed_view(page, radio(page, f"H{(i + 1) % 8}")))
    row("layer", lambda i: timed_view(page, radio(page, f"L{i % 2 * 2}")))
    fader = page.get_by_role("slider").first  # (a) content
    row("fader", lambda i: timed_view(page, lambda: fader.press(("ArrowLeft", "ArrowRight")[i % 2])))
    row("text", lambda i: session.write(text[:-1] + "abcdefghij"[i % 10]))
    view = page.locator(".view").first
    zoom, all_of_it = view.locator("button.in"), view.locator("button.all")
    if length > 341:  # a pooled view asks for the exact window

        def zoomed(i: int) -> float:
            ms = timed_view(page, zoom.click)
            timed_view(page, all_of_it.click)
            return ms

        row("zoom", zoomed)
    rows.append({"what": "browser heap", "length": length, "value": session.heap(), "unit": "MB"})
    page.close()
    return rows


def measure_panels(browser, address: str, rounds: int) -> list[dict]:
    """Time eight heads x four terms at 256 x 256 tokens, and how many frames a second the pointer gets."""
    session = Session(browser, address, "l=1&h=0&m=0&n=512&t=sum")
    page = session.page
    session.write((TEXT * 4)[:256])
    second = shown_view(1)
    page.wait_for_function(second, timeout=60_000)
    names = ("all four", "sum")
    times = []
    before = session.received
    for i in range(2 * rounds + 2):
        times.append(timed_view(page, radio(page, names[i % 2]), 1))
    panels = {"what": "32 panels", "length": 256, "ms": statistics.median(times[2::2])}
    panels["bytes"] = (session.received - before) // len(times)
    frames = page.evaluate(
        f"""async () => {{
          const canvas = ({FIND_VIEW})(0).querySelector(".panel canvas"), box = canvas.getBoundingClientRect();
          const start = performance.now();
          for (let i = 0; i < 120; i++) {{
            const place = {{ clientX: box.x + 40 + i, clientY: box.y + 30 + i / 4 }};
            canvas.dispatchEvent(new PointerEvent("pointermove", {{ ...place, bubbles: true, pointerType: "mouse" }}));
            await new Promise(requestAnimationFrame);
          }}
          return 120000 / (performance.now() - start);
        }}"""
    )
    page.close()
    return [panels, {"what": "pointer read-out", "length": 256, "value": frames, "unit": "frames/s"}]


def run(lengths: list[int], rounds: int, cold_rounds: int) -> dict:
    """Measure everything; give rows with what, length, ms, ratio to the floor and bytes received a change."""
    with chromium() as browser:
        floor = measure_floor(browser, rounds)
        rows = [{"what": "floor: a click to a line of text", "ms": floor}]
        with serve(ROOT / "app.py", ROOT) as address:
            for length in lengths:
                rows += measure_length(browser, address, length, rounds)
            rows += measure_panels(browser, address, rounds)
        for row in rows:
            if "ms" in row:
                row["ratio"] = row["ms"] / floor
        return {"rows": rows + cold_starts(browser, cold_rounds)}


def bench_browser(lengths: str, rounds: int, cold_rounds: int, json_file: Path | None) -> int:
    """Measure at `lengths`, print the table and write the file."""
    result = run(read_lengths(lengths), rounds, cold_rounds)
    print(table(result))
    if json_file:
        json_file.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def table(result: dict) -> str:
    """Write the rows as text."""
    lines = [f"{'what':34}{'length':>7}{'median':>16}{'ratio':>8}{'kB':>8}"]
    for row in result["rows"]:
        value = f"{row['ms']:.0f} ms" if "ms" in row else f"{row['value']:.0f} {row['unit']}"
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        size = f"{row['bytes'] / 1000:.0f}" if "bytes" in row else ""
        lines.append(f"{row['what']:34}{row.get('length', ''):>7}{value:>16}{ratio:>8}{size:>8}")
    return "\n".join(lines)
