"""What a model loses when one term of one head is muted: on a text, every layer, head and term in turn."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Ablation:
    """Hold the loss on a text with one term of one head muted, and the loss with nothing muted: nats per token."""

    layer: int
    head: int
    term: int  # its place among the terms
    loss: float
    plain: float

    @property
    def change(self) -> float:
        return self.loss - self.plain


@torch.no_grad()
def ablate(model, tokens: Tensor, mem_len: int, n_term: int) -> Iterator[tuple[float, Ablation]]:
    """Mute every term of every head in turn and give (how much is done, what came of it).

    tokens [batch key]: the first mem_len are memory, read with nothing muted; the loss is that of the others. The model
    is not changed: the mix is an argument of its forward.
    """
    config = model.config
    memory = model(tokens[:, :mem_len]).hidden if mem_len else None
    segment = tokens[:, mem_len:]

    def loss(mix: Tensor) -> float:
        output = model(segment[:, :-1], memory, mix=mix)
        return F.cross_entropy(output.output_logits.flatten(0, 1), segment[:, 1:].flatten()).item()

    plain = loss(torch.ones(config.n_layer, config.n_head, n_term))
    total, done = config.n_layer * config.n_head * n_term, 0
    for layer in range(config.n_layer):
        for head in range(config.n_head):
            for term in range(n_term):
                mix = torch.ones(config.n_layer, config.n_head, n_term)
                mix[layer, head, term] = 0
                done += 1
                yield done / total, Ablation(layer, head, term, loss(mix), plain)
