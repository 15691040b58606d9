"""The checks by themselves, on inputs made by hand, and what findings and reports are."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from relxl.bench.doctor import FAULTS
from relxl.bench.doctor_subjects import captured, healthy, with_attentions, with_model, with_tensors
from relxl.checkpoint import open_checkpoint, save_checkpoint
from relxl.doctor import (
    CHECKS,
    biases,
    config,
    examine,
    heads,
    loss,
    masks,
    positions,
    precision,
    reference,
    sample_trace,
    shifts,
    stand_in,
    weights,
)
from relxl.doctor.canon import canonical
from relxl.doctor.capture import from_arrays
from relxl.doctor.case import Case
from relxl.doctor.finding import SEVERITIES, Kind, joined, ranked
from relxl.doctor.heads import layer_findings
from relxl.doctor.hypotheses import GROUPS, halved, interleaved, transposed_positions
from relxl.doctor.masks import check_repeated, outcome_of
from relxl.doctor.positions import eroded, spread, untrained_rows
from relxl.doctor.reference import check_reference, layouts
from relxl.doctor.registry import NEEDS, examine_each
from relxl.doctor.report import Report, as_json, as_junit, as_test, as_text
from relxl.doctor.shifts import explained
from relxl.doctor.weights import law_of
from relxl.masking import MaskRule
from relxl.training import sample_losses
from relxl.vocab import Vocab
from tests.conftest import ROOT, tiny_model

GENERATOR = torch.Generator().manual_seed(1)
MODULES = (biases, config, heads, loss, masks, positions, precision, reference, shifts, weights)
SICK = Kind("weights.sick", "warning", "{tensor} of L{layer} is {size:.2f}.", "Try again.", "some/one#1", "score_terms")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("doctor") / "tiny"
    save_checkpoint(path, tiny_model(dtype=torch.float32), Vocab(tuple("abcdefghijk")), {})
    return open_checkpoint(path)


# Findings and the registry ------------------------------------------------------------------------------------------


def test_a_finding_says_its_sentence_its_place_and_its_link():
    finding = SICK.at(3, 7, "u_bias", size=0.5, evidence={"n": 2}, link={"q": 5})
    assert finding.sentence == "u_bias of L3 is 0.50." and finding.where == "L3H7 u_bias"
    assert finding.link == {"l": 3, "h": 7, "q": 5} and finding.page == "score_terms"
    assert json.loads(json.dumps(finding.as_dict()))["sentence"] == finding.sentence
    assert SICK.at(0, tensor="u", size=1.0, severity="error").severity == "error"


def test_findings_are_ranked_by_severity_then_layer_then_head():
    places = [("note", 0, 0), ("error", 2, 1), ("error", 2, 0), ("warning", None, None), ("error", None, None)]
    findings = [SICK.at(layer, head, "t", size=0.0, severity=severity) for severity, layer, head in places]
    order = [(finding.severity, finding.layer, finding.head) for finding in ranked(findings)]
    assert order == [places[4], places[2], places[1], places[3], places[0]]


def test_what_is_said_of_several_layers_stands_once():
    findings = [SICK.at(layer, tensor="u", size=1.0) for layer in range(3)] + [SICK.at(3, tensor="u", size=2.0)]
    one, other = joined(findings)
    assert (one.layer, one.evidence) == (0, {"also in layers": [1, 2]}) and other.layer == 3
    assert findings[0].evidence == {}


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
def test_every_check_says_what_it_sees_and_what_it_cannot(check):
    assert check.needs in NEEDS and check.sees and check.blind_spot.endswith(".")


def test_a_check_that_raises_is_not_hidden(tiny, monkeypatch):
    def broken(case):
        """Break. Cannot see: anything."""
        raise RuntimeError("a defect of ours")

    monkeypatch.setattr("relxl.doctor.registry.CHECKS", (replace(CHECKS[0], function=broken),))
    with pytest.raises(RuntimeError, match="of ours"):
        examine(tiny)


def test_what_a_check_needs_decides_whether_it_is_run(tiny):
    ran = {check.name: findings is not None for check, findings in examine_each(tiny)}
    assert ran["weights.numbers"] and not ran["masks.causality"] and not ran["loss.sample"] and not ran["reference"]
    ran = {check.name: findings is not None for check, findings in examine_each(tiny, stand_in(tiny), noise=True)}
    assert ran["masks.causality"] and not ran["heads"] and not ran["loss.sheet"]


def test_examine_changes_nothing(tiny):
    before = {name: value.clone() for name, value in tiny.weights.tensors.items()}
    state = {name: value.clone() for name, value in tiny.model.state_dict().items()}
    examine(tiny, stand_in(tiny))
    assert all(torch.equal(value, before[name]) for name, value in tiny.weights.tensors.items())
    assert all(torch.equal(value, state[name]) for name, value in tiny.model.state_dict().items())


# The canonical twin -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_the_twin_of_our_own_model_computes_what_it_computes(positions, tokens):
    model = tiny_model(positions)
    twin = canonical(model)
    own, its = model(tokens[:, :7]), twin(tokens[:, :7])
    for first, second in ((own, its), (model(tokens[:, 7:14], own.mems), twin(tokens[:, 7:14], its.mems))):
        torch.testing.assert_close(first.output_logits, second.output_logits)
        for a, b in zip(first.mems, second.mems, strict=True):
            torch.testing.assert_close(a, b)
    assert sample_losses(twin, tokens[0]) == pytest.approx(sample_losses(model, tokens[0]))
    assert canonical(tiny_model("absolute")) is None and canonical(twin) is twin


# Weights ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law, draw", [
    ("normal of std 0.02", lambda: torch.randn(64, 96, generator=GENERATOR) * 0.02),
    ("uniform of torch.nn.Linear", lambda: (torch.rand(64, 96, generator=GENERATOR) * 2 - 1) / 96**0.5),
    ("Xavier uniform", lambda: (torch.rand(64, 96, generator=GENERATOR) * 2 - 1) * (6 / 160) ** 0.5),
    ("normal of std 1", lambda: torch.randn(64, 96, generator=GENERATOR)),
])  # fmt: skip
def test_a_fresh_matrix_is_known_by_its_law(law, draw):
    matrix = draw()
    assert law_of(matrix)[0] == law
    direction = torch.outer(torch.randn(64, generator=GENERATOR), torch.randn(96, generator=GENERATOR))
    assert law_of(matrix + 0.3 * matrix.std() * direction) is None  # one direction more than noise has
    assert law_of(matrix * 1.4) is None and law_of(matrix[:10, :10]) is None and law_of(0 * matrix) is None


def test_trained_matrices_look_like_no_law():
    tensors = open_checkpoint(ROOT / "checkpoints/shakespeare-learned").weights.tensors
    matrices = [value for value in tensors.values() if value.dim() == 2 and value.numel() >= 256]
    assert len(matrices) > 20 and not any(map(law_of, matrices))


# Positions and shifts -----------------------------------------------------------------------------------------------


def test_rows_never_trained_are_told_from_trained_ones():
    noise = torch.randn(101, 16, generator=GENERATOR) * 0.02
    smooth = torch.linspace(0.2, 3, 101)[:, None].sin() * torch.randn(16, generator=GENERATOR) * 0.3
    table = torch.where(torch.arange(101)[:, None] < 60, smooth, noise)
    drawn = untrained_rows(table)
    assert not drawn[:60].any() and drawn[66:].all()
    assert untrained_rows(noise).all() and not untrained_rows(smooth[5:]).any()
    assert untrained_rows(torch.zeros(5, 16)).all() and not untrained_rows(torch.ones(5, 16)).any()


def test_runs_are_shortened_inside_and_not_at_the_ends_of_a_table():
    rows = torch.tensor([1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1]).bool()
    assert eroded(rows, 1).int().tolist() == [1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1]


def test_variance_is_split_between_distance_and_key():
    query, key = np.meshgrid(np.arange(9), np.arange(11), indexing="ij")
    distance = (query - key + 10).ravel()
    values = np.stack([np.sin(distance), np.cos(3.0 * distance)])
    assert explained(values, distance) == pytest.approx(1) and explained(values, key.ravel()) < 0.5
    assert explained(np.sin(key.ravel())[None], key.ravel()) == pytest.approx(1)
    assert np.isnan(explained(np.ones((1, 99)), distance))


def test_spread_is_around_the_mean_of_the_visible_cells():
    scores, mask = np.array([[1.0, 3.0, 100.0], [7.0, 7.0, 7.0]]), np.array([[True, True, False], [True] * 3])
    assert spread(scores, mask) == pytest.approx(np.sqrt(2 / 5))


# Masks, memories, heads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, outcome, severity", [
    (MaskRule(), "NaN, and so is all that reads them", "error"),
    (MaskRule(fill="min"), "the same for every key", None),
    (MaskRule(fill=-1e4, zero=True), "0 for every key", "note"),
    (MaskRule(order="before", fill=-1e4), "as if nothing were masked", None),
])  # fmt: skip
def test_what_becomes_of_a_row_without_keys(rule, outcome, severity):
    assert outcome_of(rule) == (outcome, severity)
    scores = torch.tensor([[[[1.0, 2.0, 3.0]]]])
    filled = torch.full_like(scores, rule.fill) if isinstance(rule.fill, float) else scores * 0 - 1e38
    probs = (scores + filled if rule.order == "before" else filled).softmax(-1)
    wanted = {"NaN": probs.isnan().all(), "the": (probs == probs[..., :1]).all(), "as": (probs.diff() > 0.1).all()}
    assert wanted.get(outcome.split()[0].strip(","), True)


def test_a_prompt_that_the_memory_holds_is_found_and_a_short_repeat_is_not(tiny):
    trace = stand_in(tiny)
    prompt = np.arange(8) % 11
    for count, found in ((8, [8]), (7, [])):
        tokens = np.concatenate([prompt[:count], prompt[:count]])[None]
        case = Case(tiny, replace(trace, tokens=tokens, mem_len=count))
        assert [finding.values["count"] for finding in check_repeated(case)] == found


def test_heads_are_judged_by_their_weights():
    query_len, key_len = 16, 16
    allowed = np.tril(np.ones((6, query_len, key_len), bool))
    one_key = np.zeros((query_len, key_len))
    one_key[:, 0] = 1
    uniform = allowed[0] / allowed[0].sum(-1, keepdims=True)
    previous = np.eye(key_len, k=-1)
    previous[0, 0] = 1
    mixed = 0.5 * uniform + 0.5 * np.eye(key_len)
    other = 0.7 * uniform + 0.3 * one_key
    probs = np.stack([one_key, uniform, previous, mixed, other, mixed])
    found = {(finding.id, finding.head) for finding in layer_findings(2, probs, allowed)}
    assert found == {
        ("heads.one_key", 0), ("heads.uniform", 1), ("heads.saturated", 2), ("heads.duplicate", 5)
    }  # fmt: skip
    assert not layer_findings(0, probs[:, :6], allowed[:, :6])  # too few rows to tell


# Hypotheses and references --------------------------------------------------------------------------------------------


def test_layouts_undo_one_another_and_a_square_map_is_turned():
    attn = healthy("nemo/bi_nomask").model.layers[0].attn
    w = attn.positions.w_k_pos
    assert torch.equal(halved(interleaved(attn)).positions.w_k_pos, w)
    assert not torch.equal(interleaved(attn).positions.w_k_pos, w)
    assert torch.equal(transposed_positions(transposed_positions(attn)).positions.w_k_pos, w)
    flat = w.transpose(1, 2).flatten(0, 1)  # linear_pos.weight, its columns in another order
    turned = transposed_positions(attn).positions.w_k_pos.transpose(1, 2).flatten(0, 1)
    assert torch.equal(turned, flat.T)


def test_axes_are_named_by_their_sizes():
    found = list(layouts(torch.zeros(5, 7, 2, 3), {"batch": 2, "head": 3}))
    assert found[0] == {"query": 5, "key": 7, "batch": 2, "head": 3} and len(found) == 2
    assert [list(sizes) for sizes in layouts(torch.zeros(3, 5, 7), {"batch": 1, "head": 3, "key": 7, "query": 5})] == [
        ["head", "query", "key"]
    ]
    assert not list(layouts(torch.zeros(5, 7, 2, 4), {"batch": 2, "head": 3}))


def test_a_reference_of_the_same_run_agrees_in_any_layout_and_kind():
    subject = healthy("txl_official/mem_2seg")
    for kind in ("probs", "logits"):
        same = captured(subject, lambda model: model, kind)
        turned = {layer: value.permute(2, 3, 0, 1) for layer, value in getattr(same.reference, kind).items()}
        for its in (same.reference, replace(same.reference, **{kind: turned})):
            (finding,) = check_reference(Case(subject.checkpoint, reference=its))
            assert finding.id == "reference.agrees" and finding.values["largest"] < 1e-5


def test_the_factors_of_the_terms_are_estimated():
    subject = healthy("nemo/bi_nomask")
    change = lambda attn: replace(attn, u=attn.u * 3, scale=attn.scale / 2)  # noqa: E731
    other = with_attentions(subject, change)
    found = captured(subject, lambda model: other.model, "logits")
    (finding,) = check_reference(Case(found.checkpoint, reference=found.reference))
    assert finding.id == "reference.unexplained"
    wanted = {"content": 0.5, "content_position": 0.5, "u_bias": 1.5, "v_bias": 0.5}
    assert finding.evidence["factors of the terms"] == pytest.approx(wanted, abs=1e-3)


def test_captured_inputs_of_each_layer_are_used():
    subject = healthy("labml/mem_2seg")
    trace = subject.trace
    arrays = {f"hidden.{i}": hidden for i, hidden in enumerate(trace.hidden)}
    arrays |= {f"probs.{i}": torch.as_tensor(trace.terms(i).probs.copy()) for i in range(len(trace.hidden))}
    (finding,) = check_reference(Case(subject.checkpoint, reference=from_arrays(arrays)))
    assert finding.id == "reference.agrees"


@pytest.mark.parametrize("names, words", [
    ({"tokens": [1, 2]}, "no probs"),
    ({"probs.0": [[0.5]]}, "does not say what went in"),
    ({"probs.0": [[0.5]], "tokens": [1], "weights": [1]}, "'weights', which says nothing here"),
    ({"probs.0": [[0.5]], "tokens": [[[1]]]}, "`tokens` in .* has shape"),
])  # fmt: skip
def test_a_reference_that_says_too_little_is_refused(names, words):
    with pytest.raises(ValueError, match=words):
        from_arrays({name: torch.tensor(value) for name, value in names.items()})


@pytest.mark.parametrize("change, words", [
    ({"probs.9": torch.zeros(1, 3, 4, 4)}, "layers 0 to 1"),
    ({"probs.0": torch.zeros(1, 3, 9, 9)}, "9, 9"),
    ({"mem_len": torch.tensor(4)}, "mem_len in .* is 4"),
])  # fmt: skip
def test_a_reference_of_other_sizes_is_refused(tiny, change, words):
    arrays = {"probs.0": torch.zeros(1, 3, 4, 4), "tokens": torch.arange(4)}
    with pytest.raises(ValueError, match=words):
        check_reference(Case(tiny, reference=from_arrays(arrays | change)))


def test_every_group_of_hypotheses_has_advice_for_both_kinds():
    from relxl.doctor.loss import SAMPLE
    from relxl.doctor.reference import KINDS

    assert set(SAMPLE) == set(KINDS) == set(GROUPS) and all(advice for advice, _ in GROUPS.values())


# Losses and reports ---------------------------------------------------------------------------------------------------


def test_a_record_without_losses_of_its_length_is_not_compared():
    subject = healthy("shakespeare-leaky")
    training = subject.checkpoint.training
    for losses in ([], [1.0, 2.0]):
        changed = replace(subject.checkpoint, training=training | {"sample": training["sample"] | {"losses": losses}})
        assert not [f for f in examine(changed, sample_trace(changed)) if f.severity == "error"]


def test_a_leak_is_found_from_the_loss_alone():
    subject = healthy("shakespeare-leaky")
    bare = replace(subject.checkpoint, training={})
    (finding,) = [f for f in examine(bare, subject.trace) if f.id == "loss.knows_future"]
    assert finding.evidence["recorded_mask"] == {} and finding.values["leaking"] < 0.05


def report_of(subject, found=None) -> Report:
    checks = tuple(examine_each(subject.checkpoint, subject.trace, found, subject.noise))
    return Report(subject.name, "family", "sha", "a text", checks)


def test_the_reports_say_the_same():
    sick = with_model(healthy("txl_official/mem_2seg"), lambda m: replace(m, rule=MaskRule(fault="sees_next")))
    report = report_of(sick)
    text, values = as_text(report), as_json(report)
    assert values["counts"]["error"] == len(report.at_least("error")) >= 1
    assert {name: values["counts"][name] for name in SEVERITIES} == report.counts
    leak = next(finding for finding in values["findings"] if finding["id"] == "masks.leak")
    assert "masks.leak  at L0" in text and "one key too wide" in leak["sentence"] and "try: " in text
    assert {"check": "reference", "needs": "reference"} in values["not_run"] and "not run" in text
    suite = ElementTree.fromstring(as_junit(report, "error"))
    failed = {failure.get("type") for failure in suite.iter("failure")}
    assert failed == {finding.id for finding in report.at_least("error")}
    assert int(suite.get("tests")) == len(CHECKS) == len(suite.findall("testcase"))
    assert int(suite.get("skipped")) == len(values["not_run"])
    json.dumps(values)


def test_junit_holds_names_that_xml_can_not():
    def rename(tensors):
        return {"odd\x00\x1bname": torch.zeros(3, 5)}

    sick = with_tensors(healthy("nemo/bi_nomask"), rename)
    suite = ElementTree.fromstring(as_junit(report_of(sick), "warning"))
    assert any("oddname" in (failure.get("message") or "") for failure in suite.iter("failure"))


def test_an_emitted_test_compiles_whatever_was_found():
    sick = with_tensors(healthy("nemo/bi_nomask"), lambda t: {"pos_bias_u": t["pos_bias_u"] * 1e-41})
    for subject, word in ((sick, "biases.uninitialised"), (healthy("shakespeare-absolute"), "finds_nothing_as_bad")):
        source = as_test(report_of(subject), ["/a path/'quoted'\"😀", "--json"], "error")
        compile(source, "test_emitted.py", "exec")
        assert word in source


def test_the_table_of_public_reports_names_findings_that_there_are():
    kinds = [kind for module in MODULES for value in vars(module).values() for kind in kinds_of(value)]
    ids = {kind.id for kind in kinds}
    text = (ROOT / "docs/doctor.md").read_text(encoding="utf-8")
    groups = "|".join(sorted({name.split(".")[0] for name in ids}))
    named = set(re.findall(rf"`((?:{groups})\.[a-z_]+)`", text))
    assert len(named) > 30 and named <= ids
    entries = {fault.entry for fault in FAULTS}
    assert all(re.search(rf"\b{re.escape(entry)}\b", text) for entry in entries)
    assert all(kind.template and kind.advice.endswith(".") and kind.severity in SEVERITIES for kind in kinds)


def kinds_of(value) -> list[Kind]:
    return [value] if isinstance(value, Kind) else list(value.values()) if is_group(value) else []


def is_group(value) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(kind, Kind) for kind in value.values())
