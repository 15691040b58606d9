"""What is this head's score made of, for this token?"""

import streamlit as st

from relxl import ui
from relxl.ui import score_terms as sections

view = ui.page("score_terms")
sections.presets(view)
picture, controls = st.columns([7, 1], gap="small")
with controls:
    query, key = ui.pick_cell(view.terms.mask, view.terms.probs)
with picture:
    sections.equation(view, query)
    sections.matrices(view, query, key)
st.markdown(sections.finding(view, query))
sections.explanation(view, query, key)
sections.biases(view)
sections.all_heads(view)
sections.downloads(view)
sections.how(view)
