"""Colours that can be told apart and read, numbers and text as a person expects them."""

import pytest

from relxl import style


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark, page", [(False, "#ffffff"), (False, "#f5f6f8"), (True, "#12151b"), (True, "#1b1f28")])
def test_text_has_a_contrast_of_4_5(dark, page):
    theme = style.theme_of(dark)
    for colour in (theme.ink, theme.faint, theme.alarm, *(style.readable(colour, dark) for colour in style.CURVES)):
        assert contrast(colour, page) >= 4.5, colour


def test_every_term_has_its_letter_and_the_colour_of_its_letter():
    for terms in (style.RELATIVE_TERMS, style.ABSOLUTE_TERMS):
        assert [term.letter for term in terms.values()] == list("abcd")
        assert tuple(term.colour for term in terms.values()) == style.COLOURS
    assert style.terms_of("sinusoid") == style.RELATIVE_TERMS and style.terms_of("absolute") == style.ABSOLUTE_TERMS
    assert list(style.terms_of("sinusoid", segments=True))[4:] == ["segment_content", "segment_bias"]


def test_numbers_have_three_digits_and_a_proper_minus():
    assert [style.number(x) for x in (0, 1.23456, -0.5, 12345.6, -0.00001)] == [
        "0",
        "1.23",
        "−0.5",
        "1.23e+04",
        "−1.00e−05",
    ]
    assert [style.percent(x) for x in (0.614, -0.05, -0.001, float("nan"))] == ["61 %", "−5 %", "0 %", "–"]


def test_text_in_a_figure_is_shown_exactly():
    assert style.plot_text("<b>&lt;") == "&lt;b&gt;&amp;lt;"
    assert style.plot_text("x" * 99) == "x" * 12 + "…" + "x" * 11
