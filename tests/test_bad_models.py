"""Whatever is wrong with a model gets one sentence before anything is allocated; odd numbers are shown as they are."""

import resource

import pytest
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import CheckpointError, open_checkpoint
from tests.bad_models import FOLDERS, QKV, write
from tests.conftest import ROOT

REFUSED = {  # name of the input -> what its sentence says
    "33_no_u": "r_w_bias is not there",
    "33_no_norm": "lacks transformer.layers.1.dec_attn.layer_norm.weight, .*layer_norm.bias",
    "33_half_the_layers": "lacks transformer.layers.0.* and [0-9]+ more: give the whole checkpoint|is not there",
    "33_no_embedding": "word_emb.emb_layers.0.weight is not there",
    "33_own": "the weights lack layers.1.attn.u: they do not fit config.json",
    "35_shape": rf"{QKV} is float32 \[96, 33\], but floats of \[96 32\] are needed",
    "35_dims": rf"{QKV} is float32 \[96\]",
    "35_int": rf"{QKV} is int64 \[96, 32\], but floats",
    "35_n_head": "the config says n_head=8, but the tensors say 4",
    "35_d_model": "the config says d_model=64, but the tensors say 32",
    "35_vocab": "the config says vocab_size=50257, but the tensors say 37",
    "35_odd": "31",
    "35_own_heads": "d_model=64 and n_head=3",
    "36_layers": "the config says n_layer=1000000000, but the tensors say 2",
    "36_negative": "the config says mem_len='-5', but it must be a whole number from 0",
    "36_huge": "the config says mem_len='1000000000000', but it must be a whole number",
    "36_nan": "the config says mem_len='nan', but it must be a whole number",
    "36_text": "the config says clamp_len='12', but it must be a whole number",
    "36_flag": "the config says same_length='yes', but it must be true or false",
    "36_list": r"the config says cutoffs='\[3, 2\]', but it must be a list of rising whole numbers",
    "36_own_layers": "n_layer must be a whole number from 1 to 256, got 1000000000",
    "36_own_nan": "dropout must be a finite number",
    "36_own_text": "n_head must be a whole number from 1 to 1024, got 4",
    "36_long": "config.json",
    "36_deep": "config.json is not JSON",
    "36_cut": "config.json is not JSON",
}
OPENED = {  # name of the input -> what plays no part, and what its notes say
    "34_more": (("optimizer.step",), ""),
    "34_more_own": (("ema.decay",), ""),
    "36_twice": ((), "config.json has 'n_layer' twice, the last counts"),
    "38_nan": ((), ""),
    "38_inf": ((), ""),
    "38_huge": ((), ""),
    "38_zero": ((), ""),
    "38_denormal": ((), ""),
    "38_own_nan": ((), ""),
}


def test_every_bad_model_has_its_answer():
    assert set(REFUSED) | set(OPENED) == set(FOLDERS)


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_model_is_refused_in_one_sentence(name, tmp_path):
    path = write(tmp_path, name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match=REFUSED[name]) as error:
        open_checkpoint(path)
    assert "\n" not in str(error.value) and str(error.value).startswith((name, str(path)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


@pytest.mark.parametrize("name", OPENED)
def test_an_odd_model_opens_and_says_what_is_odd(name, tmp_path):
    unmatched, notes = OPENED[name]
    checkpoint = open_checkpoint(write(tmp_path, name))
    assert set(unmatched) <= set(checkpoint.opened.unmatched) and notes in "\n".join(checkpoint.weights.notes)


@pytest.mark.parametrize("page", ["app.py", "pages/1_Score_terms.py", "pages/8_Checkpoint.py"])
@pytest.mark.parametrize("name", [name for name in OPENED if name.startswith("38")])
def test_weights_of_any_value_are_shown_for_what_they_are(name, page, tmp_path, monkeypatch):
    write(tmp_path, name)
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["ck"] = f"folder/{name}"
    app.run()
    if page != "app.py":
        app.switch_page(page).run()
    assert not app.exception and not app.error


@pytest.mark.parametrize("link", [  # row 37: lengths from the link are held to what there is
    {"n": "1000000", "m": "1"}, {"xr": "1000000"}, {"sg": "99999999"}, {"l": "10000000", "h": "-1"},
    {"a": '{"mem_len": 1000000}'}, {"a": '{"clamp_len": 1e9}'}, {"mw": "1000000"},
])  # fmt: skip
def test_absurd_lengths_from_a_link_fall_back(link):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["ck"] = "txl-official"
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    for page in ("pages/4_Masking.py", "pages/7_Max_len.py"):
        app.switch_page(page).run()
        assert not app.exception and not app.error
