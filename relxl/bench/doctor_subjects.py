"""Healthy models for the doctor's bench: the bundled checkpoints, and the fixtures of the tests, which are noise.

A `Subject` is a checkpoint with a run of it, and everything is done to a copy: a fault gives another subject.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

from relxl.canonical import AttentionModel, CanonicalModel, RelativeAttention
from relxl.checkpoint import OWN, Checkpoint, list_checkpoints, open_checkpoint, open_own
from relxl.doctor import Finding, Reference, examine, sample_trace, stand_in
from relxl.doctor.canon import canonical, with_attention
from relxl.families import open_tensors
from relxl.trace import Trace, run, run_hidden

ROOT = Path(__file__).parents[2]
CHECKPOINTS, FIXTURES = ROOT / "checkpoints", ROOT / "tests" / "fixtures"
NO_FAMILY = ("seed",)  # fixtures of the article's layer, whose family is known by its names


@dataclass(frozen=True)
class Subject:
    """Hold what is examined. Without a trace it is run on its sample, else on noise."""

    name: str
    checkpoint: Checkpoint
    trace: Trace | None = None
    reference: Reference | None = None
    noise: bool = False  # the trace read no real text
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def model(self) -> CanonicalModel:
        return canonical(self.checkpoint.model)

    def examined(self) -> list[Finding]:
        trace, noise = self.trace, self.noise
        if trace is None:
            trace = sample_trace(self.checkpoint)
            noise = trace is None
            trace = stand_in(self.checkpoint) if noise else trace
        return examine(self.checkpoint, trace, self.reference, noise)


def healthy_names() -> list[str]:
    """Name every healthy model: a bundled checkpoint by its name, a fixture by family and case."""
    cases = sorted(
        path.parent for path in FIXTURES.rglob("meta.json") if (path.parent / "expected.safetensors").exists()
    )
    return [*list_checkpoints(CHECKPOINTS), *(f"{case.parent.name}/{case.name}" for case in cases)]


@cache
def healthy(name: str) -> Subject:
    """Open a healthy model and run it: a bundled one on its sample, a fixture on its own input."""
    if "/" not in name:
        checkpoint = open_checkpoint(CHECKPOINTS / name)
        return Subject(name, checkpoint, sample_trace(checkpoint))
    case = FIXTURES / name
    meta = json.loads((case / "meta.json").read_text())
    known = {} if meta["family"] in NO_FAMILY else {"family": meta["family"]}
    known |= {"causal": meta["causal"]} if "causal" in meta else {}
    checkpoint = open_checkpoint(weights_of(case), config=meta["config"] | known, name=name)
    tensors = load((case / "expected.safetensors").read_bytes())
    start = "seg0.input."
    given = {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}
    return Subject(name, checkpoint, first_segment(checkpoint, given), noise=True, facts=meta)


def weights_of(case: Path) -> Path:
    """Find the weights of a fixture: a folder that its own code saved, or the one file that is not what is expected."""
    folders = [path for path in case.iterdir() if path.is_dir()]
    files = [path for path in case.iterdir() if path.suffix in (".safetensors", ".pt", ".bin")]
    return (folders or [path for path in files if path.name != "expected.safetensors"])[0]


def first_segment(checkpoint: Checkpoint, given: Mapping[str, Tensor]) -> Trace:
    """Run a fixture's first segment."""
    model = checkpoint.model
    ids = given.get("ids", given.get("input_ids"))
    if ids is not None:
        return run(model, ids, segments=given.get("token_type_ids"))
    x = (given["x"] if "x" in given else given["hidden_states"]).to(model.dtype)
    cache_of = given.get("cache")
    mems = None if cache_of is None else [cache_of.to(model.dtype)] * len(model.layers)
    keep = None if "kv" in given else checkpoint.opened.family.visible(given, *x.shape[:2])
    trace = run_hidden(model, x, mems)
    return trace if keep is None else replace(trace, keep=keep)


# What is done to a subject --------------------------------------------------------------------------------------------

Tensors = dict[str, Tensor]


def with_tensors(subject: Subject, change: Callable[[Tensors], Tensors], **config: object) -> Subject:
    """Change tensors of the file, or its config (None takes a value out), and open it again."""
    old = subject.checkpoint
    tensors = old.weights.tensors | change(dict(old.weights.tensors))
    told = {setting.ask.name: setting.value for setting in old.opened.settings if setting.origin != "assumed"}
    told = {name: value for name, value in (told | config).items() if value is not None}
    settings = old.weights.config | config
    settings = {name: value for name, value in settings.items() if value is not None}
    weights = replace(old.weights, tensors=tensors, config=settings)
    if old.opened.family is OWN:
        opened = open_own(weights, old.weights.config | config, torch.float32)
    else:
        opened = open_tensors(tensors, settings, told)
    return rerun(subject, replace(old, opened=opened, weights=weights))


def with_model(subject: Subject, change: Callable[[CanonicalModel], CanonicalModel]) -> Subject:
    """Change the model itself: what the code that runs it does wrong, or its mask."""
    opened = replace(subject.checkpoint.opened, model=change(subject.model))
    return rerun(subject, replace(subject.checkpoint, opened=opened))


def with_attentions(
    subject: Subject, change: Callable[[RelativeAttention], RelativeAttention], layer: int | None = None
) -> Subject:
    return with_model(subject, lambda model: with_attention(model, change, layer))


def without_sample(subject: Subject) -> Subject:
    """Forget the recorded sample, but keep reading its text."""
    training = {name: value for name, value in subject.checkpoint.training.items() if name != "sample"}
    return replace(subject, checkpoint=replace(subject.checkpoint, training=training))


def rerun(subject: Subject, checkpoint: Checkpoint) -> Subject:
    """Run a changed checkpoint on what the healthy one was run on."""
    old = subject.trace
    trace = None
    if checkpoint.config.n_token:
        zeros = int((old.tokens[0] < 0).sum())
        tokens = torch.as_tensor(old.tokens[:, zeros:].copy())
        trace = run(checkpoint.model, tokens, old.mem_len - zeros)
    else:
        x = old.hidden[0]
        mems = [h[:, : old.mem_len] for h in old.hidden] if old.mem_len else None
        if isinstance(checkpoint.model, AttentionModel) or checkpoint.config.n_layer == 1 or mems is None:
            trace = run_hidden(checkpoint.model, entering(subject, x)[:, old.mem_len :], mems)
            trace = replace(trace, keep=old.keep)
    return replace(subject, checkpoint=checkpoint, trace=trace)


def entering(subject: Subject, x: Tensor) -> Tensor:
    """Give what a model is run on that has the first layer's input x: where it does more before, noise of its shape."""
    if hasattr(subject.checkpoint.model.layers[0], "first_ff"):
        return torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    return x


def captured(
    subject: Subject, change: Callable[[CanonicalModel], CanonicalModel], kind: str = "probs", **parts: object
) -> Subject:
    """Give the healthy subject a reference, captured from a model that differs from it."""
    other = change(subject.model)
    its = rerun(subject, replace(subject.checkpoint, opened=replace(subject.checkpoint.opened, model=other))).trace
    scores = {layer: torch.as_tensor(getattr(its.terms(layer), kind).copy()) for layer in range(len(its.hidden))}
    values = {"probs": {}, "logits": {}, kind: scores, "mem_len": its.mem_len}
    if subject.checkpoint.config.n_token:
        zeros = int((its.tokens[0] < 0).sum())
        values |= {"tokens": torch.as_tensor(its.tokens[:, zeros:].copy()), "mem_len": its.mem_len - zeros}
    else:
        values |= {"hidden": entering(subject, subject.trace.hidden[0]), "visible": visible_of(its)}
    return replace(subject, reference=Reference(**(values | parts), name="captured.npz"))


def visible_of(trace: Trace) -> Tensor | None:
    return None if trace.keep is None else trace.keep[:, 0, 0] if trace.keep.shape[2] == 1 else trace.keep[:, 0]


def reopened_settings(subject: Subject, **answers: object) -> CanonicalModel:
    """Give the model of a subject's file under other answers to its family's questions."""
    told = {setting.ask.name: setting.value for setting in subject.checkpoint.opened.settings}
    weights = subject.checkpoint.weights
    return open_tensors(weights.tensors, weights.config, told | answers).model
