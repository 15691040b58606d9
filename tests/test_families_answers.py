"""What a file does not say is asked for, what it says wrongly is refused in one sentence, and nothing is made up."""

import re

import pytest
import torch
from safetensors.torch import save

from relxl.checkpoint import UnansweredError, open_checkpoint
from relxl.families import BY_NAME, FamilyError, answers, open_tensors
from tests import whole_models
from tests.fixture_files import CASES, FIXTURES, case_id, config_of, family_of, open_case, read

XLNET, TXL = FIXTURES / "xlnet/uni_mems_seg", FIXTURES / "txl_official/same_length"
ESPNET, W2V, HF = (
    FIXTURES / "espnet/bi_nomask",
    FIXTURES / "wav2vec2_conformer/nomask",
    FIXTURES / "hf_transfoxl/tied_r_nomem",
)


def refusal(case, **changes) -> str:
    """Open a case that must be refused in one sentence and give it."""
    with pytest.raises(FamilyError) as caught:
        open_case(case, **changes)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 800
    return message


# Answers -------------------------------------------------------------------------------------------------------------


def test_an_answer_comes_from_a_choice_or_the_file_or_is_assumed():
    found = answers(BY_NAME["txl_official"], {"mem_len": 6, "clamp_len": 4}, {"clamp_len": 5})
    by_name = {setting.ask.name: (setting.value, setting.origin) for setting in found}
    assert by_name["clamp_len"] == (5, "chosen") and by_name["mem_len"] == (6, "file")
    assert by_name["same_length"] == (False, "assumed") and by_name["cutoffs"] == (None, "assumed")
    assert [setting.ask for setting in found] == list(BY_NAME["txl_official"].asks)


def test_configs_call_an_answer_by_other_names():
    def found(family, config):
        return {s.ask.name: (s.value, s.origin) for s in answers(BY_NAME[family], config, {})}

    assert found("xlnet", {"use_mems_eval": False, "mem_len": None})["use_mems"] == (False, "file")
    assert found("espnet", {"encoder": "conformer", "encoder_conf": {}})["rel_pos_type"] == ("legacy", "file")
    assert found("espnet", {"encoder": "branchformer", "encoder_conf": {}})["rel_pos_type"] == ("latest", "assumed")
    assert found("espnet", {"legacy": True})["rel_pos_type"] == ("legacy", "file")
    assert found("espnet", {"encoder_conf": ["?"]})["rel_pos_type"] == ("latest", "assumed")


@pytest.mark.parametrize(
    "family, config, chosen, message",
    [
        (
            "txl_official",
            {},
            {"clamp": 1},
            "txl_official has nothing called 'clamp' to choose: it asks for clamp_len, ",
        ),
        ("nemo", {}, {"clamp": 1}, "nemo has nothing called 'clamp' to choose: it asks for nothing"),
        (
            "txl_official",
            {"clamp_len": -2},
            {},
            "the config says clamp_len='-2', but it must be a whole number from -1",
        ),
        ("txl_official", {"clamp_len": True}, {}, "clamp_len='True', but it must be a whole number"),
        ("txl_official", {"mem_len": 1 << 40}, {}, "mem_len='1099511627776', but it must be a whole number from 0"),
        ("txl_official", {}, {"same_length": 1}, "the choice says same_length='1', but it must be true or false"),
        ("txl_official", {"cutoffs": [5, 5]}, {}, "cutoffs='[5, 5]', but it must be a list of rising whole numbers"),
        ("txl_official", {"cutoffs": "all"}, {}, "cutoffs='all', but it must be a list of rising whole numbers"),
        ("xlnet", {"attn_type": "tri"}, {}, "attn_type='tri', but it must be one of 'bi', 'uni'"),
        ("xlnet", {"attn_type": ["bi"]}, {}, "but it must be one of 'bi', 'uni'"),
        ("xlnet", {"ff_activation": "mish"}, {}, "it must be one of 'gelu', 'gelu_new', 'relu', 'silu', 'swish'"),
        ("xlnet", {"layer_norm_eps": 0}, {}, "it must be a number above 0 and below 1"),
        ("xlnet", {"layer_norm_eps": float("nan")}, {}, "it must be a number above 0 and below 1"),
        ("espnet", {}, {"pos_max_len": 0}, "it must be a whole number from 1"),
        ("espnet", {"rel_pos_type": "x" * 9999}, {}, "it must be one of 'latest', 'legacy'"),
    ],
)
def test_an_answer_that_is_none_is_refused(family, config, chosen, message):
    with pytest.raises(FamilyError) as caught:
        answers(BY_NAME[family], config, chosen)
    assert message in str(caught.value) and len(str(caught.value)) < 400


def test_a_question_without_a_default_is_asked():
    case = FIXTURES / "txl_official/cutoffs_div1"
    told = {"cutoffs": None, "family": "txl_official"}
    assert "give cutoffs of 3 rising numbers below 45 (there is none)" in refusal(case, config=told)
    assert "([10, 20] came)" in refusal(case, config=told | {"cutoffs": [10, 20]})
    assert "([10, 20, 45] came)" in refusal(case, config=told | {"cutoffs": [10, 20, 45]})
    assert open_case(case, config={}, chosen={"cutoffs": [10, 20, 30]}).model.config.n_token == 45
    with pytest.raises(UnansweredError, match=r"^cutoffs_div1: ") as caught:
        open_checkpoint(save(read(case).tensors), name="cutoffs_div1")
    assert caught.value.ask == "cutoffs"


def test_a_family_that_the_names_exclude_cannot_be_chosen():
    assert "'nemo' was chosen, but the names in this file are those of xlnet" in refusal(
        XLNET, chosen={"family": "nemo"}
    )
    assert "'\\u2028" not in refusal(XLNET, chosen={"family": "x" * 999})


# A config that belongs to another model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case, name, told, found",
    [
        (TXL, "n_head", 5, 4),
        (TXL, "d_model", 64, 32),
        (TXL, "n_layer", 3, 2),
        (TXL, "n_token", 38, 37),
        (TXL, "d_inner", 1, 40),
        (HF, "vocab_size", 36, 37),
        (HF, "d_head", 7, 8),
        (XLNET, "n_layer", 12, 2),
        (XLNET, "vocab_size", 32000, 37),
        (XLNET, "d_model", 1024, 32),
        (ESPNET, "n_head", 3, 4),
        (ESPNET, "n_feat", 33, 32),
        (ESPNET, "num_blocks", 2, 1),
        (FIXTURES / "nemo/bi_nomask", "n_layers", 18, 1),
        (W2V, "num_attention_heads", 16, 4),
        (W2V, "num_hidden_layers", 24, 2),
        (FIXTURES / "speechbrain/self_nomask", "num_heads", 8, 4),
        (FIXTURES / "labml/mem_2seg", "heads", 2, 4),
        (FIXTURES / "labml/mem_2seg", "n_layers", 6, 2),
        (FIXTURES / "seed/self_L10_max64", "n_heads", 2, 4),
    ],
)
def test_sizes_that_disagree_are_refused_with_both_numbers(case, name, told, found):
    message = refusal(case, config=config_of(case) | {name: told})
    assert f"the config says {name}={told}, but the tensors say {found}" in message


def test_cutoffs_that_disagree_with_the_tables_are_refused():
    case = FIXTURES / "txl_official/cutoffs_div2"
    message = refusal(case, config=config_of(case) | {"cutoffs": [10, 24]})
    assert "cutoffs=[10, 24], but the embedding tables are cut at [12, 24]" in message


# A file that is damaged ----------------------------------------------------------------------------------------------


def without(case, *parts: str) -> dict:
    return {n: v for n, v in read(case).tensors.items() if not any(part in n for part in parts)}


SPARE = re.compile(  # buffers, what is tied to another tensor, and all that is left of a softmax that is tied
    r".*(inv_freq|num_batches_tracked|crit\.out_layers\.\d\.weight|crit\.out_projs\.[12]|transformer\.r_[rw]_bias|lm_loss\.bias)"
)


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "native_P_1layer"], ids=case_id)
def test_every_tensor_is_missed_by_its_name_when_it_is_gone(case):
    tensors, unmatched = read(case).tensors, open_case(case).unmatched
    for gone in set(tensors) - set(unmatched):
        left = {name: value for name, value in tensors.items() if name != gone}
        if SPARE.fullmatch(gone) or [gone] == [name for name in tensors if name.startswith("crit.")]:
            try:
                open_case(case, tensors=left)
            except FamilyError as error:
                assert gone in str(error)
        else:
            message = refusal(case, tensors=left)
            assert gone in message or (gone in ("w_k_pos", "in_proj_weight") and "relxl opens" in message)


@pytest.mark.parametrize(
    "case, gone, listed",
    [
        (TXL, ("r_w_bias",), ["r_w_bias is not there"]),
        (TXL, ("r_r_bias",), ["lacks r_r_bias: give the whole checkpoint"]),
        (TXL, ("layers.1.",), ["n_layer=2, but the tensors say 1"]),
        (TXL, ("layers.0.dec_attn.qkv_net",), ["layers.0.dec_attn.qkv_net.weight is not there"]),
        (TXL, ("layers.1.dec_attn.qkv_net",), ["lacks layers.1.dec_attn.qkv_net.weight"]),
        (TXL, ("pos_ff.layer_norm",), ["layers.0.pos_ff.layer_norm.weight", "layers.1.pos_ff.layer_norm.bias"]),
        (FIXTURES / "txl_official/cutoffs_div2", ("crit.cluster",), ["crit.cluster_weight", "crit.cluster_bias"]),
        (FIXTURES / "txl_official/cutoffs_div1", ("crit.cluster",), ["crit.cluster_weight", "crit.cluster_bias"]),
        (FIXTURES / "txl_official/cutoffs_div2", ("emb_projs.1",), ["word_emb.emb_projs.1"]),
        (FIXTURES / "txl_official/div3_tie_mix", ("out_projs.2",), ["crit.out_projs.2"]),
        (FIXTURES / "txl_official/div3_tie_mix", ("out_layers.1.weight",), ["crit.out_layers.1.weight"]),
        (FIXTURES / "xlnet/uni_same_length_targets_mems", ("lm_loss.weight",), ["lm_loss.weight"]),
        (XLNET, ("layer.0.",), ["n_layer=2, but the tensors say 1"]),
        (XLNET, ("layer.0.rel_attn",), ["transformer.layer.0.rel_attn.r_s_bias is not there"]),
        (FIXTURES / "nemo/bi_nomask", ("linear_q.bias",), ["lacks linear_q.bias"]),
        (FIXTURES / "seed/self_L10_max64", ("pos_table", "w_v.bias"), ["w_v.bias", "pos_enc.pos_table"]),
        (
            FIXTURES / "hf_transfoxl/same_length_clamp_div2_3clusters",
            ("emb_layers.1",),
            ["word_emb.emb_layers.1.weight"],
        ),
        (W2V, ("encoder.layer_norm",), ["encoder.layer_norm.weight, encoder.layer_norm.bias"]),
        (W2V, ("running_var",), ["encoder.layers.0.conv_module.batch_norm.running_var"]),
        (ESPNET, ("linear_pos",), ["lacks linear_pos.weight"]),
    ],
)
def test_what_is_missing_is_listed(case, gone, listed):
    message = refusal(case, tensors=without(case, *gone))
    assert all(part in message for part in listed), message


def test_half_of_the_layers_is_not_a_model_of_half_the_depth():
    tensors = whole_models.espnet()
    upper = {n: v for n, v in tensors.items() if not any(f"encoders.{i}." in n for i in range(6))}
    with pytest.raises(FamilyError, match=r"encoder\.encoders\.0\.self_attn\.pos_bias_u is not there"):
        open_tensors(upper, {})
    lower = {n: v for n, v in tensors.items() if not any(f"encoders.{i}." in n for i in range(6, 12))}
    with pytest.raises(FamilyError, match="num_blocks=12, but the tensors say 6"):
        open_tensors(lower, {"encoder_conf": {"num_blocks": 12}})
    odd = {n: v for n, v in tensors.items() if "encoders.5." not in n}
    with pytest.raises(FamilyError, match=r"encoder\.encoders\.5\.self_attn\.pos_bias_u is not there"):
        open_tensors(odd, {})
    alone = {n: v for n, v in tensors.items() if "encoders.7." in n}
    assert open_tensors(alone, {}).model.config.n_layer == 1


def test_unmatched_tensors_are_listed_and_harmless():
    more = {"zzz.weight": torch.ones(3), "optimizer.step": torch.tensor(3), "encoder.layers.9.q": torch.ones(2, 2)}
    for case in (TXL, XLNET, ESPNET, W2V):
        opened = open_case(case, tensors=read(case).tensors | more)
        assert set(more) <= set(opened.unmatched) and opened.family.name == family_of(case)


@pytest.mark.parametrize("kind", [torch.int64, torch.bool, torch.complex64], ids=str)
@pytest.mark.parametrize("case", [TXL, XLNET, ESPNET, W2V, HF], ids=case_id)
def test_tensors_that_are_no_floats_are_refused(case, kind):
    first = next(
        name for name in read(case).tensors if name.endswith(("qkv_net.weight", "rel_attn.q", "linear_q.weight"))
    )
    changed = read(case).tensors[first].to(kind)
    message = refusal(case, tensors=read(case).tensors | {first: changed})
    assert f"{first} is {str(kind).removeprefix('torch.')}" in message and "but floats of [" in message


@pytest.mark.parametrize("shape", [(), (0,), (3,), (7, 9), (4, 8, 1), (0, 0), (1 << 12, 1)], ids=str)
@pytest.mark.parametrize("name", ["r_w_bias", "layers.0.dec_attn.qkv_net.weight", "word_emb.emb_layers.0.weight"])
def test_a_shape_that_does_not_fit_is_refused(name, shape):
    refusal(TXL, tensors=read(TXL).tensors | {name: torch.zeros(shape)})


def test_nothing_is_allocated_for_absurd_sizes():
    """Views of one number claim terabytes; what would copy them does not get that far."""
    huge = {n: torch.zeros(()).expand(1 << 20, 1 << 20) for n in ("linear_q.weight", "linear_pos.weight")}
    assert "linear_pos.weight is float32 [1048576, 1048576]" in refusal(ESPNET, tensors=read(ESPNET).tensors | huge)
    deep = {f"encoders.{i}.{n}": v for i in (0, 999_999_999) for n, v in read(ESPNET).tensors.items()}
    assert open_case(ESPNET, tensors=deep, config={}).model.config.n_layer == 2
    many = {f"encoders.{i}.{n}": v for i in range(257) for n, v in read(ESPNET).tensors.items()}
    assert "n_layer must be a whole number from 1 to 256, got 257" in refusal(ESPNET, tensors=many, config={})


@pytest.mark.parametrize("family", ["espnet", "speechbrain", "article", "txl_official"])
def test_an_odd_number_of_dimensions_has_no_sinusoid(family):
    if family == "espnet":
        tensors = whole_models.attention("self_attn", 3, 5)
    elif family == "speechbrain":
        tensors = whole_models.speechbrain(3, 5)
    elif family == "article":
        tensors = {f"{name}.weight": torch.zeros(15, 15) for name in ("w_q", "w_k", "w_v", "out_proj")}
        tensors |= {"w_k_pos": torch.zeros(3, 15, 5), "u": torch.zeros(3, 5), "v": torch.zeros(3, 5)}
    else:
        tensors = dict(read(TXL).tensors)
        tensors |= {
            f"layers.{i}.dec_attn.{n}_net.weight": torch.zeros(m * 32, 31)
            for i in (0, 1)
            for n, m in (("qkv", 3), ("r", 1))
        }
    with pytest.raises(FamilyError) as caught:
        open_tensors(tensors, {}, {"mem_len": 3} if family == "txl_official" else None)
    if family != "txl_official":
        assert "a sinusoid needs an even number of dimensions" in str(caught.value)


def test_a_speechbrain_module_whose_heads_do_not_divide_is_refused():
    case = FIXTURES / "speechbrain/self_nomask"
    changed = {f"pos_bias_{part}": torch.zeros(9, 4) for part in "uv"}
    assert "pos_bias_u has 9 x 4 numbers, but d_model is 32" in refusal(case, tensors=read(case).tensors | changed)


def test_more_queries_than_keys_are_refused_where_the_ends_align():
    model = open_case(FIXTURES / "speechbrain/cross").model
    assert model.cross_mem_len(6, 9) == 3
    with pytest.raises(ValueError, match="7 queries and 4 keys were given, but in cross attention speechbrain"):
        model.cross_mem_len(7, 4)
