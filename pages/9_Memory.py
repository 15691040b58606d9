"""What crosses the segment seam?"""

import streamlit as st

from relxl import ui
from relxl.ui.memory import collision, cost, losses, sections

view = ui.page("memory")
seam = sections.seam_of(view)
top = st.container()
sections.picture(view, seam)
with top:
    sections.presets(view, seam)
    sections.controls(seam)
st.markdown(sections.finding(view, seam))
ui.let_paint()
sections.slots(view, seam)
losses.this_segment(view, seam)
losses.measure(view)
cost.section(view)
collision.collision(view)
sections.how()
ui.finish(view)
