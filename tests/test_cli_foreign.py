"""The commands `inspect` and `terms` on files of other families, held to the numbers of their own code."""

import json
import zipfile

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from relxl.checkpoint import open_checkpoint, save_checkpoint
from relxl.cli import main
from relxl.cli_open import choice
from relxl.export import MAX_HIDDEN, read_hidden
from relxl.trace import run
from relxl.vocab import Vocab
from tests.conformance import weights_of
from tests.conftest import ROOT, tiny_model
from tests.foreign import CASES, config_of, foreign, foreign_folder


def fixture(name):
    """Give the weights of a case and what its own code made of them in float64."""
    case = ROOT / "tests/fixtures" / CASES[name]
    return str(weights_of(case)), load_file(case / "expected.safetensors")


def split(*command, dtype="float64"):
    """Run `terms`; give its arrays."""
    out = command[-1]
    assert main(["terms", *map(str, command[:-1]), "--dtype", dtype, "--out", str(out)]) == 0
    with np.load(out) as arrays:
        return dict(arrays)


def compare(arrays, expected, layer=0, start="seg0."):
    """Hold a layer's terms, scores and probabilities to the numbers of its own code, where it attends."""
    names = {"content": "A", "content_position": "B", "u_bias": "C", "v_bias": "D"}
    names |= {"segment_content": "E_content", "segment_bias": "E_bias"}
    valid = np.broadcast_to(expected[f"{start}valid"], arrays[f"L{layer}.logits"].shape)
    for ours, letter in names.items():
        if f"{start}layer{layer}.term_{letter}" in expected:
            theirs = expected[f"{start}layer{layer}.term_{letter}"]
            np.testing.assert_allclose(arrays[f"L{layer}.{ours}"][valid], theirs[valid], atol=1e-10)
    np.testing.assert_allclose(
        arrays[f"L{layer}.logits"][valid], expected[f"{start}layer{layer}.scores"][valid], atol=1e-10
    )
    np.testing.assert_allclose(arrays[f"L{layer}.probs"], expected[f"{start}layer{layer}.probs"], atol=1e-12)
    np.testing.assert_array_equal(arrays[f"L{layer}.mask"], valid)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("clamp_len=400", ("clamp_len", 400)),
        ("rel_pos_type=legacy", ("rel_pos_type", "legacy")),
        ("same_length=true", ("same_length", True)),
        ("cutoffs=5,9", ("cutoffs", [5, 9])),
        ("cutoffs=[5, 9]", ("cutoffs", [5, 9])),
        ("layer_norm_eps=1e-5", ("layer_norm_eps", 1e-5)),
        ("name=a=b", ("name", "a=b")),
    ],
)
def test_an_answer_is_read_as_what_it_is(text, expected):
    assert choice(text) == expected


def test_an_answer_without_a_value_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["inspect", "x", "--choose", "clamp_len"])
    assert stopped.value.code == 2 and "must be NAME=VALUE" in capsys.readouterr().err


def test_inspect_says_whose_it_is_what_was_assumed_and_what_is_in_it(tmp_path, capsys):
    folder = foreign_folder("hf_transfoxl", tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors |= {"crit.out_layers.0.bias": tensors["crit.out_layers.0.bias"] * np.nan, "other": np.zeros(3, np.float32)}
    save_file(tensors, folder / "model.safetensors")
    assert main(["inspect", str(folder), "--choose", "clamp_len=9"]) == 0
    text = capsys.readouterr().out
    assert "family            hf_transfoxl" in text and "known_by" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["clamp_len", "9", "chosen"] in lines and ["tgt_len", "128", "assumed"] in lines
    assert ["mem_len", "6", "file"] in lines
    nan = next(line for line in text.splitlines() if line.startswith("crit.out_layers.0.bias"))
    assert nan.split()[1:] == ["[37]", "float32", "–", "–", "–", "–", "37", "0", "0"]
    other = next(line for line in text.splitlines() if line.startswith("other"))
    assert other.split()[-4:] == ["1", "plays", "no", "part"]
    head = next(line for line in text.splitlines() if line.startswith("tensor"))
    assert head.index("mean") == nan.index("–")  # columns stand below each other
    assert main(["inspect", str(folder), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["settings"]["clamp_len"] == [-1, "file"] and facts["unmatched"] == ["other"]


@pytest.mark.parametrize("name", ["hf_transfoxl", "txl_official"])
def test_terms_of_token_ids_are_those_of_the_familys_own_code(name, tmp_path):
    weights, expected = fixture(name)
    (tmp_path / "ids.json").write_text(json.dumps(expected["seg0.input.ids"].tolist()))
    (tmp_path / "config.json").write_text(json.dumps(config_of(name)))
    more = [] if name == "hf_transfoxl" else ["--config", tmp_path / "config.json"]
    arrays = split(weights, "--tokens", tmp_path / "ids.json", *more, tmp_path / "out.npz")
    for layer in (0, 1):
        compare(arrays, expected, layer)


def test_segments_of_xlnet_have_terms_of_their_own(tmp_path, capsys):
    weights, expected = fixture("xlnet_bi")
    (tmp_path / "ids.json").write_text(json.dumps(expected["seg0.input.input_ids"].tolist()))
    (tmp_path / "segments.json").write_text(json.dumps(expected["seg0.input.token_type_ids"].tolist()))
    segments = ["--segments", tmp_path / "segments.json"]
    arrays = split(weights, "--tokens", tmp_path / "ids.json", *segments, tmp_path / "out.npz")
    assert "L1.segment_bias" in arrays
    for layer in (0, 1):
        compare(arrays, expected, layer)
    (tmp_path / "few.json").write_text("[[0, 1]]")
    command = ["terms", weights, "--tokens", str(tmp_path / "ids.json"), "--out", str(tmp_path / "x.npz")]
    assert main([*command, "--segments", str(tmp_path / "few.json")]) == 2
    assert "are needed, one a query" in capsys.readouterr().err
    other = foreign_folder("hf_transfoxl", tmp_path)
    command = ["terms", str(other), "--text", "1 2", "--out", str(tmp_path / "x.npz")]
    assert main([*command, "--segments", str(tmp_path / "few.json")]) == 2
    assert "knows no segments" in capsys.readouterr().err


HIDDEN = {  # case -> the names of its input and of its mask
    "wav2vec2_conformer/padded": ("hidden_states", "attention_mask"),
    "nemo/padded_nobias": ("x", "mask"),
    "espnet/bi_padded": ("x", "mask"),
    "speechbrain/self_padded": ("x", "key_padding_mask"),
}


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("case", HIDDEN)
def test_hidden_states_and_a_mask_mean_what_the_familys_own_code_means(case, suffix, tmp_path):
    case, (x, mask) = ROOT / "tests/fixtures" / case, HIDDEN[case]
    expected = load_file(case / "expected.safetensors")
    arrays = {"hidden": expected[f"seg0.input.{x}"], "mask": expected[f"seg0.input.{mask}"]}
    path = tmp_path / f"hidden{suffix}"
    np.savez(path, **arrays) if suffix == ".npz" else save_file(arrays, path)
    meta = json.loads((case / "meta.json").read_text())
    more = ["--choose", f"family={meta['family']}"] if meta["family"] in ("nemo", "espnet") else []
    arrays = split(weights_of(case), "--hidden", path, *more, tmp_path / "out.npz")
    for layer in range(len({name.split(".")[0] for name in arrays} - {"distance"})):
        compare(arrays, expected, layer)


def test_a_memory_comes_beside_the_hidden_states(tmp_path):
    weights, expected = fixture("nemo")
    np.savez(
        tmp_path / "hidden.npz",
        hidden=expected["seg0.input.x"],
        mems=expected["seg0.input.cache"],
        **({"mask": expected["seg0.input.mask"]} if "seg0.input.mask" in expected else {}),
    )
    compare(split(weights, "--hidden", tmp_path / "hidden.npz", tmp_path / "out.npz"), expected)
    joined = np.concatenate([expected["seg0.input.cache"], expected["seg0.input.x"]], axis=1)
    np.savez(tmp_path / "joined.npz", hidden=joined)
    arrays = split(weights, "--hidden", tmp_path / "joined.npz", "--mem-len", 6, tmp_path / "out.npz")
    np.testing.assert_allclose(arrays["L0.logits"], expected["seg0.layer0.scores"], atol=1e-10)


def test_a_language_model_runs_its_layers_from_a_hidden_state(tmp_path):
    weights, expected = fixture("hf_transfoxl")
    model = open_checkpoint(weights, torch.float64).model
    tokens = torch.from_numpy(expected["seg0.input.ids"])
    np.savez(tmp_path / "hidden.npz", hidden=model.embed(tokens).numpy())
    arrays = split(weights, "--hidden", tmp_path / "hidden.npz", tmp_path / "out.npz")
    for layer in (0, 1):  # over the memory of zeros that it starts with
        compare(arrays, expected, layer)
    arrays = split(weights, "--hidden", tmp_path / "hidden.npz", "--mem-len", 3, tmp_path / "out.npz")
    trace = run(model, tokens, 3)
    np.testing.assert_allclose(arrays["L1.logits"], trace.terms(1).logits, atol=1e-12)


def test_the_memory_of_labml_is_made_by_running_it(tmp_path):
    weights, expected = fixture("labml")
    x = np.concatenate([expected["seg0.input.x"], expected["seg1.input.x"]], axis=1)
    np.savez(tmp_path / "hidden.npz", hidden=x)
    arrays = split(weights, "--hidden", tmp_path / "hidden.npz", "--mem-len", 8, tmp_path / "out.npz")
    for layer in range(2):
        compare(arrays, expected, layer, "seg1.")
    model = foreign("labml").model
    mems = {f"mems.{i}": value.numpy() for i, value in enumerate(model.read(torch.from_numpy(x[:, :8]).double()).mems)}
    np.savez(tmp_path / "mems.npz", hidden=x[:, 8:], **mems)
    arrays = split(weights, "--hidden", tmp_path / "mems.npz", tmp_path / "out.npz")
    compare(arrays, expected, 1, "seg1.")


def test_a_config_in_yaml_lies_where_it_likes(tmp_path):
    (tmp_path / "model.yaml").write_text("family: txl_official\nclamp_len: 3\n")
    weights = str(ROOT / "checkpoints/txl-official")
    command = ["terms", weights, "--text", "to be or not", "--layer", "0", "--out", str(tmp_path / "out.npz")]
    assert main([*command, "--config", str(tmp_path / "model.yaml")]) == 0
    by_config = dict(np.load(tmp_path / "out.npz"))
    assert main([*command, "--choose", "clamp_len=3"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["L0.v_bias"], by_config["L0.v_bias"])
    assert main(command) == 0
    assert not np.array_equal(np.load(tmp_path / "out.npz")["L0.v_bias"], by_config["L0.v_bias"])


def hidden_of(**changes):
    """Make the arrays of two entries of 5 frames, d_model 32."""
    arrays = {"hidden": np.zeros((2, 5, 32), np.float32), **changes}
    return {name: value for name, value in arrays.items() if value is not None}


F32 = np.float32
BAD_HIDDEN = {
    "no hidden": (hidden_of(hidden=None, x=np.zeros(3)), "no floating array named `hidden`"),
    "width": (hidden_of(hidden=np.zeros((2, 5, 31), F32)), "[2, 5, 31], but this checkpoint needs [batch len 32]"),
    "no frame": (hidden_of(hidden=np.zeros((2, 0, 32), F32)), "[2, 0, 32]"),
    "mask length": (
        hidden_of(mask=np.ones((2, 4), bool)),
        "`mask` in hidden.npz is bool [2, 4], but 0 and 1 are needed",
    ),
    "mask batch": (hidden_of(mask=np.ones((1, 5), bool)), "`mask` in hidden.npz is bool [1, 5]"),
    "mask queries": (hidden_of(mask=np.ones((2, 4, 5), bool)), "`mask` in hidden.npz is bool [2, 4, 5]"),
    "mask additive": (hidden_of(mask=np.full((2, 5), -1e4, F32)), "`mask` in hidden.npz is float32 [2, 5]"),
    "mems width": (hidden_of(mems=np.zeros((2, 3, 31), F32)), "`mems` in hidden.npz has shape [2, 3, 31]"),
    "mems batch": (hidden_of(mems=np.zeros((1, 3, 32), F32)), "of the batch of `hidden`, 2"),
    "mems swapped": (hidden_of(mems=np.zeros((3, 2, 32), F32)), "of the batch of `hidden`, 2"),
    "mems whole numbers": (hidden_of(mems=np.zeros((2, 3, 32), int)), "`mems` in hidden.npz is int64"),
    "mems of a layer": (
        hidden_of(**{"mems.1": np.zeros((2, 3, 32), F32)}),
        "`mems` for all layers or mems.0 to mems.0",
    ),
    "object": (hidden_of(hidden=np.array([{}])), "no .npz or .safetensors of numbers"),
}


@pytest.mark.parametrize("case", BAD_HIDDEN)
def test_hidden_states_that_do_not_fit_are_one_sentence(case, tmp_path, capsys):
    arrays, message = BAD_HIDDEN[case]
    np.savez(tmp_path / "hidden.npz", **arrays)
    command = ["terms", fixture("nemo")[0], "--hidden", str(tmp_path / "hidden.npz"), "--out", str(tmp_path / "x.npz")]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not (tmp_path / "x.npz").exists()


def evil_npz(path, header, data, size=None):
    """Write a zip with one .npy of any header; `size` is what the zip says of it."""
    head = np.lib.format.magic(1, 0) + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hidden.npy", head + data)
    if size is not None:
        raw = path.read_bytes()
        path.write_bytes(raw.replace((len(head) + len(data)).to_bytes(4, "little"), size.to_bytes(4, "little")))


SHAPE = "{{'descr': '<f4', 'fortran_order': False, 'shape': {}}}"


@pytest.mark.parametrize(
    "header, data, size",
    [
        (SHAPE.format((1 << 20, 1 << 20, 32)), bytes(64), None),
        (SHAPE.format((1, 1 << 62, 32)), bytes(64), None),
        (SHAPE.format((-1, -4, 4)), bytes(64), None),
        (SHAPE.format((1, 1, 16)), bytes(64), 1 << 30),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (8,)}", bytes(64), None),
        ("__import__('os').system('touch escaped')", bytes(64), None),
        ("(" * 5000, bytes(64), None),
    ],
)
def test_an_evil_npz_is_one_sentence(header, data, size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil_npz(tmp_path / "hidden.npz", header.encode(), data, size)
    with pytest.raises(ValueError, match=r"hidden.npz is no .npz or .safetensors of numbers") as error:
        read_hidden(tmp_path / "hidden.npz", foreign("nemo"))
    assert "\n" not in str(error.value) and len(str(error.value)) < 500 and not (tmp_path / "escaped").exists()


def test_a_bomb_of_hidden_states_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "hidden.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("hidden.npy", bytes(MAX_HIDDEN + 1))
    with pytest.raises(ValueError, match="too large"):
        read_hidden(tmp_path / "hidden.npz", foreign("nemo"))


def test_hidden_states_must_be_a_file_of_a_kind_that_is_read(tmp_path):
    (tmp_path / "hidden.pt").write_bytes(b"")
    (tmp_path / "hidden.safetensors").write_bytes(b"garbage")
    for name, message in (
        ("hidden.pt", r"hidden.pt is no .npz or .safetensors"),
        ("hidden.safetensors", "hidden.safetensors "),
        ("none.npz", "none.npz is not there"),
    ):
        with pytest.raises(ValueError, match=message):
            read_hidden(tmp_path / name, foreign("nemo"))


NEEDS = {
    "text for hidden states": (["--text", "abc"], "reads hidden states and not tokens: give them with --hidden"),
    "unknown choice": (["--choose", "speed=3", "--text", "a"], "nothing called 'speed' to choose"),
    "no config": (["--config", "nowhere.json", "--text", "a"], "nowhere.json is not there"),
}


@pytest.mark.parametrize("case", NEEDS)
def test_what_another_family_can_not_do_is_one_sentence(case, tmp_path, capsys):
    arguments, message = NEEDS[case]
    assert main(["terms", fixture("nemo")[0], *arguments, "--out", str(tmp_path / "x.npz")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arrays, arguments, message", [
    ({"mems": np.zeros((2, 3, 32), F32)}, ["--mem-len", "2"], "brings a memory of its own"),
    ({}, ["--mem-len", "5"], "must leave at least one query"),
    ({}, ["--mem-len", "2"], "reads a segment whole"),
    ({"mask": np.ones((2, 5))}, ["--mem-len", "2"], "with a mask give the memory of each layer"),
    ({"mask": np.ones((2, 5, 5))}, [], "a mask of one mark a frame"),
    ({"mems": np.zeros((2, 3, 32), F32)}, [], "has no memory"),
    ({}, ["--segments", "x.json"], "goes with tokens"),
])  # fmt: skip
def test_what_an_encoder_can_not_be_given_is_one_sentence(arrays, arguments, message, tmp_path, capsys):
    np.savez(tmp_path / "hidden.npz", **hidden_of(**arrays))
    weights = fixture("wav2vec2_conformer")[0]
    command = ["terms", weights, "--hidden", str(tmp_path / "hidden.npz"), "--out", str(tmp_path / "x.npz")]
    assert main([*command, *arguments]) == 2 and message in capsys.readouterr().err


def test_our_own_model_takes_a_mask_and_a_memory_too(tmp_path):
    folder = tmp_path / "tiny"
    save_checkpoint(folder, tiny_model(dtype=torch.float32), Vocab(tuple("abcdefghijk")), {})
    hidden = np.random.default_rng(0).normal(size=(2, 7, 12)).astype(F32)
    np.savez(tmp_path / "joined.npz", hidden=hidden)
    np.savez(
        tmp_path / "apart.npz", hidden=hidden[:, 3:], mems=hidden[:, :3], mask=np.array([[1, 1, 1, 1], [0, 1, 1, 1]])
    )
    joined = split(folder, "--hidden", tmp_path / "joined.npz", "--mem-len", 3, tmp_path / "a.npz")
    apart = split(folder, "--hidden", tmp_path / "apart.npz", tmp_path / "b.npz")
    np.testing.assert_array_equal(joined["L1.logits"], apart["L1.logits"])
    np.testing.assert_array_equal(joined["L1.probs"][0], apart["L1.probs"][0])
    assert not apart["L1.mask"][1, :, :, 3].any() and (apart["L1.probs"][1, :, :, 3] == 0).all()
