"""Profiles over distance, against hand-made patterns and identities."""

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.figures.distance import (
    Profile,
    Reach,
    distance_axis,
    every_head_figure,
    places,
    profile_figure,
    reach_figure,
    within_figure,
)
from relxl.trace import run
from relxl.weights_only import v_bias_curves
from tests.conftest import tiny_model

QUERIES, KEYS = 3, 5
DISTANCE = 2 + np.arange(QUERIES)[:, None] - np.arange(KEYS)  # memory 2
MASK = DISTANCE >= 0


def on(distance):
    """Make probabilities [query key] that all lie at one distance."""
    return (distance == DISTANCE).astype(np.float32)


def even():
    return MASK / MASK.sum(-1, keepdims=True)


def test_a_profile_averages_the_visible_cells_of_each_distance():
    values = np.array([[5.0, 4, 3, 99, 99], [8, 1, 2, 3, 99], [0, 7, 6, 5, 1]])
    profile = diagnostics.distance_profile(values, DISTANCE, MASK)
    assert profile.distance.tolist() == [0, 1, 2, 3, 4] and profile.count.tolist() == [3, 3, 3, 2, 1]
    np.testing.assert_allclose(profile.mean, [(3 + 3 + 1) / 3, (4 + 2 + 5) / 3, (5 + 1 + 6) / 3, (8 + 7) / 2, 0])
    np.testing.assert_allclose(profile.std, [np.std([3, 3, 1]), np.std([4, 2, 5]), np.std([5, 1, 6]), 0.5, 0])


def test_a_profile_keeps_leading_axes_leaves_out_what_nobody_sees_and_takes_the_future():
    values = np.stack([np.broadcast_to(DISTANCE**2, (QUERIES, KEYS))] * 2).astype(float)
    window = MASK & (DISTANCE != 1)
    profile = diagnostics.distance_profile(values, DISTANCE, window)
    assert profile.distance.tolist() == [0, 2, 3, 4] and profile.mean.tolist() == [[0, 4, 9, 16]] * 2
    both = diagnostics.distance_profile(values, DISTANCE, np.ones_like(MASK))
    assert both.distance.tolist() == [-2, -1, 0, 1, 2, 3, 4] and both.mean[1].tolist() == [4, 1, 0, 1, 4, 9, 16]
    empty = diagnostics.distance_profile(values, DISTANCE, np.zeros_like(MASK))
    assert empty.mean.shape == (2, 0) and not len(empty.distance)
    values[0, 0, 0] = np.nan
    broken = diagnostics.distance_profile(values, DISTANCE, MASK)
    assert np.isnan(broken.mean[0, 2]) and np.isfinite(broken.mean[1]).all()


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_the_profile_of_v_bias_is_the_curve_itself(positions, tokens):
    model = tiny_model(positions, torch.float32)
    trace = run(model, tokens, mem_len=5)
    terms = trace.terms(1)
    profile = diagnostics.distance_profile(terms.terms["v_bias"][0], terms.distance, terms.mask)
    curves = v_bias_curves(model.layers[1].attn, torch.from_numpy(profile.distance), trace.clamp_len)
    assert profile.distance.tolist() == list(range(19))
    np.testing.assert_allclose(profile.mean, curves, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(profile.std, 0, atol=1e-12)
    assert (profile.mean == terms.v_bias[:, :19][:, ::-1]).all()  # exactly what the cells hold


def test_rows_are_centred_over_what_they_see_and_a_softmax_does_not_mind():
    generator = np.random.default_rng(3)
    values = generator.normal(size=(2, QUERIES, KEYS))
    centred = diagnostics.row_centred(values, MASK)
    np.testing.assert_allclose((centred * MASK).sum(-1), 0, atol=1e-12)
    np.testing.assert_allclose(diagnostics.alone(centred, MASK), diagnostics.alone(values, MASK), atol=1e-12)
    assert (diagnostics.row_centred(values, MASK & False) == values).all()


def test_a_term_alone_is_its_softmax_over_the_visible_keys():
    alone = diagnostics.alone(np.log(np.array([[1.0, 2, 5, 7, 9]])), np.array([[True, True, True, False, False]]))
    np.testing.assert_allclose(alone, [[1 / 8, 2 / 8, 5 / 8, 0, 0]])
    assert (diagnostics.alone(np.ones((1, 2)), np.zeros((1, 2), bool)) == 0).all()
    one = diagnostics.alone(np.array([[-np.inf, 0.0]]), np.ones((1, 2), bool))
    assert one.tolist() == [[0, 1]]


@pytest.mark.parametrize("probs, expected", [
    (on(0), [0, 0]),
    (on(1), [1, 1]),
    (on(2), [2, 2]),
    (0.5 * on(0) + 0.5 * on(2), [0, 2]),
    (np.eye(1, KEYS)[[0, 0, 0]], [3, 4]),  # all on the first key, at distances 2, 3, 4
])  # fmt: skip
def test_reach_of_hand_made_patterns(probs, expected):
    assert diagnostics.attention_reach(probs, DISTANCE, MASK).tolist() == expected
    both = diagnostics.attention_reach(np.stack([probs, on(0)]), DISTANCE, MASK)
    assert both.tolist() == [expected, [0, 0]]


def test_reach_of_even_attention_and_of_none():
    #        distance 0: 1/3 + 1/4 + 1/5, 1 the same, 2 the same, 3: 1/4 + 1/5, 4: 1/5; of 3
    within = np.cumsum([47 / 60, 47 / 60, 47 / 60, 27 / 60, 12 / 60]) / 3
    assert diagnostics.attention_reach(even(), DISTANCE, MASK).tolist() == [1, 3]
    np.testing.assert_allclose(diagnostics.mass_within(even(), DISTANCE, MASK).mean(0), within)
    assert np.isnan(diagnostics.attention_reach(even() * 0, DISTANCE, MASK)).all()
    assert np.isnan(diagnostics.attention_reach(even() * np.nan, DISTANCE, MASK)).all()
    both = np.full((QUERIES, KEYS), 1 / KEYS)
    reach = diagnostics.attention_reach(both, DISTANCE, MASK | True, [0.2, 1])
    assert reach.tolist() == [0, 4]


def test_mass_within_ends_at_one_and_is_a_step_for_one_distance():
    within = diagnostics.mass_within(np.stack([on(1), even()]), DISTANCE, MASK)
    assert within.shape == (2, QUERIES, 5)
    np.testing.assert_allclose(within[..., -1], 1)
    assert within[0].tolist() == [[0, 1, 1, 1, 1]] * QUERIES
    np.testing.assert_allclose(within[1, 0], [1 / 3, 2 / 3, 1, 1, 1])


@pytest.mark.parametrize("curve, expected", [
    ([4, 3, 2, 1, 0], 3),  # the middle is 2, below it is 1
    ([0, 4, 4, 1, 1], 3),
    ([4, 4, 4, 4, 0], 4),
    ([0, 1, 2, 3, 4], np.nan),
    ([2, 2, 2, 2, 2], np.nan),
    ([np.nan, 8, 0, 0, 0], 2),
])  # fmt: skip
def test_the_half_life_is_where_a_curve_has_fallen_half_of_the_way(curve, expected):
    curve = np.array(curve, float)
    places = np.arange(5)
    np.testing.assert_equal(diagnostics.half_life(curve, places), expected)
    np.testing.assert_equal(diagnostics.half_life(curve[::-1], places[::-1]), expected)
    future = np.concatenate([[100.0], curve]), np.concatenate([[-1], places])
    np.testing.assert_equal(diagnostics.half_life(*future), expected)


def test_tables_hold_the_numbers():
    profiles = {
        "v_bias": diagnostics.distance_profile(-DISTANCE.astype(float), DISTANCE, MASK),
        "probability": diagnostics.distance_profile(even(), DISTANCE, MASK),
    }
    table = diagnostics.profile_table(profiles)
    assert table.columns.tolist() == [
        "distance", "queries", "v_bias_mean", "v_bias_std", "probability_mean", "probability_std"
    ]  # fmt: skip
    assert table["v_bias_mean"].tolist() == [0, -1, -2, -3, -4] and table["queries"].tolist() == [3, 3, 3, 2, 1]
    reach = diagnostics.reach_table({"half": np.array([[3, 1], [2, np.nan]]), "most": np.array([[5, 6], [7, 8]])})
    assert reach["name"].tolist() == ["L0H1", "L1H0", "L0H0", "L1H1"] and reach["most"].tolist() == [6, 7, 5, 8]


# Figures -------------------------------------------------------------------------------------------------------------


def test_places_are_even_on_both_sides_and_ticks_are_distances():
    distance = np.array([-99, -9, 0, 9, 99])
    assert (
        places(distance, True).tolist() == [-2, -1, 0, 1, 2] and places(distance, False).tolist() == distance.tolist()
    )
    shown = distance_axis(0, 99, True)
    assert shown["ticktext"] == ["0", "1", "2", "5", "10", "20", "50"] and shown["tickvals"][0] == 0
    assert distance_axis(-9, 9, True)["ticktext"][:3] == ["−5", "−2", "−1"] and "tickvals" not in distance_axis(
        0, 9, False
    )
    assert set(distance_axis(-3000, 3000, True)["ticktext"]) == {"0"} | {
        s + "1" + "0" * n for s in ("", "−") for n in range(4)
    }


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_panels_hold_the_curves_and_one_unit_one_range(log, dark):
    distance, curves = np.arange(8), np.arange(24.0).reshape(3, 8)
    panels = [
        Profile("a", "score", "#0072B2", distance, curves),
        Profile("b", "score", "#D55E00", distance[:4], -curves[:, :4], np.full(4, 100.0)),
        Profile("p", "probability", "", distance[:4], curves[:, :4] / 100, np.full(4, 0.5)),
    ]
    figure = profile_figure(panels, (0, 6), 1, {"training": 3}, 3, log, dark)
    lines = [trace for trace in figure.data if trace.name != "spread"]
    assert [trace.name for trace in lines] == ["H0", "H2", "H1"] * 3
    np.testing.assert_allclose(lines[2].y, curves[1, :7])
    np.testing.assert_allclose(lines[2].x, places(distance[:7], log))
    assert list(figure.layout.yaxis.range) == list(figure.layout.yaxis2.range) and figure.layout.yaxis.range[1] > 91
    bands = [trace for trace in figure.data if trace.name == "spread"]
    assert len(bands) == 2 and min(bands[1].y) == 0
    assert len([shape for shape in figure.layout.shapes if shape.type == "rect"]) == 3  # beyond training, a panel


def test_heads_are_drawn_with_their_reach_and_the_chosen_one_is_named():
    heads = [Reach("L0H1", 1, 5, 2, np.nan), Reach("L0H0", 3, 9, np.nan, 4)]
    figure = reach_figure(heads, "L0H0", "#CC79A7", "alone", False, False)
    half = next(trace for trace in figure.data if trace.name and trace.name.startswith("half of"))
    assert list(half.y) == [1, 3] and list(figure.layout.xaxis.ticktext) == ["L0H1", "<b>L0H0</b>"]
    within = diagnostics.mass_within(even(), DISTANCE, MASK)
    figure = within_figure(within, within, "a", "b", "#CC79A7", True)
    np.testing.assert_allclose(figure.data[1].y, within.mean(0))


def test_small_curves_have_one_scale_a_layer():
    curves = np.stack([np.linspace(0, 1, 50) * size for size in (2, 1, 8, 4)]).reshape(2, 2, 50)
    figure = every_head_figure(curves, np.arange(50), (1, 0), "#CC79A7", 30, False)
    y = np.array([value if value is not None else np.nan for value in figure.data[0].y], float).reshape(4, -1)[:, :-1]
    np.testing.assert_allclose(np.ptp(y, axis=1), [0.84, 0.42, 0.84, 0.42], rtol=0.03)
    assert [note.text for note in figure.layout.annotations] == ["± 1", "± 4"]
    assert len(figure.data) == 3 and "L1H0" in set(figure.data[1].text)
    assert len(every_head_figure(curves * np.nan, np.arange(50), (0, 0), "#CC79A7", None, True).data) == 2
