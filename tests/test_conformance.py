"""Every case of tests/fixtures is what its own code made of it, and the runner says so, or says that it is not."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.conformance import TOLERANCES, check, main
from tests.fixture_files import CASES, FIXTURES, case_id, read_once

DTYPES = [torch.float64, torch.float32]


@pytest.fixture(autouse=True)
def files_are_read_once(monkeypatch):
    monkeypatch.setattr("relxl.checkpoint.read_weights", lambda source, name="": read_once(source))


def test_all_nine_families_are_here():
    assert len(CASES) == 47 and len({case.parent for case in CASES}) == 9


@pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_case_is_what_its_own_code_made_of_it(case, dtype):
    errors = check(case, dtype)
    assert errors.passed, dict(errors.worst)
    assert all(errors.compared[kind] > 20 for kind in ("terms", "scores", "probs", "outputs"))


def last_line(capsys) -> str:
    return capsys.readouterr().out.splitlines()[-1]


def copy(case: str, folder):
    return shutil.copytree(FIXTURES / case, folder / case)


def test_the_command_passes_a_good_folder_and_prints_a_row_a_case_and_dtype(tmp_path, capsys):
    copy("seed/cross_q10_k5", tmp_path)
    copy("nemo/cache_6", tmp_path)
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 0 failed"
    assert [line.split()[:2] for line in lines[1:-1]] == [
        [name, dtype] for name in ("nemo/cache_6", "seed/cross_q10_k5") for dtype in ("float64", "float32")
    ]


@pytest.mark.parametrize(
    "name, added",
    [
        ("layer0.term_B", 1e-6),
        ("layer0.scores", 1e-6),
        ("layer0.probs", 1e-9),
        ("out", 1e-6),
        ("layer0.term_A", float("nan")),
    ],
)
def test_one_number_that_is_wrong_fails_its_case_and_no_other(name, added, tmp_path, capsys):
    bad = copy("seed/self_L12_max8_padmask", tmp_path) / "expected.safetensors"
    copy("seed/cross_q10_k5", tmp_path)
    tensors = load_file(bad)
    tensors[f"seg0.{name}"].view(-1)[1] += added
    save_file(tensors, bad)
    assert main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "1 passed, 1 failed"
    assert {line.split()[0] for line in out.splitlines() if "FAILED" in line} == {"seed/self_L12_max8_padmask"}


@pytest.mark.parametrize(
    "damage", ["weights gone", "two weights", "not JSON", "layer too many", "term gone", "results gone"]
)
def test_a_case_that_is_not_whole_fails_and_the_others_still_run(damage, tmp_path, capsys):
    bad, good = copy("espnet/bi_padded", tmp_path), copy("nemo/bi_nomask", tmp_path)
    tensors = load_file(bad / "expected.safetensors")
    if damage == "weights gone":
        (bad / "weights.safetensors").unlink()
    elif damage == "two weights":
        shutil.copy(good / "weights.safetensors", bad / "other.safetensors")
    elif damage == "not JSON":
        (bad / "meta.json").write_text("{")
    elif damage == "layer too many":
        save_file(tensors | {"seg0.layer1.scores": tensors["seg0.layer0.scores"].clone()}, bad / "expected.safetensors")
    else:
        gone = {"term gone": "term_C", "results gone": "out"}[damage]
        save_file({name: value for name, value in tensors.items() if gone not in name}, bad / "expected.safetensors")
    assert main([str(tmp_path)]) == 1 and last_line(capsys) == "1 passed, 1 failed"


def test_an_empty_folder_does_not_pass(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1 and last_line(capsys) == "0 passed, 0 failed"
    assert main([]) == 2


def test_tolerances_are_tight():
    assert max(TOLERANCES[kind][torch.float64][0] for kind in ("terms", "scores", "probs")) <= 1e-10
