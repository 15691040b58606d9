"""How far does each head look, and what does position alone say?"""

import streamlit as st

from relxl import ui
from relxl.ui.distance import reach, sections

view = ui.page("distance")
controls = sections.kept_controls()
span = sections.span_of(view, controls.far)
top = st.container()
sections.picture(view, span, controls)
with top:
    sections.presets(view)
    sections.controls(span)
st.markdown(sections.finding(view, span))
sections.explanation(view, span)
ui.let_paint()
reach.how_far(view, controls)
reach.every_head(view, controls, span)
reach.how()
ui.finish(view)
