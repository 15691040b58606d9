"""Write files that should be refused, or opened with care: python tests/bad_inputs.py OUT_DIR.

A name begins with the number of its row in the list that they come from, or with x.
"""

import gzip
import io
import itertools
import json
import os
import pickle
import struct
import sys
import tarfile
import zlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save

SENTINEL = "code_ran"  # beside the bad file, if anything of it was run
GOOD = {"w": torch.arange(6.0).reshape(2, 3), "b": torch.arange(3.0)}
MEMBERS = 1_000_000


def saved(value: object, zipped: bool = True) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, _use_new_zipfile_serialization=zipped)
    return file.getvalue()


def make_zip(members: list, end: bytes = b"") -> bytes:
    """Write a zip as it is told to, true or not; a member is a name, its bytes, and what differs from the usual."""
    body, table = b"", b""
    for name, data, *differs in members:
        fields = {"size": len(data), "method": 0, "flags": 0} | (differs[0] if differs else {})
        crc = zlib.crc32(data) if fields["method"] == 0 else 0
        common = struct.pack("<4HL2L2H", fields["flags"], fields["method"], 0, 33, crc, len(data), fields["size"],
                             len(name), 0)  # fmt: skip
        table += b"PK\1\2\x14\0\x14\0" + common + struct.pack("<3H2L", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\3\4\x14\0" + common + name.encode() + data
    return (
        body + table + (end or struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[len(members)] * 2, len(table), len(body), 0))
    )


def torch_zip(pickled: bytes, storages: tuple = (), extra: list | None = None) -> bytes:
    """Pack a pickle and its storages as torch.save does."""
    members = [["archive/data.pkl", pickled], ["archive/version", b"3\n"], ["archive/byteorder", b"little"]]
    members += [[f"archive/data/{key}", data] for key, data in enumerate(storages)]
    return make_zip(members + (extra or []))


def deflated_zeros(mebibytes: int) -> bytes:
    """Deflate a run of zeros, without the time that so many would take."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * mebibytes + b"\3\0"


class Tensor:
    """Pickle as a tensor of any claimed shape on a storage of any claimed length."""

    def __init__(self, shape: tuple, stride: tuple, numel: int):
        self.claims, self.numel = (shape, stride), numel

    def __reduce__(self):
        storage = Storage()
        storage.numel = self.numel
        return torch._utils._rebuild_tensor_v2, (storage, 0, *self.claims, False, OrderedDict())


class Storage:
    pass


def pickle_claims(value: object) -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, item: object):
            return ("storage", torch.FloatStorage, "0", "cpu", item.numel) if isinstance(item, Storage) else None

    file = io.BytesIO()
    Pickler(file, protocol=2).dump(value)
    return file.getvalue()


class Evil:
    """Run a command when it is unpickled by someone careless."""

    def __init__(self, folder: Path):
        self.command = f"touch '{folder / SENTINEL}'"

    def __reduce__(self):
        return os.system, (self.command,)


class MemTransformerLM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n_layer, self.d_model = 2, 3
        self.proj = torch.nn.Linear(3, 2)


def legacy(pickled: bytes) -> bytes:
    """Put a pickle where torch.save before 1.6 had the object."""
    return saved({}, zipped=False).replace(pickle.dumps({}, protocol=2), pickled, 1)


def deep(opening: bytes, closing: bytes, depth: int = 200_000) -> bytes:
    return b"\x80\2" + opening * depth + opening[:1] + closing * depth + b"."


def laughs() -> list:
    value = ["ha"] * 10
    for _ in range(12):
        value = [value] * 10
    return value


def flipped(data: bytes, at: bytes, bit: int = 0x80) -> bytes:
    place = data.index(at)
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


def entry(dtype: str, shape: list, begin: int, end: int) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safe(header: dict | str, data: bytes = b"") -> bytes:
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    return struct.pack("<Q", len(text)) + text + data


def named(name: str) -> bytes:
    return safe({name: entry("F32", [1], 0, 4)}, bytes(4))


def tar(members: list, packed: bool = False) -> bytes:
    """Write a tar; a member is a name and its bytes, and what else it is."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data, *differs in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for field, value in (differs[0] if differs else {}).items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(file.getvalue(), 1) if packed else file.getvalue()


def nemo(extra: list, config: bytes = b"encoder: {d_model: 3}\n") -> bytes:
    return tar([["./model_config.yaml", config], ["./model_weights.ckpt", saved(GOOD)], *extra])


def yaml_bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(lines).encode()


def many_members() -> bytes:
    one = b"PK\1\2" + bytes(42) + b""
    return b"PK\3\4" + bytes(26) + one * MEMBERS + struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(one) * MEMBERS, 30, 0
    )  # fmt: skip


def quantized() -> torch.Tensor:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)


def namespace() -> object:
    from argparse import Namespace

    return Namespace(n_layer=2, lr=0.1)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
HTML = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>no</body></html>"
UNSAFE_HEADER = entry("F32", [2], 0, 8)
ONE = {"a": UNSAFE_HEADER, "b": entry("F32", [1], 8, 12)}

FILES: dict[str, Callable[[Path], bytes]] = {  # file name -> its bytes; it is given the folder that it will lie in
    "01_empty.pt": lambda _: b"",
    "01_empty.safetensors": lambda _: b"",
    "02_page.bin": lambda _: HTML,
    "03_lfs.safetensors": lambda _: LFS,
    "04_text.pt": lambda _: b"these are not the weights that you are looking for\n" * 20,
    "05_half.pt": lambda _: saved(GOOD)[: len(saved(GOOD)) // 2],
    "06_short.pt": lambda _: saved(GOOD, zipped=False)[:-20],
    "07_flip.pt": lambda _: flipped(saved(GOOD), b"_rebuild_tensor_v2"),
    "08_flip.pt": lambda _: flipped(saved(GOOD), GOOD["w"].numpy().tobytes()[4:8], 0x40),
    "09_zip.pt": lambda folder: saved({"w": torch.ones(2), "x": Evil(folder)}),
    "09_legacy.pt": lambda folder: saved({"w": torch.ones(2), "x": Evil(folder)}, zipped=False),
    "09_raw.pkl": lambda folder: pickle.dumps(Evil(folder), protocol=2),
    "09_protocol0.pt": lambda folder: f"c__builtin__\neval\n(Vopen('{folder / SENTINEL}','w')\ntR.".encode(),
    "10_module.pt": lambda _: saved(MemTransformerLM()),
    "10_module_legacy.pt": lambda _: saved_without_source(MemTransformerLM()),
    "11_namespace.pt": lambda _: saved({"model": GOOD, "args": namespace()}),
    "11_path.pt": lambda _: saved({"model": GOOD, "where": Path("x")}),
    "11_numpy.pt": lambda _: saved({"model": GOOD, "loss": np.float64(1.5)}),
    "12_torchscript.pt": lambda _: torch_zip(
        pickle.dumps({}, 2), extra=[["archive/constants.pkl", b""], ["archive/code/x.py", b""]]
    ),
    "13_parent.nemo": lambda _: nemo([["../escaped.txt", b"out"]]),
    "13_absolute.nemo": lambda _: nemo([["/tmp/relxl_escaped.txt", b"out"]]),
    "13_symlink.nemo": lambda _: nemo([["link", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}]]),
    "13_hardlink.nemo": lambda _: nemo([["link", b"", {"type": tarfile.LNKTYPE, "linkname": "model_weights.ckpt"}]]),
    "13_device.nemo": lambda _: nemo([["null", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}]]),
    "14_bomb.pt": lambda _: make_zip(
        [["archive/data.pkl", deflated_zeros(4095), {"size": 4095 << 20, "method": 8}], ["archive/version", b"3\n"]]
    ),
    "15_bomb.pt": lambda _: torch_zip(
        pickle_claims({"w": Tensor((1 << 28,), (1,), 1 << 28)}),
        extra=[["archive/data/0", deflated_zeros(1024), {"size": 1 << 30, "method": 8}]],
    ),
    "16_zip_in_zip.pt": lambda _: make_zip([["inner.zip", saved(GOOD)]]),
    "16_million.pt": lambda _: many_members(),
    "16_twice.pt": lambda _: torch_zip(pickle.dumps({}, 2), extra=[["archive/version", b"3\n"]]),
    "16_encrypted.pt": lambda _: torch_zip(pickle.dumps({}, 2), extra=[["archive/data/0", b"abc", {"flags": 1}]]),
    "16_parent.pt": lambda _: torch_zip(pickle.dumps({}, 2), extra=[["archive/../../x", b"abc"]]),
    "16_behind.pt": lambda _: saved(GOOD) + b"more",
    "17_numel.pt": lambda _: torch_zip(pickle_claims({"w": Tensor((4,), (1,), 1 << 31)}), (bytes(16),)),
    "17_numel_legacy.pt": lambda _: saved(GOOD, zipped=False).replace(b"K\x06N", b"J\xff\xff\xff\x7fN", 1),
    "18_shape.pt": lambda _: torch_zip(pickle_claims({"w": Tensor((5, 7), (7, 1), 4)}), (bytes(16),)),
    "19_expand.pt": lambda _: saved({"w": torch.zeros(1).expand(200_000, 200_000)}),
    "20_view.pt": lambda _: saved({"w": torch.arange(10.0**6)[7:8]}),
    "21_meta.pt": lambda _: saved({"w": torch.empty(3, device="meta")}),
    "21_sparse.pt": lambda _: saved({"w": torch.eye(3).to_sparse()}),
    "21_quantized.pt": lambda _: saved({"w": quantized()}),
    "21_complex.pt": lambda _: saved({"w": torch.ones(3, dtype=torch.complex64)}),
    "21_float8.pt": lambda _: saved({"w": torch.ones(3).to(torch.float8_e4m3fn)}),
    "21_float4.pt": lambda _: saved({"w": torch.zeros(3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)}),
    "21_int.pt": lambda _: saved({"w": torch.arange(3)}),
    "21_float8.safetensors": lambda _: save({"w": torch.ones(3).to(torch.float8_e4m3fn)}),
    "22_laughs.pt": lambda _: saved(laughs()),
    "22_laughs_beside.pt": lambda _: saved({"model": GOOD, "args": {"x": laughs()}}),
    "23_list.pt": lambda _: torch_zip(deep(b"]", b"a")),
    "23_dict.pt": lambda _: torch_zip(deep(b"}X\1\0\0\0a", b"s")),
    "24_unicode.pt": lambda _: torch_zip(b"\x80\2X\xff\xff\xff\x7fabc."),
    "24_long.pt": lambda _: torch_zip(b"\x80\2\x8b\xff\xff\xff\x7f123."),
    "25_tensor.pt": lambda _: saved(torch.ones(3)),
    "25_list.pt": lambda _: saved([torch.ones(3)]),
    "25_none.pt": lambda _: saved(None),
    "25_dict.pt": lambda _: saved({}),
    "25_int_keys.pt": lambda _: saved({0: torch.ones(3)}),
    "26_state_dict.ckpt": lambda _: saved({"state_dict": GOOD, "epoch": 3}),
    "26_model.pt": lambda _: saved({"model": GOOD, "model_avg": GOOD}),
    "26_prefix.pt": lambda _: saved({f"module.{name}": value for name, value in GOOD.items()}),
    "27_header_2e62.safetensors": lambda _: struct.pack("<Q", 1 << 62) + b"{}",
    "27_header_101mb.safetensors": lambda _: struct.pack("<Q", 101 << 20) + b"{}" + bytes(100),
    "28_overlap.safetensors": lambda _: safe(ONE | {"b": entry("F32", [1], 4, 8)}, bytes(8)),
    "28_hole.safetensors": lambda _: safe(ONE | {"b": entry("F32", [1], 12, 16)}, bytes(16)),
    "28_trailing.safetensors": lambda _: safe(ONE, bytes(20)),
    "28_short.safetensors": lambda _: safe(ONE, bytes(7)),
    "29_polyglot.safetensors": lambda folder: save(GOOD) + pickle.dumps(Evil(folder), protocol=2),
    "29_zip.safetensors": lambda _: saved(GOOD),
    "29_safetensors.pt": lambda _: save(GOOD),
    "30_keys.safetensors": lambda _: safe(
        "{" + ",".join(f'"k{n}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for n in range(300_000)) + "}"
    ),
    "30_keys_25k.safetensors": lambda _: safe({f"k{n}": entry("F32", [0], 0, 0) for n in range(25_000)}),
    "30_dims.safetensors": lambda _: safe({"w": entry("F32", [1] * 5000, 0, 4)}, bytes(4)),
    "30_zero.safetensors": lambda _: safe({"w": entry("F32", [0, 1 << 62], 0, 0)}),
    "30_2e63.safetensors": lambda _: safe({"w": entry("F32", [0, (1 << 63) + 1], 0, 0)}),
    "31_twice.safetensors": lambda _: safe(
        '{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        bytes(8),
    ),
    "32_html.safetensors": lambda _: named("<img src=x onerror=alert(1)>"),
    "32_newline.safetensors": lambda _: named("a\nb"),
    "32_nul.safetensors": lambda _: named("a\0b"),
    "32_long.safetensors": lambda _: named("a" * 10**6),
    "32_parent.safetensors": lambda _: named("../../etc/passwd"),
    "32_newline.pt": lambda _: saved({"a\nb": torch.ones(3)}),
    "x_hdf5.h5": lambda _: b"\x89HDF\r\n\x1a\n" + bytes(100),
    "x_gguf.gguf": lambda _: b"GGUF\3\0\0\0" + bytes(100),
    "x_onnx.onnx": lambda _: b"\x08\x08\x12\x07pytorch\x1a\x051.13:" + bytes(100),
    "x_json.pt": lambda _: b'{"w": [1, 2]}',
    "x_npz.pt": lambda _: make_zip([["w.npy", b"\x93NUMPY"]]),
    "x_espnet.zip": lambda _: make_zip([["meta.yaml", b"a: 1"], ["exp/model.pth", saved(GOOD)]]),
    "x_tf.index": lambda _: bytes(100) + bytes.fromhex("57fb808b247547db"),
    "x_zeros.pt": lambda _: bytes(1000),
    "x_yaml_bomb.nemo": lambda _: nemo([], yaml_bomb()),
    "x_yaml_tag.nemo": lambda folder: nemo(
        [], f"a: !!python/object/apply:os.system ['touch {folder / SENTINEL}']".encode()
    ),
    "x_gzip_bomb.nemo": lambda _: gzip.compress(bytes(64 << 20), 1),
    "x_gzip_half.nemo": lambda _: gzip.compress(nemo([]))[:-300],
    "x_tar_half.nemo": lambda _: nemo([])[:1500],
    "x_tar_other.nemo": lambda _: tar([["readme.txt", b"hello"]]),
    "x_shared.pt": lambda _: saved({f"w{n}": SHARED for n in range(50)}),
    "x_bool.safetensors": lambda _: safe({"w": entry("BOOL", [2], 0, 2)}, b"\1\7"),
}
SHARED = torch.arange(1e5)


def saved_without_source(module: torch.nn.Module) -> bytes:
    """Save a module in the old format, where torch would warn that it can not find the class's source."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return saved(module, zipped=False)


def shards(folder: Path, places: dict[str, str], **tensors: dict) -> None:
    """Write an index and the shards, named without their ending."""
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    for name, values in tensors.items():
        (folder / f"{name}.safetensors").write_bytes(save(values))


def link_out(folder: Path) -> None:
    shards(folder, {"w": "s1.safetensors"})
    (folder.parent / "39_outside.safetensors").write_bytes(save(GOOD))
    (folder / "s1.safetensors").symlink_to(folder.parent / "39_outside.safetensors")


def pipe(folder: Path) -> None:
    shards(folder, {"w": "s1.safetensors"})
    os.mkfifo(folder / "s1.safetensors")


def both(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(save(GOOD))
    (folder / "pytorch_model.bin").write_bytes(saved({"w": GOOD["w"] + 1, "b": GOOD["b"]}))


def config(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(save(GOOD))
        (folder / "config.json").write_text(text)

    return write


def bomb_beside(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(save(GOOD))
    (folder / "config.yaml").write_bytes(yaml_bomb())


def several(folder: Path) -> None:
    (folder / "epoch1.pt").write_bytes(saved(GOOD))
    (folder / "epoch2.pt").write_bytes(saved(GOOD))


W = {"w": GOOD["w"]}
FOLDERS: dict[str, Callable[[Path], None]] = {  # folder name -> what fills it
    "31_config": config('{"a": 1, "a": 2}'),
    "39_parent": lambda folder: shards(folder, {"w": "../../x.safetensors"}),
    "39_absolute": lambda folder: shards(folder, {"w": "/etc/passwd"}),
    "39_ending": lambda folder: shards(folder, {"w": "x.pkl"}),
    "39_symlink": link_out,
    "39_fifo": pipe,
    "39_missing": lambda folder: shards(folder, {"w": "s1.safetensors", "b": "s2.safetensors"}, s1=W),
    "39_two_shards": lambda folder: shards(folder, {"w": "s1.safetensors", "b": "s2.safetensors"}, s1=W, s2=GOOD),
    "39_promise": lambda folder: shards(folder, {"w": "s1.safetensors", "b": "s1.safetensors"}, s1=W),
    "40_both": both,
    "x_several": several,
    "x_yaml_bomb": bomb_beside,
    "x_config_list": config("[]"),
    "x_config_deep": config("[" * 100_000),
    "x_nothing": lambda folder: (folder / "readme.txt").write_text("hello"),
}


def write(out: Path, name: str) -> Path:
    """Write one of them and give its path."""
    path = out / name
    if name in FILES:
        path.write_bytes(FILES[name](out))
    else:
        path.mkdir()
        FOLDERS[name](path)
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True)
    for each in itertools.chain(FILES, FOLDERS):
        write(target, each)
        print(target / each)
