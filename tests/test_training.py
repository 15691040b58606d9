"""Training: resumed after a kill at any step it loses nothing; what it records is what the saved weights give."""

import json
import signal
import subprocess
import sys
import time

import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.config import TrainConfig
from relxl.training import (
    evaluate,
    load_state,
    read_segment,
    sample_losses,
    save_state,
    split_tokens,
    start,
    token_loss,
    train_steps,
)
from tests.conftest import ROOT, tiny_config, tiny_model

TRAIN = TrainConfig(steps=14, batch=3, lr=1e-2, warmup=3, seed=5)
TOKENS = torch.randint(11, (200,), generator=torch.Generator().manual_seed(1))


def losses_of(state):
    for _ in train_steps(state, TOKENS, TRAIN):
        pass
    return state.losses


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
@pytest.mark.parametrize("step", [1, 8, 9, 13])  # 8 segments are one pass over the text: memory is empty after it
def test_a_resumed_run_has_the_losses_of_an_uninterrupted_one(step, positions, tmp_path):
    config = tiny_config(positions, dropout=0.3)
    whole = start(config, TRAIN)
    expected = losses_of(whole)
    state = start(config, TRAIN)
    for _ in train_steps(state, TOKENS, TRAIN):
        if state.step == step:
            break
    save_state(tmp_path / "resume.safetensors", state, TRAIN, {"note": 1})
    torch.rand(100)  # whatever else draws random numbers in between
    resumed, extra = load_state(tmp_path / "resume.safetensors", config, TRAIN)
    assert losses_of(resumed) == expected and extra == {"note": 1}
    for name, value in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], value), name
    if positions == "learned":
        assert torch.equal(resumed.row_gradient_counts, whole.row_gradient_counts)


def test_training_lowers_the_loss_of_a_text_with_a_pattern():
    train = TrainConfig(steps=120, batch=2, lr=1e-2, warmup=10)
    state = start(tiny_config(n_layer=1), train)
    pattern = torch.tensor([1, 4, 2, 8, 5, 7] * 40)
    for _ in train_steps(state, pattern, train):
        pass
    assert sum(state.losses[:3]) / 3 > 2.2 and sum(state.losses[-10:]) / 10 < 0.2


def test_only_rows_that_a_causal_model_reads_get_a_gradient():
    state = start(tiny_config(), TRAIN)
    losses_of(state)
    counts = state.row_gradient_counts  # row r is distance r - 12; segment 7 and memory 5 reach distance 11
    assert counts.shape == (2, 25)
    assert (counts[:, :12] == 0).all() and (counts[:, 12:19] == TRAIN.steps).all() and (counts[:, 24] == 0).all()
    assert (counts[:, 23] > 0).all() and (counts[:, 23] < TRAIN.steps).all()  # distance 11 needs a full memory


def test_another_run_is_not_resumed(tmp_path):
    path = tmp_path / "resume.safetensors"
    save_state(path, start(tiny_config(), TRAIN), TRAIN, {})
    with pytest.raises(ValueError, match=r"n_head=3, but this one asks for n_head=4"):
        load_state(path, tiny_config(n_head=4), TRAIN)


def test_segments_follow_each_other_and_targets_are_one_ahead():
    tokens = torch.arange(100)
    inputs, targets, anew = read_segment(tokens, 0, batch=2, segment_len=7)
    assert inputs[:, 0].tolist() == [0, 50] and anew and torch.equal(targets, inputs + 1)
    inputs, _, anew = read_segment(tokens, 1, batch=2, segment_len=7)
    assert inputs[:, 0].tolist() == [7, 57] and not anew
    inputs, _, anew = read_segment(tokens, 6, batch=2, segment_len=7)  # the second pass starts elsewhere
    assert anew and inputs[0, 0] == 37 % 7
    with pytest.raises(ValueError, match="has 20 tokens, but 2 streams of segments of 7"):
        read_segment(tokens[:20], 0, batch=2, segment_len=7)


def test_the_learning_rate_warms_up_and_falls_to_its_final_share():
    train = TrainConfig(steps=100, lr=1.0, warmup=10, final_lr_share=0.1)
    rates = [train.lr_at(step) for step in range(101)]
    assert rates[0] == 0.1 and rates[9] == rates[10] == 1.0 and rates[100] == pytest.approx(0.1)
    assert rates[10:] == sorted(rates[10:], reverse=True)


def test_evaluation_carries_memory_and_equals_reading_the_streams_at_once():
    model, tokens = tiny_model(mem_len=50), TOKENS[:58]
    rows = tokens.view(2, 29)
    whole = token_loss(model(rows[:, :-1]).output_logits, rows[:, 1:])
    segments = [whole[:, begin : begin + 7].mean() for begin in range(0, 28, 7)]
    assert evaluate(model, tokens, streams=2) == pytest.approx(sum(segments).item() / 4)
    assert sample_losses(model, rows[0]) == pytest.approx(whole[0].tolist())


def test_the_last_tenth_validates():
    training, validation = split_tokens(torch.arange(1000))
    assert len(training) == 900 and validation[0] == 900


SIZES = {
    "n-layer": 1,
    "n-head": 2,
    "d-model": 8,
    "d-inner": 8,
    "segment-len": 16,
    "mem-len": 16,
    "max-len": 32,
    "batch": 4,
}
SETTINGS = [f"--{name}={value}" for name, value in {**SIZES, "threads": 1}.items()]


def train_command(out, text, *more):
    return [sys.executable, "-m", "relxl", "train", "--text", str(text), "--out", str(out), *SETTINGS, *more]


def test_a_killed_command_resumes_and_ends_as_if_it_had_not_been(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 60)
    more = ["--steps", "400", "--save-every", "7", "--eval-every", "50"]
    run = {"check": True, "cwd": ROOT, "capture_output": True}
    subprocess.run(train_command(tmp_path / "whole", text, *more), **run)

    killed = subprocess.Popen(train_command(tmp_path / "cut", text, *more), cwd=ROOT, stdout=subprocess.DEVNULL)
    while not (tmp_path / "cut/resume.safetensors").exists():
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "cut/config.json").exists()
    again = subprocess.run(train_command(tmp_path / "cut", text, *more), **run)
    assert b"resuming at step" in again.stdout

    whole, cut = (json.loads((tmp_path / name / "training.json").read_text()) for name in ("whole", "cut"))
    for part in ("loss_curve", "validation", "sample", "row_gradient_counts"):
        assert cut[part] == whole[part], part
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]
    names = {path.name for path in (tmp_path / "cut").iterdir()}
    assert {name for name in names if not name.startswith(".")} == {
        "config.json",
        "model.safetensors",
        "training.json",
        "vocab.json",
    }

    checkpoint = open_checkpoint(tmp_path / "cut")
    sample = checkpoint.training["sample"]
    again = sample_losses(checkpoint.model, torch.tensor(checkpoint.vocab.encode(sample["text"]).ids))
    assert again == pytest.approx(sample["losses"], abs=1e-6) and len(again) == 32
    assert checkpoint.training["seed"] == 0 and checkpoint.training["command"].startswith(
        "python -m relxl train --text"
    )
    assert set(checkpoint.training["versions"]) == {"relxl", "torch", "python"}


def test_another_text_is_not_resumed(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 60)
    command = train_command(tmp_path / "out", text, "--steps", "100000", "--save-every", "1")
    killed = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not (tmp_path / "out/resume.safetensors").exists():
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    text.write_text("the quick brown fox jumps over the lazy god\n" * 60)
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert again.returncode == 2 and "run on another text" in again.stderr
