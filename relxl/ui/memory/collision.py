"""The section of the page "Memory" in which two segments collide: memory under absolute positions."""

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.checkpoint import list_checkpoints
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.split import HeadTerms
from relxl.trace import Trace, split_memory
from relxl.ui.chooser import default_text, text_key
from relxl.ui.library import BUNDLED
from relxl.ui.loss import cached_memory_losses
from relxl.ui.matrix import matrix_view
from relxl.ui.show import code, plain
from relxl.ui.state import chosen
from relxl.ui.view import Source, View, cached_checkpoint, cached_terms, cached_trace, source_of

ABSOLUTE = "shakespeare-absolute"
LONGEST = 256  # tokens of a segment: longer ones only look smaller


def collision(view: View) -> None:
    """Show that keys of memory and segment with the same position vector get the same position terms."""
    source = absolute_source(view)
    if source is None:
        return
    trace = cached_trace(source)
    if not trace.mem_len:
        return
    checkpoint = cached_checkpoint(source.checkpoint)
    st.markdown("##### " + _("The same text under absolute positions: two segments collide"))
    head = min(view.head, checkpoint.config.n_head - 1)
    terms, tokens = cached_terms(source, 0, head).head(head), trace.names(checkpoint.vocab)
    position = position_terms(terms)
    pairs = diagnostics.colliding_keys(places_of(trace), trace.mem_len)
    text = collision_sentence(trace, tokens, position, pairs, head)
    st.markdown(text)
    title = _("absolute, L0H{head}: (b) + (d), what the key’s place adds").format(head=head)
    panels = [panel_of(title, position, terms)]
    if tokens == view.tokens and view.checkpoint.config.positions != "absolute":
        title = _("relative, {head}: (b) + (d), what the distance adds").format(head=view.label)
        panels.append(panel_of(title, position_terms(view.terms), view.terms))
    grid = Grid(tuple(panels), terms.mask, tuple(tokens), len(panels), plain(text))
    matrix_view(grid, key="collision", dark=view.dark)
    st.caption(
        _(
            "The seam is the line; scores are round the mean of their row. Left of the seam the absolute model shows "
            "the same columns as right of it."
        )
    )
    if st.toggle(_("Show as table"), key="table_collision"):
        st.dataframe(pair_table(tokens, places_of(trace), position[-1], pairs), hide_index=True, height=280)
    st.markdown(loss_sentence(source))


def absolute_source(view: View) -> Source | None:
    """Identify the absolute model's run of the text in view, or of its own where it knows no token of it."""
    if view.checkpoint.config.positions == "absolute":
        source = view.source.checkpoint
    elif ABSOLUTE in list_checkpoints(BUNDLED):
        source = source_of(BUNDLED / ABSOLUTE, ABSOLUTE)
    else:
        return None
    checkpoint = cached_checkpoint(source)
    text = chosen(text_key(view.checkpoint))[0] if view.checkpoint.vocab else ""
    encoded = checkpoint.vocab.encode(text or "")
    ids = encoded.ids
    if len(ids) < 2 or sum(encoded.unknown.values()) > len(ids):
        ids = checkpoint.vocab.encode(default_text(checkpoint)).ids
    segment_len = min(max(view.trace.query_len, 2), LONGEST)
    used, mem_len = split_memory(len(ids), segment_len, segment_len)
    return source._replace(ids=np.array(ids[-used:], np.int32).tobytes(), mem_len=mem_len)


def places_of(trace: Trace) -> np.ndarray:
    """Say at which place of its own segment each key stood when its position vector was added: [key]."""
    return np.concatenate([np.arange(trace.mem_len), np.arange(trace.query_len)])


def position_terms(terms: HeadTerms) -> np.ndarray:
    """Add what the place or the distance of a key contributes, whatever stands there: [query key]."""
    own = "v_bias" if "v_bias" in terms.terms else "position_position"
    return terms.terms["content_position"] + terms.terms[own]


def panel_of(title: str, values: np.ndarray, terms: HeadTerms) -> Panel:
    values = diagnostics.row_centred(values, terms.mask)
    return Panel(title, values, Scale("diverging", shared_limit([values], terms.mask), _("score")))


def collision_sentence(trace: Trace, tokens: list[str], position: np.ndarray, pairs: np.ndarray, head: int) -> str:
    """Say how many pairs of keys collide, and show the one that the last query scores highest; markdown."""
    apart = float(np.abs(position[:, pairs[:, 0]] - position[:, pairs[:, 1]]).max())
    telling = [pair for pair in pairs if tokens[pair[0]] != tokens[pair[1]]] or list(pairs)
    slot, key = max(telling, key=lambda pair: position[-1, pair[1]])
    return _(
        "Every segment counts its places from 0, so **{n} pairs of keys** share a position vector. Memory key {slot} "
        "{slot_token} and segment key {key} {key_token} both stand at place {place}: to the last query L0H{head} gives "
        "them the position terms **{one}** and **{other}**. Over all pairs and queries the largest difference is "
        "{apart}; only their content tells them apart."
    ).format(
        n=len(pairs),
        slot=slot,
        slot_token=code(tokens[slot]),
        key=key,
        key_token=code(tokens[key]),
        place=slot,
        head=head,
        one=style.number(float(position[-1, slot])),
        other=style.number(float(position[-1, key])),
        apart=style.number(apart),
    )


def pair_table(tokens: list[str], place: np.ndarray, position: np.ndarray, pairs: np.ndarray) -> dict[str, list]:
    """Put the colliding keys into numbers; position [key] is that of the last query."""
    slot, key = pairs.T
    return {
        "place": place[slot],
        "memory_key": slot,
        "memory_token": [tokens[i] for i in slot],
        "segment_key": key,
        "segment_token": [tokens[i] for i in key],
        "memory_position_terms": position[slot],
        "segment_position_terms": position[key],
    }


def loss_sentence(source: Source) -> str:
    """Say what the collision costs; markdown."""
    with_memory, without = cached_memory_losses(source)
    if not len(with_memory):
        return ""
    text = _(
        "On this segment the absolute model has a loss of {without:.3f} nats per token without memory and "
        "**{with_memory:.3f}** with it."
    ).format(without=without.mean(), with_memory=with_memory.mean())
    if source.name == ABSOLUTE:
        text += " " + _(
            "It was trained without: trained with one, it still stood at 2.48 where the relative models had passed 1.7 "
            "(checkpoints/README.md)."
        )
    return text
