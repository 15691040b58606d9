"""How a fault is put into a healthy model: small functions from a subject to another one."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from relxl.bench.doctor_subjects import (
    Subject,
    Tensors,
    with_attentions,
    with_model,
    with_tensors,
    without_sample,
)
from relxl.canonical import CanonicalModel, RelativeAttention
from relxl.doctor.case import trace_tokens
from relxl.doctor.hypotheses import remapped
from relxl.trace import run

# Small steps ----------------------------------------------------------------------------------------------------------


def put(name: str, change: Callable[[Tensor], Tensor], **config: object) -> Callable[[Subject], Subject]:
    """Change every tensor whose name ends so."""

    def change_all(tensors: Tensors) -> Tensors:
        named = {key: value for key, value in tensors.items() if key.endswith(name)}
        if not named:
            raise ValueError(f"no tensor ends in {name}")
        return {key: change(value.clone()) for key, value in named.items()}

    return lambda subject: with_tensors(subject, change_all, **config)


def cell(value: float) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        tensor.view(-1)[7] = value
        return tensor

    return change


def noise(std: float = 0.02) -> Callable[[Tensor], Tensor]:
    return lambda tensor: torch.randn(tensor.shape, generator=torch.Generator().manual_seed(5)) * std


def redraw(tensors: Tensors) -> Tensors:
    return {name: noise()(value) if value.dim() > 1 else value for name, value in tensors.items()}


def copies(pairs: dict[str, str]) -> Callable[[Subject], Subject]:
    return lambda subject: with_tensors(subject, lambda t: {name: t[source].clone() for name, source in pairs.items()})


def attention(change: Callable[[RelativeAttention], RelativeAttention], layer: int | None = None):
    return lambda subject: with_attentions(subject, change, layer)


def shift(name: str) -> Callable[[Subject], Subject]:
    return attention(lambda attn: remapped(attn, name))


def mask(**parts: object) -> Callable[[Subject], Subject]:
    return lambda subject: with_model(subject, lambda model: replace(model, rule=replace(model.rule, **parts)))


def rows_from(first: int, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Change the rows of a learned table of both sides from a distance on."""

    def change_rows(table: Tensor) -> Tensor:
        table[(len(table) - 1) // 2 + first :] = change(table[(len(table) - 1) // 2 + first :])
        return table

    return change_rows


def symmetric(table: Tensor) -> Tensor:
    reach = (len(table) - 1) // 2
    table[:reach] = table[reach + 1 :].flip(0)
    return table


def both(*steps: Callable[[Subject], Subject]) -> Callable[[Subject], Subject]:
    def apply(subject: Subject) -> Subject:
        for step in steps:
            subject = step(subject)
        return subject

    return apply


# Faults of a run ------------------------------------------------------------------------------------------------------


def near_fill(subject: Subject) -> Subject:
    """Fill 17 nats below the least of what the rows attend to most."""
    best = []
    for layer in range(len(subject.trace.hidden)):
        split = subject.trace.terms(layer)
        scores = torch.as_tensor(split.logits.copy()).masked_fill(~torch.as_tensor(split.mask.copy()), -torch.inf)
        best.append(float(scores.amax(-1).min()))
    return mask(fill=min(best) - 17.0)(subject)


def unfilled_memory(subject: Subject) -> Subject:
    """Start with a memory of zeros that is attended to."""
    zeros = [torch.zeros(1, 64, subject.checkpoint.config.d_model)] * subject.checkpoint.config.n_layer
    trace = subject.trace
    hidden = tuple(torch.cat([z, h[:, trace.mem_len :]], dim=1) for z, h in zip(zeros, trace.hidden, strict=True))
    tokens = torch.as_tensor(trace.tokens[:, trace.mem_len :].copy())
    tokens = torch.cat([torch.full((1, 64), -1), tokens], dim=1).numpy()
    return replace(subject, trace=replace(trace, hidden=hidden, tokens=tokens, mem_len=64))


def prompt_again(subject: Subject) -> Subject:
    """Feed a prompt that the memory holds already."""
    prompt = torch.as_tensor(subject.trace.tokens[:, :40].copy())
    trace = run(subject.checkpoint.model, torch.cat([prompt, prompt], dim=1), mem_len=40)
    return replace(subject, trace=trace)


def hidden_row(subject: Subject) -> Subject:
    """Hide every key from one query."""
    trace = subject.trace
    keep = torch.ones(len(trace.tokens), 1, trace.query_len, trace.key_len, dtype=torch.bool)
    keep[0, 0, 3] = False
    return replace(subject, trace=replace(trace, keep=keep))


def long_memory(subject: Subject) -> Subject:
    """Evaluate over a memory that is longer than in training, without a clamp."""
    ids = torch.as_tensor(subject.trace.tokens.copy()).repeat(1, 3)
    return without_sample(replace(subject, trace=run(subject.checkpoint.model, ids[:, :500], mem_len=400)))


def clamp(clamp_len: int) -> Callable[[Subject], Subject]:
    return lambda s: with_model(s, lambda model: replace(model, config=replace(model.config, clamp_len=clamp_len)))


def one_text(subject: Subject) -> Subject:
    return replace(subject, trace=run(subject.checkpoint.model, torch.as_tensor(subject.trace.tokens[:1].copy())))


def other_vocabulary(subject: Subject) -> Subject:
    """Take the tokens of another vocabulary of the same size."""
    vocab = subject.checkpoint.vocab
    checkpoint = replace(subject.checkpoint, vocab=type(vocab)(vocab.tokens[::-1]))
    ids = checkpoint.vocab.encode(checkpoint.training["sample"]["text"]).ids
    return replace(subject, checkpoint=checkpoint, trace=trace_tokens(checkpoint.model, ids))


def forgotten_answers(subject: Subject) -> Subject:
    """Open the file without its config."""
    answers = {setting.ask.name: None for setting in subject.checkpoint.opened.settings}
    return with_tensors(subject, lambda tensors: {}, **(answers | {"family": "espnet"}))


def nothing_told(subject: Subject) -> Subject:
    """Open the tensors alone: not even the family can be told."""
    answers = {setting.ask.name: None for setting in subject.checkpoint.opened.settings}
    return with_tensors(subject, lambda tensors: {}, **answers)


def wanted_key(subject: Subject) -> Subject:
    """Let u of every head of L0 point from all other keys to that of a token that stands there once.

    Fisher's discriminant of that key and the others.
    """
    tokens, hidden = subject.trace.tokens[0].tolist(), subject.trace.hidden[0][0]
    place = next(i for i, token in enumerate(tokens) if tokens.count(token) == 1)

    def change(attn: RelativeAttention) -> RelativeAttention:
        key = attn.w_k(hidden).unflatten(-1, (attn.n_heads, -1)).transpose(0, 1)  # [head key d_head]
        others = key[:, [i for i in range(len(tokens)) if i != place]]
        middle = others.mean(1, keepdim=True)
        others = others - middle
        spread = others.mT @ others / others.shape[1] + 1e-3 * torch.eye(key.shape[-1])
        u = torch.linalg.solve(spread, key[:, place] - middle[:, 0])
        return replace(attn, u=u * 60 / u.abs().amax(-1, keepdim=True))

    return attention(change, 0)(subject)


def two_segments(subject: Subject) -> Subject:
    """Read the text twice, the first time as memory."""
    tokens = torch.as_tensor(subject.trace.tokens.copy())
    mem_len = subject.checkpoint.config.mem_len
    trace = run(subject.checkpoint.model, torch.cat([tokens, tokens.flip(1)], dim=1), mem_len=tokens.shape[1])
    return replace(subject, trace=trace) if mem_len else subject


def as_legacy(subject: Subject) -> Subject:
    return with_tensors(subject, lambda tensors: {}, rel_pos_type="legacy")


def one_head_twice(attn: RelativeAttention) -> RelativeAttention:
    def twice(x: Tensor) -> Tensor:
        x = x.clone().unflatten(0, (attn.n_heads, -1)) if len(x) != attn.n_heads else x.clone()
        x[1] = x[0]
        return x

    def linear(w):
        return replace(
            w, weight=twice(w.weight).flatten(0, 1), bias=None if w.bias is None else twice(w.bias).flatten()
        )

    positions = attn.positions
    positions = replace(positions, **({"rows": twice(positions.rows)} if hasattr(positions, "rows") else {}))
    if hasattr(positions, "w_k_pos"):
        positions = replace(positions, w_k_pos=twice(positions.w_k_pos))
    return replace(
        attn, w_q=linear(attn.w_q), w_k=linear(attn.w_k), u=twice(attn.u), v=twice(attn.v), positions=positions
    )


def scaled(factor: float) -> Callable[[Subject], Subject]:
    return attention(lambda attn: replace(attn, scale=attn.scale * factor))


def other_input_scale(model: CanonicalModel) -> CanonicalModel:
    return replace(model, input_scale=1.0)
