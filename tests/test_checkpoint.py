"""A checkpoint opens exactly as it was saved, by us or by others; what is wrong with one is said in a sentence."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from relxl.census import census, describe
from relxl.checkpoint import CheckpointError, UnansweredError, list_checkpoints, open_checkpoint, save_checkpoint
from relxl.vocab import Vocab
from tests.conformance import weights_of
from tests.conftest import ROOT, tiny_model
from tests.foreign import foreign, foreign_folder


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
    "config not JSON": (lambda f: (f / "config.json").write_text("{"), "config.json is not JSON"),
    "config deep": (lambda f: (f / "config.json").write_text("[" * 100_000), "config.json is not JSON"),
    "config a list": (lambda f: (f / "config.json").write_text("[]"), "holds a JSON list"),
    "unknown field": (change_config(rotary=True), "has 'rotary', which relxl does not know"),
    "huge size": (change_config(n_layer=10**9), "n_layer must be a whole number from 1 to 256, got 1000000000"),
    "negative size": (change_config(d_model=-4), "d_model must be .* got -4"),
    "size as text": (change_config(n_head="3"), "n_head must be a whole number from 1 to 1024, got 3"),
    "size as bool": (change_config(n_head=True), "got True"),
    "size NaN": (change_config(max_len=float("nan")), "max_len must be .* got nan"),
    "positions": (change_config(positions="rotary"), "got rotary"),
    "heads": (change_config(n_head=5), "d_model=12 and n_head=5"),
    "tokens": (change_config(n_token=12), r"out_bias is torch.float32 \[11\], but config.json needs floats \[12\]"),
    "few words": (lambda f: (f / "vocab.json").write_text('["a", "b"]'), "has 2 tokens, but the model has n_token=11"),
    "no vocabulary": (lambda f: (f / "vocab.json").unlink(), "there is no vocab.json"),
    "vocabulary": (lambda f: (f / "vocab.json").write_text("3"), "vocab.json can not be read"),
    "training": (lambda f: (f / "training.json").write_text('{"validation": {"loss": "low"}}'), "validation.loss"),
    "training part": (lambda f: (f / "training.json").write_text('{"text": [1]}'), "text.name"),
    **{
        f"training {place} {text[:40]}": (lambda f, text=text: (f / "training.json").write_text(text), place)
        for place, text in {
            "train.steps": '{"train": {"steps": true}}',
            "train.mask_fill": '{"train": {"steps": 1, "mask_fill": -1e9}}',
            "validation.loss": '{"validation": {"loss": 1' + "0" * 400 + "}}",
            "sample.text": json.dumps({"sample": {"text": "a" * 100_001}}),
            "sample.losses": '{"sample": {"text": "ab", "losses": [[1]]}}',
            "row_gradient_counts": '{"row_gradient_counts": [[1, 2], [3]]}',
        }.items()
    },
    "not weights": (lambda f: (f / "model.safetensors").write_bytes(b"<html>no</html>"), "is a web page"),
    "empty weights": (lambda f: (f / "model.safetensors").write_bytes(b""), "model.safetensors is empty"),
    "missing tensor": (change_weights(**{"layers.1.attn.u": None}), "the weights lack layers.1.attn.u"),
    "missing tensors": (
        change_weights(**{f"layers.1.attn.{name}": None for name in "uv"}),
        "the weights lack layers.1.attn.u and 1 more",
    ),
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


def test_a_path_that_holds_no_weights_is_refused(folder):
    with pytest.raises(CheckpointError, match="nowhere is not there"):
        open_checkpoint(folder / "nowhere")
    with pytest.raises(CheckpointError, match=r"config.json is JSON text, but relxl opens"):
        open_checkpoint(folder / "config.json")


def test_a_tensor_that_plays_no_part_is_listed(folder, tokens):
    before = open_checkpoint(folder).model(tokens).output_logits
    change_weights(extra=torch.zeros(1))(folder)
    checkpoint = open_checkpoint(folder)
    assert checkpoint.opened.unmatched == ("extra",) and torch.equal(checkpoint.model(tokens).output_logits, before)
    assert [row["name"] for row in census(checkpoint) if not row["matched"]] == ["extra"]


@pytest.mark.parametrize("breaking", [lambda f: (f / "config.json").unlink(), change_config(family="bert")])
def test_our_own_weights_without_their_config_are_the_articles_attention(breaking, folder):
    breaking(folder)
    checkpoint = open_checkpoint(folder, torch.float64)
    assert checkpoint.opened.family.name == "article" and checkpoint.vocab is None and checkpoint.config.n_token == 0
    assert "word_emb.weight" in checkpoint.opened.unmatched
    model, x = tiny_model(dtype=torch.float32).double(), torch.randn(1, 5, 12, dtype=torch.float64)
    for layer, own in zip(checkpoint.model.layers, model.layers, strict=True):
        torch.testing.assert_close(layer.attn.terms(x, x).logits(), own.attn.terms(x, x).logits())


# Other families ------------------------------------------------------------------------------------------------------


def test_another_family_opens_with_what_its_config_says():
    checkpoint = open_checkpoint(ROOT / "checkpoints/txl-official")
    settings = {setting.ask.name: (setting.value, setting.origin) for setting in checkpoint.opened.settings}
    assert checkpoint.opened.family.name == "txl_official" and not checkpoint.opened.unmatched
    assert settings["mem_len"] == (96, "file") and settings["tgt_len"] == (96, "file")
    assert (checkpoint.config.n_token, checkpoint.config.clamp_len) == (65, None) and len(checkpoint.vocab.tokens) == 65
    facts = json.loads(json.dumps(describe(checkpoint)))
    assert facts["settings"]["same_length"] == [False, "file"] and "r_w_bias" in facts["known_by"]
    assert facts["validation_loss"] == pytest.approx(1.699, abs=1e-3)


def test_a_choice_goes_before_the_config_and_a_wrong_one_is_one_sentence():
    path = ROOT / "checkpoints/txl-official"
    assert open_checkpoint(path, chosen={"clamp_len": 40}).config.clamp_len == 40
    assert open_checkpoint(path, config={"clamp_len": 30}).config.clamp_len == 30
    for chosen, message in (
        ({"clamp": 3}, "txl_official has nothing called 'clamp' to choose: it asks for clamp_len"),
        ({"clamp_len": "far"}, "the choice says clamp_len='far', but it must be a whole number from -1"),
        ({"family": "nemo"}, "family 'nemo' was chosen, but the names in this file are those of txl_official"),
    ):
        with pytest.raises(CheckpointError, match=message) as error:
            open_checkpoint(path, chosen=chosen)
        assert "\n" not in str(error.value) and str(error.value).startswith("txl-official: ")


def test_what_the_weights_leave_open_is_asked_for_by_name():
    weights = weights_of(ROOT / "tests/fixtures/txl_official/cutoffs_div1")
    with pytest.raises(UnansweredError, match="give cutoffs of 3 rising numbers") as error:
        open_checkpoint(weights)
    assert error.value.ask == "cutoffs"


def test_a_family_without_tokens_has_no_vocabulary_and_one_without_a_file_of_them_reads_ids():
    assert foreign("nemo").vocab is None and foreign("nemo").config.n_token == 0
    assert foreign("hf_transfoxl").vocab.encode("3 36 37 x").ids == [3, 36]


def test_a_model_of_a_config_of_another_size_is_refused(tmp_path):
    folder = foreign_folder("hf_transfoxl", tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_head": 2}))
    with pytest.raises(CheckpointError, match="the config says n_head=2, but the tensors say 4"):
        open_checkpoint(folder)
