"""Whose file it is, from its names: under any prefix, in any wrapper, in half precision, alone or in a whole model."""

import json
from functools import cache

import pytest
import torch
from safetensors.torch import save, save_file

from relxl.checkpoint import open_checkpoint
from relxl.containers import CheckpointError
from relxl.families import FamilyError, open_tensors, recognise, shapes_of
from tests import whole_models
from tests.bad_inputs import saved
from tests.fixture_files import CASES, FIXTURES, case_id, config_of, family_of, open_case, read

SHARED = {"espnet", "nemo"}  # their attention modules have the same names
PREFIXES = ["module.", "_orig_mod.", "model.", "net.", "encoder.", "transformer.", "my_layers.3.a.", "layers.0."]
ONE_EACH = [next(case for case in CASES if family_of(case) == family) for family in sorted(set(map(family_of, CASES)))]


def make_terms(opened, layer: int = -1) -> torch.Tensor:
    """Split the scores of one layer on an input that is the same for all models of a width."""
    model = opened.model
    x = torch.randn(2, 5, model.config.d_model, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    terms = model.layers[layer].attn.terms(x.to(model.dtype), x.to(model.dtype), clamp_len=model.config.clamp_len)
    return torch.stack([*terms.dense().values()])


@cache
def right_terms(case) -> torch.Tensor:
    return make_terms(open_case(case))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_fixture_is_recognised_by_its_names_alone(case):
    match = recognise(shapes_of(read(case).tensors))
    names, family = [found.name for found in match.families], family_of(case)
    if set(names) & SHARED:
        assert family in names and (names == ["nemo", "espnet"] or "linear_q.bias" not in read(case).tensors)
    else:
        assert names == [family]
    assert len(match.evidence) == len(names) and all(match.evidence)


def test_a_module_of_two_possible_families_says_that_one_was_assumed():
    tensors = read(FIXTURES / "espnet/bi_nomask").tensors
    opened = open_tensors(tensors, {})
    question = next(setting for setting in opened.settings if setting.ask.name == "family")
    assert question.origin == "assumed" and set(question.ask.options) == SHARED
    told = open_tensors(tensors, {}, {"family": "espnet"}).settings[0]
    assert (told.value, told.origin) == ("espnet", "chosen")


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_any_prefix_changes_neither_the_family_nor_a_term(case, prefix):
    tensors = {prefix + name: value for name, value in read(case).tensors.items()}
    opened = open_case(case, tensors=tensors)
    assert opened.family.name == family_of(case)
    assert torch.equal(make_terms(opened), right_terms(case))
    alone = open_case(case).unmatched
    assert set(opened.unmatched) == {prefix + name for name in alone}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_half_precision_is_the_same_model_to_its_last_place(case, dtype):
    halved = {
        name: value.to(dtype) if value.is_floating_point() else value for name, value in read(case).tensors.items()
    }
    opened = open_case(case, tensors=halved)
    assert opened.model.dtype == torch.float64
    worst = (make_terms(opened) - right_terms(case)).abs().max()
    assert 0 < worst < 200 * torch.finfo(dtype).eps


@pytest.mark.parametrize("case", ONE_EACH, ids=case_id)
def test_a_sharded_folder_is_the_same_model(case, tmp_path):
    tensors = read(case).tensors
    half = sorted(tensors)[: len(tensors) // 2]
    places = {name: f"model-0000{1 + (name in half)}-of-00002.safetensors" for name in tensors}
    for file in set(places.values()):
        part = {f"model.{name}": value for name, value in tensors.items() if places[name] == file}
        save_file({f"{name}": value.contiguous() for name, value in part.items()}, tmp_path / file)
    index = {"weight_map": {f"model.{name}": file for name, file in places.items()}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    opened = open_checkpoint(tmp_path, torch.float64, config=config_of(case)).opened
    assert opened.family.name == family_of(case) and torch.equal(make_terms(opened), right_terms(case))


def lightning(tensors):
    return {"state_dict": {f"model.{n}": v for n, v in tensors.items()}, "hyper_parameters": {"n_head": 4}}


def with_args(tensors):
    return {"model_state": tensors, "args": {"same_length": True, "mem_len": 6}, "epoch": 3}


def parallel(tensors):
    return {"model": {f"module.{n}": v for n, v in tensors.items()}, "optimizer": {"state": {}}}


@pytest.mark.parametrize(
    "case, wrap, chosen",
    [
        ("nemo/bi_nomask", lightning, {}),
        ("txl_official/same_length", with_args, {}),
        ("espnet/bi_nomask", parallel, {"family": "espnet"}),
    ],
    ids=["Lightning", "args", "DDP"],
)
def test_a_wrapped_file_is_the_same_model(case, wrap, chosen):
    case = FIXTURES / case
    opened = open_checkpoint(saved(wrap(read(case).tensors)), torch.float64, chosen, name="wrapped.pt").opened
    assert opened.family.name == family_of(case) and torch.equal(make_terms(opened), right_terms(case))
    if wrap is with_args:
        assert opened.model.rule.window == opened.model.config.mem_len == 6


WHOLE = {  # what -> tensors, config, family, layers, settings that the config answers
    "ESPnet": (whole_models.espnet, {"encoder": "conformer", "encoder_conf": {"output_size": 10, "attention_heads": 2,
               "num_blocks": 12}}, "espnet", "encoder.encoders.{}.self_attn.", 12, {"rel_pos_type": "legacy"}),
    "Branchformer": (lambda: whole_models.espnet("attn", 3), {"encoder": "e_branchformer", "encoder_conf": {}},
                     "espnet", "encoder.encoders.{}.attn.", 3, {}),
    "ESPnet latest": (whole_models.espnet, {"encoder": "conformer", "encoder_conf": {"rel_pos_type": "latest",
                      "zero_triu": True}}, "espnet", "encoder.encoders.{}.self_attn.", 12, {"zero_triu": True}),
    "NeMo": (whole_models.nemo, {"encoder": {"n_layers": 3, "d_model": 10, "n_heads": 2}, "decoder": {"n_layers": 9}},
             "nemo", "encoder.layers.{}.self_attn.", 3, {}),
    "NeMo without biases": (lambda: whole_models.nemo(False), {}, "nemo", "encoder.layers.{}.self_attn.", 3, {}),
    "FastSpeech2Conformer": (whole_models.fastspeech2, {"hidden_size": 10, "encoder_layers": 4}, "espnet",
                             "encoder.conformer_layers.{}.self_attn.", 4, {}),
}  # fmt: skip


@pytest.mark.parametrize("what", WHOLE)
def test_a_whole_checkpoint_has_its_layers_settings_and_terms(what):
    make, config, family, names, n_layer, told = WHOLE[what]
    tensors = make()
    opened = open_tensors(tensors, config, dtype=torch.float64)
    assert [found.name for found in opened.match.families] == [family]
    assert {
        setting.ask.name: setting.value for setting in opened.settings if setting.origin == "file"
    }.items() >= told.items()
    assert opened.model.config.n_layer == n_layer == len(opened.model.layers)
    for layer in (0, n_layer - 1):
        name = names.format(layer)
        alone = {n.removeprefix(name): value for n, value in tensors.items() if n.startswith(name)}
        settings = {setting.ask.name: setting.value for setting in opened.settings if setting.ask.name != "family"}
        small = {k: v for k, v in settings.items() if k in ("rel_pos_type", "zero_triu", "pos_max_len")}
        by_itself = open_tensors(alone, {}, {"family": family, **small}, torch.float64)
        assert torch.equal(make_terms(opened, layer), make_terms(by_itself, 0))
    used = {name for name in tensors if name not in opened.unmatched}
    assert used == {n for n in tensors if any(n.startswith(names.format(i)) for i in range(n_layer))}


def test_a_whole_speechbrain_model_has_its_layers_and_no_decoder():
    tensors = whole_models.speechbrain()
    opened = open_tensors(tensors, {"nhead": 2, "d_model": 10, "num_encoder_layers": 2})
    assert (opened.family.name, opened.model.config.n_layer, opened.model.config.n_head) == ("speechbrain", 2, 2)
    packed = tensors["1.encoder.layers.1.mha_layer.in_proj_weight"].view(2, 3, 5, 10)
    assert torch.equal(opened.model.layers[1].attn.w_k.weight.view(2, 5, 10), packed[:, 1])
    assert "1.decoder.layers.0.self_attn.att.in_proj_weight" in opened.unmatched


@pytest.mark.parametrize("mark", ["encoder.global_cmvn.mean", "encoder.embed.pos_enc.pe"])
def test_wenet_has_espnets_names_and_is_refused_all_the_same(mark):
    tensors = {n: v for n, v in whole_models.wenet().items() if "cmvn" not in n} | {mark: torch.zeros(3)}
    with pytest.raises(FamilyError, match=r"^this is WeNet: .* absolute position.*: relxl opens txl_official, "):
        recognise(shapes_of(tensors))


@pytest.mark.parametrize("word", whole_models.STRANGERS)
def test_a_stranger_is_refused_with_the_reason_in_one_sentence(word):
    names = whole_models.STRANGERS[word].split()
    with pytest.raises(FamilyError) as caught:
        recognise(dict.fromkeys(names, (3, 3)))
    message = str(caught.value)
    assert word in message and "\n" not in message and "relxl opens txl_official" in message
    with pytest.raises(CheckpointError, match=r"^strange\.safetensors: "):
        open_checkpoint(save({name: torch.zeros(3, 3) for name in names}), name="strange.safetensors")


def test_a_running_average_of_the_weights_is_not_taken_for_more_layers():
    tensors = whole_models.nemo()
    both = {f"model.{n}": v for n, v in tensors.items()} | {f"ema_model.{n}": v + 1 for n, v in tensors.items()}
    opened = open_tensors(both, {}, dtype=torch.float64)
    assert opened.model.config.n_layer == 3
    assert torch.equal(make_terms(opened), make_terms(open_tensors(tensors, {}, dtype=torch.float64)))
    assert all(name in opened.unmatched for name in both if name.startswith("ema_model."))
