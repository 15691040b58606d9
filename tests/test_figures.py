"""Figures, judged by their data."""

import numpy as np
import pytest

from relxl import style
from relxl.figures import score_terms as figures
from relxl.masking import causal_mask

QUERY, KEY, MEM = 5, 7, 2
TOKENS = list("ab<s>é&")
MASK = causal_mask(QUERY, KEY, MEM).numpy()


def make_terms(scale=1.0):
    generator = np.random.default_rng(0)
    return {name: generator.normal(size=(QUERY, KEY)).astype(np.float32) * scale for name in style.RELATIVE_TERMS}


def draw(terms=None, dark=False, pin=(3, 1)):
    terms = make_terms() if terms is None else terms
    logits = sum(terms.values())
    probs = np.where(MASK, 1 / MASK.sum(-1, keepdims=True), 0).astype(np.float32)
    return (
        figures.matrices_figure(terms, logits, probs, MASK, TOKENS, style.RELATIVE_TERMS, pin, dark),
        terms,
        logits,
        probs,
    )


def heatmaps(figure):
    return [trace for trace in figure.data if trace.type == "heatmap"]


def test_six_panels_hold_the_terms_their_sum_and_the_probabilities():
    figure, terms, logits, probs = draw()
    expected = [terms["content"], terms["content_position"], logits, terms["u_bias"], terms["v_bias"], probs]
    for trace, z in zip(heatmaps(figure), expected, strict=True):
        assert trace.z.dtype == np.float32
        np.testing.assert_array_equal(trace.z, z)
    titles = [annotation.text for annotation in figure.layout.annotations]
    assert [title[3:6] for title in titles] == ["(a)", "(b)", "sum", "(c)", "(d)", "pro"]


def test_terms_and_sum_share_one_symmetric_range_over_visible_cells():
    terms = make_terms()
    terms["content"] = np.where(MASK, terms["content"], 1000)  # the future does not set the range
    figure, _, logits, _ = draw(terms)
    visible = max(np.abs(m[MASK]).max() for m in [*terms.values(), logits])
    scale = figure.layout.coloraxis
    assert scale.cmax == pytest.approx(visible) and scale.cmin == -scale.cmax and scale.cmid == 0
    assert [trace.coloraxis for trace in heatmaps(figure)] == ["coloraxis"] * 5 + ["coloraxis2"]


def test_axes_are_linked_and_run_from_the_upper_left():
    figure, *_ = draw()
    axes = [figure.layout[name] for name in figure.layout if str(name).startswith(("xaxis", "yaxis"))]
    assert len(axes) == 12 and sum(axis.matches is None for axis in axes) <= 2
    assert list(figure.layout.xaxis.range) == [-0.5, KEY - 0.5] and list(figure.layout.yaxis.range) == [
        QUERY - 0.5,
        -0.5,
    ]


def test_tokens_label_integer_axes_and_are_never_markup():
    figure, *_ = draw()
    ticks = figure.layout.xaxis.ticktext
    assert list(figure.layout.xaxis.tickvals) == list(range(KEY))
    assert ticks[2] == "&lt;" and ticks[6] == "&amp;" and len(ticks) == KEY  # repeated tokens keep their own place
    assert figures.token_ticks(list("x" * 100)) == {"tickvals": list(range(0, 100, 8)), "tickangle": 0}


def test_the_outline_goes_around_exactly_the_future():
    x, y = figures.future_outline(QUERY, KEY, MEM)
    inside = np.zeros((QUERY, KEY), dtype=bool)
    edges = dict(zip(y[1:-1:2], x[1:-1:2], strict=True))  # upper edge of each row -> where its future starts
    for query in range(QUERY):
        inside[query] = np.arange(KEY) > edges[query - 0.5]
    np.testing.assert_array_equal(inside, ~MASK)


def test_the_seam_and_the_ring_stand_in_every_panel():
    lines = [trace for trace in draw()[0].data if trace.type == "scatter"]
    rings = [trace for trace in lines if trace.mode == "markers"]
    seams = [trace for trace in lines if list(trace.x) == [MEM - 0.5, MEM - 0.5]]
    assert len(rings) == len(seams) == 6 and list(rings[0].x) == [1] and list(rings[0].y) == [3]
    assert len(lines) - len([trace for trace in draw(pin=None)[0].data if trace.type == "scatter"]) == 6


@pytest.mark.parametrize("dark", [False, True])
def test_the_middle_of_the_scale_is_the_page_and_zero(dark):
    figure, *_ = draw(dark=dark)
    middle = figure.layout.coloraxis.colorscale[2]
    assert middle[0] == 0.5 and middle[1] == ("#171b22" if dark else "#f7f7f5")


def test_the_same_input_draws_an_equal_figure():
    assert draw()[0].to_json() == draw()[0].to_json()


def test_nothing_finite_still_draws():
    terms = {name: np.full((QUERY, KEY), np.nan, dtype=np.float32) for name in style.RELATIVE_TERMS}
    assert draw(terms)[0].layout.coloraxis.cmax == 1


def test_all_heads_share_one_range_and_the_chosen_one_is_marked():
    planes = np.random.default_rng(1).normal(size=(3, QUERY, KEY)).astype(np.float32)
    figure = figures.heads_figure(planes, MASK, chosen=1, layer=2)
    for trace, plane in zip(heatmaps(figure), planes, strict=True):
        np.testing.assert_array_equal(trace.z, plane)
    assert [annotation.text for annotation in figure.layout.annotations] == ["L2H0", "<b>▸ L2H1</b>", "L2H2"]
    assert figure.layout.coloraxis.cmax == pytest.approx(np.abs(planes[:, MASK]).max())


def test_strip_curve_and_dimensions_hold_their_numbers():
    look = style.RELATIVE_TERMS["u_bias"]
    strip = figures.strip_figure(np.arange(KEY) / 7, TOKENS, look)
    np.testing.assert_allclose(strip.data[0].y, np.arange(KEY) / 7, rtol=1e-6)
    np.testing.assert_allclose(strip.data[1].z[0], strip.data[0].y)
    distances = np.arange(4, -3, -1)
    curve = figures.curve_figure(distances * 0.5, distances, look, {"segment": 3})
    future, past = curve.data
    assert list(past.x) == [4, 3, 2, 1, 0] and list(future.x) == [-1, -2] and past.y[0] == 2
    assert curve.layout.annotations[0].text == "segment"
    cell = {name: np.array([1.0, -2.0]) for name in style.RELATIVE_TERMS}
    bars = figures.dimensions_figure(cell, style.RELATIVE_TERMS)
    assert [bar.marker.color for bar in bars.data] == list(style.COLOURS) and list(bars.data[0].y) == [1, -2]
