"""Write checkpoints whose bytes are right and whose model is not: python tests/bad_models.py OUT_DIR.

Rows 33 to 36 and 38 of the list that bad_inputs.py begins; each is a folder made of a good one.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

GOOD = Path(__file__).parent / "fixtures/hf_transfoxl/untied_mem_2seg/hf"
OWN = Path(__file__).parents[1] / "checkpoints/shakespeare-leaky"
Tensors = dict[str, torch.Tensor]


def weights(change: Callable[[Tensors], object], good: Path = GOOD) -> Callable[[Path], None]:
    """Make a folder whose tensors are changed in place."""

    def write(folder: Path) -> None:
        shutil.copytree(good, folder)
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return write


def config(good: Path = GOOD, **changes: object) -> Callable[[Path], None]:
    """Make a folder whose config says something else."""

    def write(folder: Path) -> None:
        shutil.copytree(good, folder)
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return write


def config_text(text: str, good: Path = GOOD) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        shutil.copytree(good, folder)
        (folder / "config.json").write_text(text)

    return write


def without(*parts: str) -> Callable[[Tensors], None]:
    def change(tensors: Tensors) -> None:
        for name in [name for name in tensors if any(part in name for part in parts)]:
            del tensors[name]

    return change


def filled(value: float, only: str = "") -> Callable[[Tensors], None]:
    """Put one value into every float, or into the tensors with `only` in their name."""

    def change(tensors: Tensors) -> None:
        for name, tensor in tensors.items():
            if only in name and tensor.is_floating_point():
                tensor.fill_(value)

    return change


def put(name: str, tensor: torch.Tensor) -> Callable[[Tensors], None]:
    return lambda tensors: tensors.update({name: tensor})


QKV = "transformer.layers.1.dec_attn.qkv_net.weight"
FOLDERS: dict[str, Callable[[Path], None]] = {
    "33_no_u": weights(without("r_w_bias")),
    "33_no_norm": weights(without("layers.1.dec_attn.layer_norm")),
    "33_half_the_layers": weights(without("layers.0.")),
    "33_no_embedding": weights(without("word_emb")),
    "33_own": weights(without("layers.1.attn.u"), OWN),
    "34_more": weights(put("optimizer.step", torch.ones(3))),
    "34_more_own": weights(put("ema.decay", torch.ones(3)), OWN),
    "35_shape": weights(put(QKV, torch.ones(96, 33))),
    "35_dims": weights(put(QKV, torch.ones(96))),
    "35_int": weights(put(QKV, torch.ones(96, 32, dtype=torch.int64))),
    "35_n_head": config(n_head=8),
    "35_d_model": config(d_model=64),
    "35_vocab": config(vocab_size=50257),
    "35_odd": weights(
        lambda tensors: tensors.update({n: t[..., :31].contiguous() for n, t in tensors.items() if t.dim() > 1})
    ),
    "35_own_heads": config(OWN, n_head=3),
    "36_layers": config(n_layer=10**9),
    "36_negative": config(mem_len=-5),
    "36_huge": config(mem_len=10**12),
    "36_nan": config(mem_len=float("nan")),
    "36_text": config(clamp_len="12"),
    "36_flag": config(same_length="yes"),
    "36_list": config(cutoffs=[3, 2]),
    "36_own_layers": config(OWN, n_layer=10**9),
    "36_own_nan": config(OWN, dropout=float("nan")),
    "36_own_text": config(OWN, n_head="4"),
    "36_long": config_text('{"a": "' + "x" * (2 << 20) + '"}'),
    "36_deep": config_text('{"a": ' * 100_000 + "1" + "}" * 100_000),
    "36_twice": config_text(GOOD.joinpath("config.json").read_text().replace("{", '{"n_layer": 2,', 1)),
    "36_cut": config_text('{"n_layer": 2'),
    "38_nan": weights(filled(float("nan"))),
    "38_inf": weights(filled(float("inf"), "layers.1")),
    "38_huge": weights(filled(1e38, "qkv_net")),
    "38_zero": weights(filled(0.0)),
    "38_denormal": weights(filled(1e-40)),
    "38_own_nan": weights(filled(float("nan"), "attn.u"), OWN),
}


def write(out: Path, name: str) -> Path:
    """Write one of them and give its folder."""
    FOLDERS[name](out / name)
    return out / name


if __name__ == "__main__":
    for each in FOLDERS:
        print(write(Path(sys.argv[1]), each))
