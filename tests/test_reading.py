"""Another reading of the positions: an ordinary model that shares all else, and the old model untouched."""

import pytest
import torch

from relxl.positions import learned_rows, project_positions, sinusoid_rows
from relxl.proof import prove
from relxl.reading import Reading, with_positions
from relxl.trace import run
from tests.conftest import tiny_model

READINGS = {
    "learned": [
        Reading(),
        Reading(clamp_len=3),
        Reading(interpolate=29),
        Reading(interpolate=29, near=2),
        Reading(interpolate=5),
        Reading(truncate=5),
        Reading(flip=True),
        Reading(interpolate=20, flip=True, clamp_len=15),
    ],
    "sinusoid": [Reading(), Reading(clamp_len=3), Reading(flip=True), Reading(clamp_len=2, flip=True)],
    "absolute": [Reading()],
}
CASES = [(positions, reading) for positions, readings in READINGS.items() for reading in readings]


@pytest.mark.parametrize("positions, reading", CASES)
def test_the_model_is_not_changed_and_its_tensors_are_shared(positions, reading):
    model = tiny_model(positions).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    other = with_positions(model, reading)
    assert torch.equal(torch.get_rng_state(), random)
    assert model.training and all(parameter.requires_grad for parameter in model.parameters())
    assert not other.training and not any(parameter.requires_grad for parameter in other.parameters())
    own = {"learned": "pos_table", "sinusoid": "w_k_pos"}.get(positions, "nothing")
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
        if own not in name:
            assert other.state_dict()[name].data_ptr() == value.data_ptr(), name


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_the_default_reading_changes_no_bit(positions, tokens):
    model = tiny_model(positions)
    assert torch.equal(with_positions(model, Reading())(tokens).output_logits, model(tokens).output_logits)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
@pytest.mark.parametrize("clamp_len", [0, 2, 12, 18, 99])
def test_a_clamp_is_the_clamp_of_a_call(positions, clamp_len, tokens):
    model = tiny_model(positions)
    clamped = with_positions(model, Reading(clamp_len=clamp_len))(tokens).output_logits
    assert torch.equal(clamped, model(tokens, clamp_len=clamp_len).output_logits)
    assert torch.equal(clamped, model(tokens).output_logits) == (clamp_len >= (12 if positions == "learned" else 18))


def test_a_truncated_table_is_a_clamp(tokens):
    model = tiny_model()
    cut = with_positions(model, Reading(truncate=5))
    assert cut.config.max_len == 5 and len(cut.layers[1].attn.pos_enc.pos_table) == 9
    assert torch.equal(cut(tokens).output_logits, model(tokens, clamp_len=4).output_logits)


def test_a_stretched_table_is_read_at_the_stretched_distance(tokens):
    model = tiny_model()  # max_len 13: the row of 12 becomes the row of 24
    other = with_positions(model, Reading(interpolate=25))
    distance = torch.arange(-12, 13)
    for layer, old in zip(other.layers, model.layers, strict=True):
        assert torch.equal(layer.attn.pos_enc.rows(2 * distance), old.attn.pos_enc.rows(distance))
    assert not torch.equal(other(tokens).output_logits, model(tokens).output_logits)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_flipped_means_the_row_of_the_opposite_distance(positions, tokens):
    model, distance = tiny_model(positions), torch.arange(-9, 10)
    flipped = with_positions(model, Reading(flip=True))
    for layer, old in zip(flipped.layers, model.layers, strict=True):
        rows = layer.attn.pos_enc.rows(distance)
        if positions == "learned":
            expected = learned_rows(old.attn.pos_enc.pos_table, -distance)
        else:
            expected = sinusoid_rows(-distance, 12, dtype=torch.float64)
        got = project_positions(rows, layer.attn.w_k_pos)
        assert torch.equal(got, project_positions(expected, old.attn.w_k_pos))
    assert not torch.equal(flipped(tokens).output_logits, model(tokens).output_logits)
    back = with_positions(flipped, Reading(flip=True))
    assert torch.equal(back(tokens).output_logits, model(tokens).output_logits)


@pytest.mark.parametrize("positions, reading", [case for case in CASES if case[0] != "absolute"])
def test_the_split_of_another_reading_is_proved_like_any(positions, reading, tokens):
    trace = run(with_positions(tiny_model(positions), reading), tokens, mem_len=5)
    assert prove(trace, 1, trace.terms(1), cells=20).holds


@pytest.mark.parametrize("positions, reading, sentence", [
    ("absolute", {"flip": True}, "absolute positions know no distance"),
    ("sinusoid", {"interpolate": 20}, "only a learned table can be stretched or cut, but .* are a sinusoid"),
    ("sinusoid", {"truncate": 0}, "only a learned table"),
    ("learned", {"interpolate": 0}, "max_len must be 1 or more, got 0"),
    ("learned", {"truncate": -2}, "max_len must be 1 or more, got -2"),
    ("learned", {"truncate": 14}, "max_len=13 can not be cut to max_len=14"),
    ("learned", {"interpolate": 20, "truncate": 5}, "not both, got interpolate=20 and truncate=5"),
    ("learned", {"near": 3}, "near=3 says what stays .* give interpolate as well"),
    ("learned", {"clamp_len": -1}, "clamp_len must be 0 or more tokens"),
])  # fmt: skip
def test_what_a_model_can_not_read_is_refused_in_one_sentence(positions, reading, sentence):
    with pytest.raises(ValueError, match=sentence):
        with_positions(tiny_model(positions), Reading(**reading))
