"""What is this head's score made of, for this token?"""

import streamlit as st

from relxl import ui
from relxl.ui import score_terms as sections

view = ui.page("score_terms")
sections.presets(view)
picture, controls = st.columns([7, 1], gap="small")
with controls:
    query, key = ui.pick_cell(view.terms.mask, view.terms.probs)
cell = None if key is None else (query, key)
with picture:
    sections.equation(view, query)
    sections.matrices(view, cell, query)
st.markdown(sections.finding(view, query))
sections.explanation(view, cell)
sections.biases(view)
sections.all_heads(view)
sections.downloads(view, cell, query)
sections.how(view)
ui.prove(view)
