"""What the measurements compare is the same thing, and what they write has its layout. No time is asserted."""

import json

import pytest
import torch

from relxl.bench import engine
from relxl.bench.methods import METHODS, Method, largest_difference, make_inputs
from relxl.cli import main


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


@pytest.mark.parametrize("lengths", ["", "1", "128,x", "99999"])
def test_bad_lengths_of_the_browser_bench_are_refused_before_anything_starts(lengths, capsys):
    assert main(["bench", "browser", "--lengths", lengths]) == 2
    assert "--lengths" in capsys.readouterr().err
