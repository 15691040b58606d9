"""Every bad input gets its answer: one sentence and no harm, or weights with a note of what was done."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from relxl.containers import CheckpointError, read_weights, sandbox
from relxl.containers.limits import MIB, most_seconds
from tests import bad_inputs
from tests.bad_inputs import GOOD
from tests.conftest import ROOT

CONVERT = r"relxl convert --trust FILE`$"
DAMAGED = "is a damaged safetensors file: "
REFUSED = {  # name of the input -> what its sentence says
    "01_empty.pt": "is empty",
    "01_empty.safetensors": "is empty",
    "02_page.bin": "is a web page",
    "03_lfs.safetensors": "git-lfs pointer.*git lfs pull",
    "04_text.pt": "is a text file",
    "05_half.pt": "ends too early, the download is incomplete",
    "06_short.pt": "is incomplete, damaged",
    "07_flip.pt": "is incomplete, damaged",
    "09_zip.pt": "has posix.system inside",
    "09_legacy.pt": "has posix.system inside",
    "09_raw.pkl": "bare pickle that calls posix.system and holds no tensors",
    "09_protocol0.pt": "bare pickle that calls __builtin__.eval and holds no tensors",
    "10_module.pt": rf"whole pickled module \(\w[\w.]*\.MemTransformerLM\).*{CONVERT}",
    "10_module_legacy.pt": rf"whole pickled module \(\w[\w.]*\.MemTransformerLM\).*{CONVERT}",
    "11_namespace.pt": f"has argparse.Namespace inside.*{CONVERT}",
    "11_path.pt": f"has pathlib.PosixPath inside.*{CONVERT}",
    "11_numpy.pt": f"has numpy._core.multiarray.scalar, numpy.dtype inside.*{CONVERT}",
    "12_torchscript.pt": "is a TorchScript archive",
    "13_parent.nemo": r"member '\.\./escaped.txt', whose path leads out",
    "13_absolute.nemo": "member '/tmp/relxl_escaped.txt', whose path leads out",
    "13_symlink.nemo": "member 'link' that is a link",
    "13_hardlink.nemo": "member 'link' that is a link",
    "13_device.nemo": "member 'null' that is a link or no plain file",
    "14_bomb.pt": "'archive/data.pkl' is compressed and would unfold from .* to 4293918720 bytes",
    "15_bomb.pt": "'archive/data/0' is compressed and would unfold from .* to 1073741824 bytes",
    "16_zip_in_zip.pt": r"packs other files \('inner.zip'\): unpack it",
    "16_million.pt": "more than 10000 members",
    "16_twice.pt": "two members 'archive/version'",
    "16_encrypted.pt": "'archive/data/0' is encrypted",
    "16_parent.pt": r"'archive/\.\./\.\./x', whose name leads out",
    "16_behind.pt": "other bytes behind its end",
    "17_numel.pt": "is incomplete, damaged",
    "17_numel_legacy.pt": "needs more memory than",
    "18_shape.pt": "is incomplete, damaged",
    "19_expand.pt": r"shape \[200000, 200000\], which needs 160000000000 bytes, but the file has 4",
    "21_meta.pt": "'w', which is a meta-device tensor of dtype float32",
    "21_sparse.pt": "'w', which is a sparse_coo tensor",
    "21_quantized.pt": "'w', which is a quantized tensor of dtype qint8",
    "21_complex.pt": "'w', which is of dtype complex64",
    "21_float8.pt": "'w', which is of dtype float8_e4m3fn",
    "21_float4.pt": "'w', which is of dtype float4_e2m1fn_x2",
    "21_float8.safetensors": "'w' of dtype F8_E4M3",
    "22_laughs.pt": "holds a list, so it is not a state dict",
    "23_list.pt": "holds a list, so it is not a state dict",
    "23_dict.pt": "holds a dict with 'a', and no tensors in it",
    "24_unicode.pt": "is incomplete, damaged",
    "24_long.pt": "is incomplete, damaged",
    "25_tensor.pt": "holds a Tensor, so it is not a state dict",
    "25_list.pt": "holds a list, so it is not a state dict",
    "25_none.pt": r"holds nothing \(None\), so it is not a state dict",
    "25_dict.pt": "holds a dict without tensors, so it is not a state dict",
    "25_int_keys.pt": "is not a state dict, since it has a tensor under the key '0'",
    "27_header_2e62.safetensors": f"{DAMAGED}its header would have 4611686018427387904 bytes",
    "27_header_101mb.safetensors": f"{DAMAGED}its header would have 105906176 bytes",
    "28_overlap.safetensors": f"{DAMAGED}.*overlap",
    "28_hole.safetensors": f"{DAMAGED}.*hole",
    "28_trailing.safetensors": f"{DAMAGED}it has other bytes behind its end",
    "28_short.safetensors": f"{DAMAGED}it ends too early",
    "29_polyglot.safetensors": f"{DAMAGED}it has other bytes behind its end",
    "29_zip.safetensors": "name that ends in .safetensors, but its bytes are a zip",
    "30_keys.safetensors": f"{DAMAGED}its header would have",
    "30_keys_25k.safetensors": "lists 25000 tensors",
    "30_dims.safetensors": "'w' with 5000 dims",
    "30_zero.safetensors": f"{DAMAGED}shape .* is out of bounds",
    "30_2e63.safetensors": f"{DAMAGED}shape .* is out of bounds",
    "31_twice.safetensors": f"{DAMAGED}'w' stands twice",
    "32_newline.safetensors": r"tensor named 'a\\nb', but names must be printable",
    "32_newline.pt": r"tensor named 'a\\nb', but names must be printable",
    "32_nul.safetensors": r"tensor named 'a\\x00b', but names must be printable",
    "32_long.safetensors": "at most 1024 bytes",
    "39_parent": "asks for '../../x.safetensors', which is not the plain name",
    "39_absolute": "asks for '/etc/passwd', which is not the plain name",
    "39_ending": "asks for 'x.pkl', but shards are",
    "39_symlink": "s1.safetensors is a link that leads out",
    "39_fifo": "s1.safetensors is a folder, device or pipe",
    "39_missing": "has no s2.safetensors",
    "39_two_shards": "has the tensor 'w' in two shards",
    "39_promise": "s1.safetensors lacks 'b'",
    "x_hdf5.h5": "is an HDF5 file",
    "x_gguf.gguf": "is a GGUF file",
    "x_onnx.onnx": "is an ONNX file",
    "x_json.pt": "is JSON text",
    "x_npz.pt": "is a NumPy archive",
    "x_espnet.zip": r"packs other files \('exp/model.pth'\): unpack it",
    "x_tf.index": "TensorFlow checkpoint",
    "x_zeros.pt": "begins with the bytes 00 00",
    "x_yaml_bomb.nemo": "config of more than 20000 values",
    "x_yaml_bomb": "config.yaml has a config of more than 20000 values",
    "x_yaml_tag.nemo": "not plain YAML",
    "x_gzip_bomb.nemo": "unfolds to more than",
    "x_gzip_half.nemo": "ends too early",
    "x_tar_half.nemo": "ends too early",
    "x_tar_other.nemo": r"0 members model_weights.ckpt \(it has 'readme.txt'\)",
    "x_shared.pt": "to 20000000 bytes, since its tensors share memory",
    "x_bool.safetensors": "dtype bool with bytes other than 0 and 1",
    "x_several": r"2 files with weights \(epoch1.pt, epoch2.pt\)",
    "x_config_list": "config.json holds a JSON list",
    "x_config_deep": "config.json is not JSON",
    "x_nothing": "has no model.safetensors and no other weights",
}
OPENED = {  # name of the input -> its tensors (None for those of GOOD) and what its notes say
    "08_flip.pt": ({"w": None, "b": GOOD["b"]}, ""),
    "20_view.pt": ({"w": torch.tensor([7.0])}, "1 tensors are views of larger ones"),
    "21_int.pt": ({"w": torch.arange(3)}, ""),
    "22_laughs_beside.pt": (GOOD, "unwrapped from 'model'\n'args' has too many values for a config and was left out"),
    "26_state_dict.ckpt": (GOOD, "unwrapped from 'state_dict'"),
    "26_model.pt": (GOOD, "unwrapped from 'model'\n'model_avg' holds tensors too and was not read"),
    "26_prefix.pt": (GOOD, "the prefix 'module.' was removed from all names"),
    "29_safetensors.pt": (GOOD, ""),
    "31_config": (GOOD, "config.json has 'a' twice, the last counts"),
    "32_html.safetensors": ({"<img src=x onerror=alert(1)>": torch.zeros(1)}, ""),
    "32_parent.safetensors": ({"../../etc/passwd": torch.zeros(1)}, ""),
    "40_both": (GOOD, "pytorch_model.bin lies beside model.safetensors and was not read"),
}


def test_every_bad_input_has_its_answer():
    assert set(REFUSED) | set(OPENED) == set(bad_inputs.FILES) | set(bad_inputs.FOLDERS)
    assert most_seconds(MIB) <= 5  # so that a reader that hangs on a small file fails the tests below


def read_status(field: str) -> int:
    """Read a number of bytes from what the kernel says of this process."""
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10


@pytest.fixture
def harmless(tmp_path, monkeypatch):
    """Give the folder for the bad input, and check that nothing was written and no memory wasted while it was read."""
    room, temporary, here = (tmp_path / name for name in ("in", "temporary", "here"))
    for folder in (room, temporary, here):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(here)
    before = {}

    def arm() -> Path:
        before["files"] = sorted(tmp_path.rglob("*"))
        before["size"] = sum(path.stat().st_size for path in room.rglob("*") if path.is_file())
        Path("/proc/self/clear_refs").write_text("5")  # the highest resident memory counts from here
        before["memory"] = read_status("VmRSS")
        return room

    yield room, arm
    assert read_status("VmHWM") - before["memory"] < 2 * before["size"] + 64 * MIB
    assert sorted(tmp_path.rglob("*")) == before["files"]
    assert not list(tmp_path.rglob(bad_inputs.SENTINEL)) and not Path("/tmp/relxl_escaped.txt").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_input_is_refused_in_one_sentence(name, harmless):
    room, arm = harmless
    path = bad_inputs.write(room, name)
    arm()
    with pytest.raises(CheckpointError, match=REFUSED[name]) as error:
        read_weights(path)
    check_sentence(str(error.value), name)


@pytest.mark.parametrize("name", OPENED)
def test_an_odd_input_is_opened_and_what_was_done_is_said(name, harmless):
    room, arm = harmless
    path = bad_inputs.write(room, name)
    arm()
    weights = read_weights(path)
    tensors, notes = OPENED[name]
    assert "\n".join(weights.notes) == notes or (name == "20_view.pt" and notes in weights.notes[0])
    assert set(weights.tensors) == set(tensors)
    for key, expected in tensors.items():
        tensor = weights.tensors[key]
        assert expected is None or (torch.equal(tensor, expected) and tensor.dtype == expected.dtype)
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.itemsize
    if name == "08_flip.pt":
        assert not torch.equal(weights.tensors["w"], GOOD["w"])


def check_sentence(text: str, name: str) -> None:
    assert text.isprintable() and name in text and len(text) < 700
    assert not re.search(r"[.!?] [A-Z]|Traceback|weights_only|Error", text), text


READY = "import os, signal, sys, time; w = sys.stdout.buffer.write; w(b'R'); sys.stdout.flush(); "
READ = READY + "sys.stdin.buffer.read(); "
CHILDREN = {  # what a child does in place of reading -> what is said
    "import time; time.sleep(60)": "the process that reads such files did not start",
    READY + "time.sleep(60)": "took too long to read",
    READ + "time.sleep(60)": "took too long to read",
    READ + "os.abort()": "was ended by SIGABRT",
    READ + "os.kill(os.getpid(), signal.SIGSEGV)": "was ended by SIGSEGV",
    READ + "os.kill(os.getpid(), signal.SIGXCPU)": "took too long to read",
    READ + "sys.exit(3)": "broke off",
    READ + "w(b'R' * 1000)": "broke off",
    READ + "w(b'\\2' + bytes(7) + b'[]')": "broke off",
    READ + """w(b'\\x10' + bytes(7) + b'{"bytes": 1e999}')""": "more bytes",
    READ + """w(b'\\x16' + bytes(7) + b'{"bytes": 99999999999}')""": "more bytes",
    READ + """w(b'\\x0c' + bytes(7) + b'{"bytes": 5}' + b'x' * 9)""": "more bytes",
    READ + """w(b'\\x0c' + bytes(7) + b'{"bytes": 0}' + bytes(10**8))""": "more bytes",
    READ + """w(b'\\x0c' + bytes(7) + b'{"bytes": 5}' + b'x' * 5)""": "is a damaged safetensors file",
    READ + """w(b'\\x1d' + bytes(7) + b'{"bytes": 0, "error": "a\\\\nb"}')""": r"'a\\nb'",
    READ + """w(b'\\x1a' + bytes(7) + b'{"bytes": 0, "config": []}')""": "not what they seem",
}


@pytest.mark.parametrize("code", CHILDREN)
def test_whatever_becomes_of_the_child_is_a_sentence(code, harmless, monkeypatch):
    room, arm = harmless
    path = bad_inputs.write(room, "26_model.pt")
    monkeypatch.setattr(sandbox, "START", code)
    monkeypatch.setattr(sandbox, "START_SECONDS", 1)
    monkeypatch.setattr(sandbox, "most_seconds", lambda size: 1)
    arm()
    with pytest.raises(CheckpointError, match=CHILDREN[code]) as error:
        read_weights(path)
    check_sentence(str(error.value), path.name)


def test_the_child_has_limits_that_it_can_not_raise(tmp_path):
    """In a process of its own: the limits are for good."""
    code = f"""
import resource, socket
from relxl.containers.child import close_doors
close_doors(1000)
for name in ("AS", "CPU", "FSIZE", "NOFILE", "CORE"):
    print(name, *resource.getrlimit(getattr(resource, "RLIMIT_" + name)))
for act in (lambda: open({str(tmp_path / "new")!r}, "w"), lambda: open("/etc/passwd"), socket.socket,
            lambda: bytearray(1 << 30)):
    try:
        act()
    except (OSError, MemoryError) as error:
        print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines()]
    limits = {name: (int(soft), int(hard)) for name, soft, hard in words[:5]}
    assert all(soft == hard for soft, hard in limits.values())
    assert 512 * MIB < limits["AS"][0] < 2048 * MIB and 0 < limits["CPU"][0] < 10
    assert limits["FSIZE"][0] == limits["CORE"][0] == 0 and limits["NOFILE"][0] == 3
    assert words[5:] == [["OSError"], ["OSError"], ["OSError"], ["MemoryError"]] and not [*tmp_path.iterdir()]


@pytest.mark.parametrize("source, said", [
    ("/dev/zero", "/dev/zero is a device"),
    ("/nowhere/model.pt", "/nowhere/model.pt is not there"),
    ("a\0b", r"'a\\x00b' is no path"),
    ("x" * 300, "can not be read"),
    (b"", "the file is empty"),
])  # fmt: skip
def test_what_is_no_file_is_refused(source, said):
    with pytest.raises(CheckpointError, match=said):
        read_weights(source)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.pt")
    with pytest.raises(CheckpointError, match=r"pipe.pt is a device, pipe or socket"):
        read_weights(tmp_path / "pipe.pt")
