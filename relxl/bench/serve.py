"""Measure a server that a class uses at once: real websocket sessions on this machine, a mixed walk over the pages.

A session asks for a page, waits until its script has finished, thinks, and does the next thing: another head, another
layer, another query, another text, another page, or a reload. Bounded in sessions and seconds. Nothing but the server
that is started here is asked. Linux only, for the memory.
"""

import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from relxl.bench.chromium import serve

ROOT = Path(__file__).parents[2]
PAGES = [path.stem for path in sorted((ROOT / "pages").glob("*.py"))]
ANSWER_SECONDS = 60  # an action that takes longer is an error
MOST_SESSIONS, MOST_SECONDS = 200, 3600
TEXTS = ("Now is the winter of our discontent", "To be, or not to be, that is the question", "All the world's a stage")
WALK = {"head": 5, "layer": 2, "query": 3, "page": 4, "text": 1, "reload": 1}  # how often, of 16


@dataclass
class Log:
    """Hold what happened: the seconds of every action by its name, what went wrong, the memory over time."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds since the start, MB


def bench_serve(sessions: int, seconds: float, think: float, json_file: Path | None) -> int:
    """Start a server, let `sessions` people use it for some time, print what they waited; 1 if anything failed."""
    if not 1 <= sessions <= MOST_SESSIONS or not 1 <= seconds <= MOST_SECONDS or think < 0:
        raise ValueError(
            f"give 1 to {MOST_SESSIONS} sessions, 1 to {MOST_SECONDS} seconds and a think time from 0, got "
            f"{sessions}, {seconds:g} and {think:g}"
        )
    log = Log()
    with serve(ROOT / "app.py", ROOT) as address:
        asyncio.run(run_class(address, sessions, seconds, think, log))
    rows = table(log, seconds)
    print("\n".join(rows))
    if json_file:
        numbers = {"sessions": sessions, "seconds": seconds, "think": think, "errors": log.errors[:20]}
        numbers |= {"actions": {name: summary(values) for name, values in log.seconds.items()}, "memory_mb": log.memory}
        json_file.write_text(json.dumps(numbers, indent=1) + "\n")
    return int(bool(log.errors))


async def run_class(address: str, sessions: int, seconds: float, think: float, log: Log) -> None:
    """Let everybody come within one think time, walk until the time is over, and watch the server's memory."""
    began = time.monotonic()
    watch = asyncio.create_task(watch_memory(began, log))
    people = [person(address, number, began + seconds, think, log) for number in range(sessions)]
    await asyncio.gather(*people)
    watch.cancel()


async def person(address: str, number: int, end: float, think: float, log: Log) -> None:
    """Be one session: its own choices, the same ones in every run."""
    chance = random.Random(number)
    await asyncio.sleep(chance.random() * think)
    while time.monotonic() < end:
        try:
            async with Session(address) as session:
                await timed(log, "first page", session.open(chance.choice(["", *PAGES]), chance))
                while time.monotonic() < end:
                    await asyncio.sleep(chance.expovariate(1 / think) if think else 0)
                    action = chance.choices(list(WALK), list(WALK.values()))[0]
                    if action == "reload":
                        break
                    await timed(log, action, session.act(action, chance))
        except (OSError, RuntimeError, TimeoutError) as error:
            log.errors.append(f"session {number}: {type(error).__name__}: {str(error)[:600]}")
            await asyncio.sleep(1)


async def timed(log: Log, name: str, action) -> None:
    began = time.monotonic()
    await asyncio.wait_for(action, ANSWER_SECONDS)
    log.seconds[name].append(time.monotonic() - began)


class Session:
    """Be a browser as far as the server can tell: one websocket, the widgets of the page, their states."""

    def __init__(self, address: str) -> None:
        self.address = address.replace("http", "ws") + "/_stcore/stream"
        self.page, self.widgets, self.states = "", {}, {}

    async def __aenter__(self) -> "Session":
        from websockets.asyncio.client import connect

        self.socket = await connect(self.address, origin=self.address.replace("ws", "http").split("/_")[0],
                                    subprotocols=["streamlit"], max_size=None, compression=None)  # fmt: skip
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.socket.close()

    async def open(self, page: str, chance: random.Random) -> None:
        """Come by a link to a page."""
        self.page = page.partition("_")[2]
        await self.rerun(urlencode({"l": chance.randrange(4), "h": chance.randrange(8)}))

    async def act(self, action: str, chance: random.Random) -> None:
        """Do one thing; where a page has no such control another head, or another page, is looked at."""
        if action == "page" or not self.change(action, chance):
            self.page, self.states = chance.choice(PAGES).partition("_")[2], {}
        await self.rerun("")

    def change(self, action: str, chance: random.Random) -> bool:
        """Set a control, as a click would; say whether the page has it."""
        from streamlit.proto.WidgetStates_pb2 import WidgetState

        key = {"head": "-control_h", "layer": "-control_l", "query": "-control_q", "text": "-control_text "}[action]
        found = [
            item for item in self.widgets.items() if item[0].endswith(key) or (action == "text" and key in item[0])
        ]
        if not found:
            return False
        name, (kind, values) = found[0]
        if kind == "button_group":
            state = WidgetState(id=name)
            state.string_array_value.data.append(chance.choice(values))
        elif kind == "number_input":
            state = WidgetState(id=name, double_value=chance.choice(values))
        else:
            state = WidgetState(id=name, string_value=chance.choice(TEXTS))
        self.states[name] = state
        return True

    async def rerun(self, query: str) -> None:
        """Ask for a run of the page and read until it has finished. Raises RuntimeError for one that failed."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = self.page
        message.rerun_script.widget_states.widgets.extend(self.states.values())
        await self.socket.send(message.SerializeToString())
        async for data in self.socket:
            if self.finished(data):
                return
        raise RuntimeError("the server closed the connection")

    def finished(self, data: bytes) -> bool:
        """Read one message; say whether the run has ended. Raises RuntimeError for an exception on the page."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg()
        message.ParseFromString(data)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.widgets = {}
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            name = element.WhichOneof("type")
            if name == "exception":
                raise RuntimeError(
                    f"{self.page or 'home'}: {element.exception.type}: {element.exception.message[:120]}"
                )
            if name in ("button_group", "number_input", "text_area"):
                widget = getattr(element, name)
                values = []
                if name == "button_group":
                    values = [option.content for option in widget.options]
                elif name == "number_input":
                    values = range(int(widget.min), int(widget.max) + 1)
                self.widgets[widget.id] = (name, values)
        if kind == "page_not_found":
            raise RuntimeError(f"there is no page {self.page}")
        return kind == "script_finished"


# Memory, and what is printed ------------------------------------------------------------------------------------------


async def watch_memory(began: float, log: Log) -> None:
    while True:
        log.memory.append((round(time.monotonic() - began, 1), round(sum(map(resident_mb, server_processes())), 1)))
        await asyncio.sleep(2)


def server_processes() -> Iterator[int]:
    """Give the processes below this one: the server, and what it starts."""
    parents = {}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    below = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    yield from below - {os.getpid()}


def resident_mb(process: int) -> float:
    try:
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def summary(values: list[float]) -> dict[str, float | int]:
    """Give the number of actions, and the seconds that half and 95 % of them took at most."""
    ordered = sorted(values)
    return {
        "n": len(ordered),
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)], 3),
    }


def memory_between(log: Log, begin: float, end: float) -> float:
    """Give the mean memory of the server over a time, MB."""
    return statistics.fmean([mb for second, mb in log.memory if begin <= second < end] or [float("nan")])


def table(log: Log, seconds: float) -> list[str]:
    """Write what was measured as the lines of a Markdown table."""
    rows = ["| action | times | p50, s | p95, s |", "|---|---|---|---|"]
    everything = [value for values in log.seconds.values() for value in values]
    for name, values in [*sorted(log.seconds.items()), ("all", everything)]:
        if values:
            numbers = summary(values)
            rows.append(f"| {name} | {numbers['n']} | {numbers['p50']:.2f} | {numbers['p95']:.2f} |")
    minute = min(60.0, seconds / 4)
    second, last = memory_between(log, minute, 2 * minute), memory_between(log, seconds - minute, seconds)
    first = log.memory[0][1] if log.memory else float("nan")
    change = 100 * (last / second - 1)
    memory = f"{first:.0f} MB at first, {second:.0f} in the second minute, {last:.0f} in the last ({change:+.0f} %)"
    rows += ["", f"errors: {len(log.errors)}; memory of the server: {memory}"]
    for error in log.errors[:10]:
        print(f"relxl: {error}", file=sys.stderr)
    return rows
