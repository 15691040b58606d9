"""The page "Memory": what it shows is what the library computes, and it says what does not apply."""

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.experiments.max_len_losses import LengthLoss
from relxl.experiments.memory import segment_trace, token_losses
from relxl.trace import run
from relxl.ui.memory.losses import enough_sentence, measure_work, position_curves, saved_sentence
from relxl.ui.view import source_of
from tests.conftest import ROOT
from tests.foreign import CASES, foreign
from tests.test_distance_page import captions, figures, lines, numbers, words
from tests.test_pages import control, healthy, matrices, open_app, text_box

PAGE = "pages/9_Memory.py"
BUNDLED = list_checkpoints(ROOT / "checkpoints")
HIDDEN = [name for name in CASES if not foreign(name).config.n_token]


def ids_of(app, name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    return checkpoint, torch.tensor(checkpoint.vocab.encode(text_box(app).value).ids)


def heatmap(figure):
    z = figure["data"][0]["z"]
    values = numbers(z)
    return values.reshape([int(n) for n in z["shape"].split(",")]) if isinstance(z, dict) else values


@pytest.mark.parametrize("name", BUNDLED)
def test_the_picture_is_the_mass_across_the_seam(name):
    app = open_app(PAGE, ck=name, l="1", h="2")
    assert healthy(app) and not app.toast
    checkpoint, ids = ids_of(app, name)
    query_len = -(-len(ids) // 2)
    trace = segment_trace(checkpoint.model, ids[None], 1, query_len, len(ids) - query_len)
    layers = range(checkpoint.config.n_layer)
    mass = np.stack([diagnostics.seam_mass(trace.terms(layer).probs[0], trace.mem_len) for layer in layers])
    shown = figures(app)
    np.testing.assert_allclose(heatmap(shown[0][0]), mass.mean(-1), atol=1e-6)
    np.testing.assert_allclose(numbers(lines(shown[1][0], "L1H2")[0]["y"]), mass[1, 2], atol=1e-6)
    slots = diagnostics.slot_mass(trace.terms(1).probs[0], trace.mem_len)
    np.testing.assert_allclose(numbers(lines(shown[2][0], "L1H2")[0]["y"]), slots[2], atol=1e-6)
    assert f"**L1H2** gives **{round(100 * mass[1, 2].mean())} %** of its attention to the memory" in words(app)
    assert ("It was trained without a memory." in words(app)) == (name in ("shakespeare-absolute", "shakespeare-leaky"))
    assert len(shown) == 5 and all(len(alt) > 20 for _figure, alt in shown)


def test_the_losses_of_the_segment_are_those_of_the_run():
    app = open_app(PAGE, ck="songci-learned")
    checkpoint, ids = ids_of(app, "songci-learned")
    mem_len = len(ids) // 2
    with_memory = token_losses(run(checkpoint.model, ids[None, :-1], mem_len), ids[None, mem_len + 1 :])[0]
    alone = token_losses(run(checkpoint.model, ids[None, mem_len:-1], 0), ids[None, mem_len + 1 :])[0]
    assert f"is **{with_memory.mean():.3f}** nats per token, without it {alone.mean():.3f}" in words(app)
    figure, _alt = figures(app)[3]
    np.testing.assert_allclose(numbers(figure["data"][0]["y"]), with_memory, atol=1e-4)
    np.testing.assert_allclose(numbers(figure["data"][2]["y"]), np.cumsum(alone - with_memory), atol=1e-3)


def test_a_longer_text_is_looked_at_segment_by_segment():
    app = open_app(PAGE, ck="shakespeare-learned", l="3", h="1")
    next(button for button in app.button if button.label == "A text of several segments").click().run()
    (slider,) = [slider for slider in app.select_slider if slider.key == "control_rs"]
    assert healthy(app) and slider.options[0] == "2 of 8" and slider.options[-1] == "8 of 8" and slider.value == 0
    slider.set_value(5).run()
    checkpoint, ids = ids_of(app, "shakespeare-learned")
    trace = segment_trace(checkpoint.model, ids[None], 2, 128, 128)
    mass = diagnostics.seam_mass(trace.terms(3).probs[0], 128)
    np.testing.assert_allclose(numbers(lines(figures(app)[1][0], "L3H1")[0]["y"]), mass[1], atol=1e-6)
    assert "up to 384 tokens before" in captions(app) and app.query_params["rs"] == "5"


def test_two_segments_collide_under_absolute_positions():
    app = open_app(PAGE, ck="shakespeare-learned", h="3")
    checkpoint, ids = ids_of(app, "shakespeare-absolute")
    mem_len = len(ids) // 2
    terms = run(checkpoint.model, ids[None], mem_len).terms(0).head(3)
    position = terms.terms["content_position"] + terms.terms["position_position"]
    pairs = diagnostics.colliding_keys(np.concatenate([np.arange(mem_len), np.arange(len(ids) - mem_len)]), mem_len)
    assert len(pairs) == mem_len and f"**{mem_len} pairs of keys** share a position vector" in words(app)
    np.testing.assert_allclose(position[:, pairs[:, 0]], position[:, pairs[:, 1]], atol=1e-5)
    header, panels = matrices(app)
    assert len(panels) == 2 and header["seam"] == mem_len
    np.testing.assert_allclose(panels[0], diagnostics.row_centred(position, terms.mask), atol=1e-2)
    np.testing.assert_allclose(panels[0][:, :mem_len], panels[0][:, mem_len : 2 * mem_len], atol=1e-2)
    control(app, "table_collision").set_value(True).run()
    table = app.dataframe[-1].value
    assert healthy(app) and len(table) == mem_len
    np.testing.assert_allclose(table["memory_position_terms"], table["segment_position_terms"], atol=1e-5)
    assert (table["segment_key"] - table["memory_key"] == mem_len).all()
    assert "and **4.808** with it" in words(app)


def test_the_absolute_model_itself_and_one_that_knows_none_of_the_text():
    app = open_app(PAGE, ck="shakespeare-absolute")
    assert healthy(app) and len(matrices(app)[1]) == 1 and "pairs of keys" in words(app)
    app = open_app(PAGE, ck="songci-learned")
    assert healthy(app) and len(matrices(app)[1]) == 1 and "pairs of keys" in words(app)


def test_without_the_absolute_checkpoint_nothing_is_said_of_it(monkeypatch, tmp_path):
    (tmp_path / "one").symlink_to(ROOT / "checkpoints/shakespeare-leaky")
    monkeypatch.setattr("relxl.ui.library.BUNDLED", tmp_path)
    monkeypatch.setattr("relxl.ui.memory.collision.BUNDLED", tmp_path)
    app = open_app(PAGE)
    assert healthy(app) and "collide" not in words(app) and not app.get("bidi_component")


@pytest.mark.parametrize("name", CASES)
def test_every_family_says_what_does_not_apply_and_shows_the_rest(name, library):
    app = open_app(PAGE, ck=f"folder/{name}", l="0", h="1")
    assert healthy(app) and not app.toast and len(figures(app)) >= 3
    assert ("reads hidden states, and these came without a memory" in words(app)) == (name in HIDDEN)
    assert ("predicts no token, so there is no loss" in words(app)) == (name in HIDDEN)
    assert ("before the cut" in words(app)) == (name in HIDDEN)


def test_zeros_in_a_memory_are_marked_with_what_they_get(library):
    app = open_app(PAGE, ck="folder/hf_transfoxl", l="0", h="1")
    text_box(app).set_value("1 2 3").run()
    checkpoint = foreign("hf_transfoxl", torch.float32)
    trace = segment_trace(checkpoint.model, torch.tensor([[1, 2, 3]]), 1, 2, checkpoint.config.mem_len)
    zeros = trace.tokens[0, : trace.mem_len] < 0
    share = diagnostics.slot_mass(trace.terms(0).probs[0], trace.mem_len)[1][zeros].sum()
    assert healthy(app) and zeros.any()
    words_of = f"{zeros.sum()} slots are vectors of zeros (∅), with which this family starts; L0H1 gives them"
    assert f"{words_of} {round(100 * share)} %." in captions(app)


def test_memory_that_is_off_is_said():
    app = open_app(PAGE, m="0")
    assert healthy(app) and "**Memory is off**" in words(app) and "before the cut" in words(app)


@pytest.mark.parametrize("text", ["a", "ab", "abc", "x" * 300])
@pytest.mark.parametrize("name", ["shakespeare-learned", "shakespeare-absolute"])
def test_any_text_is_shown(name, text):
    app = open_app(PAGE, ck=name)
    text_box(app).set_value(text).run()
    assert healthy(app)
    assert ("too short for a memory" in words(app)) == (text == "a")


def test_bad_links_fall_back():
    app = open_app(PAGE, rs="1e9")
    assert not app.exception and len(app.toast) == 1


def test_every_figure_has_a_table_twin():
    app = open_app(PAGE, ck="txl-official")
    toggles = [toggle for toggle in app.toggle if str(toggle.key).startswith("table_")]
    assert len(toggles) == len(figures(app)) + 1  # and the matrix
    for toggle in toggles:
        toggle.set_value(True)
    app.run()
    assert healthy(app) and len(app.dataframe) == len(toggles)


# The job -------------------------------------------------------------------------------------------------------------


def rows(losses):
    return [LengthLoss("as_trained", 32, n, 32, np.full((2, 64), loss, np.float32)) for n, loss in losses.items()]


def test_a_job_measures_what_the_library_measures():
    source = source_of(ROOT / "checkpoints/shakespeare-leaky")
    file = ROOT / "data/tinyshakespeare.txt"
    steps = list(measure_work(source, file, b"", [0, 4], 32, 4 * 96))
    assert steps[-1].done == 1 and [step.done for step in steps] == sorted(step.done for step in steps)
    assert [row.mem_len for row in steps[-1].result] == [0, 4] and {row.segment_len for row in steps[-1].result} == {32}
    ids = np.arange(80, dtype=np.int32) % 60
    steps = list(measure_work(source, None, ids.tobytes(), [0, 8], 16, 79))
    full = steps[-1].result[1]
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-leaky")
    text = torch.from_numpy(ids).long()[None]
    last = segment_trace(checkpoint.model, text[:, :64], 3, 16, 8)
    np.testing.assert_allclose(full.losses[:, 64 - 16 - 16 : 64 - 16], token_losses(last, text[:, 49:65]), rtol=1e-4)


def test_a_result_is_read_out():
    text = enough_sentence(rows({0: 2.0, 1: 1.5, 2: 1.4, 4: 1.45}), 2, 2)
    assert "is 2.000 nats per token, with **2** tokens of it **1.400**" in text and "4 costs 0.050" in text
    assert "Training had 2." in text
    text = enough_sentence(rows({0: 1.6, 1: 4.1, 2: 3.9}), 0, 0)
    assert text == "**No memory is enough:** without any the loss is **1.600** nats per token; with 1 it is 4.100."
    assert "gains nothing" not in enough_sentence(rows({0: 2.0, 1: 1.5}), 1, None)


def test_positions_are_averaged_in_bins():
    both = rows({0: 2.0, 4: 1.0})
    curves = position_curves(both, both[1])
    assert list(curves) == ["without memory", "memory 4"]
    assert curves["memory 4"].x[:2].tolist() == [0.5, 2.5] and set(curves["without memory"].y.tolist()) == {2.0}


def test_what_is_saved_is_said_with_its_sign():
    text = saved_sentence(np.full(20, 1.0), np.full(20, 1.5))
    assert "the memory saves 0.500" in text and "over the last 8 +0.500" in text
    text = saved_sentence(np.full(20, 1.5), np.full(20, 1.0))
    assert "the memory costs 0.500" in text and "that is +0.500" in text
    assert "Over the first" not in saved_sentence(np.ones(3), np.ones(3))
