"""Which heads do what?"""

import streamlit as st

from relxl import ui
from relxl.ui.heads import look, sections, table

view = ui.page("heads")
measured = look.kept_look(view)
top = st.container()
sections.picture(view, measured)
ui.let_paint()
with top:
    sections.presets(measured)
st.markdown(sections.finding(view, measured))
sections.open_head(view)
sections.average(view, measured)
sections.alike(view, measured)
table.table(view, measured)
sections.how(measured)
ui.finish(view)
