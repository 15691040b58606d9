"""Where the derivation of relative positions starts and ends, and what is computed for it once."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from relxl import style
from relxl.checkpoint import list_checkpoints
from relxl.derivation import ShiftTest, Step, absolute_head, bare_change, changes, derivation, relative_head, shift_test
from relxl.language import _
from relxl.masking import RIGHT_RULE
from relxl.relative import RelativePairs
from relxl.split import LayerTerms, attention_terms, pairs_of
from relxl.ui.chooser import default_text
from relxl.ui.library import BUNDLED
from relxl.ui.view import Source, View, cached_checkpoint, cached_trace, source_of
from relxl.vocab import show_token

SINUSOID = "shakespeare-sinusoid"  # where the derivation ends when the model on screen can not be its end
SHIFTS = tuple(2**n for n in range(10))
FIRST_SHIFT = 64
TRAINED = 6  # the last step, whose numbers are another model's
LOOKS = style.ABSOLUTE_TERMS | style.RELATIVE_TERMS


@dataclass(frozen=True)
class Derived:
    """Hold the steps and what moving the text changes at each, and for each its visible cells and its tokens."""

    steps: tuple[Step, ...]
    tests: tuple[ShiftTest, ...]
    masks: tuple[torch.Tensor, ...]  # [query key] bool each
    tokens: tuple[tuple[str, ...], ...]
    heads: tuple[int, int]  # of the first model and of the last
    places: int  # that the first was trained with
    bare: float  # change of p_i . p_j, moved by FIRST_SHIFT
    apart: tuple[float, float]  # the largest difference of steps 1 and 6 from what the two models themselves compute

    @property
    def place(self) -> torch.Tensor:
        """Give the places at which the tokens stand: [token]."""
        return torch.arange(len(self.tokens[0]))

    def terms(self, step: int, shift: int = 0) -> dict[str, np.ndarray]:
        """Give a step's terms and the score of the text moved by `shift`: [query key] each."""
        terms = self.steps[step].terms(self.place + shift)
        score = {} if len(terms) == 1 else {"score": sum(terms.values())}
        return {name: term.numpy() for name, term in (terms | score).items()}

    def cost(self, step: int) -> dict[str, float] | None:
        """Say what a step itself changes in the score and the probabilities; None where there is nothing to compare."""
        if step in (0, TRAINED):
            return None
        before, after = (self.steps[k].terms(self.place) for k in (step - 1, step))
        return changes(before, after, self.masks[step])


def ending(view: View, start: Source) -> tuple[Source, str]:
    """Find the run at which the derivation ends: that on screen, or of the paper's own positions, and why not.

    The model on screen can be its end when its score is the four terms at the distance i - j.
    """
    reason = ""
    if view.checkpoint.config.positions == "absolute":
        reason = _("the model on screen has absolute positions")
    elif view.trace.differs is not None:
        reason = _("the model on screen has segment terms too")
    elif not isinstance(pairs_of(view.checkpoint.model.layers[0].attn, view.key_len, view.mem_len), RelativePairs):
        reason = _("the model on screen reads other distances than i − j")
    if not reason or SINUSOID not in list_checkpoints(BUNDLED):
        return view.source._replace(mix=None), reason
    source = source_of(BUNDLED / SINUSOID, SINUSOID)
    vocab = cached_checkpoint(source).vocab
    text = cached_checkpoint(start.checkpoint).vocab.decode(np.frombuffer(start.ids, np.int32).tolist())
    ids = vocab.encode(text).ids
    if len(ids) < 2:
        ids = vocab.encode(default_text(cached_checkpoint(source))).ids
    return source._replace(ids=np.array(ids, np.int32).tobytes()), reason


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_derivation(start: Source, end: Source, head: int, longest: int) -> Derived:
    first, last = cached_checkpoint(start.checkpoint), cached_checkpoint(end.checkpoint)
    trace = cached_trace(end)
    ids = np.frombuffer(start.ids, np.int32)
    n_token = min(longest, len(ids), trace.query_len)
    heads = min(head, first.config.n_head - 1), min(head, last.config.n_head - 1)
    shown = torch.tensor(ids[-n_token:].copy()).long()
    with torch.no_grad():
        embedded = first.model.embed(shown[None])  # content and position
    attn, last_attn = first.model.layers[0].attn, last.model.layers[0].attn
    steps = derivation(
        absolute_head(attn, embedded[0, :, 0], heads[0], first.config.segment_len),
        relative_head(last_attn, trace.hidden[0][0, -n_token:], heads[1], trace.clamp_len),
    )
    causal, own = RIGHT_RULE.allowed(n_token, n_token, 0), trace.rule.allowed(n_token, n_token, 0)
    masks = (*[causal] * TRAINED, own)
    tokens = tuple(show_token(first.vocab.tokens[i]) for i in shown.tolist())
    ends = attention_terms(attn, embedded, heads=[heads[0]]), trace.terms(0, [heads[1]], queries=n_token)
    return Derived(
        steps=steps,
        tests=tuple(shift_test(step, mask, SHIFTS) for step, mask in zip(steps, masks, strict=True)),
        masks=masks,
        tokens=(*[tokens] * TRAINED, tuple(trace.names(last.vocab)[-n_token:])),
        heads=heads,
        places=first.config.segment_len,
        bare=bare_change(first.config.d_model, n_token, FIRST_SHIFT),
        apart=tuple(distance_from(steps[step], end) for step, end in zip((1, TRAINED), ends, strict=True)),
    )


def distance_from(step: Step, split: LayerTerms) -> float:
    """Give the largest difference of a step's terms from the split scores of the one head of a layer."""
    n_token = split.logits.shape[-2]
    terms = step.terms(torch.arange(n_token))
    return max(
        float(np.abs(split.terms[name][0, 0, :, -n_token:] - term.numpy()).max()) for name, term in terms.items()
    )
