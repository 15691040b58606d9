"""The questions of the lessons about fresh layers, cost, shifts, memory and whole models."""

import math

import numpy as np

from relxl import style
from relxl.experiments import cost
from relxl.language import _
from relxl.shift import SHIFTS, foreign_cells, pair_map
from relxl.ui.lessons.asking import Question, best_head, compared, listed, pick
from relxl.ui.lessons.charts import all_findings, measured_init, reading_losses, reading_names, sizes_of
from relxl.ui.lessons.view import Settings
from relxl.ui.loss import cached_memory_losses
from relxl.ui.memory import sections as memory
from relxl.ui.shift.cost import size
from relxl.ui.shift.words import names as shift_names
from relxl.ui.show import code
from relxl.ui.view import View

MOST_CELLS = 1 << 18  # of a map that is counted cell by cell
OTHER_SHIFTS = ("pad_and_view", "exact", "ascending", "absolute", "memory_forgotten", "legacy")


# Initialisation, cost, shifts ----------------------------------------------------------------------------------------


def init_factor(view: View, settings: Settings) -> Question:
    """Ask by what a term grows when all standard deviations are doubled."""
    term = settings.get("show", ("content",))[0]
    kind = {"ip": settings.get("ip", "learned")}
    before, after = (float(np.mean(measured_init(view, kind | {"is": s}).std[term])) for s in (0.02, 0.04))
    factor = after / before
    factors = (2, 4, 8, 16)
    right = int(np.abs(np.log2(factors) - math.log2(factor)).argmin())
    text = _("Double all five standard deviations. By what does ({letter}) {term} grow?").format(
        letter=style.RELATIVE_TERMS[term].letter, term=term.replace("_", r"\_")
    )
    because = _("Measured over the heads of a fresh layer of this model's size: {before} becomes {after}, **{x}×**.")
    because = because.format(before=style.number(before), after=style.number(after), x=style.number(factor))
    return Question(text, tuple(f"{n}×" for n in factors), right, because)


def init_heads(view: View, settings: Settings) -> Question:
    """Ask what the heads of a fresh layer do at a scale."""
    measured = measured_init(view, settings)
    peaked, flat, heads = int(measured.peaked.sum()), int(measured.flat.sum()), len(measured.entropy)
    counts = (flat, heads - flat - peaked, peaked)
    options = (_("most are flat: they average"), _("most are neither"), _("most are peaked: they stare at a few keys"))
    text = _("A fresh layer of this model's size, all five at {scale}. What do its {heads} heads do?")
    because = _("Flat: **{flat}**, peaked: **{peaked}**, neither: **{rest}**; mean entropy {entropy} of the possible.")
    because = because.format(
        flat=flat, peaked=peaked, rest=counts[1], entropy=style.percent(float(np.mean(measured.entropy)))
    )
    scale = style.number(float(settings.get("is", 0.02)))
    return Question(text.format(scale=scale, heads=heads), options, int(np.argmax(counts)), because)


def explicit_size(view: View, settings: Settings) -> Question:
    """Ask how large the explicit position tensor of one layer of this model is."""
    length = int(settings.get("length", 512))
    held = {it.name: it.bytes for it in cost.held_tensors(length, *sizes_of(view))}
    shapes = {it.name: it.shape for it in cost.held_tensors(length, *sizes_of(view))}
    text = _("How large is R written out for every pair, [{shape}], in one layer of this model, in float32?").format(
        shape=" ".join(map(str, shapes["rel_emb"]))
    )
    because = _("It is **{explicit}**, once for all heads. Projected it is {projected}; the table first is {table}.")
    because = because.format(
        explicit=size(held["rel_emb"]), projected=size(held["pos_proj"]), table=size(held["position_key"])
    )
    values = [held[name] for name in ("pos_proj", "position_key", "q · position_key")]
    return pick(text, values, held["rel_emb"], because, size)


def forgotten(view: View, settings: Settings) -> Question | str:
    """Ask how many visible cells of this run read a wrong distance when the memory is forgotten."""
    q, m = view.trace.query_len, view.mem_len
    if q * (q + m) > MOST_CELLS:
        return _("The text is too long to count its cells one by one: give a shorter one.")
    right = int(foreign_cells(pair_map("memory_forgotten", q, m), m).visible.sum())
    visible = q * m + q * (q + 1) // 2
    text = _("On screen: {q} queries, a memory of {m}. Indexed by i − j, how many of the {n} visible cells are wrong?")
    because = _("Every distance is m = {m} too small, so **{right}** of {n} cells read a foreign row.")
    values = {0, q * m, q, visible, right}
    return pick(text.format(q=q, m=m, n=visible), values, right, because.format(m=m, n=visible, right=right))


def which_shift(view: View, settings: Settings) -> Question:
    """Ask which public rel_shift makes the cells that are shown."""
    name, q, m = str(settings.get("s", "ascending")), int(settings.get("sq", 4)), int(settings.get("sm", 0))
    maps = {other: map_key(other, q, m) for other in (name, *OTHER_SHIFTS)}
    unlike = [other for other in OTHER_SHIFTS if other != name and maps[other] != maps[name]]
    shown = sorted([name, *unlike[:3]], key=list(SHIFTS).index)
    right = next(place for place, other in enumerate(shown) if maps[other] == maps[name])
    titles = shift_names()
    wrong = [int(foreign_cells(pair_map(other, q, m), m).foreign.sum()) for other in shown]
    because = _("Cells that read a foreign row or distance:")
    because += " " + listed((titles[other] for other in shown), map(str, wrong))
    return Question(_("Which shift is this?"), tuple(titles[other] for other in shown), right, because)


def map_key(name: str, query_len: int, mem_len: int) -> tuple:
    """Give what a shift reads, in a form that can be compared."""
    pairs = pair_map(name, query_len, mem_len)
    return tuple(pairs.query_row.flatten().tolist()), tuple(pairs.distance.flatten().tolist())


# Memory and models ---------------------------------------------------------------------------------------------------


def memory_cut(view: View, settings: Settings) -> Question | str:
    """Ask what becomes of the loss on the segment without its memory."""
    with_memory, without = cached_memory_losses(view.source)
    if not len(with_memory):
        return _("One token has no next one to predict: give a longer text.")
    because = _("Loss on the {n} tokens of the segment with memory: {a:.3f} nats per token; without: **{b:.3f}**.")
    a, b = float(with_memory.mean()), float(without.mean())
    text = _("Cut the memory to 0. What becomes of the loss on the tokens of this segment?")
    return compared(text, a, b, because.format(n=len(with_memory), a=a, b=b))


def memory_head(view: View, settings: Settings) -> Question | str:
    """Ask which head reads most from memory."""
    mean = memory.cached_mass(memory.Part(view.source), view.mem_len, 0)[0].mean(-1)
    text = _("Which of these heads reads most from the memory?")
    return best_head(text, np.nan_to_num(mean), _("Attention to the memory, on average:"))


def best_reading(view: View, settings: Settings) -> Question | str:
    """Ask under which reading of the positions the loss is lowest."""
    losses, names = reading_losses(view), reading_names()
    if any(math.isnan(loss) for loss in losses.values()):
        return _("The loss on this text is not a number, so nothing can be compared.")
    right = list(losses).index(min(losses, key=losses.get))
    options = [names[name] for name in losses]
    because = _("Loss on the text, nats per token:") + " " + listed(options, (f"{x:.3f}" for x in losses.values()))
    return Question(_("How must the positions of this model be read?"), tuple(options), right, because)


def worst_finding(view: View, settings: Settings) -> Question:
    """Ask for the worst that the doctor finds about the model on screen."""
    found = all_findings(view)
    counts = [sum(it.severity == name for it in found) for name in ("error", "warning", "note")]
    options = (_("an error"), _("a warning"), _("a note"), _("nothing"))
    right = next((place for place, n in enumerate(counts) if n), 3)
    text = _("What is the worst that the Doctor finds in {name}?").format(name=code(view.checkpoint.name))
    because = _("It has **{errors}** errors, **{warnings}** warnings and **{notes}** notes.")
    return Question(text, options, right, because.format(errors=counts[0], warnings=counts[1], notes=counts[2]))
