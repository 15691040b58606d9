"""A checkpoint folder opens exactly as it was saved; whatever is wrong with one is said in a sentence."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from relxl.census import census, describe
from relxl.checkpoint import CheckpointError, UnansweredError, list_checkpoints, open_checkpoint, save_checkpoint
from relxl.vocab import Vocab
from tests.conftest import tiny_model


@pytest.fixture
def folder(tmp_path):
    save_checkpoint(tmp_path / "tiny", tiny_model(dtype=torch.float32), Vocab(tuple("abcdefghijk")), {"seed": 3})
    return tmp_path / "tiny"


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_a_checkpoint_comes_back_as_it_was_saved(positions, tmp_path, tokens):
    model = tiny_model(positions, torch.float32, clamp_len=9)
    save_checkpoint(tmp_path / "tiny", model, Vocab(tuple("abcdefghijk")), {"seed": 3})
    checkpoint = open_checkpoint(tmp_path / "tiny")
    assert checkpoint.config == model.config and checkpoint.training == {"seed": 3} and checkpoint.name == "tiny"
    assert torch.equal(checkpoint.model(tokens).output_logits, model(tokens).output_logits)
    assert not checkpoint.model.training and not any(p.requires_grad for p in checkpoint.model.parameters())
    assert checkpoint.n_parameters == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_parameters_are_counted_without_building_the_model(positions):
    model = tiny_model(positions)
    assert model.config.n_parameters == sum(p.numel() for p in model.parameters())


def test_opening_draws_no_random_number_of_others(folder):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    open_checkpoint(folder)
    assert torch.equal(torch.rand(3), expected)


def test_weights_stay_when_the_file_changes_later(folder, tokens):
    checkpoint = open_checkpoint(folder)
    before = checkpoint.model(tokens).output_logits
    weights = folder / "model.safetensors"
    weights.write_bytes(b"\0" * weights.stat().st_size)
    assert torch.equal(checkpoint.model(tokens).output_logits, before)


def test_the_digest_tells_weights_apart(folder):
    first = open_checkpoint(folder).digest
    tensors = load_file(folder / "model.safetensors")
    tensors["out_bias"][0] += 1
    save_file(tensors, folder / "model.safetensors")
    assert open_checkpoint(folder).digest != first


def test_checkpoints_are_listed_and_described(folder):
    (folder.parent / "unfinished").mkdir()
    assert list_checkpoints(folder.parent) == ["tiny"]
    facts = json.loads(json.dumps(describe(open_checkpoint(folder))))
    assert facts["d_head"] == 4 and facts["validation_loss"] is None
    table = next(row for row in census(open_checkpoint(folder)) if row["name"] == "layers.1.attn.pos_enc.pos_table")
    assert table["shape"] == [25, 4] and table["dtype"] == "float32" and table["matched"]
    assert table["nan"] == table["infinite"] == 0 and table["min"] < table["mean"] < table["max"]


def change_config(**changes):
    def change(folder):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def change_weights(**changes):
    def change(folder):
        path = folder / "model.safetensors"
        save_file({k: v for k, v in (load_file(path) | changes).items() if v is not None}, path)

    return change


BROKEN = {
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "has no model.safetensors"),
    "no config": (lambda f: (f / "config.json").unlink(), "has no config.json"),
    "config not JSON": (lambda f: (f / "config.json").write_text("{"), "config.json is not JSON"),
    "config deep": (lambda f: (f / "config.json").write_text("[" * 100_000), "config.json is not JSON"),
    "config a list": (lambda f: (f / "config.json").write_text("[]"), "holds a JSON list"),
    "other family": (change_config(family="bert"), 'does not say "family": "relxl"'),
    "unknown field": (change_config(rotary=True), "has 'rotary', which relxl does not know"),
    "huge size": (change_config(n_layer=10**9), "n_layer must be a whole number from 1 to 256, got 1000000000"),
    "negative size": (change_config(d_model=-4), "d_model must be .* got -4"),
    "size as text": (change_config(n_head="3"), "n_head must be a whole number from 1 to 1024, got 3"),
    "size as bool": (change_config(n_head=True), "got True"),
    "size NaN": (change_config(max_len=float("nan")), "max_len must be .* got nan"),
    "positions": (change_config(positions="rotary"), "got rotary"),
    "heads": (change_config(n_head=5), "d_model=12 and n_head=5"),
    "tokens": (change_config(n_token=12), "has 11 tokens, but config.json says n_token=12"),
    "vocabulary": (lambda f: (f / "vocab.json").write_text("3"), "vocab.json can not be read"),
    "training": (lambda f: (f / "training.json").write_text('{"validation": {"loss": "low"}}'), "validation.loss"),
    "training part": (lambda f: (f / "training.json").write_text('{"text": [1]}'), "text.name"),
    "not weights": (lambda f: (f / "model.safetensors").write_bytes(b"<html>no</html>"), "is not a safetensors file"),
    "empty weights": (lambda f: (f / "model.safetensors").write_bytes(b""), "is not a safetensors file"),
    "missing tensor": (change_weights(**{"layers.1.attn.u": None}), "lacks layers.1.attn.u"),
    "extra tensor": (change_weights(extra=torch.zeros(1)), "has 'extra'"),
    "size beyond the file": (change_config(d_inner=10**6), "asks for .*: they differ"),
    "wrong shape": (change_weights(out_bias=torch.zeros(12)), r"out_bias is torch.float32 \[12\].*\[11\]"),
    "wrong dtype": (change_weights(out_bias=torch.zeros(11, dtype=torch.long)), "out_bias is torch.int64"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_checkpoint_is_refused_in_one_sentence(case, folder):
    breaking, message = BROKEN[case]
    breaking(folder)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(folder)
    assert "\n" not in str(error.value)


def test_a_path_that_is_no_folder_is_refused(folder):
    with pytest.raises(CheckpointError, match="nowhere is not there"):
        open_checkpoint(folder / "nowhere")
    with pytest.raises(CheckpointError, match=r"config.json is a file"):
        open_checkpoint(folder / "config.json")
