"""What does the starting scale do to attention?"""

import streamlit as st

from relxl import ui
from relxl.ui.initialisation import sections

view = ui.page("initialisation")
lab = sections.kept_lab(view)
measured = sections.measures(lab, view)
top = st.container()
picture, controls = st.columns([4, 1], gap="medium")
with picture:
    sections.picture(lab, measured, view)
with top:
    sections.presets()
with controls:
    sections.controls(lab, view)
st.markdown(sections.finding(measured))
ui.let_paint()
sections.spread_and_entropy(lab, measured, view)
sections.sweep(lab, view)
sections.training(lab, view)
sections.how(lab)
ui.finish(view, proof=False)
