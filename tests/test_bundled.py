"""The bundled checkpoints are what they claim to be."""

import pytest
import torch

from relxl.checkpoint import list_checkpoints, open_checkpoint
from relxl.proof import prove
from relxl.trace import run
from relxl.training import evaluate, sample_losses, split_tokens
from tests.conftest import ROOT

NAMES = [
    "shakespeare-absolute",
    "shakespeare-leaky",
    "shakespeare-learned",
    "shakespeare-sinusoid",
    "songci-learned",
    "txl-official",
]
SIZES = dict.fromkeys(NAMES, (4, 8, 128, 128)) | {
    "shakespeare-leaky": (2, 4, 64, 128),
    "txl-official": (4, 8, 128, 96),
}


def test_all_six_are_here_and_small():
    assert list_checkpoints(ROOT / "checkpoints") == NAMES
    files = [path for name in NAMES for path in (ROOT / "checkpoints" / name).iterdir()]
    assert sum(path.stat().st_size for path in files) < 35e6


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_sample_has_the_recorded_loss_on_every_character(name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    config, sample = checkpoint.config, checkpoint.training["sample"]
    assert (config.n_layer, config.n_head, config.d_model, config.segment_len) == SIZES[name]
    losses = sample_losses(checkpoint.model, torch.tensor(checkpoint.vocab.encode(sample["text"]).ids))
    assert losses == pytest.approx(sample["losses"], abs=1e-4)


@pytest.mark.parametrize(
    "name, most", [("shakespeare-learned", 1.6), ("shakespeare-sinusoid", 1.6), ("txl-official", 1.7)]
)
def test_the_relative_models_reach_their_validation_loss(name, most):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    text = (ROOT / "data/tinyshakespeare.txt").read_text(encoding="utf-8")
    _, validation = split_tokens(torch.tensor(checkpoint.vocab.encode(text).ids))
    loss = evaluate(checkpoint.model, validation)
    assert loss < most and loss == pytest.approx(checkpoint.training["validation"]["loss"], abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_split_of_every_layer_is_proved(name):
    checkpoint = open_checkpoint(ROOT / "checkpoints" / name)
    ids = checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids[:100]
    trace = run(checkpoint.model, torch.tensor([ids]), mem_len=40)
    for layer in range(checkpoint.config.n_layer):
        assert prove(trace, layer, trace.terms(layer), cells=4).holds
