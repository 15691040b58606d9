"""The curves and bars of the lessons, by their names."""

import numpy as np

from relxl import style
from relxl.doctor.finding import SEVERITIES
from relxl.experiments import cost
from relxl.experiments.init_scale import FLAT_ABOVE, PEAKED_BELOW, InitSettings, scale_settings
from relxl.experiments.max_len import cells_per_row, known_reach, table_range
from relxl.figures import init_scale as init_figures
from relxl.figures import masking as mask_figures
from relxl.figures import max_len as max_len_figures
from relxl.figures import memory as memory_figures
from relxl.figures import score_terms as score_figures
from relxl.figures.chart import note
from relxl.figures.distance import profile_figure
from relxl.figures.doctor import bars_figure
from relxl.figures.relative_absolute import gap_figure
from relxl.figures.shift import STYLE, HeldRow, held_html
from relxl.language import _
from relxl.lesson import number, one_of, whole
from relxl.reading import Reading, can_flip
from relxl.ui.distance import sections as distance
from relxl.ui.doctor.sections import cached_checks, is_noise
from relxl.ui.initialisation import sections as init_scale
from relxl.ui.lessons.view import HEAD, Cells, Chart, Entry, Settings
from relxl.ui.library import BUNDLED
from relxl.ui.loss import cached_memory_losses, cached_reading_loss
from relxl.ui.masking import leaks as mask_leaks
from relxl.ui.max_len.table import cached_use, untrained_sentence
from relxl.ui.memory import sections as memory
from relxl.ui.memory.losses import saved_sentence
from relxl.ui.recorded import read_record
from relxl.ui.relative_absolute import sections as relative_absolute
from relxl.ui.shift.cost import method_names, shape_text
from relxl.ui.show import plain
from relxl.ui.view import FILLS, View

NAMED = 6  # tokens whose best bar has their name


def key_bias(view: View, settings: Settings) -> Chart:
    """Draw (c) u_bias of a head: one number a key."""
    terms = view.terms
    top = int(terms.u_bias.argmax())
    alt = _("The key that u favours most is {token} at {key}.").format(token=view.tokens[top], key=top)
    font = {"family": style.MONO, "size": 13}
    names = [
        note(style.plot_text(view.tokens[key]), key, float(terms.u_bias[key]), yanchor="bottom", font=font)
        for key in best_keys(terms.u_bias, view.tokens)[:NAMED]
    ]
    figure = score_figures.strip_figure(terms.u_bias, view.tokens, view.looks["u_bias"], view.dark, names, height=300)
    table = {"key": np.arange(len(view.tokens)), "token": view.tokens, "u_bias": terms.u_bias}
    return Chart(figure, alt, table)


def best_keys(u_bias: np.ndarray, tokens: list[str]) -> list[int]:
    """Name the best key of every token, the best token first."""
    best: dict[str, int] = {}
    for key in np.argsort(-u_bias, kind="stable").tolist():
        best.setdefault(tokens[key], key)
    return list(best.values())


def distance_bias(view: View, settings: Settings) -> Chart:
    """Draw (d) v_bias of a head: one number a distance, and where a wall would cut it."""
    terms, both = view.terms, view.trace.rule.sees == "both"
    seen = terms.distances >= (terms.distances.min() if both else 0)
    top = int(terms.distances[seen][terms.v_bias[seen].argmax()])
    alt = _("Among the visible distances v favours {distance} most.").format(distance=top)
    look, wall = view.looks["v_bias"], settings.get("xr")
    if wall is None:
        figure = score_figures.curve_figure(terms.v_bias, terms.distances, look, {}, view.dark, height=300)
    else:
        marks = {_("wall"): int(wall)}
        figure = max_len_figures.wall_figure(
            terms.v_bias, terms.distances, look, int(wall), marks, view.dark, both, height=300
        )
    return Chart(figure, alt, {"distance": terms.distances, "v_bias": terms.v_bias})


def profiles(view: View, settings: Settings) -> Chart:
    """Draw position's terms and the probability over distance, every head of the layer, the chosen one bold."""
    span = distance.span_of(view, 1)
    found, curves = distance.cached_profiles(view.source, view.layer), distance.curves_of(view, view.layer, span)
    names = ("v_bias", "probability")
    panels = [distance.panel_of(view, name, found[name], curves, span) for name in names]
    drawn = span.low if span.low < 0 else 0, span.high
    figure = profile_figure(panels, drawn, view.head, {}, None, True, view.dark)
    table = {"distance": found["v_bias"].distance, "probability": found["probability"].mean[view.head]}
    return Chart(figure, plain(distance.finding(view, span)), table)


def frontier(view: View, settings: Settings) -> Chart:
    """Draw what every head of the layer leaks against the fill, for both orders."""
    names = {"after": _("after the sum"), "before": _("content only, before")}
    results = {names[order]: view.frontier(order) for order in names}
    leaks = {name: leak for name, (leak, _safe) in results.items()}
    marks = {name: float(safe[view.head]) for name, (_leak, safe) in results.items()}
    alt = _("In {head} no row leaks a millionth once the fill is below {after} (after the sum) or {before} (before).")
    deep = dict(zip(names, map(style.number, marks.values()), strict=True))
    figure = mask_figures.frontier_figure(FILLS, leaks, view.head, marks, view.dark, height=320)
    table = {"fill": FILLS} | {name: leak[view.head] for name, leak in leaks.items()}
    return Chart(figure, alt.format(head=view.label, **deep), table)


def leaky(view: View, settings: Settings) -> Chart | str:
    """Draw the recorded training of the model whose mask leaked."""
    file = BUNDLED / mask_leaks.LEAKY / "training.json"
    if not file.exists():
        return _("The recorded training is not here.")
    training = read_record(file)
    curve = training["loss_curve"]
    loss = np.array(curve["train"], np.float32)
    every = slice(None, None, max(len(loss) // 300, 1))
    steps = np.arange(1, len(loss) + 1)
    figure = mask_figures.training_figure(
        steps[every], loss[every], curve["validation_step"], curve["validation"], view.dark, height=320
    )
    alt = _("Training loss falls to {low}, validation loss under the right mask rises to {high}.")
    alt = alt.format(low=style.number(float(loss[-1])), high=style.number(curve["validation"][-1]))
    return Chart(figure, alt, {"step": steps, "loss": loss})


def measured_init(view: View, settings: Settings):
    """Measure a fresh layer of the size of the model on screen, at the scale that the settings ask for."""
    config = view.checkpoint.config
    even = config.d_model % config.n_head == 0 and config.d_model % 2 == 0
    sizes = {"d_model": config.d_model, "n_head": config.n_head} if even else {}
    usual = InitSettings(length=64, positions=str(settings.get("ip", "learned")), **sizes)
    scale = float(settings.get("is", init_scale.USUAL))
    lab = init_scale.Lab(scale_settings(usual, scale), scale, 0, None)
    return init_scale.cached_measures(lab, view.source.checkpoint)


def spread(view: View, settings: Settings) -> Chart:
    """Draw how far each term of a fresh layer spreads, beside the formula."""
    measured = measured_init(view, settings)
    figure = init_figures.spread_figure(measured.std, measured.predicted, style.RELATIVE_TERMS, view.dark, height=320)
    alt = _("A dot is a head, a line the formula.")
    table = {"head": np.arange(len(measured.entropy))} | dict(measured.std)
    return Chart(figure, alt, table)


def entropy(view: View, settings: Settings) -> Chart:
    """Draw how sharp each head of a fresh layer is."""
    measured = measured_init(view, settings)
    figure = init_figures.entropy_figure(measured.entropy, PEAKED_BELOW, FLAT_ABOVE, view.dark, height=320)
    table = {"head": np.arange(len(measured.entropy)), "entropy": measured.entropy}
    return Chart(figure, plain(init_scale.finding(measured)), table)


def held(view: View, settings: Settings) -> Cells:
    """Show what the explicit tensor and the table projected first hold, at one length."""
    ways = method_names()
    rows = [
        HeldRow(ways[it.method], it.name, shape_text(it.shape), it.bytes, it.name in ("rel_emb", "position_key"))
        for it in cost.held_tensors(int(settings.get("length", 512)), *sizes_of(view))
    ]
    return Cells(STYLE + held_html(rows, view.dark))


def sizes_of(view: View) -> tuple[int, int, int]:
    """Give heads, d_head and the width of the position table of what is on screen."""
    config = view.checkpoint.config
    return config.n_head, config.d_head, config.d_model if config.positions == "sinusoid" else config.d_head


def seam(view: View, settings: Settings) -> Chart:
    """Draw what every head gives to the memory."""
    mass, _slots = memory.cached_mass(memory.Part(view.source), view.mem_len, 0)
    mean = mass.mean(-1)
    layer, head = np.unravel_index(np.nan_to_num(mean).argmax(), mean.shape)
    alt = _("Attention across the seam: {mean} over all heads, most in L{layer}H{head} with {most}.").format(
        mean=style.percent(mean.mean()), layer=layer, head=head, most=style.percent(mean.max())
    )
    layers, heads = np.indices(mean.shape)
    table = {"layer": layers.ravel(), "head": heads.ravel(), "mean": mean.ravel()}
    return Chart(memory_figures.seam_figure(mean, (view.layer, view.head), view.dark), alt, table)


def saving(view: View, settings: Settings) -> Chart | str:
    """Draw the loss on every token of the segment, with its memory and without."""
    with_memory, without = cached_memory_losses(view.source)
    if not len(with_memory):
        return _("One token has no next one to predict: give a longer text.")
    tokens = view.tokens[view.mem_len :][: len(with_memory)]
    losses = {_("with memory"): with_memory, _("without"): without}
    figure = memory_figures.token_loss_figure(losses, tokens, view.dark)
    table = {"query": np.arange(len(tokens)), "token": tokens, "with_memory": with_memory, "without": without}
    return Chart(figure, plain(saved_sentence(with_memory, without)), table)


def gap(view: View, settings: Settings) -> Chart | str:
    """Draw what relative positions gained in the recorded trainings."""
    table = relative_absolute.recorded_table()
    if table is None:
        return _("The recorded result is not here yet.")
    result = relative_absolute.Result(table, "tinyshakespeare", 0, int(str(settings.get("rk", 1))), "loss")
    names = relative_absolute.kind_names()
    curves = {names[kind]: curve for kind, curve in result.gaps.items()}
    figure = gap_figure(curves, {}, _("segment length in training, tokens"), view.dark)
    return Chart(figure, plain(relative_absolute.finding(result)), relative_absolute.curve_table(curves, "gap"))


def rows(view: View, settings: Settings) -> Chart:
    """Draw for each row of the table how large it is, how often it was trained and how often it is read now."""
    use, reach = cached_use(view.source.checkpoint), known_reach(view.checkpoint)
    read = cells_per_row(view.terms.distance, view.terms.mask, table_range(view.checkpoint.model))
    counts = use.gradient_counts[view.layer]
    figure = max_len_figures.rows_figure(use.distance, use.size[view.layer], use.spread, counts, read, {}, view.dark)
    table = {"distance": use.distance, "size": use.size[view.layer], "steps": counts, "cells": read}
    return Chart(figure, plain(untrained_sentence(use, reach)), table)


READINGS = ("as_it_is", "flipped", "near", "none")


def reading_losses(view: View) -> dict[str, float]:
    """Give the loss on the text under several readings of the positions: nats per token."""
    readings = {"as_it_is": None, "near": Reading(clamp_len=1), "none": Reading(clamp_len=0)}
    if can_flip(view.checkpoint.model):
        readings["flipped"] = Reading(flip=True)
    return {name: cached_reading_loss(view.source, readings[name]) for name in READINGS if name in readings}


def reading_names() -> dict[str, str]:
    return {
        "as_it_is": _("as it is"),
        "flipped": _("direction flipped, j − i"),
        "near": _("wall at 1: itself, and the rest"),
        "none": _("wall at 0: all distances are one"),
    }


def readings(view: View, settings: Settings) -> Chart:
    """Draw the loss on the text under several readings of the positions."""
    losses, names = reading_losses(view), reading_names()
    values = np.array(list(losses.values()))
    labels, title = [names[name] for name in losses], _("loss, nats per token")
    alt = _("Bars, one below the other: {title}. Smallest: {name}, {value}.").format(
        title=title, name=labels[int(values.argmin())], value=f"{values.min():.3f}"
    )
    return Chart(bars_figure(labels, values, title, view.dark), alt, {"name": labels, "loss": values})


def findings(view: View, settings: Settings) -> Chart:
    """Draw how many findings of each severity the doctor has about the model on screen."""
    found = all_findings(view)
    names = {"error": _("errors"), "warning": _("warnings"), "note": _("notes")}
    counts = np.array([sum(it.severity == name for it in found) for name in SEVERITIES])
    title = _("findings of the Doctor")
    alt = ", ".join(f"{names[name]}: {n}" for name, n in zip(SEVERITIES, counts, strict=True))
    labels = [names[name] for name in SEVERITIES]
    return Chart(bars_figure(labels, counts, title, view.dark), alt, {"severity": labels, "findings": counts})


def all_findings(view: View) -> list:
    """Run the checks of the page Doctor on what is looked at."""
    checks = cached_checks(view.source._replace(mix=None), is_noise(view))
    return [finding for _check, its in checks for finding in its or ()]


CHARTS: dict[str, Entry] = {
    "key_bias": Entry(key_bias, ("text", "relative"), HEAD),
    "distance_bias": Entry(distance_bias, ("text", "curve"), HEAD | {"xr": whole(0, 4095)}),
    "profiles": Entry(profiles, ("text", "curve"), HEAD),
    "frontier": Entry(frontier, ("text",), HEAD),
    "leaky": Entry(leaky),
    "spread": Entry(spread, (), {"is": number(1e-4, 10), "ip": one_of("learned", "sinusoid")}),
    "entropy": Entry(entropy, (), {"is": number(1e-4, 10), "ip": one_of("learned", "sinusoid")}),
    "held": Entry(held, (), {"length": whole(16, 4096)}),
    "seam": Entry(seam, ("text", "memory"), HEAD),
    "saving": Entry(saving, ("text", "memory", "loss"), {}),
    "gap": Entry(gap, (), {"rk": one_of("1", "2", "4", "8")}),
    "rows": Entry(rows, ("text", "learned", "counts"), HEAD),
    "readings": Entry(readings, ("text", "relative", "loss"), {}),
    "findings": Entry(findings, ("text",), {}),
}
