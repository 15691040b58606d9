"""Draw the same attention with BertViz and with the matrix view: bytes, time to generate, time to paint, memory.

The tools take turns (A B C A B C), and every picture is painted by a browser context that has seen nothing. BertViz's
third view, `neuron_view`, takes no attention, only models of its own copies of four architectures: it is left out.
"""

import json
import math
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

from relxl.bench.browser import SHOWN_TEXT, shown_view
from relxl.bench.chromium import chromium, serve
from relxl.bench.lengths import read_lengths
from relxl.checkpoint import open_checkpoint
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.trace import run as run_model
from relxl.vocab import show_token

ROOT = Path(__file__).parents[2]
CHECKPOINT = ROOT / "checkpoints" / "shakespeare-learned"
CDN = "https://cdnjs.cloudflare.com/"  # where BertViz's page has its scripts from
PAINT_SECONDS = 120
NOTHING = (math.inf, math.inf)  # longer than any, so that medians stay true
APP = """
import streamlit as st
from relxl.bench.peers import grid_of, read_attention
from relxl.ui.matrix import matrix_view

st.set_page_config(layout="wide")
if "length" in st.query_params:
    attention = st.cache_resource(read_attention, show_spinner=False)(int(st.query_params["length"]))
    matrix_view(grid_of(attention, int(st.query_params["layers"])), key="view", dark=False)
else:
    st.text("ready")
"""
PAINT = """
const shown = SHOWN;
const look = () => requestAnimationFrame(
  shown() === undefined ? look : () => { window.relxlPainted = performance.now(); }  // the next frame: it is drawn
);
look();
"""
NOTES = """Probabilities of {name} on its sample text, one layer of heads and all layers. Medians, {rounds} rounds.
kB: BertViz's HTML, without its scripts ({scripts} kB). relxl: the payload of its view, without Streamlit's page; a cell
is 8 bits, and above 240 tokens a block of cells is one. BertViz draws a line for every cell, zeros included.
generate: from the attention in memory to those bytes. MB: JavaScript, DOM and array buffers after a collection.
paint: from navigation to the frame after the one with the picture. BertViz: a file, its scripts from memory. relxl: a
Streamlit script, whose run, generation included, and whose page are counted; the first row is such a page by itself."""


@dataclass(frozen=True)
class Attention:
    """Hold what all tools draw."""

    probs: np.ndarray  # [layer head query key]
    mask: np.ndarray  # [query key]
    tokens: tuple[str, ...]  # in visible form


@dataclass(frozen=True)
class Picture:
    """Hold one picture by one tool: where the browser finds it, how it is seen to be there, how it is generated."""

    tool: str
    view: str
    length: int | None
    address: str
    shown: str  # JavaScript: a function that gives undefined while nothing is drawn
    generate: Callable[[], bytes] = bytes


def bench_peers(lengths: str, rounds: int, scripts: Path | None, json_file: Path | None) -> int:
    """Measure at `lengths`, print the table and write the file."""
    result = run(read_lengths(lengths), rounds, scripts)
    print(table(result))
    if json_file:
        json_file.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def run(lengths: list[int], rounds: int, folder: Path | None) -> dict:
    """Measure every picture at every length; BertViz's scripts are in `folder`, else on its CDN."""
    views = bertviz_views()
    smallest = bertviz_html(views["head_view"], [torch.ones(1, 1, 2, 2)], ["a", "b"])
    scripts = read_scripts(smallest.decode(), folder)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        app = Path(scratch) / "app.py"
        app.write_text(APP)
        with serve(app, ROOT) as server:
            pictures = [Picture("Streamlit", "one line of text", None, server, SHOWN_TEXT)]
            for length in lengths:
                pictures += pictures_at(read_attention(length), views, server, Path(scratch))
            rows = measure(browser, pictures, rounds, scripts)
        versions = {"bertviz": metadata.version("bertviz"), "chromium": browser.version}
    return {"rows": rows, "rounds": rounds, "script_bytes": sum(map(len, scripts.values())), **versions}


def bertviz_views() -> dict[str, Callable]:
    """Import BertViz's views that take attention. Raises ValueError where that fails."""
    try:
        from bertviz import head_view, model_view
    except ImportError as error:
        raise ValueError(f"this compares with BertViz, which is missing ({error}): pip install bertviz") from None
    return {"head_view": head_view, "model_view": model_view}


def read_scripts(html: str, folder: Path | None) -> dict[str, bytes]:
    """Read what BertViz's page loads from its CDN, from there or by name from a folder: {address: script}."""
    scripts = {}
    for found in re.findall(rf"{CDN}[^\"']+", html):
        address = found.removesuffix(".js") + ".js"
        name = address.rsplit("/", 1)[-1]
        source = (folder / name).resolve().as_uri() if folder else address
        try:
            scripts[address] = urllib.request.urlopen(source, timeout=30).read()
        except OSError as error:
            raise ValueError(f"{source}: {error}; give --scripts FOLDER with {name} for BertViz's page") from None
    return scripts


def read_attention(length: int) -> Attention:
    """Run the bundled model on the first `length` tokens of its own sample text, repeated where that is too short."""
    checkpoint = open_checkpoint(CHECKPOINT)
    ids = checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids
    ids = (ids * (length // len(ids) + 1))[:length]
    trace = run_model(checkpoint.model, torch.tensor([ids]))
    layers = [trace.terms(layer) for layer in range(checkpoint.config.n_layer)]
    tokens = tuple(show_token(checkpoint.vocab.tokens[i]) for i in ids)
    return Attention(np.concatenate([layer.probs for layer in layers]), layers[0].mask, tokens)


def grid_of(attention: Attention, layers: int) -> Grid:
    """Lay out every head of the first layers as the page does with all heads: four columns, one scale."""
    heads = {f"L{i}H{j}": probs for i in range(layers) for j, probs in enumerate(attention.probs[i])}
    scale = Scale("sequential", shared_limit(list(heads.values()), attention.mask), "probability")
    panels = tuple(Panel(name, probs, scale) for name, probs in heads.items())
    return Grid(panels, attention.mask, attention.tokens, columns=4, label="probabilities", axes=False)


def relxl_payload(attention: Attention, layers: int) -> bytes:
    from relxl.ui.matrix import payload

    return payload(grid_of(attention, layers), dark=False)


def bertviz_html(view: Callable, attention: list[torch.Tensor], tokens: list[str]) -> bytes:
    """Let a view of BertViz write its HTML for the attention of some layers, each [1 head query key]."""
    return view(attention=attention, tokens=tokens, html_action="return").data.encode()


def pictures_at(attention: Attention, views: dict[str, Callable], server: str, folder: Path) -> Iterator[Picture]:
    """Give both tools' picture of one layer, and of all: BertViz's as a file, relxl's alone in a Streamlit page."""
    length, tensors = len(attention.tokens), list(torch.tensor(attention.probs)[:, None])
    for theirs, ours, layers in (("head_view", "one layer", 1), ("model_view", "all layers", len(tensors))):
        html = partial(bertviz_html, views[theirs], tensors[:layers], list(attention.tokens))
        page = folder / f"{theirs}_{length}.html"
        page.write_bytes(html())
        cells = attention.probs[:layers].size  # a line for each, zeros included
        shown = f'() => document.getElementsByTagName("line").length === {cells} || undefined'
        yield Picture("BertViz", theirs, length, page.as_uri(), shown, html)
        address = f"{server}/?length={length}&layers={layers}"
        yield Picture("relxl", ours, length, address, shown_view(0), partial(relxl_payload, attention, layers))


def measure(browser, pictures: list[Picture], rounds: int, scripts: dict[str, bytes]) -> list[dict]:
    """Generate and paint every picture once a round, after one round that does not count; give a row for each."""
    samples: list[list[tuple]] = [[] for _ in pictures]
    for turn in range(rounds + 1):
        print(f"round {turn} of {rounds} ...", file=sys.stderr, flush=True)
        for picture, seen in zip(pictures, samples, strict=True):
            start = time.perf_counter()
            size = len(picture.generate())
            generate_ms = (time.perf_counter() - start) * 1000
            hopeless = seen and seen[0][2] == math.inf  # what did not come at first is not waited for again
            seen.append((size, generate_ms, *(NOTHING if hopeless else paint(browser, picture, scripts))))
    return [summarise(picture, seen[1:]) for picture, seen in zip(pictures, samples, strict=True)]


def summarise(picture: Picture, samples: list[tuple]) -> dict:
    """Take the medians of samples (bytes, generate_ms, paint_ms, heap_mb); None where there is nothing to measure."""
    size = samples[0][0]
    generate, paint, heap = (statistics.median(column) for column in list(zip(*samples, strict=True))[1:])
    row = {"tool": picture.tool, "view": picture.view, "length": picture.length}
    row |= {"bytes": size, "generate_ms": generate} if size else {"bytes": None, "generate_ms": None}
    return row | ({"paint_ms": None, "heap_mb": None} if paint == math.inf else {"paint_ms": paint, "heap_mb": heap})


def paint(browser, picture: Picture, scripts: dict[str, bytes]) -> tuple[float, float]:
    """Give the milliseconds from navigation to the painted picture, and the megabytes that the page then holds."""
    from playwright.sync_api import Error

    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    if picture.tool == "BertViz":  # the network is not BertViz's to answer for
        context.route(
            f"{CDN}**", lambda route: route.fulfill(body=scripts[route.request.url], content_type="text/javascript")
        )
    page.add_init_script(PAINT.replace("SHOWN", picture.shown))
    page.goto(picture.address, wait_until="commit")
    try:
        page.wait_for_function("() => window.relxlPainted", polling=100, timeout=PAINT_SECONDS * 1000)
        ms = page.evaluate("() => window.relxlPainted")
        client = context.new_cdp_session(page)
        client.send("HeapProfiler.collectGarbage")
        usage = client.send("Runtime.getHeapUsage")
        return ms, (usage["usedSize"] + usage["embedderHeapUsedSize"] + usage["backingStorageSize"]) / 1e6
    except Error as error:  # late, or the page broke under it
        print(f"{picture.tool}'s {picture.view} at {picture.length}: {error}", file=sys.stderr)
        return NOTHING
    finally:
        context.close()


def table(result: dict) -> str:
    """Write the rows as text, and what they count."""
    notes = NOTES.format(name=CHECKPOINT.name, rounds=result["rounds"], scripts=result["script_bytes"] // 1000)
    head = f"{'tool':12}{'view':18}{'length':>8}{'kB':>11}{'generate':>13}{'paint':>11}{'MB':>7}"
    lines = [notes, "", head]
    for row in result["rows"]:
        made = f"{row['bytes'] / 1000:11.1f}{row['generate_ms']:10.1f} ms" if row["bytes"] else f"{'-':>11}{'-':>13}"
        seen = f"{'-':>11}{'-':>7}" if row["paint_ms"] is None else f"{row['paint_ms']:8.0f} ms{row['heap_mb']:7.0f}"
        lines.append(f"{row['tool']:12}{row['view']:18}{row['length'] or '':>8}{made}{seen}")
    return "\n".join([*lines, "", f"bertviz {result['bertviz']}, chromium {result['chromium']}"])
