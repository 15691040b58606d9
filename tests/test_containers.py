"""What is good opens as it was saved, whatever it comes in; what is not plain can be converted without running it."""

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from relxl.cli import main
from relxl.containers import CheckpointError, read_weights
from relxl.containers.convert import convert
from tests import bad_inputs
from tests.bad_inputs import GOOD, Evil, MemTransformerLM, saved, tar
from tests.conftest import ROOT

HALF = {
    "w16": torch.randn(5, 3).half(),
    "wb": torch.randn(7).bfloat16(),
    "w64": torch.randn(2, 3, dtype=torch.float64),
    "num_batches_tracked": torch.tensor(11),
    "mask": torch.tensor([True, False]),
    "empty": torch.zeros(0, 3),
}
YAML = b"encoder: {n_layers: 2, pos: [1, 2], rel: true}\nlr: 1.0e-3\nday: 2020-01-01\n"
PLAIN_YAML = {"encoder": {"n_layers": 2, "pos": [1, 2], "rel": True}, "lr": 1e-3}


def assert_same(tensors: dict, expected: dict) -> None:
    assert set(tensors) == set(expected)
    for name, value in expected.items():
        assert tensors[name].dtype == value.dtype and torch.equal(tensors[name], value)
        assert tensors[name].is_contiguous() and tensors[name].storage_offset() == 0
    assert len({value.data_ptr() for value in tensors.values() if value.numel()}) == sum(
        value.numel() > 0 for value in tensors.values()
    )


def nemo(packed: bool, prefix: str = "./") -> bytes:
    members = [[f"{prefix}model_config.yaml", YAML], [f"{prefix}model_weights.ckpt", saved(HALF)]]
    return tar([["./", b"", {"type": b"5"}], *members], packed)


SINGLE = {  # name -> bytes, tensors, container, config
    "safetensors": (lambda: save(HALF), HALF, "safetensors", {}),
    "zip": (lambda: saved(HALF), HALF, "torch zip", {}),
    "legacy": (lambda: saved(HALF, zipped=False), HALF, "torch legacy", {}),
    "nemo": (lambda: nemo(False), HALF, "nemo tar", PLAIN_YAML),
    "nemo.gz": (lambda: nemo(True), HALF, "nemo tar", PLAIN_YAML),
    "nemo with hash": (lambda: nemo(False, "0f3a_"), HALF, "nemo tar", PLAIN_YAML),
    "parameters": (lambda: saved(torch.nn.Linear(3, 2).requires_grad_().state_dict()), None, "torch zip", {}),
    "tied": (lambda: saved({"a": GOOD["w"], "b": GOOD["w"]}), {"a": GOOD["w"], "b": GOOD["w"]}, "torch zip", {}),
    "transposed": (lambda: saved({"a": GOOD["w"].T}), {"a": GOOD["w"].T}, "torch zip", {}),
    "args": (
        lambda: saved({"model": GOOD, "args": {"n": 3, "x": torch.ones(2), "deep": {"y": (1, "b", None)}}, "epoch": 1}),
        GOOD,
        "torch zip",
        {"n": 3, "deep": {"y": [1, "b", None]}},
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_a_file_opens_as_it_was_saved_from_its_path_and_from_its_bytes(case, tmp_path):
    make, tensors, container, config = SINGLE[case]
    data = make()
    path = tmp_path / "no ending"
    path.write_bytes(data)
    from_path, from_bytes = read_weights(path), read_weights(data, "upload.pt")
    for weights in (from_path, from_bytes):
        if tensors is not None:
            assert_same(weights.tensors, tensors)
        assert weights.container == container and weights.config == config and weights.texts == {}
        assert weights.size == len(data)
    assert from_path.digest == from_bytes.digest and len(from_path.digest) == 64


@pytest.mark.parametrize("wrapper", ["state_dict", "model", "model_state", "model_state_dict", "module", "ema",
                                     "model_avg", "params"])  # fmt: skip
def test_a_wrapper_is_taken_off(wrapper):
    from relxl.containers.plain import unwrap

    state, notes = unwrap({"loss": 1.5, wrapper: GOOD}, lambda value: isinstance(value, torch.Tensor))
    assert state is GOOD and notes == [f"unwrapped from {wrapper!r}"]


def test_prefixes_are_taken_off_only_if_all_names_have_them():
    both = {f"module._orig_mod.{name}": value for name, value in GOOD.items()}
    weights = read_weights(save(both))
    assert_same(weights.tensors, GOOD)
    assert weights.notes == (
        "the prefix 'module.' was removed from all names",
        "the prefix '_orig_mod.' was removed from all names",
    )
    some = {"module.w": GOOD["w"], "b": GOOD["b"]}
    assert_same(read_weights(save(some)).tensors, some)
    lightning = {f"model.{name}": value for name, value in GOOD.items()}
    assert_same(read_weights(save(lightning)).tensors, lightning)


def fill(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (folder / name.replace("__", ".")).write_bytes(data)
    return folder


def index(places: dict) -> bytes:
    return json.dumps({"metadata": {}, "weight_map": places}).encode()


CONFIG = b'{"family": "x", "n_layer": 2}'
PARTS = {"w": {"w": GOOD["w"]}, "b": {"b": GOOD["b"]}}
FOLDERS = {  # files of a folder (__ for .), container, config
    "safetensors": ({"model__safetensors": save(GOOD), "config__json": CONFIG}, "safetensors", json.loads(CONFIG)),
    "sharded": (
        {
            "m1__safetensors": save(PARTS["w"]),
            "m2__safetensors": save(PARTS["b"]),
            "model__safetensors__index__json": index({"w": "m1.safetensors", "b": "m2.safetensors"}),
            "config__json": CONFIG,
        },
        "sharded safetensors",
        json.loads(CONFIG),
    ),
    "bin": (
        {"pytorch_model__bin": saved(GOOD), "training_args__bin": b"", "config__json": CONFIG},
        "torch zip",
        json.loads(CONFIG),
    ),
    "sharded bin": (
        {
            "m1__bin": saved(PARTS["w"]),
            "m2__bin": saved(PARTS["b"], zipped=False),
            "pytorch_model__bin__index__json": index({"w": "m1.bin", "b": "m2.bin"}),
        },
        "sharded torch zip",
        {},
    ),
    "one pth and train.yaml": ({"valid__pth": saved(GOOD), "train__yaml": YAML}, "torch zip", PLAIN_YAML),
    "config.yaml": ({"x__safetensors": save(GOOD), "config__yaml": YAML}, "safetensors", PLAIN_YAML),
    "meta.json": ({"x__safetensors": save(GOOD), "meta__json": b'{"config": {"n": 3}}'}, "safetensors", {"n": 3}),
    "safetensors before pt": ({"x__safetensors": save(GOOD), "y__pt": b"not read"}, "safetensors", {}),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_opens(case, tmp_path):
    files, container, config = FOLDERS[case]
    weights = read_weights(fill(tmp_path, **files, vocab__json=b'["a"]', tokenizer__json=b"{"))
    assert_same(weights.tensors, GOOD)
    assert weights.container == container and weights.config == config
    assert weights.texts == {"vocab.json": b'["a"]', "tokenizer.json": b"{"}
    first = weights.digest
    assert read_weights(str(tmp_path)).digest == first
    (tmp_path / "vocab.json").write_bytes(b'["b"]')
    (tmp_path / ".hidden").write_bytes(b"changes nothing")
    assert read_weights(tmp_path).digest != first


def test_the_cache_of_huggingface_opens_though_its_files_are_links(tmp_path):
    snapshot, blobs = tmp_path / "snapshots" / "0a1b", tmp_path / "blobs"
    snapshot.mkdir(parents=True)
    fill(tmp_path).joinpath("blobs").mkdir()
    (blobs / "4d7a").write_bytes(save(GOOD))
    (snapshot / "model.safetensors").symlink_to("../../blobs/4d7a")
    assert_same(read_weights(snapshot).tensors, GOOD)


def test_safetensors_open_without_a_child(monkeypatch):
    monkeypatch.setattr("relxl.containers.sandbox.subprocess.Popen", None)
    assert_same(read_weights(save(HALF)).tensors, HALF)


def test_weights_stay_when_the_file_changes_later(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(save(GOOD))
    weights = read_weights(path)
    path.write_bytes(bytes(path.stat().st_size))
    assert_same(weights.tensors, GOOD)


def test_the_child_reads_yaml_without_torch():
    code = "import sys, relxl.containers.child as c; c.prepare('yaml'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Block(torch.nn.Module):
    """Have all that a module can have: buffers that stay and that pass, a module in a list, none, and tied weights."""

    def __init__(self):
        super().__init__()
        self.width, self.act, self.sizes = 3, torch.nn.functional.relu, [1, 2]
        self.layers = torch.nn.ModuleList([MemTransformerLM(), MemTransformerLM()])
        self.layers[1].proj.weight = self.layers[0].proj.weight
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3).T)
        self.register_buffer("passing", torch.ones(3), persistent=False)
        self.register_parameter("none", None)
        self.scale = torch.nn.Parameter(torch.randn(2).half())


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickled_module_is_converted_without_its_code(zipped, tmp_path):
    block = Block()
    path = tmp_path / "model.pt"
    path.write_bytes(saved(block) if zipped else bad_inputs.saved_without_source(block))
    done = convert(path, trust=True)
    assert done.folder == tmp_path / "model_converted" and done.tensors == len(block.state_dict())
    weights = read_weights(done.folder)
    assert_same(weights.tensors, {name: value.contiguous() for name, value in block.state_dict().items()})
    assert weights.config == {"width": 3, "sizes": [1, 2]}
    assert any("test_containers.Block" in note for note in done.notes)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_namespace_is_converted_to_a_config_and_nothing_is_run(zipped, tmp_path):
    args = argparse.Namespace(n_layer=2, lr=0.5, where=Path("x"), sub=argparse.Namespace(a=[1, None]))
    value = {"model_state": HALF, "args": args, "optimizer": {"steps": 3}, "evil": Evil(tmp_path)}
    path = tmp_path / "model.pt"
    path.write_bytes(saved(value, zipped))
    done = convert(path, tmp_path / "out", trust=True)
    weights = read_weights(tmp_path / "out")
    assert_same(weights.tensors, HALF)
    assert weights.config == {"n_layer": 2, "lr": 0.5, "sub": {"a": [1, None]}}
    assert "left out: 'optimizer', 'evil'" in done.notes and not (tmp_path / bad_inputs.SENTINEL).exists()


def test_a_module_beside_other_things_is_converted(tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(saved({"model": torch.nn.Sequential(torch.nn.Linear(3, 2)), "loss": 1.5}))
    convert(path, trust=True)
    assert set(read_weights(tmp_path / "model_converted").tensors) == {"0.weight", "0.bias"}


def test_views_of_an_old_file_keep_their_place(tmp_path):
    whole = torch.arange(20.0)
    path = tmp_path / "model.pt"
    path.write_bytes(saved({"a": whole[3:7], "b": whole[5:15].reshape(2, 5).T, "c": Evil(tmp_path)}, zipped=False))
    convert(path, trust=True)
    expected = {"a": whole[3:7].clone(), "b": whole[5:15].reshape(2, 5).T.contiguous()}
    assert_same(read_weights(tmp_path / "model_converted").tensors, expected)


def test_the_command_converts_and_asks_for_trust(tmp_path, capsys):
    path = tmp_path / "model.pt"
    path.write_bytes(saved({"model": GOOD, "args": argparse.Namespace(n=3)}))
    assert main(["convert", str(path)]) == 2
    assert "is not converted without --trust" in capsys.readouterr().err
    assert main(["convert", "--trust", str(path)]) == 0
    assert "2 tensors in model.safetensors, 1 values in config.json" in capsys.readouterr().out
    assert main(["convert", "--trust", str(path)]) == 2
    assert "exists already: give another folder with --out" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["09_raw.pkl", "09_protocol0.pt", "14_bomb.pt", "17_numel.pt", "17_numel_legacy.pt",
                                  "18_shape.pt", "22_laughs.pt", "24_unicode.pt", "24_long.pt", "25_none.pt",
                                  "06_short.pt", "07_flip.pt", "01_empty.pt", "04_text.pt", "21_complex.pt",
                                  "21_quantized.pt"])  # fmt: skip
def test_what_holds_no_sound_tensors_is_not_converted(name, tmp_path):
    path = bad_inputs.write(tmp_path, name)
    with pytest.raises(CheckpointError) as error:
        convert(path, trust=True)
    assert str(error.value).isprintable() and name in str(error.value)
    assert [*tmp_path.iterdir()] == [path]


def test_an_unpickler_that_imports_nothing_makes_no_real_object():
    from relxl.containers.inert import Stub, read_inert

    file = io.BytesIO()
    torch.save({"a": argparse.Namespace(x=1), "b": torch.nn.functional.relu, "c": Path("x"), "d": {1, 2}}, file)
    value, _ = read_inert(file.getvalue())
    assert isinstance(value["a"], Stub) and value["a"].state == {"x": 1} and isinstance(value["c"], Stub)
    assert isinstance(value["b"], type) and issubclass(value["b"], Stub) and value["d"] == {1, 2}


@pytest.mark.parametrize("length", [640, 896])
def test_a_header_whose_length_looks_like_another_magic_is_safetensors(length):
    for pad in range(1, 1000):
        data = save({"a" * pad: torch.zeros(2), **{f"c{i:03}": torch.zeros(1) for i in range(length // 70)}})
        if int.from_bytes(data[:8], "little") == length:
            break
    else:
        pytest.skip("no names give a header of this length")
    assert len(read_weights(data).tensors) == 1 + length // 70
