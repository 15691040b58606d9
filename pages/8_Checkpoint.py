"""What is in this file?"""

import streamlit as st

from relxl import ui
from relxl.ui import library
from relxl.ui.checkpoint import answers, sections, settings, tensors, weights

look = ui.weights_page("checkpoint")
checkpoint, where = look.checkpoint, (look.layer, look.head, look.dark)
card, curves = st.columns([4, 5], gap="large")
with curves:  # the picture first; the rest follows in its place
    weights.weights_only(checkpoint, *where)
with card:
    sections.identity(checkpoint)
library.upload_box()
settings.settings(checkpoint)
answers.both_results(checkpoint, *where)
ui.let_paint()
weights.q_bias_gauge(checkpoint, *where)
tensors.census(checkpoint, look.dark)
sections.matched(checkpoint)
sections.how()
ui.finish(look)
