"""Which heads do what?"""

import streamlit as st

from relxl import ui
from relxl.ui import heads as sections
from relxl.ui import heads_look, heads_table

view = ui.page("heads")
look = heads_look.kept_look(view)
top = st.container()
sections.picture(view, look)
ui.let_paint()
with top:
    sections.presets(look)
st.markdown(sections.finding(view, look))
sections.open_head(view)
sections.average(view, look)
sections.alike(view, look)
heads_table.table(view, look)
sections.how(look)
ui.finish(view)
