"""What changed between these two?"""

import streamlit as st

from relxl import ui
from relxl.ui import compare, compare_film, compare_text

view = ui.page("compare")
compare.presets(view)
left, right = st.columns([4, 7], gap="medium")
with left:
    mode = compare.mode()
if mode == "film":
    with right:
        film = compare_film.choose_film(view)
    if film is not None:
        compare_film.picture(film)
        ui.let_paint()
        compare_film.moved(film)
        compare_film.over_time(film)
else:
    with right:
        pair = compare.choose_pair(view)
    if pair is not None:
        compare.picture(pair)
        ui.let_paint()
        compare.vectors(pair)
        compare_text.shares(pair)
        compare.table(pair)
compare.how()
ui.finish(view, proof=False)
