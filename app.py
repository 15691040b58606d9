"""Home: what relxl shows, at once, on a trained model; then a door to every page."""

import streamlit as st

from relxl import ui
from relxl.language import _
from relxl.ui.score_terms import sections

view = ui.page("home")
query, cell = ui.kept_cell(view.terms.mask, view.terms.probs)
equation = st.container()
sections.matrices(view, cell, query)
ui.let_paint()
with equation:
    sections.equation(view, query)
st.markdown(sections.finding(view, query))
st.markdown(
    _(
        "relxl opens models with Transformer-XL style relative attention and splits every score before the softmax "
        "into its four additive terms. It proves, on the numbers in front of you, that the split is exact. Vary the "
        "text, the layer and the head in the sidebar, and go through a door to look closer."
    )
)
card, doors = st.columns(2, gap="large")
with card:
    ui.model_card(view)
with doors:
    ui.doors()
ui.finish(view)
