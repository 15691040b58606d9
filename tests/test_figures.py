"""Curves and bars, judged by their data."""

import numpy as np

from relxl import style
from relxl.figures import score_terms as figures

LOOK = style.RELATIVE_TERMS["u_bias"]


def test_strip_holds_bars_and_the_strip():
    values = np.arange(7) / 7
    strip = figures.strip_figure(values, list("ab<s>é&"), LOOK)
    np.testing.assert_allclose(strip.data[0].y, values, rtol=1e-6)
    np.testing.assert_allclose(strip.data[1].z[0], values, rtol=1e-6)
    assert strip.data[1].zmax == -strip.data[1].zmin == np.float32(6 / 7)
    assert figures.strip_figure(values * np.nan, list("abcdefg"), LOOK).data[1].zmax == 1


def test_curve_tells_the_past_from_the_future_and_names_its_marks():
    distances = np.arange(4, -3, -1)
    curve = figures.curve_figure(distances * 0.5, distances, LOOK, {"segment": 3})
    future, past = curve.data
    assert list(past.x) == [4, 3, 2, 1, 0] and list(future.x) == [-1, -2] and past.y[0] == 2
    assert curve.layout.annotations[0].text == "segment"


def test_dimensions_stack_the_four_terms_in_their_colours():
    cell = {name: np.array([1.0, -2.0]) for name in style.RELATIVE_TERMS}
    bars = figures.dimensions_figure(cell, style.RELATIVE_TERMS)
    assert [bar.marker.color for bar in bars.data] == list(style.COLOURS) and list(bars.data[0].y) == [1, -2]
    assert bars.layout.barmode == "relative" and bars.data[0].name == "(a) content"


def test_the_same_input_draws_an_equal_figure():
    draw = figures.curve_figure
    arguments = (np.arange(5.0), np.arange(2, -3, -1), LOOK, {})
    assert draw(*arguments).to_json() == draw(*arguments).to_json() != draw(*arguments, dark=True).to_json()
