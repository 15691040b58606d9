"""What differs between two models: hand-made tensors, equal ones, films of small models."""

import math

import numpy as np
import pytest
import torch

from relxl.checkpoint import open_checkpoint, save_checkpoint
from relxl.compare import (
    bias_vectors,
    common_distances,
    compare_tensors,
    cosines,
    film_steps,
    head_sizes,
    layer_curves,
    likeness,
    make_film,
    thin,
)
from relxl.figures import compare as figures
from relxl.style import RELATIVE_TERMS
from relxl.vocab import Vocab
from tests.conftest import ROOT, tiny_model
from tests.foreign import CASES, foreign

FILM = ROOT / "checkpoints/film/shakespeare-small"
VOCAB = Vocab(tuple("abcdefghijk"))


def tensors(seed=0):
    random = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=random) for name, shape in (("x", (2, 3)), ("y", (5,)), ("z", (7, 1)))}


def saved(path, **changes):
    save_checkpoint(path, tiny_model(dtype=torch.float32, **changes), VOCAB, {})
    return open_checkpoint(path)


def test_equal_tensors_differ_nowhere():
    a = tensors() | {"odd": torch.tensor([math.nan, math.inf]), "none": torch.zeros(0, 3), "zero": torch.zeros(3)}
    changes = compare_tensors(a, {name: value.clone() for name, value in a.items()})
    assert changes.equal == len(changes.both) == len(a)
    assert {(c.relative, c.cosine, c.largest) for c in changes.both} == {(0.0, 1.0, 0.0)}
    assert not changes.missing and not changes.new and not changes.reshaped


def test_a_flipped_tensor_is_first():
    a = tensors()
    changes = compare_tensors(a, a | {"x": a["x"] * 1.5, "y": -a["y"]})
    assert [change.name for change in changes.both] == ["y", "x", "z"] and changes.equal == 1
    first, second, _third = changes.both
    assert (first.relative, first.cosine) == (pytest.approx(2), pytest.approx(-1))
    assert first.largest == pytest.approx(2 * float(a["y"].abs().max()))
    assert (second.relative, second.cosine) == (pytest.approx(0.5), pytest.approx(1))


def test_numbers_by_hand_and_in_pieces(monkeypatch):
    a, b = torch.tensor([[3.0, 0.0], [0.0, 4.0]]), torch.tensor([[3.0, 0.0], [5.0, 4.0]])
    monkeypatch.setattr("relxl.compare.PIECE", 3)
    (change,) = compare_tensors({"w": a}, {"w": b}).both
    assert change.shape == (2, 2) and change.largest == 5 and change.relative == 1
    assert change.cosine == pytest.approx(25 / (5 * math.sqrt(50)))


def test_names_and_shapes_decide_what_is_compared():
    a, b = tensors(), tensors(1)
    b["w"], b["x"] = b.pop("z"), torch.zeros(3, 2)
    changes = compare_tensors(a, b)
    assert [change.name for change in changes.both] == ["y"]
    assert (changes.missing, changes.new) == (("z",), ("w",)) and changes.reshaped == (("x", (2, 3), (3, 2)),)


def test_what_has_no_measure_says_so_and_comes_first():
    a = {"nan": torch.ones(3), "zero": torch.zeros(3), "same": torch.ones(2), "half": torch.ones(2, dtype=torch.half)}
    b = {"nan": torch.tensor([1, math.nan, 1]), "zero": torch.ones(3), "same": torch.ones(2), "half": torch.ones(2)}
    both = compare_tensors(a, b).both
    assert [change.name for change in both] == ["nan", "zero", "half", "same"]
    assert math.isnan(both[0].relative) and both[1].relative == math.inf and both[2].relative == 0


def test_cosine_and_likeness():
    a = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(cosines(a, a[:, ::-1]), [0, 1, np.nan])
    curve = np.array([1.0, 4.0, 9.0, np.nan, 2.0])
    assert likeness(curve, 3 * curve + 7) == pytest.approx(1) and likeness(curve, -curve) == pytest.approx(-1)
    assert np.isnan(likeness(curve, np.ones(5)))
    assert likeness(curve[:3], np.array([2.0, 1.0, 7.0])) == pytest.approx(np.corrcoef([1, 4, 9], [2, 1, 7])[0, 1])


def test_head_vectors_and_sizes_are_the_models():
    model = tiny_model("sinusoid")
    attn, sizes = model.layers[1].attn, head_sizes(model)
    np.testing.assert_allclose(bias_vectors(model)["v"][1], attn.v.detach())
    np.testing.assert_allclose(sizes["u"][1], attn.u.detach().norm(dim=-1))
    np.testing.assert_allclose(sizes["W_kR"][1, 2], attn.w_k_pos[2].detach().norm())
    assert head_sizes(tiny_model("absolute")) == {}


@pytest.mark.parametrize("name", CASES)
def test_models_of_other_families_are_compared_with_themselves(name):
    checkpoint = foreign(name)
    distance = common_distances(checkpoint, checkpoint)
    curves = layer_curves(checkpoint, 0, distance)
    assert curves.shape[1] == len(distance)
    for vectors in bias_vectors(checkpoint.model).values():
        found = cosines(vectors, vectors)
        assert np.allclose(found[np.isfinite(found)], 1)
    tensors = checkpoint.weights.tensors
    assert compare_tensors(tensors, tensors).equal == len(tensors)


def test_thin_keeps_both_ends():
    assert thin(range(5), 9) == [0, 1, 2, 3, 4] and thin(range(101), 3) == [0, 50, 100] and thin(range(4), 0) == [0, 3]


def test_a_film_holds_what_its_snapshots_say():
    steps = film_steps(FILM)
    assert [step for step, _path in steps] == [0, 10, 25, 50, 100, 200, 350, 600, 1000, 1500]
    kept = [(step, open_checkpoint(path)) for step, path in steps[::4]]
    film = make_film(kept)
    assert film.steps == (0, 100, 1000) and film.changes[0] is None
    for place, (_step, checkpoint) in enumerate(kept):
        np.testing.assert_array_equal(film.curves[place, 1], layer_curves(checkpoint, 1, film.span.distances))
        np.testing.assert_array_equal(film.sizes["u"][place], head_sizes(checkpoint.model)["u"])
        assert film.losses[place] == checkpoint.training["validation"]["loss"]
    expected = compare_tensors(kept[1][1].weights.tensors, kept[2][1].weights.tensors)
    assert film.changes[2] == expected
    assert (np.diff(film.losses) < 0).all()


def test_a_film_of_different_sizes_or_of_nothing_says_so(tmp_path):
    one, other = saved(tmp_path / "one"), saved(tmp_path / "other", n_layer=1)
    with pytest.raises(ValueError, match="step 7 has other sizes than step 3"):
        make_film([(3, one), (7, other)])
    with pytest.raises(ValueError, match="no snapshot"):
        make_film([])
    absolute = make_film([(0, saved(tmp_path / "absolute", positions="absolute"))])
    assert absolute.curves is None and absolute.sizes == {} and np.isnan(absolute.losses).all()
    assert film_steps(tmp_path) == []


# Figures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_the_figures_hold_their_numbers(dark):
    bars = figures.changes_figure(["<b>w", "inf", "nan"], [0.5, math.inf, math.nan], dark)
    assert bars.data[0].x[0] == 0.5 and np.isnan(bars.data[0].x[1:]).all()
    assert bars.layout.yaxis.ticktext[0] == "&lt;b&gt;w" and len(bars.layout.annotations) == 2
    a, b = ({"content": np.array([0.1, 0.2, value]), "v_bias": np.array([0.4, 0.3, 0.2])} for value in (0.3, np.nan))
    dumbbells = figures.dumbbell_figure(a, b, RELATIVE_TERMS, 1, dark)
    points = [trace for trace in dumbbells.data if trace.mode == "markers"]
    np.testing.assert_array_equal([trace.y for trace in points], [a["content"], b["content"], a["v_bias"], b["v_bias"]])
    cosine = figures.cosine_figure({"u": np.array([0.5, np.nan])}, 0, dark)
    assert cosine.data[0].y[0] == 0.5


def test_the_film_figure_shows_the_step_bold_and_those_before_it():
    curves = np.random.default_rng(0).normal(size=(9, 5, 7))
    figure = figures.film_figure(curves, np.arange(7), list(range(0, 90, 10)), 3)
    drawn = [trace for trace in figure.data if trace.name.startswith("H4, ")]
    assert [trace.name for trace in drawn] == ["H4, 0", "H4, 10", "H4, 20", "H4, 30"]
    assert [trace.line.width for trace in drawn] == [1, 1, 1, 2.5]
    np.testing.assert_array_equal(drawn[-1].y, curves[3, 4])
    low, high = figure.layout.yaxis.range
    assert low < curves.min() and high > curves.max()


def test_what_became_zero_has_no_direction():
    (change,) = compare_tensors({"w": torch.ones(2)}, {"w": torch.zeros(2)}).both
    assert change.relative == 1 and math.isnan(change.cosine)
