"""The cases of tests/fixtures, and their weights, each file read once."""

import json
from functools import cache
from pathlib import Path

import torch

from relxl.containers import Weights, read_weights
from relxl.families import Opened, open_tensors
from tests.conformance import cases, weights_of
from tests.conftest import ROOT

FIXTURES = ROOT / "tests/fixtures"
CASES = cases([FIXTURES])
NAMES = {"seed": "article"}  # a folder -> its family, where they are called differently
read_once = cache(read_weights)


def case_id(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def family_of(case: Path) -> str:
    return NAMES.get(case.parent.name, case.parent.name)


def read(case: Path) -> Weights:
    return read_once(weights_of(case))


@cache
def meta_of(case: Path) -> dict:
    return json.loads((case / "meta.json").read_text())


def config_of(case: Path) -> dict:
    """Give what is known of a case beside its weights."""
    return read(case).config | meta_of(case)["config"] | {"family": family_of(case)}


def open_case(case: Path, dtype: torch.dtype = torch.float64, **changes) -> Opened:
    """Open a case; `changes` replace the tensors or the config."""
    return open_tensors(**{"tensors": read(case).tensors, "config": config_of(case), "dtype": dtype} | changes)
