"""The commands, run as a person runs them."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from safetensors.torch import save_file as save_torch

from relxl.checkpoint import save_checkpoint
from relxl.cli import main
from relxl.vocab import Vocab
from tests.conftest import ROOT, tiny_model

TERMS = ("content", "content_position", "u_bias", "v_bias")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "tiny"
    save_checkpoint(path, tiny_model(dtype=torch.float32), Vocab(tuple("abcdefghijk")), {})
    return path


def test_inspect_prints_sizes_and_tensors(folder, capsys):
    assert main(["inspect", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "n_head            3" in text and "layers.0.attn.pos_enc.pos_table" in text
    assert main(["inspect", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_len"] == 13


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_terms_of_a_text_are_dense_and_add_up(folder, suffix, tmp_path):
    out = tmp_path / f"terms{suffix}"
    command = ["terms", str(folder), "--text", "abcdefghijkabc", "--mem-len", "5", "--heads", "2,0", "--out", str(out)]
    assert main([*command, "--dtype", "float64"]) == 0
    arrays = dict(np.load(out)) if suffix == ".npz" else load_file(out)
    names = [*TERMS, "logits", "probs", "mask"]
    assert set(arrays) == {f"L{layer}.{name}" for layer in (0, 1) for name in names} | {"distance"}
    assert all(arrays[f"L1.{name}"].shape == (1, 2, 9, 14) for name in names)
    assert arrays["L1.logits"].dtype == np.float64 and arrays["L1.mask"].dtype == bool
    np.testing.assert_allclose(sum(arrays[f"L1.{name}"] for name in TERMS), arrays["L1.logits"], atol=1e-12)
    logits = np.where(arrays["L1.mask"], arrays["L1.logits"], -np.inf)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    np.testing.assert_allclose(exponentials / exponentials.sum(-1, keepdims=True), arrays["L1.probs"], atol=1e-12)
    assert arrays["distance"][2].tolist() == list(range(7, -7, -1))
    assert (arrays["L1.mask"][0, 0] == (arrays["distance"] >= 0)).all()


def test_text_tokens_and_hidden_states_give_the_same_terms(folder, tmp_path):
    model = tiny_model(dtype=torch.float32)
    ids = [0, 3, 1, 2, 2, 7]
    (tmp_path / "ids.txt").write_text("0 3 1\n2 2 7")
    (tmp_path / "ids.json").write_text(json.dumps(ids))
    hidden = model(torch.tensor([ids])).hidden[1].detach().numpy()
    np.savez(tmp_path / "hidden.npz", hidden=hidden)
    save_file({"hidden": hidden}, tmp_path / "hidden.safetensors")
    sources = [["--text", "adbcch"]]
    sources += [["--tokens", str(tmp_path / name)] for name in ("ids.txt", "ids.json")]
    sources += [["--hidden", str(tmp_path / name)] for name in ("hidden.npz", "hidden.safetensors")]
    results = []
    for source in sources:
        out = tmp_path / "out.npz"
        assert (
            main(
                ["terms", str(folder), *source, "--layer", "1", "--clamp-len", "3", "--mem-len", "2", "--out", str(out)]
            )
            == 0
        )
        results.append(dict(np.load(out)))
    # hidden states of layer 1 depend on layer 0, which was not clamped above: compare those two apart
    for one, other in ((0, 1), (0, 2), (3, 4)):
        for name, value in results[one].items():
            np.testing.assert_array_equal(results[other][name], value)
    assert results[3]["L1.content"].shape == results[0]["L1.content"].shape == (1, 3, 4, 6)


def test_hidden_states_of_a_batch_give_what_the_model_computes(folder, tmp_path):
    hidden = torch.randn(2, 7, 12)
    np.savez(tmp_path / "hidden.npz", hidden=hidden.numpy())
    out = tmp_path / "out.npz"
    assert (
        main(["terms", str(folder), "--hidden", str(tmp_path / "hidden.npz"), "--mem-len", "3", "--out", str(out)]) == 0
    )
    attention = tiny_model(dtype=torch.float32).layers[1].attn
    expected = attention.terms(hidden[:, 3:], hidden, 3).logits().detach()
    np.testing.assert_allclose(np.load(out)["L1.logits"], expected, atol=1e-6)


BAD = {
    "no token left": (["--text", "xyz"], "no token to run on"),
    "empty text": (["--text", ""], "no token to run on"),
    "layer": (["--text", "abc", "--layer", "2"], "layers 0 to 1"),
    "negative layer": (["--text", "abc", "--layer", "-1"], "layers 0 to 1"),
    "head": (["--text", "abc", "--heads", "3"], "heads 0 to 2"),
    "heads": (["--text", "abc", "--heads", "a,b"], "'a,b'"),
    "memory": (["--text", "abc", "--mem-len", "3"], "mem_len=3"),
    "clamp": (["--text", "abc", "--clamp-len", "-2"], "got -2"),
    "out": (["--text", "abc", "--out", "terms.csv"], "'.csv'"),
    "tokens missing": (["--tokens", "nowhere.txt"], "nowhere.txt"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_can_not_be_done_is_one_sentence_and_exit_2(case, folder, tmp_path, capsys):
    arguments, message = BAD[case]
    assert main(["terms", str(folder), "--out", str(tmp_path / "out.npz"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error and not (tmp_path / "out.npz").exists()


def test_a_batch_of_token_ids_keeps_its_rows(folder, tmp_path):
    (tmp_path / "ids.json").write_text("[[0, 3, 1], [5, 5, 2]]")
    out = tmp_path / "out.npz"
    assert main(["terms", str(folder), "--tokens", str(tmp_path / "ids.json"), "--out", str(out)]) == 0
    with np.load(out) as batch:
        assert batch["L0.content"].shape == (2, 3, 3, 3)


@pytest.mark.parametrize(
    "content, message",
    [
        ("[[1], [1, 2]]", "of one length"),
        ("[1, 99]", "token id 99"),
        ("a b", "must hold token ids"),
        ("[1.5]", "must hold"),
    ],
)
def test_bad_token_files_are_refused(content, message, folder, tmp_path, capsys):
    (tmp_path / "ids").write_text(content)
    assert main(["terms", str(folder), "--tokens", str(tmp_path / "ids"), "--out", str(tmp_path / "out.npz")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arrays, message",
    [({"x": np.zeros(3)}, "no floating array named `hidden`"), ({"hidden": np.zeros((1, 4, 5))}, r"[1, 4, 5]")],
)
def test_bad_hidden_files_are_refused(arrays, message, folder, tmp_path, capsys):
    np.savez(tmp_path / "hidden.npz", **arrays)
    command = ["terms", str(folder), "--hidden", str(tmp_path / "hidden.npz"), "--out", str(tmp_path / "out.npz")]
    assert main(command) == 2 and message in capsys.readouterr().err
    (tmp_path / "hidden.npz").write_bytes(b"garbage")
    assert main(command) == 2 and "no .npz or .safetensors of numbers" in capsys.readouterr().err


def test_the_module_runs_from_the_shell(folder):
    done = subprocess.run(
        [sys.executable, "-m", "relxl", "inspect", "nowhere"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.startswith("relxl: nowhere is not there") and done.stdout == ""
    assert (
        "train"
        in subprocess.run([sys.executable, "-m", "relxl", "--help"], cwd=ROOT, capture_output=True, text=True).stdout
    )


@pytest.mark.parametrize(
    "text, arguments, message",
    [
        ("", [], "the text has 0 tokens"),
        ("abc" * 40, [], "the last 12 would validate"),
        ("abc" * 100, [], "the training text has 270 tokens"),
        ("abc" * 100, ["--d-model", "30"], "d_model=30 and n_head=8"),
        ("abc" * 100, ["--steps", "0"], "steps must be a whole number from 1"),
        ("abc" * 100, ["--lr", "nan"], "lr must be a finite number"),
        (b"\xff\xfe", [], "is not UTF-8"),
    ],
)
def test_a_training_that_can_not_be_is_one_sentence(text, arguments, message, tmp_path, capsys):
    path = tmp_path / "text.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["train", "--text", str(path), "--out", str(tmp_path / "out"), *arguments]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_hidden_states_in_half_precision_are_read(folder, tmp_path):
    save_torch({"hidden": torch.randn(1, 4, 12, dtype=torch.bfloat16)}, tmp_path / "hidden.safetensors")
    out = tmp_path / "out.npz"
    assert main(["terms", str(folder), "--hidden", str(tmp_path / "hidden.safetensors"), "--out", str(out)]) == 0


@pytest.mark.parametrize("array", [np.array([["a"]]), np.zeros((1, 4, 12), ">f4"), np.zeros((1, 4, 12), int)])
def test_hidden_states_that_are_no_floats_of_this_machine_are_refused(array, folder, tmp_path, capsys):
    np.savez(tmp_path / "hidden.npz", hidden=array)
    command = ["terms", str(folder), "--hidden", str(tmp_path / "hidden.npz"), "--out", str(tmp_path / "out.npz")]
    assert main(command) == 2 and "hidden" in capsys.readouterr().err
