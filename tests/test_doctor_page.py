"""The page "Doctor": what it shows is what the doctor finds, the worst first, and its links lead to the place."""

import io
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from relxl.checkpoint import open_checkpoint
from relxl.doctor.registry import CHECKS, examine_each
from relxl.doctor.report import Report, as_html, as_json
from relxl.doctor.weights import NOT_FINITE
from relxl.trace import run
from tests.conftest import ROOT
from tests.foreign import CASES, foreign_folder
from tests.test_distance_page import captions, figures, words
from tests.test_pages import healthy, open_app

PAGE = "pages/10_Doctor.py"
LEARNED = ROOT / "checkpoints/shakespeare-learned"


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Give a function that puts a copy of a bundled checkpoint with a changed tensor into the folder."""
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))

    def make(tensor, change):
        shutil.copytree(LEARNED, tmp_path / "sick")
        tensors = load_file(tmp_path / "sick/model.safetensors")
        change(tensors[tensor])
        save_file(tensors, tmp_path / "sick/model.safetensors")
        return "folder/sick"

    return make


def test_a_healthy_model_is_said_to_be_so_with_what_no_check_sees():
    app = open_app(PAGE, ck="shakespeare-learned")
    assert healthy(app) and not app.toast
    assert f"**{len(CHECKS) - 1} checks ran and found no error.**" in words(app)
    assert "a number that is wrong and of a usual size" in words(app)
    assert all(check.name in words(app) for check in CHECKS)
    (severity,) = [group for group in app.button_group if group.key == "control_ds"]
    severity.set_value("error").run()
    assert healthy(app) and "None of this severity." in words(app) and app.query_params["ds"] == "error"


def test_the_leaky_model_has_its_warning_first():
    app = open_app(PAGE, ck="shakespeare-leaky")
    assert healthy(app) and "found no error.** 1 warning" in words(app)
    assert "These weights were trained to see the future" in words(app)
    assert "kimiyoung/transformer-xl#138" in captions(app).replace("\\", "")
    figure, alt = figures(app)[0]
    assert len(figure["data"][0]["customdata"]) >= 2 and "the mask laid before the other terms" in alt
    (button,) = [button for button in app.button if button.label == "Open Masking"]
    button.click().run()
    assert healthy(app) and app.subheader[0].value == "How does the future get in?"


def test_a_head_without_u_is_found_after_the_error_that_it_makes_and_its_link_leads_there(broken):
    app = open_app(PAGE, ck=broken("layers.1.attn.u", lambda u: u[2].zero_()))
    assert healthy(app)
    first = next(text.value for text in app.markdown if "badge" in text.value)
    assert ":red-badge[:material/error: error]" in first
    button = next(button for button in app.button if button.label == "Show L1 u_bias on Score terms")
    app.session_state["evidence_" + button.key.removeprefix("open_")] = True
    app.run()
    assert "u_bias of L1 is exactly 0 in 1 of" in words(app)
    (figure,) = [figure for figure, alt in figures(app) if "root mean square of u_bias" in alt]
    assert figure["data"][1]["x"] == [2]
    next(button for button in app.button if button.label == "Show L1 u_bias on Score terms").click().run()
    assert healthy(app) and app.query_params["l"] == "1" and app.query_params["h"] == "2"
    assert app.subheader[0].value == "What is this head's score made of, for this token?"


def test_a_nan_is_the_first_error(broken):
    app = open_app(PAGE, ck=broken("layers.1.attn.u", lambda u: u[1, 3].fill_(float("nan"))))
    assert not app.exception
    first = next(text.value for text in app.markdown if "badge" in text.value)
    assert ":red-badge[:material/error: error]" in first and "error" in words(app)
    assert "looks as if nobody had initialised it" in words(app)
    assert any("are marked" in alt for _figure, alt in figures(app))
    next(button for button in app.button if button.label == "Show L1 u_bias on Checkpoint").click().run()
    assert not app.exception and app.query_params["l"] == "1" and app.query_params["h"] == "1"


@pytest.mark.parametrize("name", CASES)
def test_every_family_is_examined(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    foreign_folder(name, tmp_path)
    app = open_app(PAGE, ck=f"folder/{name}")
    assert healthy(app) and not app.toast and len([text for text in app.markdown if "badge" in text.value]) >= 1


def captured(change=lambda probs: probs, beyond=0):
    """Give a captured run of the bundled model as the bytes of a file, its tokens moved `beyond` the vocabulary."""
    ids = torch.arange(24)[None] % 40
    trace = run(open_checkpoint(LEARNED).model, ids, 0)
    data = io.BytesIO()
    np.savez(data, tokens=ids.numpy() + beyond, **{"probs.0": change(trace.terms(0).probs)})
    return data.getvalue()


def test_a_captured_run_is_compared_and_comes_first():
    app = upload(captured())
    assert healthy(app) and "Compared with mine.npz" in captions(app).replace("\\", "")
    first = next(text.value for text in app.markdown if "badge" in text.value)
    assert ":blue-badge" in first and f"**{len(CHECKS)} checks ran" in words(app)


def upload(data):
    """Give the page with a file in its box."""
    app = open_app(PAGE, ck="shakespeare-learned")
    box = next(box for box in app.file_uploader if box.label == "Compare with a run of your own")
    return box.upload("mine.npz", data, "application/octet-stream").run()


def test_a_captured_run_of_another_vocabulary_is_one_sentence():
    app = upload(captured(beyond=9999))
    assert healthy(app) and "has the tokens 9999 to" in app.warning[0].value.replace("\\", "")


def test_a_wrong_captured_run_names_the_cell():
    app = upload(captured(lambda probs: probs[..., ::-1]))
    first = next(text.value for text in app.markdown if "badge" in text.value)
    assert healthy(app) and ":red-badge" in first and "L0" in first


def test_what_is_no_captured_run_is_one_sentence():
    app = upload(b"nothing")
    assert not app.exception and len(app.error) == 1


def test_the_html_report_escapes_every_name_and_runs_nothing():
    check = CHECKS[0]
    evil = "<script>alert(1)</script><img src=x>"
    finding = NOT_FINITE.at(tensor=evil, nan=1, infinite=0, n=9, evidence={evil: [evil]})
    finding = replace(finding, report=evil)
    text = as_html(Report(evil, evil, "0" * 64, evil, ((check, [finding]), (CHECKS[-1], None))))
    assert "<script" not in text and "<img" not in text and text.count("&lt;script") >= 6
    assert "prefers-color-scheme: dark" in text and "default-src 'none'" in text and "not run" in text
    assert "http://" not in text and "https://" not in text


def test_the_downloads_are_the_report():
    checkpoint = open_checkpoint(LEARNED)
    report = Report("x", "relxl", checkpoint.digest, "weights alone", tuple(examine_each(checkpoint)))
    assert json.loads(json.dumps(as_json(report)))["counts"]["error"] == 0
    assert as_html(report).count("<tr>") >= len(CHECKS)
