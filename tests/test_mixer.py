"""Faders, mute and solo, what muting costs, and exact Shapley shares."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from relxl.diagnostics import focus, shapley_shares
from relxl.experiments.ablation import ablate
from relxl.training import token_loss
from tests.conftest import ROOT, tiny_model


def test_focus_is_zero_for_uniform_and_log_n_for_one_key():
    assert focus(np.full((3, 7), 5.0)) == pytest.approx(np.zeros(3), abs=1e-15)
    assert focus(np.array([0.0, 2000.0, 0.0, 0.0])) == pytest.approx(np.log(4))
    p = np.array([0.5, 0.25, 0.25])
    assert focus(np.log(p)) == pytest.approx((p * np.log(3 * p)).sum())


@pytest.mark.parametrize("n_term", [2, 4, 6])
def test_shapley_shares_add_up_to_the_whole(n_term):
    rng = np.random.default_rng(n_term)
    terms = {f"t{i}": rng.normal(size=23) * (i + 1) for i in range(n_term)}
    shares = shapley_shares(terms)
    assert sum(shares.values()) == pytest.approx(float(focus(sum(terms.values()))), abs=1e-9)


def test_shapley_shares_of_a_row_that_can_be_checked_by_hand():
    a, b = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])
    alone, other, both = float(focus(a)), float(focus(b)), float(focus(a + b))
    shares = shapley_shares({"a": a, "b": b, "none": np.full(3, 4.0)})
    assert shares["a"] == pytest.approx((alone + both - other) / 2)
    assert shares["b"] == pytest.approx((other + both - alone) / 2)
    assert shares["none"] == pytest.approx(0, abs=1e-12)  # what is the same for every key changes nothing


@pytest.mark.parametrize("positions", ["learned", "absolute"])
def test_ablation_is_the_loss_of_a_forward_with_the_term_muted(positions, tokens):
    model, found = tiny_model(positions), []
    for done, one in ablate(model, tokens[:1], 6, 4):
        found.append(one)
        assert 0 < done <= 1
    assert [(one.layer, one.head, one.term) for one in found] == [
        (layer, head, term) for layer in range(2) for head in range(3) for term in range(4)
    ]
    memory = model(tokens[:1, :6]).hidden
    mix = torch.ones(2, 3, 4)
    mix[1, 0, 2] = 0
    logits = model(tokens[:1, 6:-1], list(memory), mix=mix).output_logits
    expected = token_loss(logits, tokens[:1, 7:]).mean().item()
    assert found[(1 * 3 + 0) * 4 + 2].loss == pytest.approx(expected, abs=1e-12)
    assert found[0].change == found[0].loss - found[0].plain


def open_score_terms(**link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    app.run().switch_page("pages/1_Score_terms.py")
    return app.run()


def loss_line(app: AppTest) -> str:
    return next(text.value for text in app.markdown if text.value.startswith("Loss on this text"))


@pytest.mark.parametrize("name", ["shakespeare-learned", "shakespeare-absolute", "txl-official"])
def test_faders_change_the_scores_the_loss_and_never_the_model(name):
    app = open_score_terms(ck=name)
    assert not app.exception and "with this mix" not in loss_line(app)
    plain = loss_line(app)
    app.select_slider(key="control_fb").set_value(0.0).run()
    assert not app.exception and "with this mix" in loss_line(app)
    assert not any("not exact" in str(badge.proto) for badge in app.main)
    app.button(key="solo_fa").click().run()
    assert [app.select_slider(key=f"control_{key}").value for key in ("fa", "fb", "fc", "fd")] == [1, 0, 0, 0]
    app.segmented_control(key="control_fs").set_value("model").run()
    assert not app.exception
    next(button for button in app.button if button.label == "All to 1").click().run()
    assert loss_line(app) == plain


def test_a_mix_stands_in_the_link():
    app = open_score_terms(ck="shakespeare-learned", fs="model", fb="0.0", fd="0.0")

    assert not app.exception and "with this mix" in loss_line(app)
