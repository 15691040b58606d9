"""What the measurements compare is the same thing, and what they write has its layout. No time is asserted."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from relxl.bench import engine, memory, peers
from relxl.bench.methods import METHODS, Method, largest_difference, make_inputs
from relxl.cli import main
from tests.decode import decode


@pytest.mark.parametrize("length", [2, 31, 64])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_terms_of_relxl(name, length):
    x = make_inputs(length)
    method = METHODS[name]
    difference, largest_score = largest_difference(method.split(method.prepare(x)), x)
    assert largest_score > 1 and difference < 1e-5 * largest_score


@pytest.mark.parametrize("term", range(4))
def test_a_wrong_cell_of_any_term_is_seen(term):
    x = make_inputs(5)
    split = [part.clone() for part in METHODS["relxl"].split(x)]
    split[term].view(-1)[7] += 1
    assert largest_difference(tuple(split), x)[0] == pytest.approx(1, abs=1e-4)


def test_engine_prints_a_table_and_writes_its_numbers_and_a_plot(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(METHODS, "explicit", Method(METHODS["explicit"].split, longest=32))
    monkeypatch.setattr(engine, "peak_in_fresh_process", lambda method, length: 1.5)  # measured below
    numbers, plot = tmp_path / "engine.json", tmp_path / "engine.html"
    command = ["bench", "engine", "--lengths", "64, 32", "--rounds", "2", "--json", str(numbers), "--plot", str(plot)]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert all(f"\n{name:16}" in text for name in METHODS) and "explicit: up to 32 only" in text
    result = json.loads(numbers.read_text())
    assert set(result["machine"]) >= {"cpu", "cores", "threads", "torch"}
    assert [(row["length"], row["method"]) for row in result["rows"]] == [
        (length, name) for length in (32, 64) for name in METHODS if (length, name) != (64, "explicit")
    ]
    for row in result["rows"]:
        assert set(row) == {"method", "length", "ms", "ratio_to_bound", "peak_mb", "max_difference"}
        assert row["ms"] > 0 and row["peak_mb"] == 1.5 and row["max_difference"] < 1e-4
        assert row["method"] != "bound" or row["ratio_to_bound"] == 1
    html = plot.read_text()
    assert "pad-and-view" in html and "src=" not in html.split("<body>")[1].split("Plotly.newPlot")[0][:2000]


def test_the_peak_is_at_least_what_the_split_gives():
    assert engine.peak_in_fresh_process("bound", 256) >= 8 * 256 * (256 + 511) * 4 / 1e6 * 0.9


def test_a_method_with_other_numbers_is_an_error(capsys, monkeypatch):
    def doubled(x):
        return tuple(2 * term for term in METHODS["bound"].split(x))

    monkeypatch.setitem(METHODS, "explicit", Method(doubled))
    monkeypatch.setattr(engine, "peak_in_fresh_process", lambda method, length: 0.0)
    assert main(["bench", "engine", "--lengths", "16", "--rounds", "1"]) == 1
    assert "relxl: explicit at 16 differs from relxl by" in capsys.readouterr().err


@pytest.mark.parametrize("lengths", ["", "12,x", "0", "1", "-4", "1.5", "9999999"])
def test_bad_lengths_are_refused_in_one_sentence(lengths, capsys):
    assert main(["bench", "engine", f"--lengths={lengths}"]) == 2
    sentence = f"--lengths {lengths!r}: give whole numbers from 2 to 8192 apart by commas, such as 128,512"
    assert capsys.readouterr().err == f"relxl: {sentence}\n"


def test_the_measurement_leaves_the_collector_and_autograd_as_they_were():
    import gc

    x = make_inputs(8)
    assert len(engine.time_rounds({"bound": x, "relxl": x}, 3)["relxl"]) == 3
    assert gc.isenabled() and torch.is_grad_enabled()


def test_the_browser_table_shows_times_ratios_bytes_and_other_units():
    from relxl.bench.browser import table

    rows = [
        {"what": "head", "length": 512, "ms": 250.4, "ratio": 2.5, "bytes": 752_214},
        {"what": "browser heap", "length": 512, "value": 48.3, "unit": "MB"},
        {"what": "cold start, relxl", "ms": 3700.0, "ratio": 1.1},
    ]
    _, head, heap, cold = table({"rows": rows}).splitlines()
    assert head.split() == ["head", "512", "250", "ms", "2.50", "752"]
    assert heap.split() == ["browser", "heap", "512", "48", "MB"] and cold.split()[-3:] == ["3700", "ms", "1.10"]


@pytest.mark.parametrize("what", ["browser", "peers"])
@pytest.mark.parametrize("lengths", ["", "1", "128,x", "99999"])
def test_bad_lengths_of_a_bench_in_the_browser_are_refused_before_anything_starts(what, lengths, capsys):
    assert main(["bench", what, "--lengths", lengths]) == 2
    assert "--lengths" in capsys.readouterr().err


def test_peers_without_bertviz_is_one_sentence(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "bertviz", None)
    assert main(["bench", "peers"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("relxl: this compares with BertViz, which is missing (")
    assert error.endswith("): pip install bertviz\n") and error.count("\n") == 1


CDN_PAGE = """<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>
<script>require.config({ paths: { d3: 'https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min' } });</script>"""


def test_scripts_of_bertviz_come_from_a_folder_by_name(tmp_path):
    (tmp_path / "require.min.js").write_bytes(b"one")
    (tmp_path / "d3.min.js").write_bytes(b"two")
    assert peers.read_scripts(CDN_PAGE, tmp_path) == {
        "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js": b"one",
        "https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min.js": b"two",
    }
    (tmp_path / "d3.min.js").unlink()
    with pytest.raises(ValueError, match=r"give --scripts FOLDER with d3\.min\.js"):
        peers.read_scripts(CDN_PAGE, tmp_path)


def test_peers_draw_the_same_attention(tmp_path):
    drawn = {}

    def view(name):
        def write(attention, tokens, html_action):
            assert html_action == "return"
            drawn[name] = (torch.cat(attention).numpy(), tokens)
            return SimpleNamespace(data="<p>ü")

        return write

    attention = peers.read_attention(31)
    assert attention.probs.shape == (4, 8, 31, 31) and not attention.probs[..., ~attention.mask].any()
    np.testing.assert_allclose(attention.probs.sum(-1), 1, atol=1e-5)
    views = {name: view(name) for name in ("head_view", "model_view")}
    pictures = {picture.view: picture for picture in peers.pictures_at(attention, views, "http://server", tmp_path)}
    for theirs, ours, layers in (("head_view", "one layer", 1), ("model_view", "all layers", 4)):
        probs, tokens = drawn[theirs]
        assert (probs == attention.probs[:layers]).all()
        assert f"=== {layers * 8 * 31 * 31} " in pictures[theirs].shown
        assert pictures[theirs].generate() == (tmp_path / f"{theirs}_31.html").read_bytes() == "<p>ü".encode()
        assert pictures[ours].address == f"http://server/?length=31&layers={layers}"
        header, panels, hidden = decode(pictures[ours].generate())
        assert header["tokens"] == tokens == list(attention.tokens) and (hidden == ~attention.mask).all()
        assert header["panels"][9 * layers - 9]["title"] == {1: "L0H0", 4: "L3H3"}[layers]
        np.testing.assert_allclose(np.stack(panels), probs.reshape(-1, 31, 31), atol=0.51 / 126)


def test_a_long_text_is_the_sample_again():
    tokens = peers.read_attention(300).tokens
    assert len(tokens) == 300 and tokens[257:] == tokens[:43]


def test_a_lost_round_counts_as_longer_than_any():
    picture = peers.Picture("relxl", "one layer", 31, "", "")
    samples = [(5, 1.0, 20.0, 9.0), (5, 3.0, *peers.NOTHING), (5, 2.0, 30.0, 8.0)]
    row = {"tool": "relxl", "view": "one layer", "length": 31, "bytes": 5, "generate_ms": 2.0}
    assert peers.summarise(picture, samples) == row | {"paint_ms": 30.0, "heap_mb": 9.0}
    samples[0] = (5, 1.0, *peers.NOTHING)
    assert peers.summarise(picture, samples) == row | {"paint_ms": None, "heap_mb": None}


def test_the_table_of_peers_says_what_it_counts_and_leaves_out_what_is_not_there():
    rows = [
        {"tool": "Streamlit", "view": "one line of text", "length": None, "bytes": None, "generate_ms": None},
        {"tool": "BertViz", "view": "model_view", "length": 128, "bytes": 14_273_400, "generate_ms": 480.4},
    ]
    rows[0] |= {"paint_ms": 1048.4, "heap_mb": 9.1}
    rows[1] |= {"paint_ms": None, "heap_mb": None}
    result = {"rows": rows, "rounds": 3, "script_bytes": 407_815, "bertviz": "1.4.1", "chromium": "150"}
    text = peers.table(result)
    assert "3 rounds" in text and "scripts (407 kB)" in text and "Streamlit's page" in text
    _, head, floor, theirs, _, versions = text.splitlines()[-6:]
    assert head.split() == ["tool", "view", "length", "kB", "generate", "paint", "MB"]
    assert floor.split() == ["Streamlit", "one", "line", "of", "text", "-", "-", "1048", "ms", "9"]
    assert theirs.split() == ["BertViz", "model_view", "128", "14273.4", "480.4", "ms", "-", "-"]
    assert len({len(line) for line in (head, floor, theirs)}) == 1 and versions == "bertviz 1.4.1, chromium 150"


# Memory --------------------------------------------------------------------------------------------------------------


def test_memory_prints_a_table_and_writes_what_it_measured(tmp_path, capsys):
    file = tmp_path / "cost.json"
    names = ["checkpoints/shakespeare-leaky", "checkpoints/shakespeare-absolute"]
    command = ["bench", "memory", *names, "--contexts", "32,16", "--segment", "16", "--rounds", "2"]
    assert main([*command, "--threads", "1", "--json", str(file)]) == 0
    text, result = capsys.readouterr().out, json.loads(file.read_text())
    places = [(row["checkpoint"], row["context"]) for row in result["rows"]]
    assert places == [(name.split("/")[1], context) for name in names for context in (16, 32)]
    assert result["lead"] == 32 and result["tokens"] == 32 and set(result["checkpoints"]) == {it[0] for it in places}
    assert "over the same 32 tokens" in result["how"] and result["command"].startswith("python -m relxl ")
    for row in result["rows"]:
        assert row["memory_ms"] > 0 and row["window_counted"] > row["strided_counted"] > 1
        assert (row["every_token_loss"] is None) == (row["context"] == 32)
        assert row["difference"] == pytest.approx(row["strided_loss"] - row["memory_loss"], abs=2e-5)
    assert len({row["memory_loss"] for row in result["rows"]}) == 4
    assert "shakespeare-absolute: a window of 16 for every token" in text and "counted" in text


def test_memory_measures_absolute_places_no_further_than_they_mean_something():
    absolute = SimpleNamespace(config=SimpleNamespace(positions="absolute"))
    assert memory.measurable(absolute, 512) and not memory.measurable(absolute, 513)
    assert memory.measurable(SimpleNamespace(config=SimpleNamespace(positions="learned")), 8192)


def test_a_memory_that_can_not_be_measured_is_one_sentence(capsys, tmp_path):
    assert main(["bench", "memory", "--contexts", "1"]) == 2
    assert capsys.readouterr().err.startswith("relxl: --contexts '1': give whole numbers from 2 to 8192")
    short = tmp_path / "short.txt"
    short.write_text("To be, or not to be")
    assert main(["bench", "memory", "checkpoints/shakespeare-leaky", "--text", str(short)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
