"""Every fault of the bench is found under its name, and healthy models have no error."""

import pytest
import torch

from relxl.bench.doctor import FAULTS, bench_doctor, try_fault, try_healthy
from relxl.bench.doctor_subjects import healthy_names

TRUE_OF_ALL_NOISE = {"weights.untrained", "weights.as_drawn"}  # fixtures are random weights
TRUE_OF = {  # what else is true of healthy models, and a warning
    "shakespeare-leaky": {"loss.knows_future"},  # its training.json says so
    "espnet/legacy_bi_garbage": {"shift.foreign"},
    "espnet/legacy_causal_maxlen5000": {"shift.foreign"},
    "espnet/legacy_zero_triu_padded": {"shift.foreign"},
    "seed/self_L12_max8_padmask": {"positions.short"},
    "seed/self_L20_max6_clamped": {"positions.short"},
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Let no threads wait for one another: the models are small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_is_found_and_named(fault):
    row = try_fault(fault)
    assert row.named, [(finding.id, finding.sentence) for finding in row.findings]


@pytest.mark.parametrize("name", healthy_names())
def test_a_healthy_model_has_no_error_and_only_warnings_that_are_true(name):
    row = try_healthy(name)
    assert row.named, [finding.sentence for finding in row.findings if finding.severity == "error"]
    allowed = TRUE_OF.get(name, set()) | (TRUE_OF_ALL_NOISE if "/" in name else set())
    if name.startswith("hf_transfoxl"):
        allowed = allowed | {"memory.unwritten"}  # HF's memory begins with zeros
    assert {finding.id for finding in row.findings if finding.severity == "warning"} <= allowed


def test_the_bench_is_large_and_knows_many_families():
    assert len(FAULTS) >= 30 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    families = {fault.base.split("/")[0] for fault in FAULTS}
    assert families >= {
        "espnet",
        "nemo",
        "xlnet",
        "labml",
        "hf_transfoxl",
        "txl_official",
        "seed",
        "wav2vec2_conformer",
    }


def test_the_bench_prints_its_table_and_counts(monkeypatch, capsys, tmp_path):
    few = [fault for fault in FAULTS if fault.base == "nemo/bi_nomask"][:2]
    monkeypatch.setattr("relxl.bench.doctor.rows", lambda: [*map(try_fault, few), try_healthy("nemo/bi_nomask")])
    assert bench_doctor(tmp_path / "bench.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "2 of 2 faults found and named, 0 errors on healthy models (1)"
    assert all(line.startswith("ok") for line in lines[:3])
