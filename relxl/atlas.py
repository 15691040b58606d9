"""Measure all heads of a model: on one run, or on every window of a long text, streamed. torch ends here.

A window is what a page looks at: its queries, and the tokens before them as memory, read as `trace.run` reads them. So
the windows do not depend on each other, and the last one of a text is the one in view. One layer of a few windows at a
time is split and measured (`diagnostics.heads`); nothing quadratic is kept.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.diagnostics import (
    HeadScores,
    merge,
    repeated_sequence,
    stack_layers,
    window_scores,
    with_measure,
)
from relxl.model import TransformerXL
from relxl.split import to_numpy
from relxl.trace import Trace, run, split_memory

LAST_QUERIES = 256  # of a longer window, so many last rows are measured
BATCH_CELLS = 1 << 19  # of one layer that are split at once: more leave the processor's cache and are slower
LONGEST_PERIOD, SEQUENCES = 64, 2  # of the repeated random tokens


class AtlasStep(NamedTuple):
    """Say how far an atlas is, from 0 to 1, and what there is so far; None before the first window."""

    done: float
    scores: HeadScores | None  # [layer head] a measure


def windows_of(n_tokens: int, window: int, mem_len: int) -> tuple[list[int], int, int]:
    """Cut a text into windows that end with it: where the keys of each start, how many they are, how many are memory.

    The queries of all windows follow each other without a gap. A text too short for two is one window, split as a page
    splits it.
    """
    n_window = (n_tokens - mem_len) // window
    if n_window < 1:
        used, mem_len = split_memory(n_tokens, window, mem_len)
        return [n_tokens - used], used, mem_len
    key_len = window + mem_len
    return [n_tokens - key_len - place * window for place in reversed(range(n_window))], key_len, mem_len


def atlas(
    model: TransformerXL | CanonicalModel,
    tokens: Tensor,
    window: int,
    mem_len: int = 0,
    queries: int = LAST_QUERIES,
    repeat: bool = True,
) -> Iterator[AtlasStep]:
    """Measure every head of a language model on all windows of a text [token]: the scores so far after every few.

    `window` queries each with mem_len tokens before them, of which the last `queries` rows are measured. With `repeat`
    the scores have a measure "repeat": the induction on random tokens that come twice, none of them twice in a round.
    Raises ValueError for a text without a token.
    """
    if tokens.dim() != 1 or not len(tokens) or window < 1 or mem_len < 0:
        raise ValueError(
            f"an atlas needs a text [token] with at least one, windows of 1 or more and a memory of 0 or more, got "
            f"tokens {list(tokens.shape)}, window={window} and mem_len={mem_len}"
        )
    starts, key_len, mem_len = windows_of(len(tokens), window, mem_len)
    repeated = repeat_scores(model) if repeat else None
    config, rows = model.config, min(queries, key_len - mem_len)
    batch = max(1, BATCH_CELLS // (config.n_head * rows * key_len))
    if any(getattr(layer.attn, "bi_data", False) for layer in model.layers):
        batch = 1  # there the second half of a batch is read backwards
    scores, steps, step = None, -(-len(starts) // batch) * config.n_layer, 0
    for place in range(0, len(starts), batch):
        keys = torch.stack([tokens[start : start + key_len] for start in starts[place : place + batch]])
        trace, layers = run(model, keys, mem_len), []
        for layer in range(config.n_layer):
            layers.append(layer_scores(trace, layer, rows))
            step += 1
            if layer < config.n_layer - 1:
                yield AtlasStep(step / steps, scores)
        found = stack_layers(layers)
        found = found if repeated is None else with_measure(found, "repeat", repeated, "induction")
        scores = found if scores is None else joined(scores, found)
        yield AtlasStep(step / steps, scores)


def joined(scores: HeadScores, found: HeadScores) -> HeadScores:
    """Merge windows; the repeated sequence was measured once and stays what it is."""
    both = merge(scores, found)
    return with_measure(both, "repeat", scores, "repeat") if "repeat" in scores.mean else both


def trace_scores(trace: Trace, queries: int = LAST_QUERIES, entry: int = 0) -> HeadScores:
    """Measure every head of a model on the last `queries` of a run, of one batch entry: [layer head] a measure.

    This is the way of models that read hidden states, too.
    """
    one = at_entry(trace, entry)
    return stack_layers([layer_scores(one, layer, queries) for layer in range(len(one.hidden))])


def entries_atlas(trace: Trace, queries: int = LAST_QUERIES) -> Iterator[AtlasStep]:
    """Measure every head on each entry of a batch, as on so many windows."""
    scores, batch = None, len(trace.tokens)
    for entry in range(batch):
        found = trace_scores(trace, queries, entry)
        scores = found if scores is None else merge(scores, found)
        yield AtlasStep((entry + 1) / batch, scores)


def at_entry(trace: Trace, entry: int) -> Trace:
    """Give the part of a run that is one entry of its batch."""
    pick = slice(entry, entry + 1)
    keep = trace.keep if trace.keep is None or len(trace.keep) == 1 else trace.keep[pick]
    differs = None if trace.differs is None else trace.differs[pick]
    hidden = tuple(layer[pick] for layer in trace.hidden)
    return replace(trace, tokens=trace.tokens[pick], hidden=hidden, keep=keep, differs=differs)


@torch.no_grad()
def layer_scores(trace: Trace, layer: int, queries: int) -> HeadScores:
    """Measure the heads of one layer on the last `queries` of a run whose batch entries share a mask: [head]."""
    split = trace.terms(layer, queries=queries)
    zeros = to_numpy((trace.hidden[layer] == 0).flatten(2).all(-1))
    return window_scores(
        split.terms,
        split.logits,
        split.probs,
        split.mask.reshape(-1, *split.mask.shape[-2:])[0],
        split.distance,
        trace.mem_len,
        trace.tokens if trace.model.config.n_token else None,
        zeros if zeros.any() else None,
    )


def repeat_scores(model: TransformerXL | CanonicalModel) -> HeadScores:
    """Measure a language model on random tokens that come twice, the second time as queries: [layer head] a measure.

    Its "induction" is what a head gives to the token after the earlier copy, and nothing but that copy can tell where
    that is. A round is half a training segment, at most LONGEST_PERIOD, the vocabulary and what the model's window
    sees; the first one is memory, where the model can have one.
    """
    config = model.config
    period = min(LONGEST_PERIOD, config.segment_len // 2, config.n_token)
    mem_len = period if config.piecewise else 0
    period = max(1, min(period, (model.rule_at(mem_len).window or LONGEST_PERIOD + 1) - 1))
    scores = []
    for seed in range(SEQUENCES):
        sequence = torch.tensor(repeated_sequence(config.n_token, period, seed)[None])
        scores.append(trace_scores(run(model, sequence, min(mem_len, period)), period))
    return merge(*scores)
