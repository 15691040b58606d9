"""What crosses the seam: hand-made attention, segments read one after another, and losses under shorter memories."""

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.experiments.max_len_losses import LengthLoss
from relxl.experiments.memory import (
    effective_memory,
    loss_by_memory,
    segment_starts,
    segment_trace,
    token_losses,
)
from relxl.figures.max_len import Series
from relxl.figures.memory import memory_loss_figure, queries_figure, seam_figure, slots_figure, token_loss_figure
from relxl.masking import causal_mask
from relxl.trace import NO_TOKEN, run
from tests.conftest import tiny_model
from tests.foreign import foreign

PROBS = np.array([[0.5, 0.25, 0.25, 0, 0], [0, 0.5, 0, 0.5, 0], [0.125, 0.125, 0.25, 0.25, 0.25]], np.float32)


def test_mass_across_the_seam_and_on_each_slot():
    probs = np.stack([PROBS, np.eye(3, 5, dtype=np.float32)])
    mass = diagnostics.seam_mass(probs, 2)
    assert mass.tolist() == [[0.75, 0.5, 0.25], [1, 1, 0]]
    slots = diagnostics.slot_mass(probs, 2)
    np.testing.assert_allclose(slots, [[0.625 / 3, 0.875 / 3], [1 / 3, 1 / 3]])
    np.testing.assert_allclose(slots.sum(-1), mass.mean(-1))
    assert diagnostics.seam_mass(probs, 0).tolist() == [[0, 0, 0]] * 2 and diagnostics.slot_mass(probs, 0).shape == (
        2,
        0,
    )
    np.testing.assert_allclose(diagnostics.seam_mass(probs, 5), 1)


def test_even_attention_to_the_memory_shrinks_with_every_query():
    mask = causal_mask(3, 5, 2).numpy()
    assert diagnostics.even_mass(mask, 2).tolist() == [2 / 3, 2 / 4, 2 / 5]
    np.testing.assert_allclose(diagnostics.seam_mass(mask / mask.sum(-1, keepdims=True), 2), [2 / 3, 2 / 4, 2 / 5])


def test_keys_collide_where_their_places_are_the_same():
    assert diagnostics.colliding_keys(np.array([0, 1, 2, 0, 1]), 3).tolist() == [[0, 3], [1, 4]]
    assert diagnostics.colliding_keys(np.array([1, 2, 0, 1, 2]), 2).tolist() == [[0, 3], [1, 4]]
    assert diagnostics.colliding_keys(np.arange(5), 3).tolist() == []


def test_tables_hold_the_numbers():
    mass = np.arange(12.0).reshape(2, 2, 3)
    table = diagnostics.seam_table(mass)
    assert table["mean"].tolist() == [1, 4, 7, 10] and table["first_query"].tolist() == [0, 3, 6, 9]
    assert table["layer"].tolist() == [0, 0, 1, 1] and table["last_query"].tolist() == [2, 5, 8, 11]
    slots = diagnostics.slot_table(np.array([[0.5, 0.25], [0, 1]]), ["a", "b"], np.array([2, 1]))
    assert slots.columns.tolist() == ["slot", "token", "distance", "H0", "H1"] and slots["H1"].tolist() == [0, 1]


# Segment by segment --------------------------------------------------------------------------------------------------


def test_segments_end_with_the_text():
    assert segment_starts(10, 5) == [0, 5] and segment_starts(12, 5) == [0, 2, 7] and segment_starts(3, 5) == [0]
    assert segment_starts(5, 5) == [0] and segment_starts(1, 1) == [0]


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
@pytest.mark.parametrize("mem_len", [3, 5, 7, 11])
def test_a_segment_is_what_reading_all_before_it_gives(positions, mem_len, tokens):
    """By hand: every segment with the memory that `update_mems` keeps, from the very first on."""
    model = tiny_model(positions, mem_len=mem_len, n_layer=3)
    text = torch.cat([tokens] * 3, dim=1)  # 57 tokens
    starts, mems = segment_starts(57, 5), None
    for segment, (start, end) in enumerate(zip(starts, [*starts[1:], 57], strict=True)):
        with torch.no_grad():
            output = model(text[:, start:end], mems)
        trace = segment_trace(model, text, segment, 5, mem_len)
        assert trace.mem_len == (0 if mems is None else mems[0].shape[1]) and trace.query_len == end - start
        np.testing.assert_allclose(trace.output_logits, output.output_logits, rtol=1e-9, atol=1e-9)
        assert (trace.tokens[:, -trace.query_len :] == text[:, start:end].numpy()).all()
        assert (trace.tokens == text[:, end - trace.key_len : end].numpy()).all()
        mems = output.mems


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_two_segments_are_what_a_run_gives(positions, tokens):
    model = tiny_model(positions)
    one, two = segment_trace(model, tokens[:, :12], 1, 6, 6), run(model, tokens[:, :12], 6)
    for layer in range(2):
        torch.testing.assert_close(one.hidden[layer], two.hidden[layer])
    mass = diagnostics.seam_mass(one.terms(1).probs[0], 6)
    assert mass.shape == (3, 6) and (mass > 0).all() and (mass < 1).all()
    everything = one.terms(1).probs[0]
    np.testing.assert_allclose(mass + everything[..., 6:].sum(-1), 1, rtol=1e-6)


def test_a_model_that_starts_with_zeros_has_them_in_its_first_memory():
    model = foreign("hf_transfoxl").model
    text = torch.arange(20)[None] % model.config.n_token
    first = segment_trace(model, text, 0, 7, 5)
    assert (first.tokens[:, :5] == NO_TOKEN).all() and first.mem_len == 5 and first.query_len == 6
    second = segment_trace(model, text, 1, 7, 5)
    assert (second.tokens == text[:, 1:13].numpy()).all()


def test_what_is_not_there_is_refused(tokens):
    with pytest.raises(ValueError, match="segments 0 to 3"):
        segment_trace(tiny_model(), tokens, 4, 5, 5)
    with pytest.raises(ValueError, match="reads hidden states"):
        segment_trace(foreign("nemo").model, tokens, 0, 5, 5)
    with pytest.raises(ValueError, match="predicts no token"):
        next(loss_by_memory(foreign("nemo").model, tokens, [0, 1]))


# Losses --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_the_loss_with_a_full_memory_is_the_traces(positions, tokens):
    model = tiny_model(positions)
    steps = list(loss_by_memory(model, tokens, [0, 3, 9], segment_len=9, lead=9))
    done, rows = [step for step, _row in steps], [row for _step, row in steps if row]
    assert done == sorted(done) and done[-1] == 1 and [row.mem_len for row in rows] == [0, 3, 9]
    full = run(model, tokens[:, :18], 9)
    np.testing.assert_allclose(rows[2].losses, token_losses(full, tokens[:, 10:19]), rtol=1e-5)
    alone = run(model, tokens[:, 9:18], 0)
    np.testing.assert_allclose(rows[0].losses, token_losses(alone, tokens[:, 10:19]), rtol=1e-5)
    assert not np.allclose(rows[0].losses, rows[2].losses)


def test_the_loss_of_the_models_own_segment_is_measured_where_none_is_given(tokens):
    rows = [row for _done, row in loss_by_memory(tiny_model(), tokens, [0, 2]) if row]
    assert {row.segment_len for row in rows} == {7} and rows[0].losses.shape == (2, 11)


def lengths(losses):
    noise = np.random.default_rng(5).normal(size=(4, 4096)) * 0.2
    return [LengthLoss("as_trained", 8, n, 0, (noise + loss).astype(np.float32)) for n, loss in losses.items()]


def test_the_effective_memory_is_the_shortest_that_a_longer_one_does_not_improve():
    assert effective_memory(lengths({0: 2.0, 1: 1.5, 2: 1.2, 4: 1.198, 8: 1.199})) == 2
    assert effective_memory(lengths({0: 2.0, 1: 1.5, 2: 1.2, 4: 1.1, 8: 1.0})) == 8
    assert effective_memory(lengths({0: 1.0, 1: 3.0, 2: 2.0})) == 0
    assert effective_memory(lengths({2: 1.2, 0: 2.0})) == 2  # in any order
    noisy = lengths({0: 1.0, 1: 0.98})
    noisy[1] = LengthLoss("as_trained", 8, 1, 0, noisy[1].losses + np.random.default_rng(6).normal(size=(4, 4096)) * 9)
    assert effective_memory(noisy) in (0, 1)


# Figures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_figures_hold_the_numbers(dark):
    mass = np.array([[0.1, 0.9], [0.5, 0.25]])
    figure = seam_figure(mass, (1, 0), dark)
    np.testing.assert_allclose(figure.data[0].z, mass)
    assert figure.data[0].zmax == 1 and list(figure.data[1].text) == ["10 %", "90 %", "50 %", "25 %"]
    assert len(set(figure.data[1].textfont.color)) == 2
    assert len(seam_figure(np.ones((1, 40)), (0, 0), dark).data) == 1
    figure = queries_figure(np.array([[1, 0.5], [0.5, 0]]), np.array([0.9, 0.8]), 1, 0, 3, dark)
    assert [list(trace.y) for trace in figure.data] == [[0.75, 0.25], [0.5, 0], [0.9, 0.8]]
    assert list(figure.data[0].x) == [3, 4]
    figure = slots_figure(mass, 0, 0, ["∅", "<b>"], np.array([True, False]), dark)
    assert list(figure.data[0].y) == [0.1, 0.9] and figure.data[0].marker.color[0] == "rgba(0,0,0,0)"
    assert figure.data[0].customdata[1] == "&lt;b&gt;"
    figure = token_loss_figure({"with": np.array([1.0, 2]), "without": np.array([3.0, 1])}, ["a", "b"], dark)
    assert list(figure.data[2].y) == [2, 1]
    curve = Series(np.array([0, 1, 2]), np.array([3.0, 2, 1]), np.array([0.1, 0.1, 0]))
    figure = memory_loss_figure(curve, 2, 1, dark)
    np.testing.assert_allclose(figure.data[1].x, np.log10([1, 2, 3]))
    np.testing.assert_allclose(figure.data[1].customdata, [[2.8, 3.2], [1.8, 2.2], [1, 1]], rtol=1e-6)
    assert "%{customdata[0]:.3f} – %{customdata[1]:.3f}" in figure.data[1].hovertemplate
    assert [note.text for note in figure.layout.annotations] == ["training", "enough"]
