"""How does the future get in?"""

import streamlit as st

from relxl import ui
from relxl.ui import masking as sections

view = ui.page("masking")
top = st.container()
picture, controls = st.columns([4, 1], gap="medium")
rule = sections.kept_rule(view)
rules = sections.kept_rules(view, rule)
with picture:
    sections.stages(view, rule)
with top:
    sections.presets(view, rule)
with controls:
    sections.controls(view)
st.markdown(sections.finding(view, rule, rules))
ui.let_paint()
sections.rows_and_frontier(view, rule)
sections.every_head(view, rule)
sections.what_is_true()
sections.causality(view, rules)
sections.recorded()
sections.how()
ui.finish(view)
