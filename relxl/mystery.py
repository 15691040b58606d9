"""Spot the bug: a small trained model in which a seed has planted one fault, or none. The same seed, the same bytes.

The files are those of any checkpoint of ours, and nothing in them says what was done: the weights, the config, the
vocabulary, and of the training record its text, its settings and its sample with the losses of the sound model.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from relxl.checkpoint import Checkpoint
from relxl.model import INIT_STD
from relxl.training import sample_losses

FIRST_SEED, LAST_SEED = 1, 995
ROUND = 5  # seeds that a class plays together, each with another fault
OPTIONS = 6
HEALTHY = "none"
BASES = ("shakespeare-learned", "shakespeare-sinusoid")
TOLD = ("text", "train", "validation", "sample")
SHORT, CLAMP, FIRST_UNTRAINED = 32, 8, 24

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Patient:
    """Hold a model while something is done to it: its tensors, its config, its tokens, and the dice of the seed."""

    tensors: Tensors
    config: dict
    tokens: list
    dice: random.Random

    @property
    def layer(self) -> int:
        """Roll a layer."""
        return self.dice.randrange(self.config["n_layer"])

    def noise(self, x: Tensor) -> Tensor:
        """Draw what a tensor was before any training."""
        generator = torch.Generator().manual_seed(self.dice.randrange(1 << 30))
        return torch.randn(x.shape, generator=generator) * INIT_STD


@dataclass(frozen=True)
class Planted:
    """Say what was planted: the layer where it is one layer's, and the numbers that tell."""

    layer: int | None = None
    numbers: Mapping[str, float] | None = None


def layers(patient: Patient, name: str) -> list[str]:
    return [f"layers.{i}.attn.{name}" for i in range(patient.config["n_layer"])]


# What is planted -----------------------------------------------------------------------------------------------------


def nothing(patient: Patient) -> Planted:
    return Planted()


def swap_biases(patient: Patient) -> Planted:
    """Put u where v belongs and v where u belongs, in every layer."""
    tensors = patient.tensors
    for u, v in zip(layers(patient, "u"), layers(patient, "v"), strict=True):
        tensors[u], tensors[v] = tensors[v], tensors[u]
    return Planted()


def tie_biases(patient: Patient) -> Planted:
    """Use u and v of L0 in every layer."""
    for name in ("u", "v"):
        for its in layers(patient, name)[1:]:
            patient.tensors[its] = patient.tensors[layers(patient, name)[0]].clone()
    return Planted(numbers={"layers": patient.config["n_layer"]})


def leave_unfilled(patient: Patient) -> Planted:
    """Leave u of one layer with what lay in memory."""
    layer = patient.layer
    u = torch.full_like(patient.tensors[layers(patient, "u")[layer]], 1e-41)
    u.view(-1)[patient.dice.randrange(u.numel())] = 3e4
    patient.tensors[layers(patient, "u")[layer]] = u
    return Planted(layer, {"largest": float(u.max()), "denormal": u.numel() - 1})


def widen_scale(patient: Patient) -> Planted:
    """Divide by sqrt(d_model) where sqrt(d_head) is meant: the query and both biases become smaller."""
    root = patient.config["n_head"] ** 0.5
    for name in ("w_q.weight", "w_q.bias", "u", "v"):
        for its in layers(patient, name):
            patient.tensors[its] = patient.tensors[its] / root
    return Planted(numbers={"factor": root})


def transpose_values(patient: Patient) -> Planted:
    """Transpose the value projection of one layer."""
    layer = patient.layer
    name = layers(patient, "w_v.weight")[layer]
    patient.tensors[name] = patient.tensors[name].T.contiguous()
    return Planted(layer, {"width": patient.config["d_model"]})


def leave_unloaded(patient: Patient) -> Planted:
    """Leave the query projection of one layer as it was drawn."""
    layer = patient.layer
    name = layers(patient, "w_q.weight")[layer]
    was = float(patient.tensors[name].std())
    patient.tensors[name] = patient.noise(patient.tensors[name])
    return Planted(layer, {"was": was, "std": float(patient.tensors[name].std())})


def turn_round(patient: Patient) -> Planted:
    """Count distances the other way: row d becomes row -d."""
    if patient.config["positions"] == "learned":
        for name in layers(patient, "pos_enc.pos_table"):
            patient.tensors[name] = patient.tensors[name].flip(0)
    else:
        for name in layers(patient, "w_k_pos"):
            w = patient.tensors[name]
            sines = w.shape[1] // 2
            patient.tensors[name] = torch.cat([-w[:, :sines], w[:, sines:]], dim=1)
    return Planted()


def cut_table(patient: Patient) -> Planted:
    """Keep the rows up to distance SHORT - 1 alone."""
    cut = patient.config["max_len"] - SHORT
    for name in layers(patient, "pos_enc.pos_table"):
        patient.tensors[name] = patient.tensors[name][cut:-cut].clone()
    patient.config["max_len"] = SHORT
    return Planted(numbers={"last": SHORT - 1})


def forget_rows(patient: Patient) -> Planted:
    """Let the rows from a distance on be as they were drawn."""
    first = patient.config["max_len"] - 1 + FIRST_UNTRAINED
    for name in layers(patient, "pos_enc.pos_table"):
        patient.tensors[name][first:] = patient.noise(patient.tensors[name][first:])
    return Planted(numbers={"first": FIRST_UNTRAINED})


def clamp_distances(patient: Patient) -> Planted:
    """Set a clamp_len that the training did not have."""
    patient.config["clamp_len"] = CLAMP
    return Planted(numbers={"clamp_len": CLAMP})


def drop_memory(patient: Patient) -> Planted:
    """Set the memory to 0."""
    was, patient.config["mem_len"] = patient.config["mem_len"], 0
    return Planted(numbers={"was": was})


def swap_vocabulary(patient: Patient) -> Planted:
    """Take the tokens of another vocabulary of the same size."""
    patient.tokens.reverse()
    return Planted(numbers={"tokens": len(patient.tokens)})


@dataclass(frozen=True)
class Fault:
    """Hold a fault: what plants it, the models that can have it, and the findings of the doctor that name it."""

    kind: str
    plant: Callable[[Patient], Planted]
    finds: tuple[str, ...]
    bases: tuple[str, ...] = BASES


FAULTS = (
    Fault(HEALTHY, nothing, ()),
    Fault("swapped", swap_biases, ("loss.swapped_biases",)),
    Fault("tied", tie_biases, ("biases.tied",)),
    Fault("unfilled", leave_unfilled, ("biases.uninitialised",)),
    Fault("wide_scale", widen_scale, ("loss.scale",)),
    Fault("transposed", transpose_values, ("loss.transposed",)),
    Fault("not_loaded", leave_unloaded, ("weights.as_drawn",)),
    Fault("flipped", turn_round, ("loss.direction",)),
    Fault("short", cut_table, ("positions.short",), BASES[:1]),
    Fault("untrained_rows", forget_rows, ("positions.untrained",), BASES[:1]),
    Fault("clamp", clamp_distances, ("positions.clamped", "loss.clamp")),
    Fault("no_memory", drop_memory, ("loss.memory", "loss.memory_missing")),
    Fault("vocabulary", swap_vocabulary, ("loss.sample", "loss.above_chance")),
)
KINDS = tuple(fault.kind for fault in FAULTS)
ALSO = {"flipped": ("untrained_rows",)}  # what is true beside it: the future's rows of a table were never trained


@dataclass(frozen=True)
class Riddle:
    """Say what a seed plants, and the kinds that are offered as an answer."""

    seed: int
    fault: Fault
    base: str
    options: tuple[str, ...]


def round_of(seed: int) -> range:
    """Give the seeds of the round that a seed belongs to: 1 to 5, 6 to 10, ..."""
    first = seed - (seed - FIRST_SEED) % ROUND
    return range(first, first + ROUND)


def riddle(seed: int) -> Riddle:
    """Roll a fault, a model and the options. Raises ValueError for a seed that is not FIRST_SEED to LAST_SEED."""
    if not FIRST_SEED <= seed <= LAST_SEED:
        raise ValueError(f"a mystery has a seed from {FIRST_SEED} to {LAST_SEED}, got {seed}")
    its_round = round_of(seed)
    fault = random.Random(f"relxl round {its_round.start}").sample(FAULTS, ROUND)[its_round.index(seed)]
    dice = random.Random(f"relxl mystery {seed}")
    base = dice.choice(fault.bases)
    shown = {HEALTHY, fault.kind}
    others = [kind for kind in KINDS if kind not in {*shown, *ALSO.get(fault.kind, ())}]
    shown |= set(dice.sample(others, OPTIONS - len(shown)))
    return Riddle(seed, fault, base, tuple(dice.sample(sorted(shown), OPTIONS)))


@dataclass(frozen=True)
class Mystery:
    """Hold a planted model: what was asked, what was done, and the files of its checkpoint by name."""

    riddle: Riddle
    planted: Planted
    files: tuple[tuple[str, bytes], ...]


def make_mystery(seed: int, root: Path) -> Mystery:
    """Plant the fault of a seed in one of the bundled checkpoints of `root`."""
    asked = riddle(seed)
    folder = root / asked.base
    texts = {name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("config", "vocab", "training")}
    tensors = load_file(folder / "model.safetensors")
    dice = random.Random(f"relxl mystery {seed}, its places")
    patient = Patient(tensors, texts["config"], texts["vocab"], dice)
    planted = asked.fault.plant(patient)
    told = {name: texts["training"][name] for name in TOLD}
    data = {"config": patient.config, "vocab": patient.tokens, "training": told}
    files = [(f"{name}.json", json.dumps(value, ensure_ascii=False, indent=1).encode()) for name, value in data.items()]
    files.append(("model.safetensors", save({name: x.contiguous() for name, x in sorted(tensors.items())})))
    return Mystery(asked, planted, tuple(files))


def sample_loss(checkpoint: Checkpoint) -> tuple[float, float]:
    """Give the mean loss on the recorded sample, as it was recorded and as the model has it now: nats per token."""
    sample = checkpoint.training["sample"]
    recorded = sample["losses"]
    ids = checkpoint.vocab.encode(sample["text"]).ids
    found = sample_losses(checkpoint.model, torch.tensor(ids))
    return sum(recorded) / len(recorded), sum(found) / len(found)
