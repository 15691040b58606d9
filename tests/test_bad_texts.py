"""Whatever is wrong with a tokenizer, a text, a token, a name or a link: one sentence, or it is shown as it is."""

import html
import re

import pytest
import torch
from safetensors.torch import save
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import open_checkpoint
from relxl.containers import CheckpointError
from relxl.figures.score_terms import strip_figure
from relxl.figures.ticks import token_ticks
from relxl.style import RELATIVE_TERMS
from relxl.trace import ZERO
from relxl.ui import library
from relxl.ui.show import code
from relxl.vocab import show_token
from tests import bad_inputs, bad_models, bad_texts
from tests.bad_texts import FILES, LINKS, NAMES, TEXT, TEXTS, TOKENS
from tests.conftest import ROOT
from tests.decode import decode
from tests.test_bad_inputs import check_sentence
from tests.test_library import errors, open_app, store, upload  # noqa: F401
from tests.test_tokenizer import needs_library

REFUSED = {  # name of the folder -> what its sentence says, at the latest when it is given a text
    "41_no_json": "tokenizer.json is not JSON",
    "41_no_unknown": "no token for what is unknown|not understood",
    "41_gap": "'a' the id '1000000000', but the model has n_token=37",
    "41_twice": "gives the id '1' to 'a' and to 'b'",
    "41_rows": r"the id '37', but the model has n_token=37",
    "42_charsmap": "break off",
    "42_regex": "break off|broke off|took longer",
    "42_explodes": "for want of memory|more memory",
    "43_gbk": "line 37 has the byte 0x.., which is not UTF-8 but perhaps GBK",
    "43_blanks": "a blank line comes 2 times, first at lines 36 and 37",
    "43_twice": "'w0' comes 2 times, first at lines 1 and 37",
    "43_long": "at most 1000000 lines, but there are 10000000",
    "43_short": "has 36 tokens, but the model has n_token=37",
}
OPENED = {"43_mark": ("w0", "w36"), "43_crlf": ("w0", "w36"), "43_blank": ("w0", "w36")}  # -> first and last token
ELSEWHERE = {  # row -> the file of tests that holds it
    50: "test_faults.py",
    52: "test_server.py",
    53: "test_faults.py",
    54: "test_faults.py",
}


def test_every_row_has_its_answer():
    assert set(REFUSED) | set(OPENED) == set(FILES)
    names = [*bad_inputs.FILES, *bad_inputs.FOLDERS, *bad_models.FOLDERS, *FILES, *TOKENS]
    rows = {int(name[:2]) for name in names if name[:2].isdecimal()} | {37, 47, 48, 49, 51} | set(ELSEWHERE)
    assert rows == set(range(1, 55))
    for row, file in ELSEWHERE.items():
        assert f"row {row}" in (ROOT / "tests" / file).read_text()


@needs_library
@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_tokenizer_or_vocabulary_is_refused_in_one_sentence(name, tmp_path):
    folder = bad_texts.write(tmp_path, name)
    with pytest.raises(CheckpointError, match=REFUSED[name]) as error:
        open_checkpoint(folder).vocab.encode(TEXT)
    check_sentence(str(error.value), FILES[name][0])


@pytest.mark.parametrize("name", OPENED)
def test_an_odd_vocabulary_is_read_by_its_rule(name, tmp_path):
    tokens = open_checkpoint(bad_texts.write(tmp_path, name)).vocab.tokens
    assert len(tokens) == bad_texts.N_TOKEN and (tokens[0], tokens[-1]) == OPENED[name]


# Rows 44 to 47 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", TOKENS)
def test_a_label_of_a_figure_is_the_token_itself(row):
    """Plotly reads labels as HTML, merges equal ones on an axis of categories, and takes some for numbers or dates."""
    shown = [show_token(token) for token in TOKENS[row]]
    assert all(token.isprintable() and token.encode() for token in shown)
    labels = token_ticks(shown)["ticktext"]
    assert len(labels) == len(shown) and not any(re.search("[<>]", label) for label in labels)
    for token, label in zip(shown, labels, strict=True):
        assert html.unescape(label) == token or (len(token) > 24 and "…" in label)
        fence = re.match("`+", code(token))[0]
        assert fence not in code(token)[len(fence) : -len(fence)]
    figure = strip_figure(torch.arange(float(len(shown))).numpy(), shown, RELATIVE_TERMS["u_bias"])
    axes = [axis for axis in figure.to_dict()["layout"].items() if axis[0].startswith("xaxis")]
    assert axes and all(axis.get("type") in (None, "linear") for _name, axis in axes)
    assert max(len(axis.get("tickvals", ())) for _name, axis in axes) == len(shown)
    assert figure.to_json().encode()


@pytest.mark.parametrize("row", TOKENS)
def test_pages_show_every_token_as_what_it_is(row, tmp_path, monkeypatch):
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    bad_texts.write_tokens(tmp_path, row)
    app = open_app(ck=f"folder/{row}", m="0")
    assert not app.exception and not app.error
    text = " ".join(token for token in TOKENS[row] if token.isprintable() or token in "\u202e\u200b\ufeff")
    app.text_area[0].set_value(text).run()
    assert not app.exception and not app.error
    header = decode(app.get("bidi_component")[0].proto.bytes)[0]
    drawn = [token for token in header["tokens"] if token != ZERO]  # of the memory before the first token
    assert drawn == [show_token(token) for token in text.split()]
    for page in ("pages/1_Score_terms.py", "pages/3_Distance.py"):
        app.switch_page(page).run()
        assert not app.exception and not app.error
        drawn = " ".join(element.value for kind in ("markdown", "caption") for element in getattr(app, kind))
        outside = re.sub(r"(`+).*?\1", "", drawn)
        assert "<a/href" not in outside and "![x]" not in outside and "\u202e" not in drawn


def test_any_text_gives_a_picture_or_one_sentence():
    app = open_app(m="0")
    for name, (text, drawn) in TEXTS.items():
        app.text_area[0].set_value(text).run()
        assert not app.exception, name
        assert bool(app.get("bidi_component")) == drawn and len(app.error) == (not drawn), name


# Rows 48, 49 and 51 --------------------------------------------------------------------------------------------------


def model_bytes() -> bytes:
    return (bad_texts.GOOD / "model.safetensors").read_bytes()


def test_a_name_is_shown_as_it_is_and_means_nothing_to_the_system(store):  # noqa: F811
    app = open_app("pages/8_Checkpoint.py")
    config = ("config.json", (bad_texts.GOOD / "config.json").read_bytes())
    for name in NAMES:
        upload(app, (name, model_bytes()), config)
        assert not app.exception and not errors(app), name
        assert f"{name[:80]} (upload)" in app.sidebar.selectbox[0].options
    kept = [path.relative_to(store.folder).as_posix() for path in store.folder.rglob("*")]
    assert all(re.fullmatch(r"[0-9a-f]{64}(/(weights\.safetensors|config\.json))?", path) for path in kept)
    assert len(kept) == 3  # one content: one folder with two files


def test_the_same_name_with_another_content_is_another_model(store):  # noqa: F811
    config = ("config.json", (bad_texts.GOOD / "config.json").read_bytes())
    tensors = open_checkpoint(bad_texts.GOOD).weights.tensors
    other = save({name: tensor + 1 for name, tensor in tensors.items()})
    apps = [open_app("pages/8_Checkpoint.py") for _student in range(2)]
    for app, data in zip(apps, (model_bytes(), other), strict=True):
        upload(app, ("model.safetensors", data), config)
    names = [str(app.query_params["ck"]) for app in apps]
    assert len(set(names)) == 2 and len(list(store.folder.iterdir())) == 2
    for app in apps:
        assert not app.run().exception
        assert sum("(upload)" in option for option in app.sidebar.selectbox[0].options) == 1
    digests = {re.search("`([0-9a-f]{16})`", app.markdown[0].value + "".join(m.value for m in app.markdown))[1]
               for app in apps}  # fmt: skip
    assert len(digests) == 2


@pytest.mark.parametrize("name", LINKS)
def test_a_bad_link_falls_back_and_says_so(name):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in LINKS[name].items():
        app.query_params[key] = value
    app.run()
    assert not app.exception and not app.error and app.sidebar.selectbox[0].value == library.FIRST
    assert app.toast and all(len(toast.value) < 300 for toast in app.toast)
