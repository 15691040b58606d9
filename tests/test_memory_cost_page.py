"""The section of the page "Memory" about time: what it says is what was recorded, or measured by its job."""

import json

import numpy as np
import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.experiments.max_len_losses import cell_losses
from relxl.experiments.recurrence import Measured
from relxl.ui.memory import cost as section
from relxl.ui.view import source_of
from tests.conftest import ROOT
from tests.test_distance_page import captions, figures, lines, numbers, words
from tests.test_memory_page import PAGE
from tests.test_pages import control, healthy, open_app, text_box

RECORDED = json.loads((ROOT / "data/memory_cost.json").read_text(encoding="utf-8"))


def recorded(name):
    return {row["context"]: row for row in RECORDED["rows"] if row["checkpoint"] == name}


def test_the_record_is_of_the_bundled_checkpoints_and_says_how_it_came_about():
    assert RECORDED["command"].startswith("python -m relxl bench memory ")
    assert list(RECORDED["checkpoints"]) == [f"shakespeare-{name}" for name in ("learned", "sinusoid", "absolute")]
    for name, digest in RECORDED["checkpoints"].items():
        assert open_checkpoint(ROOT / "checkpoints" / name).digest == digest
        for context, row in recorded(name).items():
            assert row["window_ms"] > row["strided_ms"] > row["memory_ms"] > 0
            assert row["window_ratio"] > context / 4 and row["window_counted"] > context / 4
    assert max(recorded("shakespeare-sinusoid")) == 3800 and RECORDED["machine"]["torch"]


def test_the_recorded_loss_with_memory_is_the_libraries():
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-sinusoid")
    text = (ROOT / "data" / RECORDED["text"]["name"]).read_text(encoding="utf-8")
    ids = torch.tensor(checkpoint.vocab.encode(text).ids)[int(len(text) * 0.9) :]
    tokens = ids[None, : RECORDED["lead"] + RECORDED["tokens"] + 1]
    losses = torch.cat([loss for *_place, loss in cell_losses(checkpoint.model, tokens, 128, 128)], dim=1)
    loss = float(losses[0, RECORDED["lead"] :].mean())
    assert loss == pytest.approx(recorded("shakespeare-sinusoid")[128]["memory_loss"], abs=1e-4)


def test_the_recorded_speed_up_is_drawn_and_read_out():
    app = open_app(PAGE, ck="shakespeare-sinusoid")
    assert healthy(app) and not app.toast
    rows = recorded("shakespeare-sinusoid")
    figure = next(figure for figure, alt in figures(app) if "tokens of context costs" in alt)
    np.testing.assert_allclose(
        numbers(lines(figure, "shakespeare-sinusoid")[0]["y"]), [row["window_ratio"] for row in rows.values()]
    )
    counted = numbers(lines(figure, "counted in multiplications")[0]["y"])
    np.testing.assert_allclose(counted, [row["window_counted"] for row in rows.values()])
    assert list(numbers(lines(figure, "the paper, on one GPU")[0]["y"])) == [363, 773, 1409, 1874]
    said = words(app)
    begin = (
        f"**shakespeare-sinusoid:** a token with 1\u2009024 tokens of context costs **{rows[1024]['memory_ms']:.3g} ms"
    )
    assert begin in said
    assert f"**{section.times(rows[1024]['window_ratio'])} times**" in said
    assert f"At 3\u2009800, 30 times the segment, it is {section.times(rows[3800]['window_ratio'])} times." in said
    assert section.plus_minus(rows[128]) in said and "table 9" in captions(app)
    control(app, "table_memory_cost").set_value(True).run()
    table = app.dataframe[-1].value
    assert len(table) == len(RECORDED["rows"]) and {"context", "window_ratio", "window_counted"} <= set(table)


def test_the_absolute_model_is_said_to_be_wrong_with_memory():
    app = open_app(PAGE, ck="shakespeare-absolute")
    row = recorded("shakespeare-absolute")[128]
    assert healthy(app) and "fast and wrong" in words(app)
    assert f"**{row['memory_loss']:.3f}** nats per token with a memory of 128" in words(app)
    assert f"**{row['every_token_loss']:.3f}** with a window of 128" in words(app)


def test_without_a_record_the_command_is_shown(monkeypatch, tmp_path):
    monkeypatch.setattr("relxl.ui.memory.cost.RECORDED", tmp_path / "none.json")
    app = open_app(PAGE)
    assert healthy(app) and "this command writes it, in some minutes" in words(app)
    assert any(block.value == section.COMMAND for block in app.code)


def test_context_and_segment_can_be_chosen_and_stand_in_the_link():
    app = open_app(PAGE, ck="shakespeare-learned", rcc="512", rcs="16")
    assert healthy(app) and not app.toast
    assert "a token with 512 tokens of context, 8 rounds, segments of 128" in words(app)
    assert "memory 0 to 1024, segments of 16, 6\u2009144 tokens" in words(app)
    segments = next(control for control in app.segmented_control if control.key == "control_rcs")
    assert segments.options[0] == "16: memory up to 64 times"
    control(app, "control_rcc").set_value(64).run()
    assert "a token with 64 tokens of context" in words(app) and app.query_params["rcc"] == "64"
    app = open_app(PAGE, rcc="63", rcs="many")
    assert not app.exception and len(app.toast) == 2


def test_a_model_without_its_text_measures_on_the_text_in_view(library):
    app = open_app(PAGE, ck="folder/txl_official", l="0", h="0")
    assert healthy(app) and "give a text of some hundred tokens" in words(app)
    text_box(app).set_value(" ".join(str(i % 7) for i in range(400))).run()
    assert healthy(app) and "a token with 256 tokens of context, 4 rounds" in words(app)
    app = open_app(PAGE, ck="folder/nemo", l="0", h="0")
    assert healthy(app) and "Context to measure here" not in str(app.segmented_control)


def test_the_job_measures_and_its_result_is_read_out():
    source = source_of(ROOT / "checkpoints/shakespeare-leaky")
    file = ROOT / "data/tinyshakespeare.txt"
    steps = list(section.cost_work(source, file, b"", 32, 16, 2))
    assert steps[-1].done == pytest.approx(1) and [step.done for step in steps] == sorted(step.done for step in steps)
    measured, counted = steps[-1].result
    assert measured.losses["memory"].shape == (2, 16) and counted["window"] > counted["memory"]
    ids = (np.arange(120, dtype=np.int32) % 60).tobytes()
    assert list(section.cost_work(source, None, ids, 32, 16, 2))[-1].result[0].context == 32


def test_what_was_measured_is_said():
    seconds = {"memory": np.array([1e-3, 1e-3]), "window": np.array([1.5, 1.5]), "strided": np.array([4e-3, 4e-3])}
    losses = {"memory": np.ones((2, 600), np.float32), "strided": np.full((2, 600), 1.25, np.float32)}
    measured = Measured(1024, 16, seconds, losses)
    text = section.live_sentence(measured, {"memory": 2.0, "window": 2500.0})
    assert "1\u2009024 tokens of context costs **1 ms** with memory and **1.5 s**" in text
    assert "**1\u2009500 times**, counted 1\u2009250." in text
    assert "Over 1\u2009200 tokens" in section.live_loss(measured) and "+0.2500 ± 0.0000" in section.live_loss(measured)
    row = {"difference": -0.25, "difference_error": None}
    assert section.plus_minus(row) == "−0.2500"
