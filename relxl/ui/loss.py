"""Whether a model has a loss on the text that is looked at, and how large it is under another reading."""

import numpy as np
import streamlit as st

from relxl.experiments.memory import token_losses
from relxl.language import _
from relxl.reading import Reading, with_positions
from relxl.trace import run
from relxl.ui.view import Source, View, cached_trace, last_tokens, text_loss


def no_loss(view: View) -> str:
    """Say why a model has no loss on its next token, or nothing where it has one."""
    if not view.checkpoint.config.n_token:
        return _("This model reads hidden states and predicts no token, so there is no loss to measure.")
    if view.trace.output_logits is None:
        return _("This file has no output layer, so the model predicts nothing and there is no loss to measure.")
    if view.trace.rule.sees == "both":
        return _("This model sees both sides, the next token too, so a loss on the next token would say nothing.")
    return ""


@st.cache_resource(max_entries=128, show_spinner=False)
def cached_reading_loss(source: Source, reading: Reading | None) -> float:
    """Give the mean loss on the text, read as one segment, as the model is (None) or under another reading."""
    model = cached_trace(source).model
    return text_loss(model if reading is None else with_positions(model, reading), source, model.rule_at(0))


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_memory_losses(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Give the loss on the token after every query, with the memory of the run and without: [query] each."""
    trace, ids = cached_trace(source), last_tokens(source, len(source.ids) // 4)
    targets = ids[source.mem_len + 1 :][None]
    alone = run(trace.model, ids[None, source.mem_len :], 0)
    return token_losses(trace, targets)[0], token_losses(alone, targets)[0]
