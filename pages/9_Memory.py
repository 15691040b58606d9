"""What crosses the segment seam?"""

import streamlit as st

from relxl import ui
from relxl.ui import memory as sections
from relxl.ui import memory_collision, memory_cost, memory_losses

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
memory_losses.this_segment(view, seam)
memory_losses.measure(view)
memory_cost.section(view)
memory_collision.collision(view)
sections.how()
ui.finish(view)
