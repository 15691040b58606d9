"""What is this head's score made of, for this token?"""

import streamlit as st

from relxl import ui
from relxl.ui.score_terms import equation, mixer, sections

view = mixer.mixed(ui.page("score_terms"))
terms = view.terms
query, cell = ui.kept_cell(terms.mask, terms.probs)

term = equation.kept_term(view)
top = st.container()
picture, controls = st.columns([7, 1], gap="small")
with picture:  # first, so that nobody waits for it; the rest follows in its place
    formula = st.container()
    sections.matrices(view, cell, query, term)
ui.let_paint()
with formula:
    sections.equation(view, query)
    equation.choose_term(view)
    equation.term_detail(view, term)
with top:
    sections.presets(view)
with controls:
    ui.pick_cell(terms.mask, terms.probs)
st.markdown(sections.finding(view, query))
mixer.faders(view)
sections.explanation(view, cell)
sections.biases(view)
mixer.who_makes_the_row(view, query)
sections.all_heads(view, cell)
mixer.ablation(view)
sections.downloads(view, cell, query)
sections.how(view)
ui.finish(view)
