"""What the tensors cannot tell: which answers were assumed, and what another answer would change."""

import torch

from relxl.canonical import RelativeAttention
from relxl.checkpoint import Checkpoint
from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind
from relxl.families import BY_NAME, Ask, FamilyError, Setting, open_tensors
from relxl.masking import attention_probs
from relxl.trace import Trace

CHANGES = 1e-3  # probability; another answer that moves less makes no difference on this text
SHOWN = 6

ASSUMED = Kind(
    "config.assumed",
    "warning",
    "{name} is not in the file and was taken to be {value}; with {other} a probability of L{layer} changes by "
    "{moved:.2f}.",
    "Look it up in the training config and give it: --choose {name}=...; the tensors are the same either way.",
    "espnet/espnet#3068",
    "checkpoint",
)
ASSUMED_UNSEEN = Kind(
    "config.assumed",
    "note",
    "{names} cannot be told from the tensors and were assumed.",
    "Look them up in the training config and give them by --choose NAME=VALUE or --config FILE.",
    "espnet/espnet#3068",
    "checkpoint",
)
UNMATCHED = Kind(
    "config.unmatched",
    "note",
    "{count} tensors of the file play no part: {names}.",
    "If one of them is a part of the attention, its name is not what the family calls it.",
    "NVIDIA-NeMo/Speech#3347",
    "checkpoint",
)
ODD_BATCH = Kind(
    "config.odd_batch",
    "warning",
    "bi_data reads the second half of a batch backwards, but {batch} texts have no halves: {forward} are read forward.",
    "Give an even batch, or switch bi_data off for evaluation.",
    "huggingface/transformers#875",
    "checkpoint",
)


def check_assumed(case: Case) -> list[Finding]:
    """Try the other answers to all that was assumed. Cannot see: numbers such as clamp_len, which fit either way."""
    checkpoint = case.checkpoint
    open_questions = [setting for setting in checkpoint.opened.settings if setting.origin == "assumed"]
    found, unseen = [], []
    for setting in open_questions:
        moved = [
            (0.0 if case.trace is None else change(checkpoint, case.trace, other), other)
            for other in other_answers(setting)
        ]
        worst, other = max(moved, key=lambda one: one[0], default=(0.0, {}))
        if worst > CHANGES:
            said = ", ".join(f"{name}={value}" for name, value in other.items())
            values = {"name": setting.ask.name, "value": setting.value, "other": said, "moved": worst}
            found.append(ASSUMED.at(0, evidence={"changes_by": worst}, **values))
        else:
            unseen.append(f"{setting.ask.name}={setting.value}")
    if unseen:
        found.append(ASSUMED_UNSEEN.at(names=", ".join(unseen), evidence={"assumed": unseen}))
    return found


def other_answers(setting: Setting) -> list[dict[str, object]]:
    """Give what else may be answered; another family brings questions of its own, each answered otherwise."""
    others = [{setting.ask.name: value} for value in alternatives(setting.ask, setting.value)]
    if setting.ask.name != "family":
        return others
    return others + [
        other | {ask.name: value}
        for other in others
        for ask in BY_NAME[other["family"]].asks
        for value in alternatives(ask, ask.default)
    ]


def alternatives(ask: Ask, value: object) -> list[object]:
    return [not value] if isinstance(ask.default, bool) else [option for option in ask.options if option != value]


def change(checkpoint: Checkpoint, trace: Trace, other: dict[str, object]) -> float:
    """Measure how far the first layer's probabilities move, on the same input, if questions are answered otherwise."""
    chosen = {setting.ask.name: setting.value for setting in checkpoint.opened.settings if setting.origin != "assumed"}
    try:
        opened = open_tensors(checkpoint.weights.tensors, checkpoint.weights.config, chosen | other)
        with torch.no_grad():
            probs = [
                first_probs(model.layers[0].attn, trace, model.rule_at(trace.mem_len))
                for model in (checkpoint.model, opened.model)
            ]
    except (FamilyError, ValueError):
        return 0.0  # the file cannot be read so
    return float((probs[0] - probs[1]).abs().nan_to_num(0).max())


def first_probs(attn: RelativeAttention, trace: Trace, rule) -> torch.Tensor:
    hidden, mem_len = trace.hidden[0][:1], trace.mem_len
    keep = None if trace.keep is None else trace.keep[:1]
    return attention_probs(attn.terms(hidden[:, mem_len:], hidden, mem_len, trace.clamp_len), rule, mem_len, keep)


def check_unmatched(case: Case) -> list[Finding]:
    """List tensors that play no part. Cannot see: a tensor that was matched and belongs elsewhere."""
    names = case.checkpoint.opened.unmatched
    if not names:
        return []
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    return [UNMATCHED.at(count=len(names), names=shown, evidence={"first": list(names[:SHOWN])})]


def check_batch(case: Case) -> list[Finding]:
    """Find an odd batch where bi_data halves it. Cannot see: texts that were put into the wrong half."""
    batch = len(case.trace.tokens)
    if batch % 2 == 0 or not any(attn.bi_data for attn in case.attentions):
        return []
    return [ODD_BATCH.at(batch=batch, forward=batch - batch // 2 if batch > 1 else 1, evidence={"batch": batch})]
