"""What a page looks at, and the caches behind it.

Models and runs are shared by all sessions, so they are never changed. A cache is keyed by small values that say all:
the folder, the state of its files, the token ids, the memory length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from relxl import diagnostics, style
from relxl.checkpoint import Checkpoint, open_checkpoint
from relxl.config import ModelConfig, Sizes
from relxl.export import read_hidden
from relxl.masking import MaskRule
from relxl.model import TransformerXL
from relxl.proof import Proof, prove
from relxl.split import HeadTerms, LayerTerms
from relxl.trace import MaskedHead, Trace, run, run_hidden
from relxl.training import token_loss

LAST_QUERIES = 256  # of a long text, all heads at once are looked at for so many queries
FILLS = -np.logspace(-1, 5, 121)  # finite fills whose leak is drawn
TOLERANCE = 1e-6  # a leak below it counts as none where a fill is called safe
RANDOM_FRAMES = 64  # of hidden states that nobody gave
LOSS_TOKENS = 512  # of a long text, the loss under a rule is that of so many last tokens


class Mix(NamedTuple):
    """Say how loud the terms of one head, one layer or the whole model are: a factor each, 1 as it is, 0 muted."""

    factors: tuple[float, ...]
    layer: int | None = None  # None: every layer
    head: int | None = None  # None: every head

    def tensor(self, n_layer: int, n_head: int) -> torch.Tensor:
        """Spread the factors: [layer head term]."""
        mix = torch.ones(n_layer, n_head, len(self.factors))
        layers = slice(None) if self.layer is None else self.layer
        mix[layers, slice(None) if self.head is None else self.head] = torch.tensor(self.factors)
        return mix


class Source(NamedTuple):
    """Identify a checkpoint and a run of it."""

    path: str
    stamp: tuple  # name, time and size of each file: another state of the folder is another checkpoint
    name: str
    answers: tuple[tuple[str, object], ...] = ()  # to what the weights can not tell
    ids: bytes = b""  # of int32: a tuple of two thousand numbers takes longer to hash than a head to split
    mem_len: int = 0
    segment_at: int = 0  # query at which a second segment starts, 0 for no segments
    hidden: str = ""  # file of hidden states; random ones where a model needs some and there is none
    mix: Mix | None = None  # how loud each term is

    def mix_of(self, config: ModelConfig | Sizes) -> torch.Tensor | None:
        """Give the factor of each term for a model of these sizes, [layer head term], or None where all are 1."""
        return None if self.mix is None else self.mix.tensor(config.n_layer, config.n_head)

    @property
    def checkpoint(self) -> "Source":
        """Identify the checkpoint alone."""
        return Source(self.path, self.stamp, self.name, self.answers)


def source_of(path: Path, name: str = "", answers: tuple[tuple[str, object], ...] = ()) -> Source:
    """Identify a checkpoint by its file or the files of its folder, without reading the weights."""
    files = sorted(path.iterdir()) if path.is_dir() else [path] if path.exists() else []
    stats = [(file.name, file.stat()) for file in files if file.is_file()]
    stamp = tuple((file, stat.st_mtime_ns, stat.st_size) for file, stat in stats)
    return Source(str(path), stamp, name or path.name, answers)


def key_of(checkpoint: Checkpoint) -> tuple:
    """Say in small values all that an opened checkpoint depends on: a key for what is computed from it."""
    opened = checkpoint.opened
    answers = tuple((setting.ask.name, str(setting.value), setting.origin) for setting in opened.settings)
    return checkpoint.digest, opened.family.name, str(checkpoint.model.dtype), answers


@dataclass(frozen=True)
class View:
    """Hold what a page looks at: the opened checkpoint, the run of the text, and the layer and head chosen."""

    checkpoint: Checkpoint
    source: Source
    tokens: list[str]  # of memory and segment, in visible form
    layer: int
    head: int
    dark: bool
    corner: DeltaGenerator  # the place of the proof badge
    controls: tuple[Callable[[], object], ...]  # what draws the sidebar

    @property
    def label(self) -> str:
        return f"L{self.layer}H{self.head}"

    @property
    def key_len(self) -> int:
        return len(self.tokens)

    @property
    def mem_len(self) -> int:
        """Count the keys before the segment: memory tokens, and zeros where a family starts with them."""
        return self.trace.mem_len

    @property
    def attn(self):
        """Give the attention of the chosen layer."""
        return self.checkpoint.model.layers[self.layer].attn

    @cached_property
    def trace(self) -> Trace:
        """Give the run that is looked at."""
        return cached_trace(self.source)

    @cached_property
    def looks(self) -> dict[str, style.Term]:
        return style.terms_of(self.checkpoint.config.positions, segments=self.trace.differs is not None)

    @cached_property
    def terms(self) -> HeadTerms:
        """Split the scores of the chosen head."""
        return self.split.head(self.head)

    @cached_property
    def split(self) -> LayerTerms:
        """Split the scores of the chosen head, as one head of its layer."""
        return cached_terms(self.source, self.layer, self.head)

    @cached_property
    def all_heads(self) -> LayerTerms:
        """Split the scores of all heads of the chosen layer, for the last queries of the text."""
        return cached_heads(self.source, self.layer)

    @cached_property
    def shares(self) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Give each term's share in the chosen head, and in each of its rows."""
        return cached_shares(self.source, self.layer, self.head)

    @cached_property
    def proof(self) -> Proof:
        """Prove the split of the chosen head."""
        return cached_proof(self.source, self.layer, self.head)

    @cached_property
    def measures(self) -> dict[str, np.ndarray]:
        """Measure every head of the model on this text: [layer head] a measure."""
        return cached_measures(self.source)

    def masked(self, rule: MaskRule) -> MaskedHead:
        """Send the scores of the chosen head through a rule."""
        return cached_masked(self.source, self.layer, self.head, rule)

    def leaks(self, rule: MaskRule) -> np.ndarray:
        """Give the mean leak of every head of the model under a rule: [layer head]."""
        return cached_leaks(self.source, rule)

    def frontier(self, order: str) -> tuple[np.ndarray, np.ndarray]:
        """Give the leak of all heads of the chosen layer for every one of FILLS, [head fill], and their safe fills."""
        return cached_frontier(self.source, self.layer, order)

    def loss(self, rules: tuple[MaskRule, ...]) -> float:
        """Give the model's mean loss on the text, read as one segment, under one rule a layer: nats per token."""
        return cached_loss(self.source, rules)

    def cell(self, query: int, key: int) -> dict[str, np.ndarray]:
        """Explain one cell of the chosen head: what each dimension adds to each term."""
        return cached_trace(self.source).cell(self.layer, self.head, query, key)


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_checkpoint(source: Source) -> Checkpoint:
    return open_checkpoint(source.path, chosen=dict(source.answers), name=source.name)


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_trace(source: Source) -> Trace:
    checkpoint = cached_checkpoint(source.checkpoint)
    if not checkpoint.config.n_token:
        return hidden_trace(source, checkpoint)
    mix = source.mix_of(checkpoint.config)
    tokens = torch.tensor(np.frombuffer(source.ids, np.int32)[None].copy()).long()
    segments = None
    if source.segment_at:
        segments = (torch.arange(tokens.shape[1] - source.mem_len) >= source.segment_at).long()[None]
    return run(checkpoint.model, tokens, source.mem_len, segments=segments, mix=mix)


def random_frames(checkpoint: Checkpoint) -> int:
    """Say how many random frames are read where none are given: no more than a learned table has distances."""
    config = checkpoint.config
    return min(RANDOM_FRAMES, config.max_len) if config.positions == "learned" else RANDOM_FRAMES


def hidden_trace(source: Source, checkpoint: Checkpoint) -> Trace:
    """Run a model that reads hidden states on those of a file, or on random ones: N(0, 1), always the same."""
    mix = source.mix_of(checkpoint.config)
    if source.hidden:
        given = read_hidden(Path(source.hidden), checkpoint)
        return run_hidden(checkpoint.model, given.hidden, given.mems, visible=given.visible, mix=mix)
    shape = 1, random_frames(checkpoint), checkpoint.config.d_model
    return run_hidden(checkpoint.model, torch.randn(shape, generator=torch.Generator().manual_seed(0)), mix=mix)


@st.cache_resource(max_entries=12, show_spinner=False)  # 67 MB each at 2,048 tokens
def cached_terms(source: Source, layer: int, head: int) -> LayerTerms:
    return cached_trace(source).terms(layer, [head])


@st.cache_resource(max_entries=12, show_spinner=False)
def cached_heads(source: Source, layer: int) -> LayerTerms:
    return cached_trace(source).terms(layer, queries=LAST_QUERIES)


@st.cache_resource(max_entries=256, show_spinner=False)
def cached_shares(source: Source, layer: int, head: int) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    terms = cached_terms(source, layer, head).head(head)
    covariances = diagnostics.row_covariances(terms.terms, terms.mask)
    return diagnostics.head_shares(covariances), diagnostics.row_shares(covariances)


@st.cache_resource(max_entries=256, show_spinner=False)
def cached_proof(source: Source, layer: int, head: int) -> Proof:
    return prove(cached_trace(source), layer, cached_terms(source, layer, head))


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_measures(source: Source) -> dict[str, np.ndarray]:
    trace = cached_trace(source)
    layers = []
    for layer in range(trace.model.config.n_layer):  # one layer at a time: nothing quadratic is kept for all
        shown = trace.terms(layer, queries=LAST_QUERIES)
        terms = {name: term[0] for name, term in shown.terms.items()}
        layers.append(diagnostics.head_measures(terms, shown.probs[0], shown.mask, shown.distance))
    return {name: np.stack([measures[name] for measures in layers]) for name in layers[0]}


@st.cache_resource(max_entries=24, show_spinner=False)
def cached_masked(source: Source, layer: int, head: int, rule: MaskRule) -> MaskedHead:
    return cached_trace(source).masked(layer, head, rule)


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_leaks(source: Source, rule: MaskRule) -> np.ndarray:
    return cached_trace(source).leaks(rule, LAST_QUERIES)


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_frontier(source: Source, layer: int, order: str) -> tuple[np.ndarray, np.ndarray]:
    return cached_trace(source).frontier(layer, order, FILLS, LAST_QUERIES, TOLERANCE)


@st.cache_resource(max_entries=256, show_spinner=False)
def cached_loss(source: Source, rules: tuple[MaskRule, ...]) -> float:
    return text_loss(cached_trace(source).model, source, rules)


@torch.no_grad()
def text_loss(model: TransformerXL, source: Source, rule: MaskRule | Sequence[MaskRule] | None = None) -> float:
    """Give the mean loss of a model on the end of a text, read as one segment; NaN for a single token."""
    tokens = last_tokens(source, LOSS_TOKENS + 1)
    if len(tokens) < 2:
        return float("nan")
    output = model(tokens[None, :-1], rule=rule, mix=source.mix_of(model.config))
    return float(token_loss(output.output_logits, tokens[None, 1:]).mean())


def last_tokens(source: Source, n: int) -> torch.Tensor:
    return torch.tensor(np.frombuffer(source.ids, np.int32)[-n:].copy()).long()
