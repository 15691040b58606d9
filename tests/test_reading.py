"""Another reading of the positions: an ordinary model that shares all else, and the old model untouched."""

from dataclasses import fields, replace

import pytest
import torch

from relxl.canonical import LearnedPositions, RelativeAttention, SinusoidPositions
from relxl.positions import learned_rows, project_positions, sinusoid_rows
from relxl.proof import prove
from relxl.reading import Reading, can_flip, with_positions
from relxl.trace import run, run_hidden
from tests.conftest import tiny_model
from tests.foreign import CASES as FAMILIES
from tests.foreign import foreign, input_of

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


# Other families ------------------------------------------------------------------------------------------------------

LEARNED = [name for name in FAMILIES if name in ("txl_learned", "labml", "article")]
SINUSOID = [name for name in FAMILIES if name not in LEARNED]


def last_hidden(model, x, clamp_len=None):
    return model.read(x, clamp_len=clamp_len).last_hidden


@pytest.mark.parametrize("name", FAMILIES)
def test_the_default_reading_of_another_family_changes_no_bit(name):
    checkpoint = foreign(name)
    x = input_of(checkpoint)
    other = with_positions(checkpoint.model, Reading())
    assert torch.equal(last_hidden(other, x), last_hidden(checkpoint.model, x)) and other.config == checkpoint.config


@pytest.mark.parametrize("name", FAMILIES)
def test_of_another_family_nothing_but_positions_is_copied(name):
    model = foreign(name).model
    before = [layer.attn.positions for layer in model.layers]
    readings = [Reading(clamp_len=3), *([Reading(flip=True)] if can_flip(model) else [])]
    readings += [Reading(interpolate=20), Reading(truncate=3)] if name in LEARNED else []
    for reading in readings:
        other = with_positions(model, reading)
        assert [layer.attn.positions for layer in model.layers] == before
        for field in fields(model):
            if field.name not in ("config", "layers"):
                assert getattr(other, field.name) is getattr(model, field.name)
        for new, old in zip(other.layers, model.layers, strict=True):
            same = [getattr(new, field.name) is getattr(old, field.name) for field in fields(old)]
            assert sum(same) == len(same) - 1
            for field in fields(RelativeAttention):
                if field.name != "positions":
                    assert getattr(new.attn, field.name) is getattr(old.attn, field.name)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("clamp_len", [0, 3, 99])
def test_a_clamp_of_another_family_is_the_clamp_of_a_call(name, clamp_len):
    checkpoint = foreign(name)
    x = input_of(checkpoint)
    clamped = last_hidden(with_positions(checkpoint.model, Reading(clamp_len=clamp_len)), x)
    assert torch.equal(clamped, last_hidden(checkpoint.model, x, clamp_len))
    if clamp_len == 0:
        assert not torch.equal(clamped, last_hidden(checkpoint.model, x))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "txl_learned"])
def test_flipped_means_the_opposite_distance_in_every_family(name):
    checkpoint = foreign(name)
    flipped, distance = with_positions(checkpoint.model, Reading(flip=True)), torch.arange(-4, 5)
    for new, old in zip(flipped.layers, checkpoint.model.layers, strict=True):
        torch.testing.assert_close(
            new.attn.positions.table(distance), old.attn.positions.table(-distance), rtol=0, atol=1e-14
        )
        curve = old.attn.positions.curve(-distance)
        assert curve is None or torch.equal(new.attn.positions.curve(distance), curve)
    x = input_of(checkpoint)
    same = torch.equal(last_hidden(flipped, x), last_hidden(checkpoint.model, x))
    assert same == (name == "speechbrain")  # a sinusoid of |d| has no sign
    back = with_positions(flipped, Reading(flip=True))
    assert torch.equal(last_hidden(back, x), last_hidden(checkpoint.model, x))


def test_a_table_of_the_past_alone_has_nothing_to_read_at_the_opposite_distance():
    model = foreign("txl_learned").model
    assert not can_flip(model) and can_flip(foreign("labml").model) and not can_flip(tiny_model("absolute"))
    with pytest.raises(ValueError, match=r"rows for the distances 0 to \d+, all of the past: it has no row of -d"):
        with_positions(model, Reading(flip=True))


def table_of(first, last, **more):
    """Make a table whose every row says its own distance."""
    rows = torch.arange(first, last + 1, dtype=torch.float64)[None, :, None].expand(3, -1, 2)
    return LearnedPositions(rows, first, rows[:, :, 0] * 10, **more)


def read_positions(positions, reading):
    model = foreign("labml").model
    layers = tuple(replace(layer, attn=replace(layer.attn, positions=positions)) for layer in model.layers)
    other = with_positions(replace(model, layers=layers), reading)
    return other.layers[0].attn.positions, other.config


@pytest.mark.parametrize(
    "first, last, max_len, near, expected",
    [
        (-4, 4, 9, 0, [-4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]),  # symmetric
        (0, 4, 9, 0, [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]),  # the past alone, attn_type 1
        (-3, 4, 9, 0, [-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]),  # labml's, 1 - P to P
        (-3, 4, 3, 0, [-2, 0, 2, 4]),  # squeezed: the row of -3 lies between two
        (-3, 4, 7, 2, [-3, -2.5, -2, -1, 0, 1, 2, 2.5, 3, 3.5, 4]),  # 1 and 2 keep their rows, beyond it is stretched
        (-1, 4, 7, 2, [-1, 0, 1, 2, 2.5, 3, 3.5, 4]),  # a future that ends before `near` stays
        (-3, 4, 5, 0, [-3, -2, -1, 0, 1, 2, 3, 4]),  # the same length
        (-3, 4, 1, 0, [0]),
    ],
)
def test_a_table_is_stretched_by_one_factor_on_both_sides(first, last, max_len, near, expected):
    stretched, config = read_positions(table_of(first, last), Reading(interpolate=max_len, near=near))
    assert (stretched.first, stretched.last) == (-expected.index(0), max_len - 1)
    assert stretched.rows[0, :, 1].tolist() == expected and config.max_len == max_len
    assert stretched.v_curve[2].tolist() == [10 * value for value in expected]


def test_a_symmetric_table_is_stretched_as_our_own(tokens):
    model = tiny_model()
    for reading in (Reading(interpolate=29), Reading(interpolate=29, near=2), Reading(interpolate=5)):
        attn = model.layers[0].attn
        rows = project_positions(attn.pos_enc.pos_table, attn.w_k_pos)
        stretched, _ = read_positions(LearnedPositions(rows, -12), reading)
        own = with_positions(model, reading).layers[0].attn
        torch.testing.assert_close(stretched.rows, project_positions(own.pos_enc.pos_table, own.w_k_pos))


@pytest.mark.parametrize("name", LEARNED)
def test_a_truncated_table_of_another_family_is_a_clamp(name):
    checkpoint = foreign(name)
    x = input_of(checkpoint)
    cut = with_positions(checkpoint.model, Reading(truncate=4))
    assert cut.config.max_len == 4 and cut.layers[0].attn.positions.last == 3
    assert torch.equal(last_hidden(cut, x), last_hidden(checkpoint.model, x, clamp_len=3))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_split_of_another_reading_of_another_family_is_proved(name):
    checkpoint = foreign(name)
    readings = [Reading(clamp_len=2)] if name == "txl_learned" else [Reading(clamp_len=2, flip=True)]
    readings += [Reading(interpolate=20, near=2)] if name in LEARNED else []
    for reading in readings:
        model = with_positions(checkpoint.model, reading)
        trace = run_hidden(model, input_of(checkpoint))
        assert prove(trace, 0, trace.terms(0), cells=20).holds


@pytest.mark.parametrize("name, reading, sentence", [
    ("hf_transfoxl", {"interpolate": 20}, "only a learned table can be stretched or cut, but .* are a sinusoid"),
    ("speechbrain", {"truncate": 2}, "only a learned table"),
    ("labml", {"interpolate": 0}, "max_len must be 1 or more, got 0"),
    ("labml", {"truncate": 34}, "max_len=33 can not be cut to max_len=34"),
    ("article", {"truncate": 7}, "max_len=6 can not be cut to max_len=7"),
    ("article", {"interpolate": 9, "near": 6}, "near must be a distance that both tables have, 0 to 5, got 6"),
])  # fmt: skip
def test_what_another_family_can_not_read_is_refused_in_one_sentence(name, reading, sentence):
    with pytest.raises(ValueError, match=sentence):
        with_positions(foreign(name).model, Reading(**reading))


def test_a_mirrored_sinusoid_keeps_its_very_rows():
    positions = foreign("speechbrain").model.layers[0].attn.positions
    assert isinstance(positions, SinusoidPositions) and positions.mirrored
    assert with_positions(foreign("speechbrain").model, Reading(flip=True)).layers[0].attn.positions is positions
