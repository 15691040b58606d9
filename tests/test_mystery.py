"""Spot the bug: a seed plants the same fault in the same bytes, says nothing of it, and the doctor finds it."""

import json

import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.doctor.case import Case, sample_trace
from relxl.doctor.registry import CHECKS, examine
from relxl.mystery import (
    BASES,
    FAULTS,
    FIRST_SEED,
    HEALTHY,
    KINDS,
    LAST_SEED,
    OPTIONS,
    ROUND,
    make_mystery,
    riddle,
    round_of,
    sample_loss,
)
from tests.conftest import ROOT

CHECKPOINTS = ROOT / "checkpoints"
SEEDS = {riddle(seed).fault.kind: seed for seed in range(199, FIRST_SEED - 1, -1)}  # kind -> its first seed
FINDS = {  # kind -> the check that must name it
    "swapped": "loss.sample",
    "tied": "biases.copies",
    "unfilled": "biases.values",
    "wide_scale": "loss.sample",
    "transposed": "loss.sample",
    "not_loaded": "weights.initial",
    "flipped": "loss.sample",
    "short": "positions.reach",
    "untrained_rows": "positions.untrained",
    "clamp": "positions.reach",
    "no_memory": "loss.sample",
    "vocabulary": "loss.sample",
}


def opened(seed, tmp_path):
    mystery = make_mystery(seed, CHECKPOINTS)
    for name, data in mystery.files:
        (tmp_path / name).write_bytes(data)
    return mystery, open_checkpoint(tmp_path, name=f"Mystery {seed}")


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    files = [make_mystery(seed, CHECKPOINTS).files for seed in (3, 3, 4)]
    assert files[0] == files[1] != files[2]
    assert [name for name, _data in files[0]] == ["config.json", "vocab.json", "training.json", "model.safetensors"]


def test_every_fault_is_planted_by_some_seed_below_200_in_every_model_that_can_have_it():
    planted = {(riddle(seed).fault.kind, riddle(seed).base) for seed in range(FIRST_SEED, 200)}
    assert planted == {(fault.kind, base) for fault in FAULTS for base in fault.bases}
    assert set(SEEDS) == set(KINDS) == {HEALTHY, *FINDS}


def test_a_round_has_another_fault_for_every_seed():
    assert list(round_of(1)) == list(round_of(5)) == [1, 2, 3, 4, 5] and list(round_of(LAST_SEED))[-1] == LAST_SEED
    for first in range(FIRST_SEED, 100, ROUND):
        assert len({riddle(seed).fault.kind for seed in round_of(first)}) == ROUND


@pytest.mark.parametrize("seed", [FIRST_SEED, 17, 42, LAST_SEED])
def test_the_options_hold_the_answer_and_that_nothing_is_wrong(seed):
    asked = riddle(seed)
    assert len(set(asked.options)) == len(asked.options) == OPTIONS
    assert {asked.fault.kind, HEALTHY} <= set(asked.options) <= set(KINDS) and asked.base in asked.fault.bases


@pytest.mark.parametrize("seed", [0, -1, LAST_SEED + 1])
def test_a_seed_that_is_none_is_one_sentence(seed):
    with pytest.raises(ValueError, match=f"from {FIRST_SEED} to {LAST_SEED}, got {seed}"):
        riddle(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_say_nothing_of_the_fault(kind):
    files = dict(make_mystery(SEEDS[kind], CHECKPOINTS).files)
    texts = [data.decode().lower() for name, data in files.items() if name.endswith(".json")]
    assert not [word for word in ("mystery", "fault", "swapped", "flipped", "command") for t in texts if word in t]
    sound = {base: json.loads((CHECKPOINTS / base / "config.json").read_text()) for base in BASES}
    config = json.loads(files["config.json"])
    changed = {name for name, value in config.items() if value != sound[riddle(SEEDS[kind]).base][name]}
    assert changed == {"short": {"max_len"}, "clamp": {"clamp_len"}, "no_memory": {"mem_len"}}.get(kind, set())


@pytest.mark.parametrize("kind", FINDS)
def test_the_doctor_finds_what_is_planted(kind, tmp_path):
    mystery, checkpoint = opened(SEEDS[kind], tmp_path)
    case = Case(checkpoint, sample_trace(checkpoint))
    check = next(check for check in CHECKS if check.name == FINDS[kind])
    found = check.function(case)
    assert {finding.id for finding in found} & set(mystery.riddle.fault.finds)
    if (layer := mystery.planted.layer) is not None:
        assert any(finding.layer == layer or f"layers.{layer}." in (finding.tensor or "") for finding in found)


def test_a_healthy_mystery_has_no_error_and_the_loss_that_was_recorded(tmp_path):
    mystery, checkpoint = opened(SEEDS[HEALTHY], tmp_path)
    assert mystery.riddle.fault.kind == HEALTHY
    assert not [finding for finding in examine(checkpoint, sample_trace(checkpoint)) if finding.severity != "note"]
    recorded, found = sample_loss(checkpoint)
    assert found == pytest.approx(recorded, abs=2e-3)
    sound = open_checkpoint(CHECKPOINTS / mystery.riddle.base)
    assert all(torch.equal(x, checkpoint.weights.tensors[name]) for name, x in sound.weights.tensors.items())


def test_a_fault_costs_loss(tmp_path):
    _mystery, checkpoint = opened(SEEDS["flipped"], tmp_path)
    recorded, found = sample_loss(checkpoint)
    assert found > recorded + 1
