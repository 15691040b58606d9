"""What happens beyond the table?"""

import streamlit as st

from relxl import ui
from relxl.ui.max_len import losses, sections, table

view = ui.page("max_len")
wall = sections.kept_wall(view)
top = st.container()
sections.picture(view, wall)
with top:
    sections.presets(view)
    sections.controls(view)
st.markdown(sections.finding(view, wall))
ui.let_paint()
table.v_bias(view, wall)
table.trained_rows(view)
table.index_matrix(view.dark)
losses.recorded(view)
losses.measure(view)
table.how()
ui.finish(view)
