"""Small models of other families for tests: the fixtures, opened as any checkpoint is."""

import json
import shutil
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from relxl.checkpoint import Checkpoint, open_checkpoint
from tests.conformance import weights_of
from tests.conftest import ROOT

CASES = {
    "txl_official": "txl_official/mem_2seg",
    "txl_learned": "txl_official/attn_type1_mem",
    "txl_same_length": "txl_official/same_length",
    "hf_transfoxl": "hf_transfoxl/untied_mem_2seg",
    "hf_same_length": "hf_transfoxl/same_length_clamp_div2_3clusters",
    "xlnet_uni": "xlnet/uni_mems_seg",
    "xlnet_bi": "xlnet/bi_nomem_seg",
    "wav2vec2_conformer": "wav2vec2_conformer/nomask",
    "labml": "labml/mem_2seg",
    "espnet": "espnet/bi_nomask",
    "espnet_legacy": "espnet/legacy_causal",
    "nemo": "nemo/cache_6",
    "speechbrain": "speechbrain/self_nomask",
    "article": "seed/self_L20_max6_clamped",
}


def config_of(name: str) -> dict:
    """Give what the case's own code was told, the family among it."""
    meta = json.loads((ROOT / "tests/fixtures" / CASES[name] / "meta.json").read_text())
    return meta["config"] | {"family": "article" if meta["family"] == "seed" else meta["family"]}


@cache
def foreign(name: str, dtype: torch.dtype = torch.float64) -> Checkpoint:
    """Open a case. Shared by all tests: a model of another family is never changed."""
    return open_checkpoint(weights_of(ROOT / "tests/fixtures" / CASES[name]), dtype, config=config_of(name))


def foreign_folder(name: str, root: Path) -> Path:
    """Copy a case to a checkpoint folder under `root`, with its config beside the weights."""
    weights, folder = weights_of(ROOT / "tests/fixtures" / CASES[name]), root / name
    if weights.is_dir():
        shutil.copytree(weights, folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(weights, folder / weights.name)
        (folder / "config.json").write_text(json.dumps(config_of(name)))
    return folder


def input_of(checkpoint: Checkpoint, length: int = 9, batch: int = 1) -> Tensor:
    """Draw what the first layer reads: [batch length d_model]."""
    generator, config = torch.Generator().manual_seed(3), checkpoint.config
    if config.n_token:
        return checkpoint.model.embed(torch.randint(config.n_token, (batch, length), generator=generator))
    return torch.randn(batch, length, config.d_model, generator=generator, dtype=checkpoint.model.dtype)
