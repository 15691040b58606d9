"""The frame of every page: its question, the proof badge, and the sidebar with its shared controls."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relxl import diagnostics, style
from relxl.census import describe
from relxl.checkpoint import Checkpoint, list_checkpoints
from relxl.config import TrainConfig
from relxl.language import _
from relxl.trace import split_memory
from relxl.ui.show import escape, show_proof
from relxl.ui.state import Kept, keep, write_link
from relxl.ui.view import Source, View, cached_checkpoint, cached_measures, source_of
from relxl.vocab import show_token

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "checkpoints"
FIRST_CHECKPOINT = "shakespeare-learned"
MAX_CHARACTERS = 20_000
LONG_TEXT = 1024  # tokens; the bundled models read so many in half a second
LONGER_SEGMENTS = (512, 1024, 2048)
USUAL_MASK = {name: getattr(TrainConfig, name) for name in ("mask_order", "mask_fill", "mask_fault")}
DEFAULT_CHARACTERS = 96  # the default text ends at the last line break before this
SPACING = """
.stMainBlockContainer {padding: 2.5rem 3.5rem 3rem}
[data-testid=stSidebarHeader] {height: 2rem; padding-bottom: 0; margin-bottom: 0}
[data-testid=stSidebarUserContent] [data-testid=stVerticalBlock] {gap: 0.6rem}
"""  # the picture and all controls fit into 1280 x 720


@dataclass(frozen=True)
class Page:
    """Hold a door: the file, its short name, its question and what to look for."""

    file: str
    name: str
    question: str
    sentence: str


def all_pages() -> dict[str, Page]:
    """Name every page, in the order of the sidebar."""
    return {
        "home": Page(
            "app.py",
            _("Home"),
            _("What does this model's attention score consist of?"),
            _(
                "Four terms add up to every score. Columns are keys that every query wants, diagonals are distances "
                "that every query wants."
            ),
        ),
        "score_terms": Page(
            "pages/1_Score_terms.py",
            _("Score terms"),
            _("What is this head's score made of, for this token?"),
            _(
                "(a) to (d) add up to the sum; a softmax over the visible cells gives the probabilities. The ring is "
                "the chosen cell, hatched cells are the future."
            ),
        ),
        "masking": Page(
            "pages/4_Masking.py",
            _("Masking"),
            _("How does the future get in?"),
            _(
                "The hatched triangle is what a query must not see. Whatever has colour there in the last panel has "
                "leaked."
            ),
        ),
        "shift": Page(
            "pages/5_Shift.py",
            _("Shift"),
            _("Which distance does each cell really read, and what does it cost?"),
            _(
                "A cell says row:distance of what it reads. Right is its own row at distance m + i − j; red is "
                "foreign, hatched is hidden by the mask."
            ),
        ),
        "initialisation": Page(
            "pages/6_Initialisation.py",
            _("Initialisation"),
            _("What does the starting scale do to attention?"),
            _("A fresh layer, drawn from a seed. Move the scale: too small and it averages, too large and it stares."),
        ),
        "max_len": Page(
            "pages/7_Max_len.py",
            _("Max len"),
            _("What happens beyond the table?"),
            _(
                "Left of the red wall all keys are equally far away: they share one row of the table. Move the wall "
                "and see what the head loses."
            ),
        ),
    }


def page(name: str) -> View:
    """Draw the head of a page and give what it looks at, or stop with one clear sentence.

    The sidebar is not drawn yet: its values are known without it, and the picture comes first. `finish` draws it.
    """
    corner = draw_head(all_pages()[name], [5, 1])
    controls: list[Callable[[], object]] = []
    try:
        return choose_view(controls, corner)
    except (ValueError, OSError) as error:
        draw_sidebar(controls)
        st.error(escape(str(error)))
        st.stop()


def plain_page(name: str) -> bool:
    """Draw the head of a page that looks at no model; give whether the theme is dark. `finish` draws the sidebar."""
    draw_head(all_pages()[name], [1])
    return st.context.theme.type == "dark"


def draw_head(this: Page, widths: list[int]) -> DeltaGenerator:
    """Draw title and sentence of a page; give the last column of the title's line."""
    st.set_page_config(f"{this.name} · relxl", layout="wide")
    st.html(f"<style>{SPACING}</style>")
    columns = st.columns(widths, vertical_alignment="center")
    columns[0].subheader(this.question, anchor=False)
    st.caption(this.sentence)
    return columns[-1]


def finish(view: View | None = None, proof: bool = True) -> None:
    """Draw what the picture must not wait for: the sidebar, and in the corner whether what is shown is exact.

    A page that does not show scores of the loaded checkpoint has nothing to prove.
    """
    draw_sidebar(view.controls if view else ())
    if view and proof:
        with view.corner:
            show_proof(view.proof)


def draw_sidebar(controls: Sequence[Callable[[], object]]) -> None:
    with st.sidebar:
        st.markdown("### relxl")
        for door in all_pages().values():
            st.page_link(door.file, label=door.name)
        for draw in controls:
            draw()
    write_link()


def choose_view(controls: list[Callable[[], object]], corner: DeltaGenerator) -> View:
    """Find out what is looked at, and collect in `controls` what the sidebar will draw, each below what it depends on.

    Raises ValueError with one sentence when there is nothing to look at.
    """
    names = list_checkpoints(CHECKPOINTS)
    if not names:
        raise ValueError(_("There is no checkpoint in {folder}: run `make train`.").format(folder=CHECKPOINTS))
    chosen = keep("ck", FIRST_CHECKPOINT if FIRST_CHECKPOINT in names else names[0], names)
    controls.append(lambda: st.selectbox(_("Checkpoint"), names, **chosen.widget))
    source = source_of(CHECKPOINTS / chosen.value)
    checkpoint = cached_checkpoint(source.folder, source.stamp)
    config = checkpoint.config
    controls.append(lambda: show_card(checkpoint))

    source = choose_text(checkpoint, source, controls)
    terms = list(style.terms_of(config.positions))
    with waiting(source, corner):
        best_layer, best_head = diagnostics.most_telling_head(cached_measures(source), terms)
    layers, heads = range(config.n_layer), range(config.n_head)
    layer, head = keep("l", best_layer, layers), keep("h", best_head, heads)
    pick = partial(st.segmented_control, required=True)
    controls.append(lambda: pick(_("Layer"), layers, format_func="L{}".format, **layer.widget))
    controls.append(lambda: pick(_("Head"), heads, format_func="H{}".format, **head.widget))
    shown = [show_token(checkpoint.vocab.tokens[i]) for i in np.frombuffer(source.ids, np.int32)]
    dark = st.context.theme.type == "dark"
    return View(checkpoint, source, shown, layer.value, head.value, dark, corner, tuple(controls))


def waiting(source: Source, corner: DeltaGenerator) -> AbstractContextManager:
    """Say in the corner that a text is read, if it is long enough to wait for."""
    tokens = len(source.ids) // 4
    if tokens < LONG_TEXT:
        return nullcontext()
    with corner:
        return st.spinner(_("Reading {n} tokens").format(n=tokens), show_time=True)


def choose_text(checkpoint: Checkpoint, source: Source, controls: list[Callable[[], object]]) -> Source:
    """Find out which run the text, memory and length ask for. Raises ValueError when no token is left."""
    config, vocab = checkpoint.config, checkpoint.vocab
    text = keep(text_key(checkpoint), default_text(checkpoint))
    controls.append(lambda: st.text_area(_("Text"), height=90, max_chars=MAX_CHARACTERS, **text.widget))
    lengths = [config.segment_len, *(length for length in LONGER_SEGMENTS if length > config.segment_len)]
    memory, segment = keep("m", 1, (0, 1)), keep("n", config.segment_len, lengths)
    controls.append(lambda: draw_lengths(memory, segment, lengths))
    encoded = vocab.encode(text.value)
    if encoded.unknown:
        count, some = sum(encoded.unknown.values()), " ".join(show_token(c) for c in list(encoded.unknown)[:8])
        message = _("Left out, because this model does not know them: {count} characters ({some})")
        controls.append(partial(st.caption, escape(message.format(count=count, some=some))))
    if not encoded.ids:
        message = _(
            "The text has no character that this model knows, and at least one is needed: type some, as in {sample}"
        )
        raise ValueError(message.format(sample="".join(vocab.tokens[len(vocab.tokens) // 2 :][:12])))
    mem_len = max(config.mem_len, segment.value) if memory.value else 0
    used, mem_len = split_memory(len(encoded.ids), segment.value, mem_len)
    if used < len(encoded.ids):
        message = _("{n} tokens; the last {used} are looked at, {memory} of them as memory.")
        controls.append(partial(st.caption, message.format(n=len(encoded.ids), used=used, memory=mem_len)))
    return source._replace(ids=np.array(encoded.ids[-used:], np.int32).tobytes(), mem_len=mem_len)


def text_key(checkpoint: Checkpoint) -> str:
    """Name the text's control: it is kept for each vocabulary, a Chinese model does not get the English one's."""
    return f"text {hash(checkpoint.vocab)}"


def draw_lengths(memory: Kept, segment: Kept, lengths: list[int]) -> None:
    left, right = st.columns(2)
    names = {0: _("off"), 1: _("on")}
    left.segmented_control(_("Memory"), (0, 1), format_func=names.get, required=True, **memory.widget)
    help = _("Most tokens in the segment; as many before them are memory. The first is the length of the training.")
    right.selectbox(_("Segment"), lengths, help=help, **segment.widget)


def default_text(checkpoint: Checkpoint) -> str:
    """Take the first lines of the validation sample that the checkpoint brings along."""
    sample = checkpoint.training.get("sample", {}).get("text", "".join(checkpoint.vocab.tokens))
    first = next((i for i, character in enumerate(sample) if character.isalnum()), 0)
    start = sample[first : first + DEFAULT_CHARACTERS]
    return start[: start.rfind("\n")] if "\n" in start else start


def position_name(checkpoint: Checkpoint) -> str:
    names = {
        "learned": _("relative, learned table"),
        "sinusoid": _("relative, sinusoid"),
        "absolute": _("absolute, sinusoid"),
    }
    return names[checkpoint.config.positions]


def show_card(checkpoint: Checkpoint) -> None:
    """Show what the checkpoint is, in three lines."""
    config, training = checkpoint.config, checkpoint.training
    lines = [
        _("{layers} layers × {heads} heads, d_model {width}, {count} parameters").format(
            layers=config.n_layer,
            heads=config.n_head,
            width=config.d_model,
            count=f"{checkpoint.n_parameters:,}".replace(",", " "),
        ),
        _("positions: {positions}; segment {segment}, memory {memory}").format(
            positions=position_name(checkpoint), segment=config.segment_len, memory=config.mem_len
        ),
    ]
    loss = training.get("validation", {}).get("loss")
    if loss is not None:
        lines.append(
            _("{text}: validation loss {loss:.3f} nats per token").format(
                text=escape(training.get("text", {}).get("name", "–")), loss=loss
            )
        )
    train = training.get("train", {})
    mask = [train.get(name, usual) for name, usual in USUAL_MASK.items()]
    if mask != list(USUAL_MASK.values()):
        lines.append(_("trained with a mask that leaks: {mask}").format(mask=escape(", ".join(mask))))
    st.caption("  \n".join(lines))


def doors() -> None:
    """Draw a door to every page but home."""
    for name, door in all_pages().items():
        if name != "home":
            with st.container(border=True):
                st.page_link(door.file, label=f"**{door.name}**")
                st.caption(door.question)


def model_card(view: View) -> None:
    """Show what the loaded checkpoint is: family, sizes, positions, what it was trained on, its validation loss."""
    checkpoint = view.checkpoint
    facts = describe(checkpoint)
    loss = facts["validation_loss"]
    rows = {
        _("checkpoint"): checkpoint.name,
        _("family"): _("Transformer-XL language model of relxl, character level"),
        _("size"): _(
            "{n_layer} layers × {n_head} heads of {d_head}, d_model {d_model}, {parameters} parameters"
        ).format(**facts),
        _("positions"): position_name(checkpoint),
        _("lengths"): _("segment {segment_len}, memory {mem_len}, vocabulary {n_token}").format(**facts),
        _("trained on"): _("{trained_on}, {steps} steps").format(**facts),
        _("validation loss"): "–" if loss is None else _("{loss:.3f} nats per token").format(loss=loss),
        "sha256": checkpoint.digest[:16],
    }
    st.markdown("##### " + _("The loaded checkpoint"))
    lines = [f"| {escape(name)} | {escape(value)} |" for name, value in rows.items()]
    st.markdown("\n".join(["| | |", "|---|---|", *lines]))
