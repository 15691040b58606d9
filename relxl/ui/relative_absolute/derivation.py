"""The derivation of relative positions, live: from an absolute score to the four terms, one replacement at a time."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.derivation import ShiftTest, Step
from relxl.figures.derivation import STYLE, Rung, change_figure, ladder_html
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.ui.matrix import matrix_view
from relxl.ui.memory.collision import absolute_source
from relxl.ui.relative_absolute.derivation_run import (
    FIRST_SHIFT,
    LOOKS,
    SHIFTS,
    TRAINED,
    Derived,
    cached_derivation,
    ending,
)
from relxl.ui.relative_absolute.derivation_words import finding, letter_of, step_names, step_texts, weights_sentence
from relxl.ui.show import plain, show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.view import View

LONGEST = 48  # tokens of the text: more only look smaller
OFFERED = (1, 8, 64, 512)  # shifts to look at
FIRST_STEP = 2  # that brings in the distance
LETTERS = tuple(style.RELATIVE_TERMS.values())


@fragment
def derivation(view: View) -> None:
    """Derive the four relative terms on real numbers, and test at each step what a moved text changes."""
    start = absolute_source(view)
    if start is None:
        return
    end, reason = ending(view, start)
    derived = cached_derivation(start, end, view.head, min(LONGEST, view.trace.query_len))
    st.markdown("##### " + _("Derive it: from absolute to relative, one replacement at a time"))
    names = step_names()
    step, shift = keep("rd", FIRST_STEP, range(len(names))), keep("rds", FIRST_SHIFT, OFFERED)
    with st.container(horizontal=True, gap="small"):
        labels = {place: f"{place}  {name}" for place, name in enumerate(names)}
        st.segmented_control(
            _("Step"), list(labels), format_func=labels.get, required=True, width="content", **step.widget
        )
        st.segmented_control(
            _("Move the text by, places"), OFFERED, format_func=str, required=True, width="content", **shift.widget
        )
    st.latex(equation(derived.steps[step.value], view.dark))
    st.markdown(step_texts(end.name)[step.value])
    text = finding(derived, step.value, shift.value)
    matrix_view(grid(derived, step.value, shift.value, text), key="derivation", dark=view.dark)
    st.markdown(text)
    table, curve = st.columns([3, 2], gap="large")
    with table:
        st.caption(_("Largest change of a visible cell when the text is moved by {n} places").format(n=shift.value))
        st.html(STYLE + ladder_html(rungs(derived, shift.value), LETTERS, step.value, view.dark))
    with curve:
        test = derived.tests[step.value]
        lines = test.terms | ({"score": test.score} if len(test.terms) > 1 else {})
        figure = change_figure(test.shifts, lines, LOOKS, shift.value, view.dark)
        show(figure, key="derivation_changes", alt=text, table=lambda: change_table(test))
    st.caption(weights_sentence(derived, start, end, reason))
    write_link()


def equation(step: Step, dark: bool) -> str:
    """Write the score of a step in LaTeX, each term in its colour and with its letter."""
    if "product" in step.formulas:
        inside = step.formulas["product"]
    else:
        inside = " + ".join(
            rf"\underbrace{{\textcolor{{{style.readable(LOOKS[name].colour, dark)}}}{{{formula}}}}}"
            rf"_{{({LOOKS[name].letter})}}"
            for name, formula in step.formulas.items()
        )
    return rf"s_{{ij}} = \tfrac{{1}}{{\sqrt{{d_{{head}}}}}} \Bigl( {inside} \Bigr)"


def grid(derived: Derived, step: int, shift: int, label: str) -> Grid:
    """Lay out the terms of a step over what moving the text changes in each."""
    mask, before, after = derived.masks[step].numpy(), derived.terms(step), derived.terms(step, shift)
    scores = Scale("diverging", shared_limit(list(before.values()), mask), _("score"))
    place = SHIFTS.index(shift)
    largest = max(change[place] for test in derived.tests[:TRAINED] for change in (test.score, *test.terms.values()))
    moved = Scale("diverging", largest, _("moved by {n}").format(n=shift))
    panels = [Panel(title_of(name), value, scores, colour=colour_of(name)) for name, value in before.items()]
    panels += [
        Panel(
            _("change of {term}").format(term=letter_of(name)), after[name] - value, moved,
            formula=amount(float(np.abs(after[name] - value)[mask].max())), colour=colour_of(name),
        )
        for name, value in before.items()
    ]  # fmt: skip
    return Grid(tuple(panels), mask, derived.tokens[step], max(len(before), 2), plain(label))


def title_of(name: str) -> str:
    return f"({LOOKS[name].letter}) {name}" if name in LOOKS else letter_of(name)


def colour_of(name: str) -> str:
    return LOOKS[name].colour if name in LOOKS else ""


def amount(change: float) -> str:
    return "0" if change == 0 else "≤ " + style.number(change)


def rungs(derived: Derived, shift: int) -> list[Rung]:
    """Put the largest change of each term, of the score and of a probability into a row a step."""
    place, rows = SHIFTS.index(shift), []
    for name, step, test in zip(step_names(), derived.steps, derived.tests, strict=True):
        terms = list(test.terms) if len(test.terms) > 1 else [None] * len(LETTERS)
        found = [*(None if term is None else float(test.terms[term][place]) for term in terms)]
        found += [float(test.score[place]), float(test.probs[place])]
        boxed = [term is not None and "boxed" in step.formulas[term] for term in terms]
        still = [change is not None and test.still(change) for change in found]
        rows.append(Rung(name, found, still, [*boxed, False, False]))
    return rows


def change_table(test: ShiftTest) -> dict[str, list]:
    """Put what moving the text changes at a step into numbers: a row a shift."""
    terms = {f"change_of_{name}": values for name, values in test.terms.items()}
    return {"moved_by": test.shifts} | terms | {"change_of_score": test.score, "change_of_probability": test.probs}
