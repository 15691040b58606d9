"""The payload of the matrix view, decoded by the rules that its browser side follows; and the second renderer."""

import numpy as np
import pytest

from relxl.figures.matrix import hidden_outline, matrix_figure
from relxl.figures.ticks import token_ticks
from relxl.masking import causal_mask
from relxl.matrix_view import Grid, Panel, Scale, Window, encode
from relxl.matrix_view.panel import shared_limit
from relxl.matrix_view.payload import pool, to_levels
from relxl.style import DARK, LIGHT
from tests.decode import decode

SCORE, PROB = Scale("diverging", 3.0, "score"), Scale("sequential", 1.0, "probability")


def make_grid(query_len=5, key_len=7, **changes) -> Grid:
    generator = np.random.default_rng(0)
    panels = (
        Panel("(a) content", generator.normal(size=(query_len, key_len)), SCORE, formula="q<sub>i</sub>"),
        Panel("(c) u_bias", generator.normal(size=key_len), SCORE, "strip", colour="#009E73"),
        Panel("(d) v_bias", generator.normal(size=query_len + key_len - 1), SCORE, "curve"),
        Panel("probability", generator.random(size=(query_len, key_len)), PROB),
    )
    mask = causal_mask(query_len, key_len, key_len - query_len).numpy()
    tokens = tuple(chr(97 + i % 26) for i in range(key_len))
    return Grid(
        **{"panels": panels, "mask": mask, "tokens": tokens, "columns": 2, "label": "four", "pin": (1, 2)} | changes
    )


def naive_pool(values, factor):
    rows, cols = (-(-n // factor) for n in values.shape)
    pooled = np.empty((rows, cols))
    for r in range(rows):
        for c in range(cols):
            block = values[r * factor : (r + 1) * factor, c * factor : (c + 1) * factor]
            pooled[r, c] = block.flat[np.abs(block).argmax()]
    return pooled


@pytest.mark.parametrize("bits", [8, 16])
def test_what_the_browser_decodes_is_within_half_a_level(bits):
    grid = make_grid()
    header, panels, hidden = decode(encode(grid, LIGHT, {}, bits=bits))
    assert header["pool"] == 1 and header["cells"] == header["shape"] == [5, 7] and header["pin"] == [1, 2]
    np.testing.assert_array_equal(hidden, ~grid.mask)
    for sent, panel, facts in zip(panels, grid.panels, header["panels"], strict=True):
        dense = panel.dense(*grid.shape)
        assert np.abs(sent - dense).max() <= facts["step"] / 2 * (1 + 1e-9)
        assert facts["step"] == pytest.approx(np.abs(panel.values).max() / (126 if bits == 8 else 32766))
    assert [header["scales"][panel["scale"]]["kind"] for panel in header["panels"]] == ["diverging"] * 3 + [
        "sequential"
    ]


@pytest.mark.parametrize("shape, max_side", [((5, 7), 3), ((13, 29), 7), ((64, 128), 32), ((10, 10), 4)])
@pytest.mark.parametrize("window", [None, (2, 5, 1, 6)])
def test_pooled_blocks_hold_their_largest_value_in_every_kind_of_panel(shape, max_side, window):
    grid = make_grid(*shape)
    header, panels, hidden = decode(encode(grid, LIGHT, {}, window and Window(*window), max_side))
    row, row_end, col, col_end = header["window"]
    factor = header["pool"]
    assert max(header["cells"]) <= max_side
    for sent, panel in zip(panels, grid.panels, strict=True):
        part = panel.dense(*shape)[row:row_end, col:col_end]
        expected = naive_pool(part, factor)
        if panel.kind == "curve":  # the last blocks of a curve may reach beyond the matrix
            whole = (part.shape[0] // factor, part.shape[1] // factor)
            sent, expected = sent[: whole[0], : whole[1]], expected[: whole[0], : whole[1]]
        np.testing.assert_allclose(sent, expected, atol=2e-4)
    part = ~grid.mask[row:row_end, col:col_end]
    expected = [
        [part[r * factor : (r + 1) * factor, c * factor : (c + 1) * factor].all() for c in range(hidden.shape[1])]
        for r in range(hidden.shape[0])
    ]
    np.testing.assert_array_equal(hidden, expected)


def test_a_zoomed_window_is_exact_and_one_outside_is_ignored():
    grid = make_grid(60, 90)
    header, panels, _ = decode(encode(grid, LIGHT, {}, Window(7, 27, 11, 31), max_side=20))
    assert header["pool"] == 1 and header["window"] == [7, 27, 11, 31]
    for sent, panel in zip(panels, grid.panels, strict=True):
        np.testing.assert_allclose(sent, panel.dense(60, 90)[7:27, 11:31], atol=2e-4)
    header, *_ = decode(encode(grid, LIGHT, {}, Window(7, 61, 0, 2), max_side=100))
    assert header["window"] == [0, 60, 0, 90]


@pytest.mark.parametrize("bits", [8, 16])
def test_what_is_not_finite_has_levels_of_its_own(bits):
    values = np.array([[np.nan, np.inf, -np.inf], [0.0, 2.0, -2.0]])
    grid = make_grid(2, 3, panels=(Panel("x", values, SCORE),))
    _, (sent,), _ = decode(encode(grid, LIGHT, {}, bits=bits))
    np.testing.assert_allclose(sent, values, equal_nan=True)
    assert np.isnan(pool(values, 2)[0, 0]) and pool(values[1:], 3).tolist() == [[2.0]]
    assert to_levels(np.full(3, np.nan), bits)[1] == 1.0 and not to_levels(np.zeros(3), bits)[0].any()


@pytest.mark.parametrize("length, limit", [(512, 0.9e6), (2048, 1.5e6)])
def test_a_head_stays_small_on_the_wire(length, limit):
    generator = np.random.default_rng(0)
    planes = generator.normal(size=(4, length, length)).astype(np.float32)
    panels = [Panel(str(i), plane, SCORE) for i, plane in enumerate(planes)]
    panels += [Panel("u", planes[0, 0], SCORE, "strip"), Panel("v", np.ones(2 * length - 1), SCORE, "curve")]
    mask = causal_mask(length, length).numpy()
    grid = Grid(tuple(panels), mask, tuple("x" * length), 3, "six")
    assert len(encode(grid, LIGHT, {}, max_side=1024 // 3)) < limit


def test_both_renderers_draw_the_same_values_scales_and_marks():
    grid = make_grid()
    figure = matrix_figure(grid)
    header, panels, _ = decode(encode(grid, LIGHT, {}))
    heatmaps = [trace for trace in figure.data if trace.type == "heatmap"]
    for trace, sent, facts in zip(heatmaps, panels, header["panels"], strict=True):
        np.testing.assert_allclose(trace.z, sent, atol=2e-4)
        axis = figure.layout[trace.coloraxis]
        scale = header["scales"][facts["scale"]]
        assert axis.cmax == scale["limit"] and axis.cmin == (-scale["limit"] if scale["kind"] == "diverging" else 0)
        assert [list(stop) for stop in axis.colorscale] == header["theme"][scale["kind"]]
    rings = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
    assert len(rings) == 4 and [rings[0].y[0], rings[0].x[0]] == header["pin"]
    seams = [trace for trace in figure.data if trace.type == "scatter" and list(trace.x) == [1.5, 1.5]]
    assert len(seams) == 4
    assert figure.layout.annotations[0].text == "<b>(a) content</b>  <i>q<sub>i</sub></i>"
    assert matrix_figure(grid).to_json() == figure.to_json() != matrix_figure(grid, dark=True).to_json()


def test_both_renderers_set_off_the_chosen_panels_and_name_the_axes_of_the_outer_ones():
    grid = make_grid(chosen=(1, 3))
    header, *_ = decode(encode(grid, LIGHT, {}))
    assert [panel["chosen"] for panel in header["panels"]] == [False, True, False, True] and header["chosen"] == 1
    figure = matrix_figure(grid)
    assert [note.text.startswith("▸ <b>") for note in figure.layout.annotations] == [False, True, False, True]
    for axes in (figure.select_xaxes, figure.select_yaxes):
        assert [axis.linecolor == LIGHT.accent and axis.showline for axis in axes()] == [False, True, False, True]
    assert [axis.title.text or "" for axis in figure.select_xaxes()] == ["", "", "key", "key"]
    assert [axis.title.text or "" for axis in figure.select_yaxes()] == ["query", "", "query", ""]
    header, *_ = decode(encode(make_grid(), LIGHT, {}))
    assert header["chosen"] is None and not any(panel["chosen"] for panel in header["panels"])


def test_the_outline_goes_between_visible_and_hidden_cells():
    x, y = hidden_outline(np.array([[True, False], [True, True]]))
    assert x == [0.5, 0.5, None, 0.5, 1.5, None] and y == [-0.5, 0.5, None, 0.5, 0.5, None]
    assert hidden_outline(np.ones((3, 3), dtype=bool)) == ([], [])


def test_tokens_label_integer_axes_and_are_never_markup():
    ticks = token_ticks(["a", "<", "a", "&"])
    assert ticks["ticktext"] == ["a", "&lt;", "a", "&amp;"] and ticks["tickvals"] == [0, 1, 2, 3]
    assert token_ticks("x" * 100) == {"tickvals": list(range(0, 100, 8)), "tickangle": 0}
    figure = matrix_figure(make_grid())
    assert list(figure.layout.xaxis.range) == [-0.5, 6.5] and list(figure.layout.yaxis.range) == [4.5, -0.5]


def test_the_range_covers_every_visible_finite_cell():
    mask = causal_mask(3, 3).numpy()
    values = np.array([[1.0, 99.0, 99.0], [np.nan, -2.0, 99.0], [np.inf, 0.0, 1.5]])
    assert shared_limit([values], mask) == 2.0
    assert shared_limit([values * np.nan], mask) == 1.0 and shared_limit([], mask) == 1.0


def test_the_theme_goes_along():
    header, *_ = decode(encode(make_grid(), DARK, {"query": "查询"}))
    assert header["theme"]["diverging"][2] == [0.5, "#171b22"] and header["texts"]["query"] == "查询"
    assert header["panels"][1]["colour"] != "#009E73"  # lightened to be read on the dark page
