"""The exhibits of the bug museum: each is wrong where it says so, and repaired it is the model's own numbers."""

import re

import numpy as np
import pytest
import torch

import relxl.doctor
from relxl.canonical import LearnedPositions
from relxl.checkpoint import open_checkpoint
from relxl.doctor.canon import canonical
from relxl.doctor.finding import Kind
from relxl.masking import RIGHT_RULE, MaskRule
from relxl.museum import EXHIBITS, GROUPS, lacking, of_class, scene_of
from relxl.museum.measures import SHARES
from relxl.relative import RelativePairs
from relxl.trace import run
from relxl.ui.frame import all_pages
from relxl.ui.museum.exhibits import exhibit_words, group_names, needs_words
from relxl.ui.state import LINK
from tests.conftest import ROOT
from tests.foreign import CASES, foreign

REPORT = re.compile(r"[\w.-]+/[\w.-]+#[1-9][0-9]*")
NAMES = [exhibit.name for exhibit in EXHIBITS]
ROW_LOST = ("empty_row", "half_fill")  # whose one bad row is hidden anyway
LAYER, HEAD = 1, 3


@pytest.fixture(scope="module")
def runs():
    """Run the bundled models that the exhibits are played on: name -> (canonical model, trace)."""
    found = {}
    for name in ("shakespeare-learned", "shakespeare-sinusoid"):
        checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
        ids = checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids[:96]
        found[name] = canonical(checkpoint.model), run(checkpoint.model, torch.tensor([ids]), 48)
    return found


def played(runs, name, layer=LAYER):
    exhibit = of_class(name)
    model, trace = runs["shakespeare-sinusoid" if "sinusoid" in exhibit.needs else "shakespeare-learned"]
    assert not lacking(model, trace, layer, exhibit.needs)
    return exhibit, *exhibit.play(scene_of(model, trace, layer, HEAD))


def test_there_are_exhibits_of_every_group_one_a_name():
    assert len(EXHIBITS) >= 14 and len(set(NAMES)) == len(NAMES)
    assert tuple(dict.fromkeys(exhibit.group for exhibit in EXHIBITS)) == GROUPS == tuple(group_names())
    entries = [entry for exhibit in EXHIBITS for entry in exhibit.entry.split(", ")]
    table = (ROOT / "docs/doctor.md").read_text(encoding="utf-8")
    told = {entry for line in re.findall(r"^\| (\S[^|]*) \|", table, re.M) for entry in line.split(", ")}
    assert len(set(entries)) >= 25 and set(entries) <= told


@pytest.mark.parametrize("name", NAMES)
def test_an_exhibit_names_its_reports_its_findings_and_its_page(name):
    exhibit = of_class(name)
    assert all(REPORT.fullmatch(report) for report in exhibit.reports)
    assert bool(exhibit.reports) != bool(exhibit.code)
    assert exhibit.page in all_pages() and set(exhibit.link) <= set(LINK)
    assert exhibit.finds and set(exhibit.finds) <= known_findings()
    assert set(exhibit.needs) <= set(needs_words()) and name in exhibit_words()


def known_findings():
    modules = [value for value in vars(relxl.doctor).values() if hasattr(value, "__file__")]
    held = [value for module in modules for value in vars(module).values()]
    kinds = [it for value in held for it in (value.values() if isinstance(value, dict) else [value])]
    return {kind.id for kind in kinds if isinstance(kind, Kind)}


@pytest.mark.parametrize("name", NAMES)
def test_broken_is_wrong_in_visible_cells_and_right_is_not(runs, name):
    exhibit, wrong, right = played(runs, name)
    broken, sound = wrong.shown(exhibit.shown), right.shown(exhibit.shown)
    assert broken.shape == sound.shape == right.terms.mask.shape == (right.query_len, len(right.places))
    assert np.isfinite(sound).all()
    seen = right.terms.mask
    if name in ROW_LOST:
        lost = ~seen.any(-1)
        assert lost.sum() == 1 and np.isnan(broken[lost]).all()
        np.testing.assert_allclose(broken[~lost], sound[~lost], atol=2e-3)
    else:
        assert np.nanmax(np.abs(broken - sound)[seen]) > 0.02


@pytest.mark.parametrize("name", NAMES)
def test_right_is_what_the_model_computes(runs, name):
    """The scores of the scene are those of the run, wherever its keys are the run's."""
    exhibit, _wrong, right = played(runs, name)
    model, trace = runs["shakespeare-sinusoid" if "sinusoid" in exhibit.needs else "shakespeare-learned"]
    own = trace.terms(LAYER, [HEAD]).head(HEAD)
    assert isinstance(right.pairs, RelativePairs) and right.attn is model.layers[LAYER].attn
    queries = [place - trace.mem_len for place in right.places[right.mem_len :]]
    segment = np.arange(right.mem_len, right.key_len)
    mine = np.ix_(range(right.query_len), segment)
    theirs = np.ix_(queries, [right.places[j] for j in segment])
    if right.clamp_len is None and min(queries) >= 0:
        half = right.rule.dtype == "float16"
        np.testing.assert_allclose(right.terms.logits[mine], own.logits[theirs], atol=0.05 if half else 1e-3)
    rows = right.terms.mask.any(-1)
    np.testing.assert_allclose(right.terms.probs[rows].sum(-1), 1, atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_has_all_its_numbers(runs, name):
    exhibit, wrong, right = played(runs, name)
    numbers, words = exhibit.numbers(wrong, right), exhibit_words()[name]
    fields = set(re.findall(r"\{(\w+)\}", words.says + words.text))
    assert fields <= set(numbers) and all(np.isfinite(numbers[name]) for name in fields)
    assert all(0 <= numbers[name] <= 1 + 1e-6 for name in fields & SHARES - {"biases_right", "biases_wrong", "share"})


def numbers_of(runs, name):
    exhibit, wrong, right = played(runs, name)
    return exhibit.numbers(wrong, right), wrong, right


def test_the_numbers_are_those_of_the_failure(runs):
    numbers, wrong, _right = numbers_of(runs, "wrapped")
    t = wrong.key_len
    assert (numbers["foreign"], numbers["cells"]) == (t * (t - 1) // 2, t * t)
    numbers, wrong, _right = numbers_of(runs, "legacy")
    assert numbers["row"] == 5000 - wrong.key_len and numbers["longer"] == numbers["row"] - 1
    numbers, wrong, right = numbers_of(runs, "no_shift")
    assert numbers["by_key"] == pytest.approx(1, abs=1e-6) and numbers["by_distance"] < 0.9
    numbers, wrong, _right = numbers_of(runs, "upside_down")
    assert (numbers["own"], numbers["first"]) == (wrong.key_len - 1, 0)
    numbers, wrong, _right = numbers_of(runs, "memory_forgotten")
    assert numbers["own"] == -wrong.mem_len < 0
    numbers, _wrong, _right = numbers_of(runs, "sign")
    assert numbers["apart_wrong"] < 1e-5 < 0.5 < numbers["apart_right"]
    numbers, wrong, _right = numbers_of(runs, "short")
    assert isinstance(wrong.attn.positions, LearnedPositions) and wrong.attn.positions.last == numbers["reach"]
    numbers, _wrong, _right = numbers_of(runs, "window")
    assert numbers["keys"] == numbers["right"] - 1
    for name in ROW_LOST:
        numbers, _wrong, _right = numbers_of(runs, name)
        assert (numbers["rows"], numbers["rows_right"]) == (1, 0)
    numbers, _wrong, right = numbers_of(runs, "wide_scale")
    assert numbers["factor"] == pytest.approx(right.attn.n_heads**0.5)
    assert numbers["entropy_right"] < numbers["entropy_wrong"] < numbers["even"]
    numbers, wrong, _right = numbers_of(runs, "stale")
    assert numbers["leak"] == 0 and numbers["shut"] > 0.4 * numbers["cells"]
    numbers, wrong, right = numbers_of(runs, "fed_twice")
    copies = wrong.terms.probs[:, : wrong.mem_len].sum(-1).mean()
    assert numbers["mass"] == pytest.approx(float(copies)) and right.terms.probs[:, : wrong.mem_len].max() == 0
    numbers, _wrong, _right = numbers_of(runs, "half_phases")
    assert numbers["error"] < numbers["far_error"] and numbers["far"] == 1000


@pytest.mark.parametrize("name", ["before_shift", "inverted", "thrown_away", "weak_fill"])
def test_a_leak_is_the_mass_on_the_future(runs, name):
    numbers, wrong, right = numbers_of(runs, name)
    assert right.rule == RIGHT_RULE and wrong.rule != RIGHT_RULE and isinstance(wrong.rule, MaskRule)
    future = right.terms.distance < 0
    assert numbers["leak"] == pytest.approx(float(wrong.terms.probs[:, :][future].sum() / right.query_len), rel=1e-5)
    assert numbers["leak"] > 0.01


@pytest.mark.parametrize("name", CASES)
def test_every_family_plays_what_it_can(name):
    """Each exhibit either names what a foreign model lacks, or plays without a number that is none on the right."""
    checkpoint = foreign(name)
    trace = relxl.doctor.case.stand_in(checkpoint)
    model = canonical(checkpoint.model)
    shown = 0
    for exhibit in EXHIBITS:
        if need := lacking(model, trace, 0, exhibit.needs):
            assert need in needs_words()
            continue
        wrong, right = exhibit.play(scene_of(model, trace, 0, 0))
        assert np.isfinite(right.shown(exhibit.shown)).all() and exhibit.numbers(wrong, right)
        assert wrong.shown(exhibit.shown).shape == right.shown(exhibit.shown).shape
        shown += 1
    assert shown >= 14 or name in ("espnet_legacy",)


def test_absolute_positions_and_short_texts_are_told():
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-absolute")
    trace = run(checkpoint.model, torch.arange(20)[None], 0)
    assert canonical(checkpoint.model) is None and lacking(None, trace, 0, ()) == "relative"
    learned = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    assert lacking(canonical(learned.model), run(learned.model, torch.arange(3)[None], 0), 0, ()) == "text"
