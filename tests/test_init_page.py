"""The page "Initialisation": what it shows is what the library measures, for every control and bad links."""

import numpy as np
import pytest

from relxl.config import TrainConfig
from relxl.experiments.init_scale import InitSettings, measure_init, scale_settings
from relxl.style import number, percent
from relxl.ui.initialisation.sections import SCALES, USUAL, sweep_work, train_work
from tests.test_pages import control, healthy, matrices, open_app

PAGE = "pages/6_Initialisation.py"


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


def test_the_scales_span_four_decades_and_hold_the_articles():
    assert SCALES[0] == pytest.approx(USUAL / 100) and SCALES[-1] == pytest.approx(USUAL * 100)
    assert USUAL in SCALES and list(SCALES) == sorted(set(SCALES))


@pytest.mark.parametrize("scale", [SCALES[0], USUAL, SCALES[30], SCALES[-1]])
@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_the_picture_and_the_sentence_are_what_the_library_measures(scale, positions):
    app = open_app(PAGE, **{"is": str(scale), "ip": positions, "ig": "3", "il": "32"})
    assert healthy(app)
    settings = scale_settings(InitSettings(length=32, positions=positions), scale)
    measured = measure_init(settings, head=3)
    _, panels = matrices(app)
    expected = [*measured.terms.terms.values()]
    for shown, matrix in zip([panels[0], panels[1], panels[3], panels[4]], expected, strict=True):
        np.testing.assert_allclose(shown, matrix, atol=np.abs(matrix).max() / 60_000)
    assert f"**{percent(float(np.mean(measured.entropy)))}** of the entropy" in words(app)
    assert number(float(measured.gradient_norm.mean())) in words(app)


def test_the_five_can_be_set_apart():
    app = open_app(PAGE, ia="1", it=str(SCALES[-1]), il="32")
    sliders = {slider.key for slider in app.select_slider}
    assert healthy(app) and {f"control_i{letter}" for letter in "twuvq"} <= sliders
    measured = measure_init(InitSettings(std_table=SCALES[-1], length=32), head=0)
    np.testing.assert_allclose(matrices(app)[1][4], measured.terms.terms["v_bias"], atol=1e-4)


@pytest.mark.parametrize("name", ["shakespeare-learned", "shakespeare-absolute", "songci-learned"])
def test_the_text_of_any_checkpoint_can_be_read(name):
    app = open_app(PAGE, ck=name, ii="text")
    assert healthy(app) and len(app.get("bidi_component")) == 1
    app.text_area[0].set_value("a" if "shake" in name else "山").run()
    assert healthy(app)


@pytest.mark.parametrize(
    "link", [{"is": "3"}, {"ih": "7"}, {"il": "0"}, {"ie": "-1"}, {"ip": "absolute"}, {"ig": "99"}]
)
def test_a_bad_link_falls_back(link):
    app = open_app(PAGE, **link)
    assert healthy(app)


def test_more_heads_or_another_seed_change_the_picture():
    app = open_app(PAGE, il="32")
    before = matrices(app)[1][0]
    control(app, "control_ie").set_value(1).run()
    assert healthy(app) and not np.allclose(matrices(app)[1][0], before)


def test_the_sweep_yields_a_row_an_item_and_ends_at_one():
    settings = InitSettings(d_model=16, n_head=2)
    *_, last = sweep_work(settings, (8,))
    assert last.done == 1 and last.result.shape == (21 * 5, 5) and set(last.result[:, 1]) == {8}
    small = last.result[last.result[:, 0] < 0.001]
    assert small[:, 3].min() > 0.99 and (small[:, 4] == 1).all()  # all flat


def test_a_training_streams_the_losses_of_every_scale():
    config = {"n_layer": 1, "n_head": 2, "d_model": 8, "d_inner": 8, "segment_len": 8, "mem_len": 0, "max_len": 8}
    progress = list(train_work(config, TrainConfig(steps=3, batch=2, warmup=1), [0.02, 0.2]))
    assert [step.done for step in progress] == pytest.approx([i / 6 for i in range(1, 7)])
    assert {scale: len(losses) for scale, losses in progress[-1].result.items()} == {0.02: 3, 0.2: 3}
