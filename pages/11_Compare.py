"""What changed between these two?"""

import streamlit as st

from relxl import ui
from relxl.ui.compare import film, sections, text

view = ui.page("compare")
sections.presets(view)
left, right = st.columns([4, 7], gap="medium")
with left:
    mode = sections.mode()
if mode == "film":
    with right:
        watched = film.choose_film(view)
    if watched is not None:
        film.picture(watched)
        ui.let_paint()
        film.moved(watched)
        film.over_time(watched)
else:
    with right:
        pair = sections.choose_pair(view)
    if pair is not None:
        sections.picture(pair)
        ui.let_paint()
        sections.vectors(pair)
        text.shares(pair)
        sections.table(pair)
sections.how()
ui.finish(view, proof=False)
