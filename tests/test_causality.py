"""Change a token, and see which earlier outputs move: exact for a right model, and every fault is found where it is."""

import pytest
import torch

from relxl.causality import (
    attention_reads,
    causality_jacobian,
    causality_test,
    layer_leaks,
    model_stages,
    stage_names,
)
from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.masking import RIGHT_RULE, MaskRule, causal_mask
from relxl.model import join_mems
from tests.conftest import ROOT, tiny_model
from tests.foreign import foreign, input_of

TOKENS = torch.randint(11, (17,), generator=torch.Generator().manual_seed(3))
OTHERS = (TOKENS + 1) % 11
LEAKY = {
    "sees_next": MaskRule(fault="sees_next"),
    "inverted": MaskRule(fault="inverted", fill=-1e4),
    "no_mask": MaskRule(fault="no_mask"),
    "before_shift": MaskRule("before_shift"),
    "weak_fill_after": MaskRule(fill=-1.0),
    "weak_fill_before": MaskRule("before", "multiply"),
}


def before_the_change(causality, stage=-1):
    """Give the pairs (changed, output) of a stage in which an output before the change moves."""
    return {tuple(pair) for pair in causality.leaks[stage].nonzero().tolist()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_a_right_model_does_not_move_by_a_bit(positions, dtype):
    model = tiny_model(positions, dtype)
    causality = causality_test(model_stages(model), TOKENS, OTHERS, stage_names(model))
    assert causality.entry is None and not causality.leaks.any()
    assert (causality.moved[-1].diagonal() > 0).all()  # what comes after does move
    assert causality.stages == ("embedding", "L0", "L1") and causality.moved.shape == (3, 17, 17)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", LEAKY)
def test_a_leak_is_found_in_the_layer_where_it_enters_and_named(name, layer):
    model = tiny_model()
    rules = [RIGHT_RULE, RIGHT_RULE]
    rules[layer] = LEAKY[name]
    forward = model_stages(model, rules)
    causality = causality_test(forward, TOKENS, OTHERS, stage_names(model))
    assert causality.entry == f"L{layer}"
    found = layer_leaks(model, forward(TOKENS[None])[:-1], rule=rules)
    assert [leak.mechanism for leak in found] == [name if i == layer else "none" for i in range(2)]
    assert found[layer].forbidden > 0 and found[1 - layer].forbidden == 0


def test_a_short_window_shuts_too_much_leaks_nothing_and_is_named():
    model = tiny_model()
    rules = [MaskRule(window=4), MaskRule(fault="window_short", window=4)]
    forward = model_stages(model, rules)
    assert causality_test(forward, TOKENS, OTHERS).entry is None
    found = layer_leaks(model, forward(TOKENS[None])[:-1], rule=rules)
    assert [leak.mechanism for leak in found] == ["none", "window_short"]
    assert found[1].forbidden == 0 < found[1].unread


def test_a_first_row_without_a_key_becomes_uniform_and_so_leaks_the_whole_text():
    model = tiny_model()
    rules = [RIGHT_RULE, MaskRule(fault="misses_itself", fill=-1e4)]
    forward = model_stages(model, rules)
    assert before_the_change(causality_test(forward, TOKENS, OTHERS)) == {(j, 0) for j in range(1, 17)}
    found = layer_leaks(model, forward(TOKENS[None])[:-1], rule=rules)
    assert [(leak.mechanism, leak.forbidden) for leak in found] == [("none", 0), ("misses_itself", 16)]


def test_rows_without_a_key_poison_the_layers_above():
    model = tiny_model()
    rule = MaskRule(fault="misses_itself")
    forward = model_stages(model, rule)
    found = layer_leaks(model, forward(TOKENS[None])[:-1], rule=rule)
    assert [leak.mechanism for leak in found] == ["misses_itself", "not_finite"]


def test_a_forgotten_memory_is_named_where_there_is_a_memory():
    model = tiny_model()
    forward = model_stages(model)
    found = layer_leaks(model, forward(TOKENS[None])[:-1], 5, MaskRule(fault="memory_forgotten"))
    assert {leak.mechanism for leak in found} == {"memory_forgotten"}


def test_one_key_of_the_future_moves_one_output_a_layer():
    model = tiny_model()
    causality = causality_test(model_stages(model, MaskRule(fault="sees_next")), TOKENS, OTHERS)
    assert before_the_change(causality, 1) == {(j, j - 1) for j in range(1, 17)}
    assert before_the_change(causality, 2) == {(j, i) for j in range(17) for i in (j - 1, j - 2) if i >= 0}


def test_a_leak_of_a_ten_millionth_is_found():
    def forward(tokens):
        x = tokens.double()
        return x.cumsum(-1) + 1e-7 * x.roll(-1, -1).masked_fill(torch.arange(17) == 16, 0)

    causality = causality_test(forward, TOKENS, OTHERS)
    assert before_the_change(causality) == {(j, j - 1) for j in range(1, 17)} and causality.entry == "stage 0"


def test_any_model_can_be_tested_and_a_random_one_is_refused():
    embedding = torch.nn.Embedding(11, 3)
    assert causality_test(embedding, TOKENS, OTHERS).entry is None
    with pytest.raises(ValueError, match="switch dropout off"):
        causality_test(lambda tokens: torch.rand(*tokens.shape, 2), TOKENS, OTHERS)
    with pytest.raises(ValueError, match="differ everywhere"):
        causality_test(embedding, TOKENS, TOKENS)


def test_progress_is_told():
    heard = []
    causality_test(torch.nn.Embedding(11, 3), TOKENS, OTHERS, report=heard.append)
    assert heard == [16 / 17, 1.0]


@pytest.mark.parametrize("positions", ["learned", "absolute"])
def test_the_jacobian_agrees_with_the_perturbation(positions):
    model = tiny_model(positions)
    early = torch.ones(17, 17, dtype=torch.bool).tril(-1)
    assert (causality_jacobian(model, TOKENS)[early] == 0).all()
    rule = MaskRule(fault="sees_next")
    jacobian = causality_jacobian(model, TOKENS, rule)
    moved = causality_test(model_stages(model, rule), TOKENS, OTHERS).moved[-1]
    assert torch.equal(jacobian[early] > 0, moved[early] > 0)


def test_keys_alone_are_changed_so_the_diagonal_tells_whether_a_query_sees_itself():
    model = tiny_model()
    hidden = model_stages(model)(TOKENS[None])[0].detach()
    assert torch.equal(attention_reads(model.layers[0].attn, hidden, 4, RIGHT_RULE) > 0, causal_mask(13, 17, 4))
    blind = attention_reads(model.layers[0].attn, hidden, 4, MaskRule(fault="misses_itself"))
    assert torch.equal(blind > 0, causal_mask(13, 17, 3))


@pytest.mark.parametrize("name", list_checkpoints(ROOT / "checkpoints"))
@pytest.mark.parametrize("order", ["after", "before"])
def test_no_output_of_a_bundled_model_moves_before_the_change(name, order):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = torch.tensor(checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids[:48])
    others = (ids + 1) % len(checkpoint.vocab.tokens)
    forward = model_stages(checkpoint.model, MaskRule(order))
    causality = causality_test(forward, ids, others, stage_names(checkpoint.model))
    assert causality.entry is None and (causality.moved[-1].diagonal() > 0).all()


# Other families ------------------------------------------------------------------------------------------------------

CAUSAL = ("txl_official", "txl_learned", "hf_transfoxl", "xlnet_uni", "labml")


def texts_of(model):
    """Give a text and another one that differs everywhere: ids, or frames where a model reads hidden states."""
    generator, n_token = torch.Generator().manual_seed(3), model.config.n_token
    if n_token:
        tokens = torch.randint(n_token, (11,), generator=generator)
        return tokens, (tokens + 1) % n_token
    frames = torch.randn(2, 11, model.config.d_model, generator=generator, dtype=model.dtype)
    return frames[0], frames[1]


@pytest.mark.parametrize("name", CAUSAL)
def test_a_causal_model_of_another_family_does_not_move_by_a_bit(name):
    model = foreign(name).model
    tokens, others = texts_of(model)
    causality = causality_test(model_stages(model), tokens, others, stage_names(model), at_once=4)
    assert causality.entry is None and (causality.moved[-1].diagonal() > 0).all()
    assert causality.stages == ("embedding" if model.config.n_token else "input", "L0", "L1")[: len(causality.stages)]
    jacobian = causality_jacobian(model, tokens)
    assert (jacobian[torch.ones(11, 11, dtype=torch.bool).tril(-1)] == 0).all() and (jacobian.diagonal() > 0).all()


@pytest.mark.parametrize("name", CAUSAL)
def test_the_layers_of_another_family_are_right_by_themselves(name):
    model = foreign(name).model
    tokens, _ = texts_of(model)
    hidden = model_stages(model)(tokens[None])[:-1]
    zeros = model.first_mems(1)
    assert (zeros is not None) == (name == "hf_transfoxl")
    mem_len = 4 if zeros is None else zeros[0].shape[1]
    hidden = hidden if zeros is None else join_mems(zeros, hidden)
    for leak in layer_leaks(model, hidden, mem_len):
        assert (leak.mechanism, leak.forbidden, leak.unread) == ("none", 0, 0)


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("fault", LEAKY)
def test_a_leak_in_another_family_is_found_and_named(name, fault):
    model = foreign(name).model
    rules = [LEAKY[fault]] + [model.rule_at(0)] * (len(model.layers) - 1)
    tokens, others = texts_of(model)
    forward = model_stages(model, rules)
    assert causality_test(forward, tokens, others, stage_names(model)).entry == "L0"
    found = layer_leaks(model, forward(tokens[None])[:-1], rule=rules)
    assert [leak.mechanism for leak in found] == [fault] + ["none"] * (len(rules) - 1)


def test_a_window_of_the_familys_own_is_no_fault():
    for name in ("txl_same_length", "hf_same_length"):
        model = foreign(name).model
        window = model.config.mem_len
        hidden = input_of(foreign(name), 11)
        reads = attention_reads(model.layers[0].attn, hidden, 0, model.rule_at(0)) > 0
        distance = torch.arange(11)[:, None] - torch.arange(11)
        assert torch.equal(reads, (distance >= 0) & (distance < window))
        assert layer_leaks(model, [hidden] * len(model.layers))[0].mechanism == "none"


@pytest.mark.parametrize("name", ["xlnet_bi", "wav2vec2_conformer", "espnet", "espnet_legacy", "nemo", "speechbrain"])
def test_where_both_sides_are_seen_nothing_is_forbidden(name):
    model, hidden = foreign(name).model, input_of(foreign(name), 11)
    hidden = [hidden] * len(model.layers)
    for leak in layer_leaks(model, hidden):
        assert (leak.mechanism, leak.forbidden, leak.unread) == ("none", 0, 0) and (leak.reads > 0).all()
    for leak in layer_leaks(model, hidden, rule=MaskRule(fault="sees_next")):
        assert leak.mechanism == "sees_next"
    inverted = MaskRule(sees="both", fault="inverted", zero=True)
    assert layer_leaks(model, hidden, rule=inverted)[0].mechanism == "inverted"


def test_a_convolution_mixes_neighbours_under_any_mask():
    model = foreign("wav2vec2_conformer").model
    frames, others = texts_of(model)
    forward = model_stages(model, MaskRule())
    assert causality_test(forward, frames, others, stage_names(model)).entry == "L0"
    assert layer_leaks(model, forward(frames[None])[:-1], rule=MaskRule())[0].mechanism == "none"


def test_frames_must_differ_as_tokens_must():
    frames = torch.randn(5, 3)
    same = torch.randn(5, 3)
    same[2] = frames[2]
    with pytest.raises(ValueError, match="differ everywhere"):
        causality_test(lambda x: x, frames, same)


def test_a_memory_of_zeros_is_read_too():
    model = foreign("hf_transfoxl").model
    hidden = join_mems(model.first_mems(1), [input_of(foreign("hf_transfoxl"), 5)] * len(model.layers))
    reads = attention_reads(model.layers[0].attn, hidden[0], model.config.mem_len, model.rule_at(model.config.mem_len))
    assert torch.equal(reads > 0, causal_mask(5, 5 + model.config.mem_len, model.config.mem_len))
