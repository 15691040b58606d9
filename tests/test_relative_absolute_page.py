"""The page "Relative vs absolute": what it says is what the recorded table and the two models say."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from relxl.diagnostics.relative_absolute import gap_curve, opens_at, rows_where, seed_curve, whole_segments
from relxl.experiments.relative_absolute import SweepSettings
from relxl.figures.relative_absolute import gap_figure, kinds_figure
from relxl.style import percent, signed
from relxl.ui.relative_absolute import sections
from relxl.ui.relative_absolute.live import draw_rerun, rerun_work
from tests.test_pages import control, healthy, matrices, open_app

PAGE = "pages/12_Relative_vs_absolute.py"


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


def table(gaps, seeds=3):
    """Make a table by hand: gaps is segment length -> gap; the relative models lose 2, each seed a little more."""
    rows = []
    for length, gap in gaps.items():
        for seed in range(seeds):
            for kind, loss in (("learned", 2.0), ("sinusoid", 1.9), ("absolute", 2.0 + gap)):
                for times in (1, 2):
                    rows.append((kind, length, seed, times * length, 0, times * length, loss + 0.001 * seed))
                rows.append((kind, length, seed, length, 0, 8, 9.0))
    names = ("positions", "segment_len", "seed", "eval_len", "begin", "end", "loss")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def test_a_gap_is_what_the_absolute_model_loses_more_seed_by_seed():
    rows = whole_segments(table({32: -0.1, 64: 0.0, 128: 0.3}), 1)
    curve = gap_curve(rows, "learned", "segment_len")
    np.testing.assert_array_equal(curve.x, [32, 64, 128])
    for values in (curve.mean, curve.low, curve.high):  # the seeds differ by the same in both
        np.testing.assert_allclose(values, [-0.1, 0, 0.3], atol=1e-12)
    np.testing.assert_allclose(gap_curve(rows, "sinusoid", "segment_len").mean, [0, 0.1, 0.4], atol=1e-12)


def test_a_gap_without_its_pair_is_left_out():
    rows = whole_segments(table({32: 0.1, 64: 0.2}), 1)
    kept = (rows["positions"] != "absolute") | (rows["segment_len"] != 64) | (rows["seed"] > 0)
    curve = gap_curve({name: column[kept] for name, column in rows.items()}, "learned", "segment_len")
    np.testing.assert_allclose(curve.mean, [0.1, 0.2], atol=1e-12)
    none = rows_where(rows, positions="learned")
    assert len(gap_curve(none, "learned", "segment_len").x) == 0


@pytest.mark.parametrize("gaps, first", [
    ({32: 0.2, 64: 0.2}, 32), ({32: -0.1, 64: 0.2}, 64), ({32: 0.2, 64: 0.0, 128: 0.1}, 128),
    ({32: 0.2, 64: 0.005}, None),
])  # fmt: skip
def test_a_gap_opens_where_it_stays_open_in_every_seed(gaps, first):
    assert opens_at(gap_curve(whole_segments(table(gaps), 1), "learned", "segment_len")) == first


def test_one_seed_that_loses_closes_the_gap():
    curve = gap_curve(whole_segments(table({32: 0.2}), 1), "learned", "segment_len")
    assert opens_at(replace(curve, low=np.array([-0.01]))) is None


def test_a_band_is_the_range_over_the_seeds():
    curve = seed_curve({"x": np.array([1, 1, 1, 2]), "loss": np.array([3.0, 1.0, 2.0, 5.0])}, "x")
    assert (curve.mean.tolist(), curve.low.tolist(), curve.high.tolist()) == ([2, 5], [1, 5], [3, 5])


def test_the_figures_draw_the_curves():
    curve = seed_curve({"x": np.array([32.0, 32, 64]), "loss": np.array([1.0, 3, 5])}, "x")
    for figure in (gap_figure({"a": curve}, {"claim": 64}, "x"), kinds_figure({"a": curve}, "x", "y", 32)):
        band, line = figure.data[-2:]
        np.testing.assert_array_equal(line.y, [2, 5])
        np.testing.assert_array_equal(band.y, [3, 5, 5, 1])
        assert figure.layout.xaxis.type == "log" and list(figure.layout.xaxis.tickvals) == [32, 64]
    assert figure == kinds_figure({"a": curve}, "x", "y", 32)


@pytest.mark.parametrize("text", ["tinyshakespeare", "songci"])
@pytest.mark.parametrize("memory, times", [(0, 1), (1, 8)])
def test_the_sentences_are_those_of_the_recorded_table(text, memory, times):
    app = open_app(PAGE, rt=text, rm=str(memory), rk=str(times), rn="64")
    assert healthy(app)
    table = sections.read_table(str(sections.RECORDED), sections.RECORDED.stat().st_mtime_ns)
    rows = rows_where(table, text=text)
    rows = {name: column[(rows["mem_len"] > 0) == bool(memory)] for name, column in rows.items()}
    kept = (rows["eval_len"] == times * rows["segment_len"]) & (rows["begin"] == 0) & (rows["end"] == rows["eval_len"])
    losses = {
        (kind, length): rows["loss"][kept & (rows["positions"] == kind) & (rows["segment_len"] == length)].mean()
        for kind in ("learned", "sinusoid", "absolute")
        for length in (32, 512)
    }
    best = min(("learned", "sinusoid"), key=lambda kind: losses[kind, 512])
    for length in (32, 512):
        assert signed(losses["absolute", length] - losses[best, length]) in words(app)
    changes = [
        rows["loss"][(rows["segment_len"] == 64) & (rows["eval_len"] == n) & (rows["begin"] == 0) & (rows["end"] == n)
                     & (rows["positions"] == "absolute")].mean()
        for n in (64, 512)
    ]  # fmt: skip
    assert signed(changes[1] - changes[0]) in words(app)


def test_perplexity_can_be_shown():
    app = open_app(PAGE, rp="perplexity")
    assert healthy(app)


@pytest.mark.parametrize(
    "link", [{"rt": "x"}, {"rm": "2"}, {"rk": "3"}, {"rp": "y"}, {"rn": "33"}, {"rl": "7"}, {"ru": "1"}]
)
def test_a_bad_link_falls_back(link):
    assert healthy(open_app(PAGE, **link))


def test_without_the_recorded_result_the_page_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(sections, "RECORDED", tmp_path / "nothing.csv")
    app = open_app(PAGE)
    assert healthy(app) and any(code.value == sections.COMMAND for code in app.code)


def test_both_models_are_split_on_the_same_text():
    app = open_app(PAGE, ck="shakespeare-sinusoid", l="1", h="2")
    assert healthy(app)
    _header, panels = matrices(app)
    assert len(panels) >= 8 and "L1H2" in words(app)
    v_bias = np.asarray(panels[3])
    for diagonal in range(1, 8):  # a function of distance, cell by cell
        cells = np.diagonal(v_bias, -diagonal)
        np.testing.assert_allclose(cells, cells[0], atol=2e-3 * np.abs(v_bias).max())
    assert f"**{percent(1.0)}** of (d) v_bias" in words(app)


@pytest.mark.parametrize("name", ["shakespeare-absolute", "songci-learned"])
def test_another_model_is_compared_with_a_bundled_one(name):
    app = open_app(PAGE, ck=name)
    assert healthy(app) and "of (d) position_position" in words(app)


def test_a_live_run_ends_with_the_losses_of_its_models(monkeypatch):
    settings = SweepSettings(n_layer=1, n_head=2, d_model=8, d_inner=8, steps=2, step_tokens=64, warmup=1, scored=96)
    progress = list(rerun_work(settings, 32, True, 0))
    assert progress[-1].done == 1 and all(a.done <= b.done for a, b in pairwise(progress))
    result = progress[-1].result
    assert {kind: len(losses) for kind, losses in result.losses.items()} == {"learned": 2, "sinusoid": 2, "absolute": 2}
    assert all(len(cells) == 4 and all(map(math.isfinite, cells)) for cells in result.measured.values())
    shown = []
    monkeypatch.setattr("relxl.ui.relative_absolute.live.st.dataframe", lambda table, **_kw: shown.append(table))
    draw_rerun(result, 32, False)
    assert len(shown[0]) == 5


def test_the_live_run_is_offered():
    app = open_app(PAGE, rl="32", ru="100")
    assert healthy(app) and control(app, "control_re").value == 0
