"""The page "Max len": what it shows is what the library computes, for every checkpoint, preset and bad link."""

import csv
import io
import json

import numpy as np
import pytest
import torch

from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.experiments.max_len import (
    beyond_wall,
    index_rows,
    own_wall,
    row_sharing,
    score_change,
    table_use,
    touched_queries,
)
from relxl.experiments.max_len_losses import BIN_LEN, length_losses, loss_rows, to_csv
from relxl.experiments.max_len_variants import GRID
from relxl.figures.max_len import length_figure, rows_figure, wall_figure
from relxl.figures.shift import grouped
from relxl.reading import Reading, with_positions
from relxl.style import RELATIVE_TERMS, number
from relxl.trace import run, split_memory
from relxl.training import token_loss
from relxl.ui.max_len import losses
from relxl.ui.max_len.losses import best_sentence, claim_sentence, curves_of, measure_work, with_memory
from relxl.ui.max_len.table import range_sentence, untrained_sentence
from relxl.ui.view import source_of
from tests.conftest import ROOT, tiny_model
from tests.test_pages import control, healthy, matrices, open_app, text_box

PAGE = "pages/7_Max_len.py"
RELATIVE = [name for name in list_checkpoints(ROOT / "checkpoints") if not name.endswith("absolute")]
LINK = {"l": "1", "h": "2"}


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


def trace_of(app, name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), checkpoint.config.segment_len, 128)
    return run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len)


def loss_of(trace, reading):
    tokens = torch.from_numpy(trace.tokens.copy())
    with torch.no_grad():
        output = with_positions(trace.model, reading)(tokens[:, :-1])
    return float(token_loss(output.output_logits, tokens[:, 1:]).mean())


@pytest.mark.parametrize("name", RELATIVE)
@pytest.mark.parametrize("wall, direction", [(8, "i-j"), (0, "i-j"), (17, "j-i")])
def test_picture_and_sentence_are_what_the_library_computes(name, wall, direction):
    app = open_app(PAGE, ck=name, xr=str(wall), xd=direction, **LINK)
    assert healthy(app)
    trace, reading = trace_of(app, name), Reading(clamp_len=wall, flip=direction == "j-i")
    change = score_change(trace, 1, 2, reading)
    header, panels = matrices(app)
    assert header["wall"] == wall and header["cells"] == list(change.mask.shape)
    moved = np.abs(change.probs_after - change.probs_before)
    difference = change.after - change.before
    expected = [change.before, change.after, difference, change.probs_before, change.probs_after, moved]
    for shown, matrix in zip(panels, expected, strict=True):
        np.testing.assert_allclose(shown, matrix, atol=max(np.abs(matrix).max() / 60_000, 1e-9))
    assert (
        len({panel["scale"] for panel in header["panels"][:3]}) == len({p["scale"] for p in header["panels"][3:]}) == 1
    )
    query_len, mem_len = trace.query_len, trace.mem_len
    beyond = beyond_wall(query_len, trace.key_len, mem_len, wall, causal=True).sum()
    touched = touched_queries(query_len, mem_len, wall)
    assert f"**{grouped(int(beyond))} of {grouped(int(change.mask.sum()))}** visible cells" in words(app)
    which = f"all {query_len} queries" if touched.all() else f"{touched.sum()} queries, from {touched.argmax()} on"
    assert which in words(app) and f"changes by up to **{number(float(moved.max()))}**" in words(app)
    assert f"goes from {loss_of(trace, Reading()):.3f} to **{loss_of(trace, reading):.3f}**" in words(app)


@pytest.mark.parametrize("name", RELATIVE)
def test_without_a_wall_every_bit_stays_and_the_page_says_so(name):
    app = open_app(PAGE, ck=name, xr="none")
    header, panels = matrices(app)
    assert healthy(app) and header["wall"] is None
    assert not panels[2].any() and not panels[5].any()
    np.testing.assert_array_equal(panels[0], panels[1])
    assert "is bit-equal. So is the model’s loss" in words(app)


def test_a_wall_beyond_the_text_is_none():
    app = open_app(PAGE, xr="200")
    assert healthy(app) and "is bit-equal" in words(app) and not app.toast
    app = open_app(PAGE, xr="40")
    text_box(app).set_value("to be or not").run()
    assert healthy(app) and "is bit-equal" in words(app)


def test_absolute_positions_are_told_why_and_the_rest_stays():
    app = open_app(PAGE, ck="shakespeare-absolute", xd="j-i")
    assert healthy(app) and "have no wall" in words(app) and "Distances run from" in words(app)
    assert len(app.get("bidi_component")) == 1 and len(matrices(app)[1]) == 2
    assert not [slider for slider in app.select_slider if slider.key == "control_xr"]


def test_every_preset_shows_what_it_says():
    app = open_app(PAGE, ck="shakespeare-sinusoid")
    presets = [button.key for button in app.button if str(button.key).startswith("max_len_preset")]
    walls = {}
    for key in presets:
        next(button for button in app.button if button.key == key).click().run()
        assert healthy(app)
        walls[key[-1]] = (matrices(app)[0]["wall"], "only transposes" in words(app), "is bit-equal" in words(app))
    assert walls == {
        "0": (8, False, False),
        "1": (0, False, False),
        "2": (None, False, True),
        "3": (None, True, False),
        "4": (255, False, False),
    }
    assert len(text_box(app).value) > 1000 and control(app, "control_n").value == 512


@pytest.mark.parametrize(
    "link",
    [
        {"xr": "-1"},
        {"xr": "far"},
        {"xr": "9" * 5000},
        {"xd": "k-l"},
        {"xq": "0"},
        {"xk": "-3"},
        {"xm": "x"},
        {"xl": "0"},
    ],
)
def test_a_bad_link_falls_back(link):
    app = open_app(PAGE, **link)
    assert healthy(app) and "**−4 to 9**" in words(app)


@pytest.mark.parametrize("text", ["a", "ab", "愁"])
def test_a_short_text_is_not_a_crash(text):
    app = open_app(PAGE)
    text_box(app).set_value(text).run()
    assert not app.exception


def test_the_end_of_the_own_table_is_shown_in_a_text_that_is_longer():
    app = open_app(PAGE, xr="none", n="512")
    text_box(app).set_value("To be, or not to be. " * 60).run()
    assert healthy(app) and matrices(app)[0]["wall"] == 255
    assert "the end of the model’s own reach, 255" in words(app) and "bit-equal" in words(app)


# The table -----------------------------------------------------------------------------------------------------------


def test_the_index_matrix_is_the_librarys_in_both_directions():
    app = open_app(PAGE, xq="5", xk="7", xm="2", xl="4")
    (html,) = [block.proto.body for block in app.get("html") if "row of m + i" in block.proto.body]
    assert healthy(app)
    first, second = (part.split("</table>")[0] for part in html.split("<table")[1:])
    for table, convention in ((first, "i-j"), (second, "j-i")):
        rows = index_rows(5, 7, 2, 4, convention)
        shown = [int(part.split("</b>")[0].rsplit(">", 1)[1]) for part in table.split("<td")[2:]]
        assert shown == rows.ravel().tolist()
        assert table.count('class="wall"') == int((np.abs(2 + np.arange(5)[:, None] - np.arange(7)) > 3).sum())


def test_a_large_matrix_is_told_and_not_drawn():
    app = open_app(PAGE, xq="4096", xk="4096", xl="2")
    assert healthy(app) and "4095 distances share row 0. 4095 distances share row 2." in words(app)
    assert not [block for block in app.get("html") if "row of m + i" in block.proto.body]


def test_the_range_is_said_as_the_article_says_it():
    text = range_sentence(10, 5, 0, 6)
    sharing = row_sharing(10, 5, 0, 6)
    assert "**−4 to 9**, 14 of them" in text and "11 rows" in text and f"reads: {sharing.unused}" in text
    assert "5 distances share row 10" in text and "needed: **10**, causal 10" in text
    assert "Each distance has a row of its own" in range_sentence(10, 5, 0, 10)
    assert range_sentence(3, 3, 0, 1).count("share row 0") == 1


@pytest.mark.parametrize("name", [name for name in RELATIVE if name.endswith(("learned", "leaky"))])
def test_the_rows_that_were_never_trained_are_counted(name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    use = table_use(checkpoint)
    app = open_app(PAGE, ck=name)
    assert f"**{use.untrained.sum()} of 511 rows were never trained**" in words(app)
    untrained = use.distance[use.untrained]
    if (untrained > 0).any():
        assert f"{(untrained < 0).sum()} of the future, and {(untrained > 0).sum()} of the past" in words(app)
    else:
        assert "all of the future" in words(app)
    assert ("let it in" in words(app)) == name.endswith("leaky")


def test_a_table_that_nobody_counted_is_told():
    use = table_use(open_checkpoint(ROOT / "checkpoints/shakespeare-learned"))
    unknown = type(use)(use.distance, None, None, use.size, use.spread)
    assert "does not say which rows" in untrained_sentence(unknown, 255)
    assert len(rows_figure(use.distance, use.size[0], use.spread, None, use.size[0], {}).data) == 2


def test_the_curve_is_flat_beyond_the_wall():
    values, distances = np.arange(9.0), np.arange(6, -3, -1)
    flat = wall_figure(values, distances, RELATIVE_TERMS["v_bias"], 2, {}).data[-1]
    assert list(flat.x) == [6, 5, 4, 3, 2] and set(flat.y) == {4}
    assert len(wall_figure(values, distances, RELATIVE_TERMS["v_bias"], None, {}).data) == 2


def test_a_models_own_wall():
    assert own_wall(tiny_model(max_len=16)) == 15 and own_wall(tiny_model(max_len=16, clamp_len=4)) == 4
    assert own_wall(tiny_model("sinusoid")) is None and own_wall(tiny_model("sinusoid", clamp_len=40)) == 40


# Losses --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Record a small result as `sweep max-len` would, of tiny models under the bundled names."""
    table = []
    for positions in ("learned", "absolute"):
        model = tiny_model(n_token=19, positions=positions, dtype=torch.float32)
        tokens = torch.randint(19, (2, 200), generator=torch.Generator().manual_seed(1))
        variants = ("as_trained", "interpolate") if positions == "learned" else ("as_trained",)
        rows = [row for _, row in length_losses(model, tokens, [8, 64], [0, 128], variants, lead=10) if row]
        table += [{"checkpoint": f"shakespeare-{positions}"} | row for row in loss_rows(rows, rows[0], BIN_LEN)]
    (tmp_path / "max_len.csv").write_bytes(to_csv(table))
    how = {"command": "python -m relxl sweep max-len", "characters": {"scored": 380}, "text": {"name": "t.txt"}}
    (tmp_path / "max_len.json").write_text(json.dumps(how), encoding="utf-8")
    monkeypatch.setattr(losses, "RECORDED", tmp_path / "max_len.csv")
    return [
        {name: (value if name in ("checkpoint", "variant") else float(value or "nan")) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(to_csv(table).decode()))
    ]


def test_a_result_that_is_not_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(losses, "RECORDED", tmp_path / "none.csv")
    app = open_app(PAGE)
    assert healthy(app) and "is not here yet" in words(app)
    assert any("sweep max-len" in code.value for code in app.code)


@pytest.mark.parametrize("choice", ["all", "shakespeare-learned", "shakespeare-absolute"])
@pytest.mark.parametrize("memory", ["own", "0"])
def test_the_recorded_result_is_drawn_and_read_out(choice, memory, recorded):
    app = open_app(PAGE, xc=choice, xe=memory)
    assert healthy(app) and "In segments of 64 tokens" in words(app) and "interpolate the position table" in words(app)
    assert control(app, "control_xc").value == choice
    assert any("380 characters of t" in caption.value for caption in app.caption)
    charts = [chart for chart in app.get("plotly_chart") if "segments" in chart.proto.alt]
    assert len(charts) == 2 and all(len(chart.proto.alt) > 20 for chart in charts)


def row(name, loss, error=0.01, length=1024, **more):
    sure = {"change": loss - 1.5, "change_error": error, "loss_error": 0.2, "mem_len": 128, "begin": 0, "end": length}
    return {"checkpoint": "shakespeare-learned", "variant": name, "segment_len": length, "loss": loss} | sure | more


def test_the_best_is_named_with_those_that_can_not_be_told_from_it():
    rows = [row("as_trained", 1.6), row("window", 1.602), row("interpolate", 4.0), row("as_trained", 1.5, length=128)]
    text = best_sentence(rows, "variant", {"segment_len": 128})
    assert "1024 tokens, 8 times the training’s, **as trained** has a loss of **1.600**" in text
    assert "+0.100 ± 0.020" in text and "not to be told apart from: far keys unseen" in text.replace("\\", "")
    assert "the highest is table interpolated with 4.000" in text
    assert best_sentence(rows[:1], "variant", {}).endswith("length.")


def test_the_claims_are_held_to_the_numbers():
    absolute = {"checkpoint": "shakespeare-absolute", "mem_len": 0}
    rows = [row("as_trained", 1.6), row("interpolate", 4.0), row("as_trained", 3.0, **absolute)]
    text = claim_sentence(rows)
    assert "1024 that holds: +0.100 ± 0.020" in text and "+1.500 ± 0.020" in text and "it hurts: 4.000" in text
    assert "Near distances" not in text
    more = [row("interpolate_far", 1.7), row("window", 1.55)]
    assert "kept: 1.700. Far keys not seen at all: 1.550" in claim_sentence(rows + more)
    rows = [row("as_trained", 1.6), row("interpolate", 1.61), row("as_trained", 1.61, **absolute)]
    assert "that does not show" in claim_sentence(rows) and "no difference that can be seen" in claim_sentence(rows)
    assert "it helps" in claim_sentence([row("as_trained", 1.6), row("interpolate", 1.5)])
    assert claim_sentence([row("clamp", 1.6)]) == ""
    kept = with_memory([row("a", 1, mem_len=0), row("a", 1), row("a", 1, **absolute)], "own")
    assert [it["mem_len"] for it in kept] == [128, 0]


def test_curves_stand_at_the_middle_of_their_bins_with_two_errors():
    rows = [row("as_trained", 2.0, begin=32, end=64), row("as_trained", 1.0, begin=0, end=32)]
    (curve,) = curves_of(rows, "variant", "begin").values()
    assert list(curve.x) == [16, 48] and list(curve.y) == [1, 2]
    band, line = length_figure({"a": curve}, 128).data
    np.testing.assert_allclose(band.y, [1.02, 2.02, 1.98, 0.98], rtol=1e-6)
    assert list(line.x) == [16, 48]


def test_a_job_measures_what_the_library_measures(tmp_path):
    folder = ROOT / "checkpoints/shakespeare-leaky"
    file = ROOT / "data/tinyshakespeare.txt"
    steps = list(measure_work(source_of(folder), file, [16, 32], 4 * 96, GRID["learned"]))
    assert steps[-1].done == 1 and steps[0].result is None
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    cells = steps[-1].result
    config = open_checkpoint(folder).config
    assert {(cell.segment_len, cell.mem_len) for cell in cells} == {(16, config.mem_len), (32, config.mem_len)}
    assert {cell.variant for cell in cells} == {"as_trained", "interpolate", "interpolate_far", "window"}
