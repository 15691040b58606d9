"""Of the page "Relative vs absolute": the experiment run again, small and live, and both kinds' terms on one text."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.checkpoint import list_checkpoints
from relxl.config import POSITIONS
from relxl.experiments.relative_absolute import (
    TIMES,
    SweepRun,
    SweepSettings,
    length_losses_of,
    sweep_text,
    train_beside,
)
from relxl.figures.curves import losses_figure
from relxl.jobs import Progress
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.split import HeadTerms
from relxl.ui.jobs import show_job
from relxl.ui.library import BUNDLED, ROOT
from relxl.ui.matrix import matrix_view
from relxl.ui.memory.collision import absolute_source
from relxl.ui.relative_absolute.sections import kind_names
from relxl.ui.show import plain, show
from relxl.ui.state import keep
from relxl.ui.view import Source, View, cached_checkpoint, cached_terms, cached_trace, source_of

LENGTHS = (32, 64, 128, 256)
STEPS = (100, 200, 400, 800)
SMOOTH = 20  # steps whose mean is compared
RELATIVE = "shakespeare-learned"
LONGEST = 96  # tokens that the terms are shown for


class Rerun(NamedTuple):
    """Hold what a live run has so far."""

    losses: dict[str, tuple[float, ...]]  # of each kind, a step
    measured: dict[str, tuple[float, ...]]  # of each kind, at TIMES the training length


def rerun(dark: bool) -> None:
    """Offer to train the three kinds side by side, and draw their losses as they come."""
    st.markdown("##### " + _("Repeat it, small"))
    controls = st.columns([3, 2, 2, 2], vertical_alignment="bottom")
    length, memory = keep("rl", 64, LENGTHS), keep("rb", 0, (0, 1))
    steps, seed = keep("ru", 200, STEPS), keep("re", 0, range(10))
    labels = {0: _("none"), 1: _("one segment")}
    with controls[0]:
        st.segmented_control(_("Segment length"), LENGTHS, required=True, **length.widget)
    with controls[1]:
        st.segmented_control(_("Memory"), (0, 1), format_func=labels.get, required=True, **memory.widget)
    with controls[2]:
        st.selectbox(_("Steps"), STEPS, **steps.widget)
    with controls[3]:
        st.number_input(_("Seed"), 0, 9, step=1, **seed.widget)
    settings = SweepSettings(steps=steps.value, warmup=min(100, steps.value // 4), scored=2048)
    title = _("Three models of 2 layers × 4 heads, d_model 64, on Shakespeare, {steps} steps, the same batches").format(
        steps=steps.value
    )
    key = f"relative_absolute {settings} {length.value} {memory.value} {seed.value}"
    work = partial(rerun_work, settings, length.value, bool(memory.value), seed.value)
    show_job(key, title, work, partial(draw_rerun, length=length.value, dark=dark))


def rerun_work(settings: SweepSettings, length: int, memory: bool, seed: int) -> Iterator[Progress]:
    """Train the three in turn, then measure each at TIMES its length; the result is a Rerun."""
    text = sweep_text("tinyshakespeare", (ROOT / "data" / "tinyshakespeare.txt").read_text(encoding="utf-8"))
    whole, states = settings.steps * len(POSITIONS), {}
    for count, states in enumerate(train_beside(settings, text, length, memory, seed), start=1):
        losses = {kind: tuple(state.losses) for kind, state in states.items()}
        yield Progress(0.8 * count / whole, "Training", Rerun(losses, {}))
    measured: dict[str, tuple[float, ...]] = {}
    for place, (kind, state) in enumerate(states.items()):
        run = SweepRun(settings, text, kind, memory, length, seed)
        cells = ()
        for done, cell in length_losses_of(run, state.model.eval()):
            cells += (cell.loss,) if cell else ()
            yield Progress(min(0.8 + 0.2 * (place + done) / 3, 1.0), "Measuring", Rerun(losses, measured))
        measured = measured | {kind: cells}
    yield Progress(1.0, "Measuring", Rerun(losses, measured))


def draw_rerun(result: Rerun, length: int, dark: bool) -> None:
    """Draw the losses of a live run, and the table of what it measured at the end."""
    names = kind_names()
    losses = {names[kind]: values for kind, values in result.losses.items() if values}
    last = {name: float(np.mean(values[-SMOOTH:])) for name, values in losses.items()}
    listed = ", ".join(f"{name} **{loss:.3f}**" for name, loss in last.items())
    text = _("Mean loss of the last {n} steps, in nats per character: {listed}.").format(n=SMOOTH, listed=listed)
    show(losses_figure(losses, dark), key="rerun_losses", alt=text)
    st.markdown(text)
    if result.measured:
        table = {_("positions"): [names[kind] for kind in result.measured]}
        for place, times in enumerate(TIMES):
            name = _("held-out loss, segments of {n}").format(n=times * length)
            table[name] = [cells[place] for cells in result.measured.values()]
        st.dataframe(table, hide_index=True)


# The terms of both ---------------------------------------------------------------------------------------------------


def side_by_side(view: View) -> None:
    """Show the four terms of an absolute score beside those of a relative one, on the same text."""
    pair = sources_of(view)
    if pair is None:
        return
    st.markdown("##### " + _("Both have four terms: the same text, relative above, absolute below"))
    relative, absolute = (cached_checkpoint(source.checkpoint) for source in pair)
    layer = min(view.layer, relative.config.n_layer - 1, absolute.config.n_layer - 1)
    head = min(view.head, relative.config.n_head - 1, absolute.config.n_head - 1)
    terms = [cached_terms(source, layer, head).head(head) for source in pair]
    kinds, panels = (_("relative"), _("absolute")), []
    for kind, positions, shown in zip(kinds, (relative, absolute), terms, strict=True):
        looks = style.terms_of(positions.config.positions)
        scale = Scale("diverging", shared_limit(list(shown.terms.values()), shown.mask), _("score"))
        panels += [Panel(f"{kind}: ({looks[name].letter}) {name}", shown.terms[name], scale) for name in looks]
    tokens = cached_trace(pair[1]).names(absolute.vocab)
    text = terms_sentence(terms, f"L{layer}H{head}")
    grid = Grid(tuple(panels), terms[0].mask, tuple(tokens), 4, plain(text))
    matrix_view(grid, key="both", dark=view.dark)
    st.markdown(text)
    if st.toggle(_("Show as table"), key="table_both"):
        st.dataframe(shares_table(terms), hide_index=True)


def sources_of(view: View) -> tuple[Source, Source] | None:
    """Identify the runs to compare: the checkpoint in view where it reads the same characters, else a bundled one."""
    absolute = absolute_source(view)
    if absolute is None:
        return None
    relative, own = view.source.checkpoint, view.checkpoint
    if own.config.positions == "absolute" or own.vocab != cached_checkpoint(absolute.checkpoint).vocab:
        if RELATIVE not in list_checkpoints(BUNDLED):
            return None
        relative = source_of(BUNDLED / RELATIVE, RELATIVE)
    ids = np.frombuffer(absolute.ids, np.int32)[-LONGEST:].tobytes()
    return relative._replace(ids=ids), absolute._replace(ids=ids, mem_len=0)


def terms_sentence(terms: list[HeadTerms], label: str) -> str:
    """Say what each kind's terms carry, and how much of (d) is a function of distance alone; markdown."""
    relative, absolute = (shares_of(shown) for shown in terms)
    fit = diagnostics.additive_fit(terms[0].mask)
    explained = []
    for shown, name in zip(terms, ("v_bias", "position_position"), strict=True):
        squares = diagnostics.explained_squares(fit, diagnostics.centre_rows(shown.terms[name], shown.mask))
        explained.append(float(squares["distance"] / squares["total"]) if squares["total"] > 0 else float("nan"))
    return _(
        "In {label} position alone, (d), carries {relative} of the relative score and {absolute} of the absolute one. "
        "Distance explains **{all}** of (d) v_bias, by construction, and **{part}** of (d) position_position: what is "
        "left over depends on where in the segment the pair stands. No relative term knows the query’s own place."
    ).format(
        label=label,
        relative=style.percent(relative["v_bias"]),
        absolute=style.percent(absolute["position_position"]),
        all=style.percent(explained[0]),
        part=style.percent(explained[1]),
    )


def shares_of(terms: HeadTerms) -> Mapping[str, float]:
    return diagnostics.head_shares(diagnostics.row_covariances(terms.terms, terms.mask))


def shares_table(terms: list[HeadTerms]) -> dict[str, list]:
    rows = [(kind, name, share) for kind, shown in zip(("relative", "absolute"), terms, strict=True)
            for name, share in shares_of(shown).items()]  # fmt: skip
    return dict(zip(("positions", "term", "share"), zip(*rows, strict=True), strict=True))
