"""From an absolute score to the four relative terms: every step is what it says, and the shift test is honest."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import open_checkpoint
from relxl.derivation import absolute_head, bare_change, changes, derivation, relative_head, shift_test, untrained_head
from relxl.figures.derivation import Rung, change_figure, ladder_html
from relxl.model import TransformerXL
from relxl.relative import RelativePairs
from relxl.split import pairs_of
from relxl.style import ABSOLUTE_TERMS, RELATIVE_TERMS
from relxl.trace import run, run_hidden
from relxl.ui.chooser import default_text
from relxl.ui.relative_absolute.derivation_words import shift_sentence
from tests.conftest import ROOT, tiny_model
from tests.foreign import CASES, foreign, input_of
from tests.test_pages import control, healthy, matrices

N_TOKEN, HEAD, PLACES = 11, 2, 7
SHIFTS = (1, 8, 64, 512)
CAUSAL = torch.ones(N_TOKEN, N_TOKEN, dtype=torch.bool).tril()
PLACE = torch.arange(N_TOKEN)
FREE = ("", "content", "content content_position", "content content_position u_bias", *["all"] * 3)
RIGHT = [name for name in CASES if isinstance(pairs_of(foreign(name).model.layers[0].attn, 9, 0), RelativePairs)]


def ends(positions: str, tokens: torch.Tensor):
    """Make an absolute head, and a relative one of other sizes, with the traces that they come from."""
    first, last = tiny_model("absolute", seed=1), tiny_model(positions, n_head=3, d_model=18)
    traces = [run(model, tokens[:1, :N_TOKEN]) for model in (first, last)]
    start = absolute_head(first.layers[0].attn, traces[0].hidden[0][0, :, 0], HEAD, PLACES)
    return traces, start, relative_head(last.layers[0].attn, traces[1].hidden[0][0], HEAD)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_both_ends_are_the_models_own_split(positions, tokens):
    traces, start, end = ends(positions, tokens)
    steps = derivation(start, end)
    for step, trace in ((steps[1], traces[0]), (steps[-1], traces[1])):
        own, mine = trace.terms(0, [HEAD]).head(HEAD), step.terms(PLACE)
        assert list(own.terms) == list(mine)
        for name, term in own.terms.items():
            np.testing.assert_allclose(mine[name], term, atol=1e-10)
        np.testing.assert_allclose(sum(mine.values()), own.logits, atol=1e-10)
    np.testing.assert_allclose(
        steps[0].terms(PLACE)["product"], traces[0].terms(0, [HEAD]).head(HEAD).logits, atol=1e-10
    )


@pytest.mark.parametrize("name", RIGHT)
def test_the_last_step_is_the_layer_of_any_family(name, tokens):
    model = foreign(name).model
    trace, attn = run_hidden(model, input_of(foreign(name), N_TOKEN)), model.layers[0].attn
    head, x = attn.n_heads - 1, trace.hidden[0][0, -N_TOKEN:]
    step = derivation(ends("sinusoid", tokens)[1], relative_head(attn, x, head, trace.clamp_len))[-1]
    own = trace.terms(0, [head]).head(head)
    for term, values in step.terms(PLACE).items():
        np.testing.assert_allclose(values, own.terms[term][:, -N_TOKEN:], atol=1e-10)
    moved = shift_test(step, CAUSAL, SHIFTS)
    assert all(moved.still(change) for changes in moved.terms.values() for change in changes)


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_the_steps_make_one_term_after_another_free_of_places(positions, tokens):
    _traces, start, end = ends(positions, tokens)
    steps = derivation(start, end)
    assert len(steps) == len(FREE) == 7
    for step, free in zip(steps, FREE, strict=True):
        test = shift_test(step, CAUSAL, SHIFTS)
        assert list(test.terms) == list(step.formulas)
        for name, change in test.terms.items():
            if free == "all" or name in free.split():
                assert (change < 1e-12).all()
            else:
                assert (change > 1e-2).all()
        total = np.maximum(test.score, test.probs)
        assert (total < 1e-12).all() if free == "all" else (test.score > 1e-2).all() and (test.probs > 1e-4).all()


def test_a_step_replaces_what_its_box_says_and_nothing_else(tokens):
    _traces, start, end = ends("sinusoid", tokens)
    steps = derivation(start, end)
    for before, after in pairwise(steps[1:6]):
        boxed = {name for name, formula in after.formulas.items() if "boxed" in formula}
        for name in set(before.formulas) & set(after.formulas) - boxed:
            torch.testing.assert_close(before.terms(PLACE)[name], after.terms(PLACE)[name], rtol=0, atol=1e-13)
        assert boxed
    for before, after in ((0, 1), (4, 5)):  # writing it otherwise changes no score
        assert changes(steps[before].terms(PLACE), steps[after].terms(PLACE), CAUSAL)["score"] < 1e-12
    assert changes(steps[1].terms(PLACE), steps[2].terms(PLACE), CAUSAL)["score"] > 1e-2


def test_every_cell_of_a_step_follows_its_formula(tokens):
    """Written out cell by cell, from embeddings and weights."""
    (trace, _last), start, end = ends("sinusoid", tokens)
    attn, e = trace.model.layers[0].attn, trace.hidden[0][0, :, 0]
    rows, shift = slice(4 * HEAD, 4 * HEAD + 4), 5
    sizes = 10000.0 ** (-np.arange(0, 12, 2) / 12)

    def p(place):
        return torch.tensor(np.concatenate([np.sin(place * sizes), np.cos(place * sizes)]))

    w_q, w_k = attn.w_q.weight[rows].detach(), attn.w_k.weight[rows].detach()
    query, key = attn.w_q(e)[:, rows].detach(), attn.w_k(e)[:, rows].detach()
    u = sum(w_q @ p(place) for place in range(PLACES)) / PLACES
    steps = [step.terms(PLACE + shift) for step in derivation(start, end)]
    for i, j in ((0, 0), (7, 3), (3, 10)):
        place_i, place_j = p(i + shift), p(j + shift)
        whole = (query[i] + w_q @ place_i) @ (key[j] + w_k @ place_j)
        expected = [
            {"product": whole},
            {"content": query[i] @ key[j], "content_position": query[i] @ w_k @ place_j},
            {"content_position": query[i] @ w_k @ p(i - j), "position_position": w_q @ place_i @ w_k @ p(i - j)},
            {"u_bias": u @ key[j], "position_position": w_q @ place_i @ w_k @ p(i - j)},
            {"u_bias": u @ key[j], "v_bias": u @ w_k @ p(i - j)},
        ]
        expected[1] |= {"position_content": w_q @ place_i @ key[j], "position_position": w_q @ place_i @ w_k @ place_j}
        for step, terms in zip(steps, expected, strict=False):
            for name, value in terms.items():
                assert float(step[name][i, j]) == pytest.approx(float(value) / 2, abs=1e-12)  # 1 / sqrt(4)


def test_a_moved_text_is_the_text_behind_other_tokens(tokens):
    """The engine itself: with s tokens in front, the cells of the text keep their scores under relative positions."""
    for positions, free in (("sinusoid", True), ("learned", True), ("absolute", False)):
        model = tiny_model(positions)
        alone, behind = (run(model, tokens[:1, start:19]) for start in (8, 0))
        one, other = (trace.terms(0, [HEAD]).head(HEAD).logits for trace in (alone, behind))
        assert (np.abs(other[8:, 8:] - one).max() < 1e-12) == free
        if not free:
            start = absolute_head(model.layers[0].attn, alone.hidden[0][0, :, 0], HEAD, PLACES)
            moved = derivation(start, untrained_head(start))[0].terms(PLACE + 8)["product"]
            np.testing.assert_allclose(moved, other[8:, 8:], atol=1e-10)


def test_without_projections_the_product_of_two_places_knows_their_distance_only():
    assert bare_change(12, N_TOKEN, 512) < 1e-12


def test_neither_model_is_changed_and_both_are_read_in_float64(tokens):
    model = tiny_model("sinusoid", torch.float32)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trace = run(model, tokens[:1, :N_TOKEN])
    head = relative_head(model.layers[0].attn, trace.hidden[0][0], HEAD)
    assert head.query.dtype == torch.float64 and model.dtype == torch.float32
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    other = TransformerXL(model.config).double()
    other.load_state_dict(before)
    own = run(other.eval(), tokens[:1, :N_TOKEN]).terms(0, [HEAD]).head(HEAD).logits
    np.testing.assert_allclose(sum(head.terms(PLACE).values()), own, atol=1e-5)


def test_a_change_of_nothing_is_drawn_at_the_bottom_and_named():
    shown = {"content": np.zeros(4), "content_position": np.array([0.2, 0.5, 3.0, 4.0]), "score": np.ones(4)}
    figure = change_figure(SHIFTS, shown, ABSOLUTE_TERMS, 8)
    by_name = {line.name: line for line in figure.data}
    assert set(by_name) == {"(a)", "(b)", "score"}
    zero = figure.layout.yaxis.tickvals[0]
    assert figure.layout.yaxis.ticktext[0] == "0" and (by_name["(a)"].y == zero).all() and zero < 0.2
    np.testing.assert_array_equal(by_name["(b)"].y, shown["content_position"])
    assert change_figure(SHIFTS, {"content": np.zeros(4)}, ABSOLUTE_TERMS, 8).layout.yaxis.ticktext[0] == "0"
    rung = Rung("pⱼ → R", [None] * 4 + [1.5, 0.0], [False] * 5 + [True], [False] * 6)
    html = ladder_html([rung], list(RELATIVE_TERMS.values()), 0)
    assert 'colspan="4"' in html and ">1.5<" in html and 'class="still"' in html


def test_the_sentence_names_what_stays_and_what_changes(tokens):
    _traces, start, end = ends("sinusoid", tokens)
    shifts = tuple(2**n for n in range(10))
    first, second, *_others, last = (shift_sentence(shift_test(s, CAUSAL, shifts), 64) for s in derivation(start, end))
    assert first.startswith("Moved by 64 places, the text changes a score (") and "probability by up to" in first
    assert "keeps **(a)** to the last bit; (b) changes by up to **" in second and "(d) changes" in second
    assert (
        last == "Moved by 64 places, the text keeps **every term, every score and every probability** to the last bit."
    )


def section() -> None:
    import streamlit as st

    from relxl.ui.chooser import choose_view
    from relxl.ui.relative_absolute.derivation import derivation

    derivation(choose_view([], st.container()))


def open_section(**link: str) -> AppTest:
    """Open a page with nothing but the derivation on it."""
    app = AppTest.from_function(section, default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.markdown, *app.caption])


def test_the_page_steps_through_and_ends_at_the_model_on_screen():
    app = open_section(ck="shakespeare-learned", h="3")
    assert healthy(app) and control(app, "control_rd").value == 2
    names = {1: ABSOLUTE_TERMS, 2: ABSOLUTE_TERMS, 4: RELATIVE_TERMS, 5: RELATIVE_TERMS, 6: RELATIVE_TERMS}
    for step in range(7):
        control(app, "control_rd").set_value(step).run()
        assert healthy(app) and app.query_params["rd"] == str(step)
        header, panels = matrices(app)
        assert len(panels) == (2 if step == 0 else 10)
        titles = [panel["title"] for panel in header["panels"]]
        if step in names:
            assert titles[:4] == [f"({letter}) {name}" for letter, name in zip("abcd", names[step], strict=True)]
        if step >= 4:
            assert all(np.nanmax(np.abs(panel)) == 0 for panel in panels[5:])
            assert "every term, every score and every probability** to the last bit" in texts(app)
    header, panels = matrices(app)
    n_token, checkpoint = len(panels[0]), open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    ids = torch.tensor([checkpoint.vocab.encode(default_text(checkpoint)).ids[-n_token:]])
    own = run(checkpoint.model, ids).terms(0, [3]).head(3)
    assert 24 < n_token <= 48
    for shown, panel, values in zip(panels, header["panels"], [*own.terms.values(), own.logits], strict=False):
        np.testing.assert_allclose(shown, values, atol=panel["step"])
    assert "head 3 of `shakespeare-learned` as it was trained; its R is a learned table." in texts(app)
    control(app, "control_rds").set_value(512).run()
    assert healthy(app) and "Moved by 512 places" in texts(app)
    app.toggle(key="table_derivation_changes").set_value(True).run()
    assert list(app.dataframe[0].value["moved_by"]) == [2**n for n in range(10)]


@pytest.mark.parametrize("name, why", [
    ("shakespeare-absolute", "has absolute positions"), ("txl-official", ""), ("songci-learned", ""),
    ("shakespeare-sinusoid", ""),
])  # fmt: skip
def test_the_page_says_whose_numbers_it_shows(name, why):
    app = open_section(ck=name, rd="6", rds="1")
    assert healthy(app) and not app.toast
    said = texts(app)
    assert ("It stands in, since the model on screen" in said) == bool(why) and why in said
    assert ("each reads an input of its own" in said) == (name == "songci-learned")
    assert f"`{'shakespeare-sinusoid' if why else name}` as it was trained" in said


@pytest.mark.parametrize("name", CASES)
def test_every_family_is_an_end_or_is_told_why_not(name, library):
    app = open_section(ck=f"folder/{name}", rd="6")
    assert healthy(app), [error.value for error in app.error]
    assert "Step 6 is layer 0" in texts(app)
    assert ("stands in" in texts(app)) == (name == "espnet_legacy")
