"""The page "Compare", of one training: what its snapshots say about v_bias, sizes, shares and loss, step by step."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.checkpoint import Checkpoint, open_checkpoint
from relxl.compare import Changes, Film, film_steps, make_film, thin
from relxl.figures import compare as figures
from relxl.figures.shift import grouped
from relxl.language import _, translated
from relxl.trace import run, split_memory
from relxl.ui.chooser import default_text
from relxl.ui.compare.sections import changes_picture, films, ratio
from relxl.ui.show import escape, show, shown
from relxl.ui.state import keep
from relxl.ui.view import LAST_QUERIES, LOSS_TOKENS, Source, View, last_tokens, source_of, text_loss

MOST_STEPS = 24
MOST_BYTES = 1 << 29  # of all snapshots that are read


@st.cache_resource(max_entries=48, show_spinner=False)
def cached_snapshot(path: str, stamp: tuple, name: str) -> Checkpoint:
    """Open one snapshot of a film; they are many and small, and must not push out what the other pages look at."""
    return open_checkpoint(Path(path), name=name)


class Snapshot(NamedTuple):
    """Identify one snapshot of a film."""

    step: int
    source: Source

    def open(self) -> Checkpoint:
        return cached_snapshot(self.source.path, self.source.stamp, self.source.name)


@dataclass(frozen=True)
class Watched:
    """Hold a film, what its models do on a text, and the layer and step that are looked at."""

    film: Film
    shares: dict[str, np.ndarray]  # of each term: [step layer head]; {} without a text
    losses: np.ndarray  # [step] on the text
    own_text: bool  # the film's own sample, since the text in view is of another vocabulary
    layer: int
    now: int  # place of the step
    dark: bool

    @property
    def step(self) -> str:
        return grouped(self.film.steps[self.now])


def choose_film(view: View) -> Watched | None:
    """Draw film, layer and step; give what is watched, or None, with a sentence, where there is no film."""
    found = films()
    if not found:
        st.info(_("There is no training to watch: `train --snapshots 0,100,1000` keeps the model at those steps."))
        return None
    kept = keep("cf", next(iter(found)), found)
    label = lambda name: found[name].label  # noqa: E731
    which, layers, slider = st.columns([4, 2, 6], gap="medium")
    which.selectbox(_("Training"), list(found), format_func=label, **kept.widget)
    try:
        snapshots = snapshots_of(found[kept.value].path)
        film = cached_film(snapshots)
        first = snapshots[0].open()
        ids, mem_len, own = text_of(view, first)
        shares, losses = cached_text(snapshots, ids, mem_len) if ids else ({}, np.full(len(film.steps), np.nan))
    except (ValueError, OSError) as error:
        st.error(escape(translated(str(error))))
        return None
    choices = range(first.config.n_layer)
    layer = keep("cl", 0, choices)
    layers.segmented_control(_("Its layer"), choices, format_func="L{}".format, required=True, **layer.widget)
    step = keep("cs", film.steps[-1], film.steps)
    if len(film.steps) > 1:
        slider.select_slider(_("Training step"), film.steps, format_func=grouped, **step.widget)
    return Watched(film, shares, losses, own, layer.value, film.steps.index(step.value), view.dark)


def snapshots_of(folder: Path) -> tuple[Snapshot, ...]:
    """Identify the snapshots of a film: of a long or large one, as many as are quickly read, evenly spread."""
    found = [Snapshot(step, source_of(path, f"{folder.name} {step}")) for step, path in film_steps(folder)]
    sizes = [sum(size for _name, _time, size in snapshot.source.stamp) for snapshot in found]
    return tuple(thin(found, min(MOST_STEPS, MOST_BYTES // max(*sizes, 1, 1))))


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_film(snapshots: tuple[Snapshot, ...]) -> Film:
    return make_film((snapshot.step, snapshot.open()) for snapshot in snapshots)


def text_of(view: View, film: Checkpoint) -> tuple[bytes, int, bool]:
    """Give the ids that the film reads, how many of them are memory, and whether they are of its own sample.

    No ids for models that read no tokens. Of a long text its end: every snapshot reads it.
    """
    if film.vocab is None:
        return b"", 0, True
    if view.checkpoint.vocab == film.vocab:
        longest = LOSS_TOKENS * 4  # bytes
        mem_len = view.source.mem_len if len(view.source.ids) <= longest else min(view.source.mem_len, LOSS_TOKENS // 2)
        return view.source.ids[-longest:], mem_len, False
    ids, config = film.vocab.encode(default_text(film)).ids, film.config
    used, mem_len = split_memory(len(ids), config.segment_len, config.mem_len)
    return np.array(ids[-used:], np.int32).tobytes(), mem_len, True


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_text(snapshots: tuple[Snapshot, ...], ids: bytes, mem_len: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Measure every snapshot on a text: each term's share [step layer head], and the loss [step]."""
    shares, losses = [], []
    for snapshot in snapshots:
        model = snapshot.open().model
        source = snapshot.source._replace(ids=ids, mem_len=mem_len)
        trace = run(model, last_tokens(source, len(ids) // 4)[None], mem_len)
        layers = []
        for layer in range(model.config.n_layer):
            seen = trace.terms(layer, queries=LAST_QUERIES)
            terms = {name: term[0] for name, term in seen.terms.items()}
            measured = diagnostics.head_measures(terms, seen.probs[0], seen.mask, seen.distance)
            layers.append({name: measured[name] for name in terms})
        shares.append({name: np.stack([layer[name] for layer in layers]) for name in layers[0]})
        predicts = trace.output_logits is not None and trace.rule.sees != "both"
        losses.append(text_loss(model, source, model.rule_at(0)) if predicts else np.nan)
    return {name: np.stack([share[name] for share in shares]) for name in shares[0]}, np.array(losses)


# The picture ---------------------------------------------------------------------------------------------------------


def picture(watched: Watched) -> None:
    """Show v_bias of every head of the layer at this step, bold, and at the steps before it, fading."""
    film, now, layer = watched.film, watched.now, watched.layer
    st.markdown("##### " + _("(d) v_bias of every head of L{layer}, from the weights alone").format(layer=layer))
    if film.curves is None:
        st.markdown(_("This model has absolute positions: it has no curve over distance."))
        st.markdown(loss_sentence(watched))
        return
    distances = film.span.distances.numpy()
    shown_part = distances <= (film.span.high if film.span.table is None else 1.1 * film.span.table)
    curves, distances = film.curves[:, layer][..., shown_part], distances[shown_part]  # behind a table all is level
    alt = curve_sentence(watched, curves)
    figure = figures.film_figure(curves, distances, film.steps, now, watched.dark)
    heads = {f"H{head}": curve for head, curve in enumerate(curves[now])}
    show(figure, key="film", alt=alt, table=lambda: {"distance": distances} | heads)
    st.markdown(f"{alt} {loss_sentence(watched)}")
    st.caption(_("Bold: step {step}. Fading: the snapshots before it. The scale is that of the whole training.").format(
        step=watched.step))  # fmt: skip


def curve_sentence(watched: Watched, curves: np.ndarray) -> str:
    """Say how far the curves span now, beside the end of the training; markdown."""
    there = np.isfinite(curves)
    spans = np.where(there, curves, -np.inf).max(-1) - np.where(there, curves, np.inf).min(-1)  # [step head]
    now, end = spans[watched.now], spans[-1]
    head = int(np.argmax(now))
    if not np.isfinite([now[head], end[head]]).all():
        return _("At step **{step}** the curves have no finite number.").format(step=watched.step)
    text = _("At step **{step}** the curve of **L{layer}H{head}** spans most: {now}; at the last one it spans {end}.")
    return text.format(
        step=watched.step, layer=watched.layer, head=head, now=style.number(float(now[head])),
        end=style.number(float(end[head])),
    )  # fmt: skip


def loss_sentence(watched: Watched) -> str:
    """Say the loss at this step, on the validation text if it was written down, else on the text in view."""
    validation, text = watched.film.losses, watched.losses
    there = np.isfinite(validation[watched.now])
    loss = validation if there else text
    if not np.isfinite(loss[watched.now]):
        return ""
    where = _("The validation loss is {now} nats") if there else _("The loss on the text is {now} nats")
    said = where.format(now=style.number(float(loss[watched.now])))
    before = loss[watched.now - 1] if watched.now else np.nan
    if np.isfinite(before):
        said += _(", at the snapshot before {before}").format(before=style.number(float(before)))
    return said + _(".")


def moved(watched: Watched) -> None:
    """Show which tensors moved most since the snapshot before."""
    changes = watched.film.changes[watched.now]
    st.markdown("##### " + _("Tensors that moved most since the snapshot before"))
    if changes is None:
        st.markdown(_("This is the first snapshot: move the slider to see what the training changed."))
        return
    before = grouped(watched.film.steps[watched.now - 1])
    text = moved_sentence(changes, before, watched.step)
    st.markdown(text)
    changes_picture(changes, "moved", text, watched.dark)


def moved_sentence(changes: Changes, before: str, step: str) -> str:
    """Say which tensor moved most, and how many did not move; markdown."""
    if not changes.both or changes.equal == len(changes.both):
        return _("No tensor moved from step {before} to {step}.").format(before=before, step=step)
    most = changes.both[0]
    change = _("no finite measure") if np.isnan(most.relative) else ratio(most.relative)
    text = _("From step {before} to {step} **{name}** moved most, by {change} of its size; {n} of {all} did not move.")
    return text.format(
        before=before, step=step, name=shown(most.name, 60), change=change, n=changes.equal, all=len(changes.both)
    )


# Over the training ---------------------------------------------------------------------------------------------------


def over_time(watched: Watched) -> None:
    """Show loss, shares and the lengths of u, v and W_kR over the whole training."""
    st.markdown("##### " + _("Over the whole training"))
    loss, shares = st.columns(2, gap="large")
    with loss:
        show_losses(watched)
    with shares:
        show_shares(watched)
    show_sizes(watched)


def show_losses(watched: Watched) -> None:
    text = _("film's own sample") if watched.own_text else _("text in view")
    lines = {_("validation"): watched.film.losses, text: watched.losses}
    lines = {name: values for name, values in lines.items() if np.isfinite(values).any()}
    if not lines:
        st.markdown(_("No loss was written down, and these models predict no next token."))
        return
    alt = _("Loss from the first to the last snapshot: {ends}.").format(ends=ends(lines))
    st.markdown(alt)
    theme = style.theme_of(watched.dark)
    colours = {_("validation"): theme.ink, text: theme.faint}
    draw(watched, lines, _("loss, nats per token"), colours, "film_loss", alt, {text: "dot"})


def show_shares(watched: Watched) -> None:
    if not watched.shares:
        st.markdown(_("These models read no tokens, so there is no text to share a score on."))
        return
    looks = style.terms_of("absolute" if "position_position" in watched.shares else "learned", segments=True)
    names = [name for name in looks if name in watched.shares]
    labels = {name: f"({looks[name].letter}) {name}" for name in names}
    lines = {labels[name]: mean_heads(watched.shares[name][:, watched.layer]) for name in names}
    now = {name: values[watched.now] for name, values in lines.items()}
    text = _("Share of the score at step {step}, mean over the heads of L{layer}: {shares}.")
    said = ", ".join(f"{escape(name)} {style.percent(float(value))}" for name, value in now.items())
    alt = text.format(step=watched.step, layer=watched.layer, shares=said)
    st.markdown(alt)
    colours = {labels[name]: looks[name].colour for name in names}
    draw(watched, lines, _("share of the score"), colours, "film_shares", alt, {}, ".0%")


def show_sizes(watched: Watched) -> None:
    lines = {name: mean_heads(sizes[:, watched.layer]) for name, sizes in watched.film.sizes.items()}
    if not lines:
        return
    alt = _("Length from the first to the last snapshot, mean over the heads of L{layer}: {ends}.").format(
        layer=watched.layer, ends=ends(lines)
    )
    st.markdown(alt)
    draw(watched, lines, _("length of the vector"), figures.SIZES, "film_sizes", alt, figures.DASHES)


def draw(watched, lines, title, colours, key, alt, dashes, form: str = "") -> None:
    """Show lines over the steps of the film, with a table of them."""
    steps = watched.film.steps
    figure = figures.steps_figure(lines, steps, watched.now, title, colours, watched.dark, dashes, form)
    show(figure, key=key, alt=alt, table=lambda: {"step": list(steps)} | lines)


def mean_heads(values: np.ndarray) -> np.ndarray:
    """Give the mean over the heads that have a number: [step head] -> [step], NaN without any."""
    there = np.isfinite(values)
    count = there.sum(-1)
    return np.where(count > 0, np.where(there, values, 0).sum(-1) / np.maximum(count, 1), np.nan)


def ends(lines: dict[str, np.ndarray]) -> str:
    """Say of each line its first and last number."""
    return ", ".join(
        f"{escape(name)} {style.number(float(v[0]))} → {style.number(float(v[-1]))}" for name, v in lines.items()
    )
