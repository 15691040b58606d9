"""Every page on models of other families: nothing crashes, and what is said is true of them."""

import numpy as np
import pytest
import torch

from relxl.experiments.max_len import score_change
from relxl.figures.shift import grouped
from relxl.masking import MaskRule
from relxl.reading import Reading
from relxl.trace import run_hidden
from relxl.ui.view import source_of
from tests.conftest import ROOT
from tests.foreign import CASES, foreign, foreign_folder
from tests.test_pages import control, healthy, matrices, open_app, text_box

MASKING, SHIFT, INIT, MAX_LEN = (
    f"pages/{name}.py" for name in ("4_Masking", "5_Shift", "6_Initialisation", "7_Max_len")
)
BOTH = ("xlnet_bi", "wav2vec2_conformer", "espnet", "espnet_legacy", "nemo", "speechbrain", "article")
HIDDEN = ("wav2vec2_conformer", "labml", "espnet", "espnet_legacy", "nemo", "speechbrain", "article")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("library")
    for name in CASES:
        foreign_folder(name, root)
    return root


@pytest.fixture
def library(folder, monkeypatch):
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(folder))


def words(app):
    return " ".join(markdown.value for markdown in app.markdown)


@pytest.mark.parametrize("page", [None, MASKING, SHIFT, INIT, MAX_LEN, "pages/8_Checkpoint.py"])
def test_every_page_shows_the_bundled_foreign_checkpoint(page):
    app = open_app(page, ck="txl-official")
    assert healthy(app)
    if page != SHIFT:
        assert control(app, "control_ck").value == "txl-official"


@pytest.mark.parametrize("page", [MASKING, INIT, MAX_LEN])
@pytest.mark.parametrize("name", CASES)
def test_every_page_shows_every_family(name, page, library):
    app = open_app(page, ck=f"folder/{name}", l="0", h="1")
    assert healthy(app) and control(app, "control_ck").value == f"folder/{name}"
    assert not app.toast and len(app.get("bidi_component")) >= 1
