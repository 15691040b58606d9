"""The page "Bug museum" as a session sees it: every exhibit broken and repaired, and a mystery opened and answered."""

import re

import numpy as np
import pytest
import torch

from relxl.checkpoint import open_checkpoint
from relxl.doctor.canon import canonical
from relxl.museum import EXHIBITS, GROUPS, of_class, scene_of
from relxl.mystery import FIRST_SEED, HEALTHY, KINDS, riddle, round_of
from relxl.trace import run, split_memory
from tests.conftest import ROOT
from tests.test_pages import control, healthy, matrices, open_app, text_box

PAGE = "pages/14_Bug_museum.py"
HAN = re.compile("[一-鿿]")


def words(app):
    return " ".join(element.value for element in app.markdown)


def captions(app):
    return " ".join(element.value for element in app.caption).replace("\\", "")


def go(app, **values):
    """Choose values as a control of another page would."""
    app.session_state["kept"].update(values)
    return app.run()


def button(app, key):
    return next(one for one in app.button if str(one.key) == key)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_exhibit_is_shown_broken_and_repaired(lang):
    app = open_app(PAGE, lang=lang)
    for exhibit in EXHIBITS:
        for repaired in (0, 1):
            go(app, be=exhibit.name, br=repaired)
            assert healthy(app) and not app.toast and not app.info, exhibit.name
            header, panels = matrices(app)
            said = app.markdown[0].value
            assert len(panels) == 3 and header["pin"] is not None and "{" not in words(app)
            assert bool(HAN.search(said)) == (lang == "zh") == bool(HAN.search(header["label"]))
            difference = np.nan_to_num(panels[2])
            assert (difference == 0).all() == bool(repaired) or exhibit.name in ("empty_row", "half_fill")
            assert ("**0**" in said) == bool(repaired) or exhibit.name == "sign"
        assert all(report in captions(app) for report in exhibit.reports) and exhibit.code in captions(app)
        assert all(f"`{name}`" in captions(app) for name in exhibit.finds)


@pytest.mark.parametrize("name", ["wrapped", "before_shift", "swapped"])
def test_the_panels_hold_what_the_library_computes(name):
    app = open_app(PAGE, be=name, l="1", h="2")
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    ids = checkpoint.vocab.encode(text_box(app).value).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    trace, exhibit = run(checkpoint.model, torch.tensor([ids[-used:]]), mem_len), of_class(name)
    wrong, right = exhibit.play(scene_of(canonical(checkpoint.model), trace, 1, 2))
    for switched, left in ((0, wrong), (1, right)):
        _header, panels = matrices(go(app, br=switched))
        sound = right.shown(exhibit.shown)
        for panel, expected in zip(panels[:2], (left.shown(exhibit.shown), sound), strict=True):
            np.testing.assert_allclose(panel, expected, atol=max(np.abs(expected).max(), 1e-6) / 3e4)


def test_rooms_and_exhibits_are_chosen_and_stand_in_the_link():
    app = open_app(PAGE)
    group = lambda key: next(one for one in app.get("button_group") if one.key == key)  # noqa: E731
    for room in GROUPS[1:]:
        group("museum_room").set_value(room).run()
        first = next(exhibit.name for exhibit in EXHIBITS if exhibit.group == room)
        assert healthy(app) and app.query_params["be"] == first
    group("museum_exhibit").set_value("not_loaded").run()
    group("control_br").set_value(1).run()
    assert healthy(app) and (app.query_params["be"], app.query_params["br"]) == ("not_loaded", "1")
    group("museum_exhibit").set_value("transposed").run()
    assert app.query_params["br"] == "0"
    button(app, "museum_page").click().run()
    assert healthy(app) and app.subheader[0].value == "What changed between these two?"


def test_an_exhibit_sets_the_page_that_shows_it():
    app = open_app(PAGE, be="memory_forgotten")
    button(app, "museum_page").click().run()
    assert healthy(app) and control(app, "control_s").value == "memory_forgotten"
    app = open_app(PAGE, be="inverted")
    button(app, "museum_page").click().run()
    assert healthy(app) and control(app, "control_mx").value == "inverted" and not app.toast


@pytest.mark.parametrize("name", ["shakespeare-absolute", "txl-official"])
def test_what_a_model_lacks_is_shown_openly_on_another(name):
    app = open_app(PAGE, ck=name, be="tied")
    assert healthy(app) and "which is not on screen: showing shakespeare-learned" in captions(app)
    go(app, be="layout")
    there = name == "txl-official"
    assert ("showing shakespeare-sinusoid" in captions(app)) != there and (f"{name} · L" in captions(app)) == there


def test_the_table_twin_holds_every_cell():
    app = open_app(PAGE, be="stale")
    control(app, "table_museum").set_value(True).run()
    header, panels = matrices(app)
    assert healthy(app) and len(app.dataframe[-1].value) == panels[0].size
    assert len(header["label"]) > 40


# Spot the bug --------------------------------------------------------------------------------------------------------


def options(app, seed):
    return [one for one in app.button if str(one.key).startswith(f"mystery_{seed}_")]


def test_a_mystery_is_opened_looked_at_and_answered_rightly_then_the_next_one_wrongly():
    seed = FIRST_SEED
    app = open_app(PAGE, bs=str(seed), lang="en")
    assert "Doctor names it too: try without it first" in words(app)
    button(app, "mystery_open").click().run()
    assert healthy(app) and app.query_params["ck"] == f"mystery/{seed}"
    assert control(app, "control_ck").value == f"mystery/{seed}" and button(app, "mystery_open").disabled
    app.switch_page("pages/1_Score_terms.py").run()
    assert healthy(app) and control(app, "control_ck").value == f"mystery/{seed}"
    app.switch_page(PAGE).run()
    asked = riddle(seed)
    right = asked.options.index(asked.fault.kind)
    options(app, seed)[right].click().run()
    assert healthy(app) and ":green[**Right.**]" in words(app) and "The recorded sample loses **" in words(app)
    assert all(one.disabled for one in options(app, seed)) and "1 of 1 answered rightly, 5 in all" in captions(app)
    button(app, "mystery_next").click().run()
    following = riddle(seed + 1)
    wrong = next(place for place, kind in enumerate(following.options) if kind != following.fault.kind)
    assert control(app, "control_bs").value == seed + 1
    options(app, seed + 1)[wrong].click().run()
    assert healthy(app) and ":red[**Not this one.**]" in words(app)
    assert "1 of 2 answered rightly" in captions(app)
    assert ":green-badge[:material/check: 1]" in words(app) and ":red-badge[:material/close: 2]" in words(app)
    button(app, "mystery_doctor").click().run()
    assert healthy(app) and app.subheader[0].value == "What is wrong with it?"
    assert control(app, "control_ck").value == f"mystery/{seed + 1}"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_kind_of_fault_is_explained_with_its_numbers(lang):
    app = open_app(PAGE, lang=lang)
    for kind in KINDS:
        seed = next(seed for seed in range(FIRST_SEED, 200) if riddle(seed).fault.kind == kind)
        go(app, bs=seed, mystery_answers={seed: HEALTHY})
        assert healthy(app) and "{" not in words(app) and "None" not in words(app)
        verdict = next(text.value for text in app.markdown if re.match(":(green|red)\\[\\*\\*", text.value))
        assert verdict.startswith(":green" if kind == HEALTHY else ":red")
        assert bool(HAN.search(verdict)) == (lang == "zh") and re.search(r"\*\*[0-9]+\.[0-9]{3}\*\*", verdict)


def test_a_link_of_a_class_opens_the_same_mystery_in_a_new_session():
    app = open_app("pages/1_Score_terms.py", ck="mystery/7", bs="7")
    assert healthy(app) and not app.toast and control(app, "control_ck").value == "mystery/7"
    app.switch_page(PAGE).run()
    assert healthy(app) and control(app, "control_bs").value == 7 and 7 in round_of(6)


@pytest.mark.parametrize("name", ["mystery/0", "mystery/9999", "mystery/../1", "mystery/7x"])
def test_a_mystery_that_is_none_is_reported(name):
    app = open_app(ck=name)
    assert healthy(app) and len(app.toast) == 1 and control(app, "control_ck").value == "shakespeare-learned"
