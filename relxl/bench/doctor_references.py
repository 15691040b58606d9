"""Faults that only a captured run shows: each reference is captured from a model that differs in one thing."""

from dataclasses import replace

import torch

from relxl.bench.doctor_faults import ESPNET, HF, NEMO, OFFICIAL, TXL, WINDOWED, XLNET, Fault
from relxl.bench.doctor_steps import two_segments
from relxl.bench.doctor_subjects import Subject, captured, reopened_settings
from relxl.canonical import CanonicalModel
from relxl.doctor.canon import with_attention
from relxl.doctor.hypotheses import flipped, interleaved, mirrored, remapped, transposed, without_positions


def attention(change, kind: str = "probs", layer: int | None = None):
    """Capture a run in which one thing about the attentions differs."""
    return lambda subject: captured(subject, lambda model: with_attention(model, change, layer), kind)


def rule(**parts: object):
    return lambda subject: captured(subject, lambda model: replace(model, rule=replace(model.rule, **parts)))


def config(**parts: object):
    return lambda subject: captured(subject, lambda model: replace(model, config=replace(model.config, **parts)))


def settings(**answers: object):
    return lambda subject: captured(subject, lambda model: reopened_settings(subject, **answers))


def embedding(factor: float):
    def change(model: CanonicalModel) -> CanonicalModel:
        tables = tuple(table * factor for table in model.embedding.tables)
        return replace(model, embedding=replace(model.embedding, tables=tables))

    return lambda subject: captured(subject, change)


def tied(subject: Subject) -> Subject:
    first = subject.model.layers[0].attn
    return attention(lambda attn: replace(attn, u=first.u, v=first.v))(subject)


def two_at_once(attn):
    """Differ in two things, which no single hypothesis explains."""
    return replace(flipped(attn), u=attn.v, v=attn.u, scale=attn.scale * 1.37)


def swapped(attn):
    return replace(attn, u=attn.v, v=attn.u)


def unscaled(attn):
    return replace(attn, u=attn.u / attn.scale, v=attn.v / attn.scale)


def zeroed(attn):
    return replace(attn, u=torch.zeros_like(attn.u), v=torch.zeros_like(attn.v))


def longer_window(subject: Subject) -> Subject:
    """Capture a run over a full memory in which a query sees mem_len + 1 keys."""
    return rule(window=subject.model.rule.window + 1)(two_segments(subject))


def unsplit(subject: Subject) -> Subject:
    """Capture the same run with the axes in the authors' order."""
    found = captured(subject, lambda model: model)
    turned = {layer: probs.permute(2, 3, 0, 1) for layer, probs in found.reference.probs.items()}
    return replace(found, reference=replace(found.reference, probs=turned))


REFERENCES = (
    Fault(
        "captured: u and v swapped", "B19", HF, attention(swapped), "reference.swapped_biases", {"tensor": "probs.0"}
    ),
    Fault(
        "captured: swapped in one layer",
        "B19",
        OFFICIAL,
        attention(swapped, layer=2),
        "reference.swapped_biases",
        {"tensor": "probs.2"},
    ),
    Fault(
        "captured: sqrt(d_model)", "B21", ESPNET, attention(lambda a: replace(a, scale=a.scale / 2)), "reference.scale"
    ),
    Fault("captured: no scale", "B21", NEMO, attention(lambda a: replace(a, scale=1.0), "logits"), "reference.scale"),
    Fault("captured: biases unscaled", "B22", NEMO, attention(unscaled), "reference.biases_unscaled"),
    Fault(
        "captured: memory forgotten",
        "B6",
        OFFICIAL,
        attention(lambda a: remapped(a, "memory_forgotten")),
        "reference.memory_offset",
    ),
    Fault(
        "captured: chunks without their cache",
        "B44",
        "nemo/cache_6",
        attention(lambda a: remapped(a, "memory_forgotten"), "logits"),
        "reference.memory_offset",
    ),
    Fault("captured: j - i", "B4", NEMO, attention(flipped), "reference.direction"),
    Fault("captured: the sign of DeBERTa's port", "B42", XLNET, attention(flipped, "logits"), "reference.direction"),
    Fault("captured: another sinusoid layout", "7.2", TXL, attention(interleaved), "reference.layout"),
    Fault("captured: a clamp", "B33", TXL, config(clamp_len=5), "reference.clamp"),
    Fault("captured: legacy", "B2", ESPNET, settings(rel_pos_type="legacy"), "reference.setting"),
    Fault("captured: pre_lnorm", "7.11", TXL, settings(pre_lnorm=True), "reference.setting"),
    Fault("captured: W_k transposed", "B36", XLNET, attention(lambda a: transposed(a, "w_k")), "reference.transposed"),
    Fault("captured: no mask", "B15", TXL, rule(fault="no_mask"), "reference.mask"),
    Fault("captured: an inverted mask", "B13", HF, rule(fault="inverted"), "reference.mask"),
    Fault("captured: a mask before the shift", "B10", OFFICIAL, rule(order="before_shift"), "reference.mask"),
    Fault(
        "captured: a window of mem_len + 1",
        "B12",
        WINDOWED,
        longer_window,
        "reference.window",
    ),
    Fault("captured: no shift", "B3", ESPNET, attention(lambda a: remapped(a, "absolute")), "reference.shift"),
    Fault(
        "captured: T rows in an encoder",
        "B1",
        NEMO,
        attention(lambda a: remapped(a, "pad_and_view")),
        "reference.shift",
    ),
    Fault("captured: an ascending table", "B4", TXL, attention(lambda a: remapped(a, "ascending")), "reference.shift"),
    Fault("captured: the sign lost", "B5", ESPNET, attention(mirrored), "reference.mirrored"),
    Fault("captured: one layer's biases", "B20", HF, tied, "reference.tied_biases"),
    Fault("captured: biases lost", "B18", XLNET, attention(zeroed), "reference.lost_biases"),
    Fault(
        "captured: positions lost",
        "B14",
        "wav2vec2_conformer/nomask",
        attention(without_positions),
        "reference.lost_positions",
    ),
    Fault("captured: no sqrt(d_model) on the input", "B24", OFFICIAL, embedding(128**-0.5), "reference.input_scale"),
    Fault("captured: length first", "B31", TXL, unsplit, "reference.agrees"),
    Fault("captured: several things at once", "B45", NEMO, attention(two_at_once), "reference.unexplained"),
)
