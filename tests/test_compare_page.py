"""The page "Compare": two checkpoints of every kind, a training step by step, and what can not be compared says so."""

import shutil

import numpy as np
import pytest
import torch

from relxl.checkpoint import list_checkpoints, open_checkpoint, save_checkpoint
from relxl.compare import compare_tensors
from relxl.vocab import Vocab
from relxl.weights_only import v_bias_curves
from tests.conftest import ROOT, tiny_model
from tests.foreign import CASES, foreign_folder
from tests.test_distance_page import captions, figures, lines, numbers, words
from tests.test_pages import control, healthy, open_app

PAGE = "pages/11_Compare.py"
BUNDLED = list_checkpoints(ROOT / "checkpoints")
FILM = ROOT / "checkpoints/film/shakespeare-small/steps"


def bars(app):
    return next(figure for figure, _alt in figures(app) if figure["data"][0]["type"] == "bar")


@pytest.mark.parametrize("other", [name for name in BUNDLED if name != "shakespeare-learned"])
def test_every_bundled_checkpoint_can_be_the_other(other):
    app = open_app(PAGE, ck="shakespeare-learned", cb=other, l="1", h="2")
    assert healthy(app) and not app.toast and control(app, "control_cb").value == other
    assert all(len(alt) > 20 for _figure, alt in figures(app))
    for which, says in (("txl", "No tensor of one"), ("absolute", "absolute positions"), ("songci", "same vocabulary")):
        assert (says in words(app)) == (which in other), other
    assert ("Loss on this text" in words(app)) == (other != "songci-learned")


def test_the_numbers_are_those_of_the_library():
    app = open_app(PAGE, ck="shakespeare-learned", cb="shakespeare-sinusoid", l="2", h="3")
    a, b = (open_checkpoint(ROOT / "checkpoints" / name) for name in ("shakespeare-learned", "shakespeare-sinusoid"))
    changes = compare_tensors(a.weights.tensors, b.weights.tensors)
    expected = [change.relative for change in changes.both[:12]]
    np.testing.assert_allclose(numbers(bars(app)["data"][0]["x"]), expected)
    assert f"**{changes.equal} of {len(changes.both)}** tensors" in words(app)
    curves = next(figure for figure, _alt in figures(app) if lines(figure, "b: shakespeare-sinusoid"))
    x = torch.tensor(numbers(curves["data"][0]["x"])).long()
    for name, checkpoint in (("a", a), ("b", b)):
        (line,) = lines(curves, f"{name}: {checkpoint.name}")
        np.testing.assert_allclose(numbers(line["y"]), v_bias_curves(checkpoint.model.layers[2].attn, x)[3], atol=1e-6)


def test_a_copy_differs_nowhere(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "checkpoints/shakespeare-leaky", tmp_path / "copy")
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = open_app(PAGE, ck="shakespeare-leaky", cb="folder/copy")
    assert healthy(app)
    assert not numbers(bars(app)["data"][0]["x"]).any() and "correlation over distance 1," in words(app)
    assert "u 1, v 1" in words(app) and "differs most" not in words(app).split("content")[0]


def test_models_of_other_families_and_sizes(tmp_path, monkeypatch):
    for name in CASES:
        foreign_folder(name, tmp_path)
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = open_app(PAGE, ck="txl-official", cb="shakespeare-leaky", l="3", h="7")
    assert healthy(app) and "b has 2 layers" in words(app)
    for name in CASES:
        app.query_params.clear()
        control(app, "control_cb").set_value(f"folder/{name}").run()
        assert not app.exception and control(app, "control_cb").value == f"folder/{name}"
    app = open_app(PAGE, ck="folder/wav2vec2_conformer", cb="shakespeare-learned")
    assert healthy(app) and "same vocabulary" in words(app)
    app = open_app(PAGE, ck="shakespeare-learned", cb="shakespeare-leaky", l="1", h="6")
    assert healthy(app) and "b has 4 heads" in words(app)


@pytest.mark.parametrize("step, place", [("0", 0), ("200", 5), ("1500", 9)])
def test_the_film_shows_the_step(step, place):
    app = open_app(PAGE, cm="film", cs=step, cl="1")
    assert healthy(app) and not app.toast and app.select_slider[0].value == int(step)
    assert len(figures(app)) == (4 if step == "0" else 5) and all(len(alt) > 20 for _figure, alt in figures(app))
    assert ("first snapshot" in words(app)) == (step == "0")
    picture, alt = figures(app)[0]
    checkpoint = open_checkpoint(FILM / f"{int(step):06}")
    bold = [trace for trace in picture["data"] if trace["line"]["width"] == 2.5]
    assert len(bold) == 4 and "L1H" in alt
    x = torch.tensor(numbers(bold[2]["x"])).long()
    np.testing.assert_allclose(numbers(bold[2]["y"]), v_bias_curves(checkpoint.model.layers[1].attn, x)[2], atol=1e-6)
    assert len(picture["data"]) == 4 * (min(place, 6) + 1)


def test_the_slider_moves_the_film_and_the_link():
    app = open_app(PAGE, cm="film", cs="350")
    app.select_slider[0].set_value(600).run()
    assert healthy(app) and "At step **600**" in words(app) and "600" in app.query_params["cs"]
    assert "From step 350 to 600" in words(app)
    control(app, "control_cm").set_value("two").run()
    assert healthy(app) and not app.select_slider


def test_a_film_for_another_vocabulary_reads_its_own_sample():
    app = open_app(PAGE, cm="film", ck="songci-learned")
    assert healthy(app) and any(lines(figure, "film's own sample") for figure, _alt in figures(app))


def test_a_film_of_the_folder_and_a_broken_one(tmp_path, monkeypatch):
    vocab = Vocab(tuple("abcdefghijk"))
    for step in (0, 5):
        save_checkpoint(tmp_path / f"mine/steps/{step}", tiny_model("absolute", torch.float32, step), vocab, {})
        model = tiny_model("learned", torch.float32, n_layer=1 + step // 5)
        save_checkpoint(tmp_path / f"odd/steps/{step}", model, vocab, {})
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = open_app(PAGE, cm="film", cf="folder/mine")
    assert healthy(app) and "absolute positions" in words(app)
    app = open_app(PAGE, cm="film", cf="folder/odd")
    assert not app.exception and "other sizes" in app.error[0].value


def test_a_preset_and_a_bad_link():
    app = open_app(PAGE, cm="film", cs="7", cb="nothing")
    assert not app.exception and app.select_slider[0].value == 1500 and app.toast
    next(button for button in app.button if button.label == "Ours against its authors' code").click().run()
    assert healthy(app) and control(app, "control_cb").value == "txl-official"
    assert "hollow" not in captions(app)
