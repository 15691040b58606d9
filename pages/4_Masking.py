"""How does the future get in?"""

import streamlit as st

from relxl import ui
from relxl.ui.masking import leaks, sections

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
leaks.rows_and_frontier(view, rule)
leaks.every_head(view, rule)
leaks.what_is_true()
leaks.causality(view, rules)
leaks.recorded()
leaks.how()
ui.finish(view)
