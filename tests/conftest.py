"""Shared by all tests: prime sizes, so that no axes can be swapped unseen, and models with every parameter alive."""

from functools import cache
from pathlib import Path

import pytest
import torch
from streamlit.components.v2 import manifest_scanner

from relxl.config import ModelConfig
from relxl.model import TransformerXL

ROOT = Path(__file__).parent.parent


def tiny_config(positions: str = "learned", **changes) -> ModelConfig:
    lengths = {"max_len": 13, "segment_len": 7, "mem_len": 5}
    sizes = {"n_token": 11, "n_layer": 2, "n_head": 3, "d_model": 12, "d_inner": 17, "dropout": 0.0}
    return ModelConfig(positions=positions, **(sizes | lengths | changes))


def tiny_model(
    positions: str = "learned", dtype: torch.dtype = torch.float64, seed: int = 0, **changes
) -> TransformerXL:
    """Make a small model whose parameters are all random and of a size that matters."""
    torch.manual_seed(seed)
    model = TransformerXL(tiny_config(positions, **changes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.to(dtype).eval()


@pytest.fixture
def tokens() -> torch.Tensor:
    return torch.randint(11, (2, 19), generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="session", autouse=True)
def no_pause():
    """Do not leave a browser time to paint where there is none: it is an eighth of a second a run of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("relxl.ui.show.PAINT_SECONDS", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_scan():
    """Let Streamlit look once, not for every page that is tested, which installed packages bring components."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def family_folder(tmp_path_factory) -> Path:
    """Make a folder with a checkpoint of every family, which nobody changes."""
    from tests.foreign import CASES, foreign_folder  # which imports this file

    root = tmp_path_factory.mktemp("library")
    for name in CASES:
        foreign_folder(name, root)
    return root


@pytest.fixture
def library(family_folder, monkeypatch) -> None:
    """Let the app offer a checkpoint of every family, as folder/NAME."""
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(family_folder))
