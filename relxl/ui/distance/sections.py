"""The sections of the page "Distance": profiles over distance, how far heads reach, v_bias of every head."""

import math
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from relxl import diagnostics, style
from relxl.checkpoint import Checkpoint
from relxl.diagnostics import DistanceProfile
from relxl.experiments.max_len import known_reach
from relxl.figures import distance as figures
from relxl.language import _
from relxl.ui.chooser import text_key
from relxl.ui.show import show
from relxl.ui.state import chips, keep
from relxl.ui.texts import held_out_text
from relxl.ui.view import LAST_QUERIES, Source, View, cached_heads, cached_trace, key_of
from relxl.weights_only import USUAL, reach, v_bias_curves

FAR = (1, 2, 4)  # times the training length
FARTHEST = 4096
FEWEST = 4  # queries that a mean is drawn for, where there are many
POSITION = {"learned": "v_bias", "sinusoid": "v_bias", "absolute": "position_position"}  # what position alone says


class Span(NamedTuple):
    """Say which distances are drawn and what is known of them; None for what nobody knows."""

    low: int
    high: int
    trained: int | None
    clamp: int | None
    table: int | None
    seen: tuple[int, int]  # by the queries of this text

    @property
    def distances(self) -> np.ndarray:
        return np.arange(self.low, self.high + 1)


class Controls(NamedTuple):
    log: bool
    everything: bool  # all terms, and not those of position alone
    far: int


def kept_controls() -> Controls:
    """Read the controls, which are drawn later."""
    axis, terms, far = (
        keep("dx", "log", ("log", "lin")),
        keep("dt", "position", ("position", "all")),
        keep("df", 1, FAR),
    )
    return Controls(axis.value == "log", terms.value == "all", far.value)


def controls(span: Span) -> None:
    """Draw axis, terms and how far, in one row."""
    times = _("{n}×") if span.trained is None else _("{n}× training")
    names = {
        "dx": (_("Distance axis"), {"log": _("logarithmic"), "lin": _("linear")}),
        "dt": (_("Terms"), {"position": _("terms of position"), "all": _("all terms")}),
        "df": (_("How far"), {far: times.format(n=far) for far in FAR}),
    }
    with st.container(horizontal=True, gap="medium"):
        for name, (label, options) in names.items():
            kept = keep(name, next(iter(options)), list(options))
            st.segmented_control(
                label, list(options), format_func=options.get, required=True, label_visibility="collapsed",
                width="content", **kept.widget,
            )  # fmt: skip


def span_of(view: View, far: int) -> Span:
    """Find the distances to draw: `far` times the training's, and at least what this text has."""
    checkpoint, seen = view.checkpoint, view.all_heads.distance[view.all_heads.mask]
    known, trained = reach(checkpoint.opened), known_reach(checkpoint)
    marks = [mark for mark in (known.clamp, known.table) if mark is not None]
    base = trained if trained is not None else max(marks, default=USUAL)
    high = min(max(far * (base + 1) - 1, int(seen.max(initial=1)), 1), FARTHEST)
    low = -high if known.low < 0 else 0
    positions = getattr(view.attn, "positions", None)
    if not getattr(positions, "clamps", True):  # a table that ends
        low, high = max(low, positions.first), min(high, positions.last)
    return Span(low, high, trained, known.clamp, known.table, (int(seen.min(initial=0)), int(seen.max(initial=0))))


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_curves(key: tuple, layer: int, low: int, high: int, _checkpoint: Checkpoint) -> np.ndarray | None:
    """Compute v_bias of all heads of a layer from the weights alone: [head distance]; None for absolute positions."""
    distances = torch.arange(low, high + 1)
    return v_bias_curves(_checkpoint.model.layers[layer].attn, distances, _checkpoint.config.clamp_len)


def curves_of(view: View, layer: int, span: Span) -> np.ndarray | None:
    """Give v_bias over the distances of a span; None where it is no curve of distance."""
    if not view.terms.diagonal:
        return None
    return cached_curves(key_of(view.checkpoint), layer, span.low, span.high, view.checkpoint)


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_profiles(source: Source, layer: int) -> dict[str, DistanceProfile]:
    """Average every term, round its row's mean, and the probability, over distance: [head distance] a name."""
    shown = cached_heads(source, layer)
    mask = shown.head(0).mask
    terms = {name: diagnostics.row_centred(term[0], mask) for name, term in shown.terms.items()}
    terms |= {"sum": diagnostics.row_centred(shown.logits[0], mask), "probability": shown.probs[0]}
    return {name: diagnostics.distance_profile(values, shown.distance, mask) for name, values in terms.items()}


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_reach(source: Source) -> dict[str, np.ndarray]:
    """Measure how far each head of the model looks: [layer head] for half and 90 %, and for its position term alone."""
    trace, found = cached_trace(source), []
    name = POSITION[trace.model.config.positions]
    for layer in range(trace.model.config.n_layer):  # one layer at a time: nothing quadratic is kept for all
        shown = trace.terms(layer, queries=LAST_QUERIES)
        mask = shown.head(0).mask
        real = diagnostics.attention_reach(shown.probs[0], shown.distance, mask)
        position = diagnostics.alone(shown.terms[name][0], mask)
        found.append([*real.T, diagnostics.attention_reach(position, shown.distance, mask, [0.5])[:, 0]])
    return dict(zip(("half", "most", "alone"), np.array(found).swapaxes(0, 1), strict=True))


def presets(view: View) -> None:
    """Draw chips that lead to heads worth seeing, and to a text that is long enough to see far."""
    measured, shown = cached_reach(view.source), {}
    half, alone = measured["half"], measured["alone"]
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.log((half + 1) / (alone + 1))
    far = np.nan_to_num(half, nan=-1)
    wanted = {
        _("Nearest"): -np.nan_to_num(half, nan=np.inf),
        _("Farthest"): far,
        _("Position says nearer"): np.nan_to_num(apart, nan=0),
        _("Position says farther"): -np.nan_to_num(apart, nan=0),
    }
    for label, score in wanted.items():
        layer, head = np.unravel_index(score.argmax(), score.shape)
        if label in list(wanted)[:2] or score.max() > math.log(2):  # a claim that does not hold is not made
            shown[f"{label} · L{layer}H{head}"] = {"l": int(layer), "h": int(head)}
    text = held_out_text(view.checkpoint) if view.checkpoint.vocab else ""
    if text and view.key_len < 2 * view.checkpoint.config.segment_len:
        shown[_("A longer text")] = {text_key(view.checkpoint): text, "m": 1}
    chips(_("Try this:"), shown, "distance_preset")


def picture(view: View, span: Span, wanted: Controls) -> None:
    """Show terms and probability over distance: every head of the layer, the chosen one bold with its spread."""
    profiles, curves = cached_profiles(view.source, view.layer), curves_of(view, view.layer, span)
    names = [*view.looks, "sum", "probability"] if wanted.everything else [*position_terms(view), "probability"]
    panels = [panel_of(view, name, profiles[name], curves, span) for name in names]
    drawn = span.low if span.low < 0 else 0, span.high
    figure = figures.profile_figure(panels, drawn, view.head, marks_of(view, span), span.trained, wanted.log, view.dark)
    show(figure, key="distance", alt=finding(view, span), table=lambda: table_of(view, profiles, curves, span))


def position_terms(view: View) -> list[str]:
    """Name the terms of the position, the one that no content has a part in first."""
    if view.checkpoint.config.positions == "absolute":
        return ["position_position", "content_position"]
    return ["v_bias", "content_position"]


def panel_of(view: View, name: str, profile: DistanceProfile, curves: np.ndarray | None, span: Span) -> figures.Profile:
    """Lay out one panel; v_bias comes from the weights, and so goes on where the text ends."""
    look = view.looks.get(name)
    title, unit, colour = (name, "score", "") if look is None else (f"({look.letter}) {name}", "score", look.colour)
    if name == "v_bias" and curves is not None:
        return figures.Profile(title, unit, colour, span.distances, centred(curves, span))
    if look is None:
        title, unit = {"sum": (_("sum"), "score"), "probability": (_("attention probability"), name)}[name]
    often = profile.count >= fewest(view)
    mean, std = profile.mean[:, often], profile.std[view.head, often]
    return figures.Profile(title, unit, colour, profile.distance[often], mean, std)


def fewest(view: View) -> int:
    """Say how many queries must have a key at a distance for their mean to be drawn."""
    return FEWEST if len(view.all_heads.mask) >= 4 * FEWEST else 1


def centred(curves: np.ndarray, span: Span) -> np.ndarray:
    """Move curves [head distance] so that each has the mean 0 over the distances that this text has."""
    seen = (span.distances >= span.seen[0]) & (span.distances <= span.seen[1])
    with np.errstate(invalid="ignore", over="ignore"):
        return curves - curves[:, seen].mean(1, keepdims=True, dtype=np.float64)


def marks_of(view: View, span: Span) -> dict[str, int]:
    """Name the distances to mark; those that fall together share a line."""
    places = {
        _("memory"): len(view.terms.mask) if view.mem_len else None,
        _("training"): span.trained,
        _("clamp"): span.clamp,
        _("table ends"): span.table,
    }
    joined: dict[int, str] = {}
    for name, place in places.items():
        if place is not None and 0 < place <= span.high:
            joined[place] = f"{joined[place]} · {name}" if place in joined else name
    return {name: place for place, name in joined.items()}


def explanation(view: View, span: Span) -> None:
    """Say how the panels are to be read."""
    text = [
        _("All {n} heads of layer {layer}, {name} bold.").format(
            n=view.checkpoint.config.n_head, layer=view.layer, name=view.label
        )
    ]
    if curves_of(view, view.layer, span) is not None:
        text.append(_("(d) is from the weights alone, moved so that its mean over the distances of this text is 0;"))
        text.append(_("the other terms are averaged round the mean of their row, since a softmax sees no more."))
    else:
        text.append(_("Terms are averaged round the mean of their row, since a softmax sees no more."))
    queries = len(view.all_heads.mask)
    words = _("A band is one standard deviation over the queries that have such a key, where {n} or more do.")
    text.append(words.format(n=fewest(view)))
    if queries < view.trace.query_len:
        text.append(_("The last {n} queries of the text count.").format(n=queries))
    if view.mem_len:
        text.append(_("From “memory” on every key is memory."))
    if span.trained is not None and span.trained < span.high:
        text.append(_("Shaded: farther than training ever looked."))
    st.caption(" ".join(text))


def table_of(view: View, profiles: dict[str, DistanceProfile], curves: np.ndarray | None, span: Span):
    """Put the panels of the chosen head into numbers; the curve as it is, not moved."""
    head = {name: one._replace(mean=one.mean[view.head], std=one.std[view.head]) for name, one in profiles.items()}
    table = diagnostics.profile_table(head)
    if curves is None:
        return table
    column = dict(zip(span.distances.tolist(), curves[view.head].tolist(), strict=True))
    table = table.set_index("distance").reindex(sorted({*column, *table["distance"]}))
    table.insert(0, "v_bias_from_weights", [column.get(distance, np.nan) for distance in table.index])
    return table.reset_index()


# Findings ------------------------------------------------------------------------------------------------------------


def finding(view: View, span: Span) -> str:
    """Say how far the head looks, what position alone would do, and what its curve does; markdown."""
    half, most, alone = (
        float(cached_reach(view.source)[name][view.layer, view.head]) for name in ("half", "most", "alone")
    )
    if math.isnan(half):
        return _("**{head}** gives no attention that could be measured.").format(head=view.label)
    past = view.trace.rule.sees == "past"
    words = _("**{head}** gives half of its attention to the last **{half}** tokens and 90 % to the last {most};")
    then = _("{term} alone would give half to the last **{alone}**.")
    if not past:
        words = _("**{head}** gives half of its attention to keys at most **{half}** away and 90 % at most {most};")
        then = _("{term} alone would give half at most **{alone}** away.")
    more = 1 if past else 0  # the token itself is one of the last
    text = words.format(head=view.label, half=int(half) + more, most=int(most) + more)
    term = POSITION[view.checkpoint.config.positions]
    name = f"({view.looks[term].letter}) {term}".replace("_", r"\_")
    if math.isnan(alone):
        return text.rstrip(";；") + _(".")
    return f"{text} {then.format(term=name, alone=int(alone) + more)} {curve_sentence(view, span)}".rstrip()


def curve_sentence(view: View, span: Span) -> str:
    """Say where the curve is highest, when it has fallen half of the way, and what it does beyond the training."""
    curves = curves_of(view, view.layer, span)
    if view.checkpoint.config.positions == "absolute":
        return _("With absolute positions it is no curve of distance: the band says how far it depends on the place.")
    if curves is None:
        return _("Cells of one distance read different rows here, so no curve belongs to the distance.")
    curve, distances = curves[view.head], span.distances
    trained = distances <= (span.seen[1] if span.trained is None else span.trained)
    past = (distances >= 0) & np.isfinite(curve)
    if not (past & trained).any():
        return ""
    peak = int(distances[past & trained][curve[past & trained].argmax()])
    fallen = diagnostics.half_life(curve[trained], distances[trained])
    text = _("Its curve is highest at distance {peak}").format(peak=peak)
    if not math.isnan(fallen):
        text += _(" and has fallen half of the way at {n}").format(n=int(fallen))
    beyond = past & ~trained
    if span.trained is not None and beyond.any() and np.ptp(curve[past & trained]) > 0:
        share = float(np.ptp(curve[beyond]) / np.ptp(curve[past & trained]))
        same = _("; beyond the training one value stands for all distances")
        text += (
            same
            if share == 0
            else _("; beyond the training it still moves by {share} of its range").format(share=style.percent(share))
        )
    return text + _(".")
