"""The equation as a controller: a term that is chosen in it shows its panel, its parameters and its line of code."""

from dataclasses import replace

import streamlit as st

from relxl import style
from relxl.figures.head import panel_order
from relxl.language import _
from relxl.matrix_view import Grid
from relxl.term_parts import code_line, term_parts
from relxl.ui.state import keep
from relxl.ui.view import View

NO_TERM = ""


def kept_term(view: View) -> str:
    """Give the term that is chosen, or nothing."""
    return keep("et", NO_TERM, (NO_TERM, *view.looks)).value


def choose_term(view: View) -> None:
    """Draw a button a term, below the equation."""
    labels = {name: f"({look.letter}) {name}" for name, look in view.looks.items()}
    kept = keep("et", NO_TERM, (NO_TERM, *labels))
    if kept.value == NO_TERM:
        st.session_state[kept.widget["key"]] = None
    help = _("Sets off the term’s panel, and shows its parameters and the line that computes it.")
    st.pills(_("Look closer at a term"), list(labels), format_func=labels.get, help=help, **kept.widget)


def set_off(grid: Grid, view: View, term: str) -> Grid:
    """Frame the panel of a term in the grid of the chosen head."""
    if term == NO_TERM:
        return grid
    return replace(grid, chosen=(panel_order(view.looks).index(term),))


def term_detail(view: View, term: str) -> None:
    """Show what a term multiplies in the chosen head, and the line of relxl that computes it."""
    if term == NO_TERM:
        return
    look, parts = view.looks[term], term_parts(view.attn, term, view.head)
    line = code_line(view.attn, term)
    left, right = st.columns([2, 3], gap="large", vertical_alignment="center")
    with left:
        columns = {
            _("parameter of {head}").format(head=view.label): [part.symbol for part in parts],
            _("shape"): [" × ".join(map(str, part.shape)) for part in parts],
            _("norm"): [style.number(part.norm) for part in parts],
        }
        st.dataframe(columns, hide_index=True)
    with right:
        st.markdown(f"({look.letter}) **{term}** · `{line.file}:{line.number}`".replace("_b", r"\_b"))
        st.code(line.text, language="python")
