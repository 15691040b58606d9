"""What a check looks at: a checkpoint, and where there are such, a run of it and a captured reference."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel, RelativeAttention
from relxl.checkpoint import OWN, Checkpoint
from relxl.doctor.canon import canonical
from relxl.doctor.capture import Reference
from relxl.masking import MaskedScores
from relxl.model import TransformerXL
from relxl.trace import NO_TOKEN, Trace, run, run_hidden, split_memory

STAND_IN_LEN = 48  # tokens or frames of noise: enough for masks and shifts, short enough for any model
MOST_ROWS = 256  # queries of a trace whose scores are looked at
MOST_SCORES = 1 << 24  # cells of all layers and heads that are kept at once: 64 MB a matrix in float32


@dataclass(frozen=True)
class Case:
    """Hold a checkpoint and all that is known beside it."""

    checkpoint: Checkpoint
    trace: Trace | None = None
    reference: Reference | None = None

    @cached_property
    def model(self) -> CanonicalModel | None:
        """Give the model in the canonical form; None for absolute positions."""
        return canonical(self.checkpoint.model)

    @property
    def attentions(self) -> list[RelativeAttention]:
        return [] if self.model is None else [layer.attn for layer in self.model.layers]

    @property
    def causal(self) -> bool:
        """Say whether a query sees the past alone."""
        return self.checkpoint.model.rule_at(0).sees == "past"

    @property
    def own(self) -> bool:
        return self.checkpoint.opened.family is OWN

    def told(self, name: str) -> object | None:
        """Give what is known of a setting, None where it was merely assumed; ours has all of them in its config."""
        for setting in self.checkpoint.opened.settings:
            if setting.ask.name == name:
                return None if setting.origin == "assumed" else setting.value
        field = {"tgt_len": "segment_len"}.get(name, name)
        return getattr(self.checkpoint.config, field, None) if self.own else None

    def scores(self, layer: int) -> MaskedScores:
        """Give the scores of the last rows of a layer under the model's own rule, first batch entry."""
        trace, config = self.trace, self.checkpoint.config
        fit = MOST_SCORES // (config.n_layer * config.n_head * trace.key_len)
        with torch.no_grad():
            return trace.scores(layer, min(trace.query_len, MOST_ROWS, max(fit, 8)), trace.rule)

    @cached_property
    def layer_scores(self) -> tuple[MaskedScores, ...]:
        return tuple(self.scores(layer) for layer in range(len(self.trace.hidden)))

    @property
    def tokens(self) -> Tensor | None:
        """Give the first text of the trace, memory included, without what is no token: [token]."""
        ids = torch.as_tensor(self.trace.tokens[0].copy())
        ids = ids[ids != NO_TOKEN]
        return ids if len(ids) else None


def trace_tokens(model: TransformerXL | CanonicalModel, ids: list[int]) -> Trace:
    """Run a model on a text as the pages do: at most a segment of queries, and before it at most its memory."""
    config = model.config
    used, mem_len = split_memory(len(ids), config.segment_len, config.mem_len)
    return run(model, torch.tensor([ids[-used:]]), mem_len)


def sample_ids(checkpoint: Checkpoint) -> list[int] | None:
    """Give the tokens of the recorded sample, if a checkpoint has one."""
    sample = checkpoint.training.get("sample")
    if not sample or not checkpoint.vocab:
        return None
    return checkpoint.vocab.encode(sample["text"]).ids


def sample_trace(checkpoint: Checkpoint) -> Trace | None:
    """Run a checkpoint on the sample that was recorded beside it, if it has one."""
    ids = sample_ids(checkpoint)
    return trace_tokens(checkpoint.model, ids) if ids else None


def stand_in(checkpoint: Checkpoint) -> Trace:
    """Run a checkpoint on noise: enough to see its mask, its shift and its numbers, but it says nothing of heads."""
    generator, config = torch.Generator().manual_seed(0), checkpoint.config
    if config.n_token:
        return trace_tokens(
            checkpoint.model, torch.randint(config.n_token, (STAND_IN_LEN,), generator=generator).tolist()
        )
    length = STAND_IN_LEN
    if config.positions == "learned":
        length = min(length, config.max_len)
    frames = torch.randn(1, length, config.d_model, generator=generator).to(checkpoint.model.dtype)
    return run_hidden(checkpoint.model, frames)
