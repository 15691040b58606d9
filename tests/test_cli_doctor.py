"""The command, run as a person or a build server runs it."""

import json
import os
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from relxl.bench.doctor_subjects import FIXTURES
from relxl.cli import main
from tests.conftest import ROOT

LEAKY = ROOT / "checkpoints/shakespeare-leaky"


@pytest.fixture(autouse=True)
def same_threads():
    """Give back the threads that the command takes from small models."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def sick(tmp_path):
    """Copy a bundled checkpoint and let its u have no values."""
    path = tmp_path / "sick"
    shutil.copytree(LEAKY, path)
    tensors = load_file(path / "model.safetensors")
    tensors["layers.1.attn.u"] *= 1e-41
    save_file(tensors, path / "model.safetensors")
    return path


def test_a_healthy_checkpoint_is_reported_and_passes(capsys):
    assert main(["doctor", str(LEAKY)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("shakespeare-leaky (relxl) on its recorded sample (128 tokens, 0 of them memory): 0 errors")
    assert "warning loss.knows_future" in text and "not run, for want of a reference: reference" in text
    assert main(["doctor", str(LEAKY), "--fail-on", "warning"]) == 1


def test_a_sick_one_fails_and_writes_what_a_build_server_reads(sick, tmp_path, capsys):
    junit = tmp_path / "doctor.xml"
    assert main(["doctor", str(sick), "--junit", str(junit)]) == 1
    text = capsys.readouterr().out
    assert "error   biases.uninitialised  at L1 u_bias" in text and "reported as: facebookresearch/fairseq#4622" in text
    suite = ElementTree.parse(junit).getroot()
    assert {failure.get("type") for failure in suite.iter("failure")} >= {"biases.uninitialised"}
    assert main(["doctor", str(sick), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["findings"][0]["severity"] == "error" and found["counts"]["error"] >= 1


def test_what_cannot_be_opened_is_one_sentence_and_exit_code_2(tmp_path, capsys):
    assert main(["doctor", str(tmp_path / "nothing")]) == 2
    (tmp_path / "rubbish.npz").write_bytes(b"rubbish")
    assert main(["doctor", str(LEAKY), "--reference", str(tmp_path / "rubbish.npz")]) == 2
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    assert main(["doctor", str(LEAKY), "--text", str(tmp_path / "latin.txt")]) == 2
    (tmp_path / "empty.txt").write_text("")
    assert main(["doctor", str(LEAKY), "--text", str(tmp_path / "empty.txt")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and all(line.startswith("relxl: ") for line in lines)


def test_a_text_tokens_and_frames_are_read(tmp_path, capsys):
    (tmp_path / "text.txt").write_text("To be, or not to be, that is the question: " * 3)
    (tmp_path / "ids.txt").write_text("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20")
    np.savez(tmp_path / "frames.npz", hidden=np.random.default_rng(0).normal(size=(1, 14, 32)).astype(np.float32))
    nemo = FIXTURES / "nemo/bi_nomask/weights.safetensors"
    for command, words in (
        ([LEAKY, "--text", tmp_path / "text.txt"], "128 tokens of text.txt"),
        ([LEAKY, "--tokens", tmp_path / "ids.txt"], "20 tokens of ids.txt"),
        ([LEAKY, "--tokens", tmp_path / "ids.txt", "--mem-len", "5"], "20 tokens of ids.txt, 5 of them memory"),
        ([nemo, "--hidden", tmp_path / "frames.npz"], "14 frames of frames.npz"),
        ([nemo], "48 frames of noise"),
        ([nemo, "--choose", "family=espnet", "--choose", "rel_pos_type=legacy"], "(espnet) on 48 frames of noise"),
    ):
        assert main(["doctor", *map(str, command), "--json"]) in (0, 1)
        found = json.loads(capsys.readouterr().out)
        assert words in f"({found['family']}) on {found['read']}"


def test_a_captured_run_names_what_differs(tmp_path, capsys):
    tensors = load_file(FIXTURES / "espnet/bi_nomask/expected.safetensors")
    hidden, probs = tensors["seg0.input.x"].numpy(), tensors["seg0.layer0.probs"].numpy()
    np.savez(tmp_path / "mine.npz", **{"probs.0": probs, "hidden": hidden})
    command = ["doctor", str(FIXTURES / "espnet/bi_nomask/weights.safetensors"), "--choose", "family=espnet", "--json"]
    command += ["--reference", str(tmp_path / "mine.npz")]
    for told, name, code in (("latest", "reference.agrees", 0), ("legacy", "reference.setting", 1)):
        assert main([*command, "--choose", f"rel_pos_type={told}"]) == code
        findings = json.loads(capsys.readouterr().out)["findings"]
        assert [f["id"] for f in findings if f["id"].startswith("reference.")] == [name]


def test_an_emitted_test_fails_until_the_fault_is_gone(sick, tmp_path, capsys):
    test = tmp_path / "test_emitted.py"
    assert main(["doctor", str(sick), "--emit-test", str(test)]) == 1
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "check": False}
    done = subprocess.run(command, **run)
    assert done.returncode == 1 and "biases.uninitialised" in done.stdout
    shutil.copy(LEAKY / "model.safetensors", sick / "model.safetensors")
    done = subprocess.run(command, **run)
    assert done.returncode == 0, done.stdout
