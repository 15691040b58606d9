"""Relative against absolute: the same seed gives the same table, cut off and resumed too, and the recorded one."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from relxl import cli_relative_absolute
from relxl.cli import main
from relxl.cli_relative_absolute import SMALL_LENGTH, small_rows
from relxl.config import POSITIONS
from relxl.experiments.relative_absolute import (
    TIMES,
    SweepSettings,
    drawn,
    ids_of,
    length_losses_of,
    measure_run,
    position_rows,
    sweep_runs,
    sweep_text,
    train_beside,
)
from relxl.training import token_loss
from tests.conftest import ROOT

TINY = SweepSettings(n_layer=1, n_head=2, d_model=8, d_inner=8, steps=3, step_tokens=64, warmup=1, scored=96, streams=2)
ARGUMENTS = ["--lengths", "16,32", "--seeds", "0,1", "--steps", "2", "--step-tokens", "64", "--scored", "96"]


@pytest.fixture(scope="module")
def text_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "little.txt"
    path.write_text((ROOT / "data/tinyshakespeare.txt").read_text()[:12000])
    return path


@pytest.fixture(scope="module")
def text(text_file):
    return sweep_text("little", text_file.read_text())


@pytest.fixture(scope="module")
def runs(text):
    return sweep_runs(TINY, [text], [16, 32], [0, 1])


@pytest.fixture(scope="module")
def rows(runs):
    return [measure_run(run) for run in runs]


def test_a_sweep_has_every_combination_once(runs):
    facts = [tuple(run.facts.values()) for run in runs]
    assert len(set(facts)) == len(facts) == 2 * 2 * 2 * 3
    assert {run.facts["mem_len"] for run in runs if run.segment_len == 32} == {0, 32}


def test_the_same_seed_gives_the_same_table_in_threads_too(runs, rows):
    generator = torch.get_rng_state()
    with ThreadPoolExecutor(3) as executor:
        assert list(executor.map(measure_run, runs)) == rows
    assert torch.equal(torch.get_rng_state(), generator)
    json.dumps(rows)


def test_another_seed_and_another_kind_give_another_one(runs, rows):
    first = {tuple(run.facts.values()): part["loss"][0] for run, part in zip(runs, rows, strict=True)}
    assert len(set(first.values())) >= len(first) - 1  # two may round to the same five places


def test_all_kinds_see_the_same_batches_and_differ_in_positions_alone(text):
    train = TINY.train_config(16, 0)
    configs = [TINY.model_config(text.n_token, kind, 16, True) for kind in POSITIONS]
    assert len({replace(config, positions="learned") for config in configs}) == 1
    assert TINY.train_config(32, 0).batch * 32 == train.batch * 16 == TINY.step_tokens
    assert configs[0].max_len == 32  # the largest distance of segment and memory is 31


def test_a_run_at_its_own_length_is_the_models_own_loss(text):
    run = sweep_runs(TINY, [text], [16], [0])[0]
    model = drawn(TINY.model_config(text.n_token, run.positions, 16, False), TINY.train_config(16, 0)).model.eval()
    loss = next(row for _, row in length_losses_of(run, model) if row)
    tokens = ids_of(text.validation)
    tokens = tokens[: len(tokens) // 2 * 2].view(2, -1)[:, -(96 // 2 + 1) :]
    with torch.no_grad():
        logits = [model(tokens[:, begin : begin + 16]).output_logits for begin in (0, 16, 32)]
    expected = token_loss(torch.cat(logits, dim=1), tokens[:, 1:]).numpy()
    np.testing.assert_allclose(loss.losses, expected, atol=1e-5)


def test_all_rows_score_the_same_characters_and_the_bins_make_the_whole(runs):
    model = drawn(TINY.model_config(runs[0].text.n_token, "learned", 16, False), TINY.train_config(16, 0)).model.eval()
    for loss, times in zip([row for _, row in length_losses_of(runs[0], model) if row], TIMES, strict=True):
        whole, *bins = position_rows(loss)
        assert (whole["begin"], whole["end"], whole["eval_len"], whole["characters"]) == (0, 16 * times, 16 * times, 96)
        assert sum(row["characters"] for row in bins) == 96
        total = sum(row["loss"] * row["characters"] for row in bins)
        assert total / 96 == pytest.approx(whole["loss"], abs=2e-5)
        assert whole["perplexity"] == pytest.approx(np.exp(whole["loss"]), rel=1e-4)


def test_training_beside_each_other_trains_what_the_sweep_trains(text, rows):
    states = None
    for step, states in enumerate(train_beside(TINY, text, 16, memory=True, seed=1), start=1):
        assert sum(state.step for state in states.values()) == step
    assert step == 3 * TINY.steps
    measured = {part["positions"][0]: part for part in rows if (part["mem_len"][0], part["seed"][0]) == (16, 1)}
    for kind, state in states.items():
        run = next(run for run in sweep_runs(TINY, [text], [16], [1]) if run.memory and run.positions == kind)
        losses = [row.loss for _, row in length_losses_of(run, state.model.eval()) if row]
        assert losses[0] == pytest.approx(measured[kind]["loss"][0], abs=1e-5)


BAD = {
    "length": (lambda text: sweep_runs(TINY, [text], [24], [0]), "must divide the 64 tokens of a step, got 24"),
    "short": (lambda text: sweep_runs(replace(TINY, scored=4096), [text], [16], [0]), "use a longer text"),
    "train": (lambda text: sweep_runs(TINY, [replace(text, train=text.train[:64])], [16], [0]), "must be three"),
    "beside": (lambda text: train_beside(TINY, text, 24, False), "must divide"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_can_not_be_trained_is_refused_before_anything_is(case, text):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call(text)


# The command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def command(text_file, tmp_path, monkeypatch):
    """Give the command as a function of its last options, on a thread of this process."""
    monkeypatch.setattr(cli_relative_absolute, "chosen_executor", lambda *_args: ThreadPoolExecutor(1))

    def run(out, *more):
        return main(["sweep", "relative-vs-absolute", "--texts", str(text_file), *ARGUMENTS, "--out", str(out), *more])

    return run


@pytest.fixture
def whole(command, tmp_path):
    assert command(tmp_path / "whole.csv") == 0
    return tmp_path / "whole.csv"


def test_the_command_writes_one_row_a_measure_and_says_how(whole, capsys):
    table, how = pd.read_csv(whole), json.loads(whole.with_suffix(".json").read_text())
    assert set(table.positions) == set(POSITIONS) and set(table.segment_len) == {16, 32}
    assert how["command"].startswith("python -m relxl ") and how["settings"]["steps"] == 2
    assert len(how["texts"]["little.txt"]) == 64 and sorted(path.name for path in whole.parent.iterdir()) == [
        "whole.csv",
        "whole.json",
    ]


def test_a_sweep_that_was_cut_off_goes_on_and_ends_equal(whole, command, tmp_path, monkeypatch, capsys):
    calls = []

    def dies(run):
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(run)
        return measure_run(run)

    monkeypatch.setattr("relxl.experiments.relative_absolute.measure_run", dies)
    out = tmp_path / "again.parquet"
    assert command(out) != 0
    journal = tmp_path / "again.parquet.journal"
    with journal.open("a") as file:
        file.write('{"run": "cut off in the mid')
    monkeypatch.setattr("relxl.experiments.relative_absolute.measure_run", measure_run)
    assert not out.exists() and command(out) == 0 and not journal.exists()
    assert "5 of 24 trainings; going on" in capsys.readouterr().err
    pd.testing.assert_frame_equal(pd.read_parquet(out), pd.read_csv(whole))


def test_another_sweeps_journal_is_left_alone(command, tmp_path, capsys):
    journal = tmp_path / "rows.csv.journal"
    journal.write_text('{"settings": {}}\n')
    assert command(tmp_path / "rows.csv") == 2
    assert "another sweep" in capsys.readouterr().err and journal.read_text() == '{"settings": {}}\n'


@pytest.mark.parametrize("options, message", [
    (["--lengths", "24"], "must divide"), (["--lengths", "a"], "give whole numbers"),
    (["--lengths", "0"], "1 token or more"),
    (["--texts", "nowhere.txt"], "nowhere.txt"), (["--scored", "100000"], "use a longer text"),
])  # fmt: skip
def test_what_can_not_be_done_is_one_sentence_and_leaves_nothing(options, message, command, tmp_path, capsys):
    assert command(tmp_path / "rows.csv", *options) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not any(tmp_path.iterdir())


# What is recorded ----------------------------------------------------------------------------------------------------


def test_the_recorded_sweep_is_whole():
    table = pd.read_csv(ROOT / "data/relative_vs_absolute.csv")
    runs = table.groupby(["text", "positions", "mem_len", "segment_len", "seed"]).ngroups
    assert runs == 2 * 3 * 2 * 5 * 3 and table.loss.notna().all()
    assert (table.eval_len / table.segment_len).isin(TIMES).all()


def test_a_small_rerun_gives_the_recorded_losses():
    """One length, few steps: on another processor sums round differently, so a band of 0.02 nats is left."""
    recorded = json.loads((ROOT / "data/relative_vs_absolute.json").read_text())["small"]
    again = small_rows(sweep_text("tinyshakespeare", (ROOT / "data/tinyshakespeare.txt").read_text()))
    assert [row["segment_len"] for row in again] == [SMALL_LENGTH] * len(again) == [64] * (2 * 3 * len(TIMES))
    for before, after in zip(recorded, again, strict=True):
        assert {**before, "loss": 0} == {**after, "loss": 0}
        assert after["loss"] == pytest.approx(before["loss"], abs=0.02)
