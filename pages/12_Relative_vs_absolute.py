"""Is relative really better, and when?"""

import streamlit as st

from relxl import ui
from relxl.ui.relative_absolute import live, sections
from relxl.ui.relative_absolute.derivation import derivation

view = ui.page("relative_absolute")
result = sections.recorded()
if result is None:
    sections.missing()
else:
    sections.presets()
    sections.controls(result.table)
    sections.picture(result, view.dark)
    st.markdown(sections.finding(result))
    sections.lengths(result, view.dark)
    sections.how_made()
live.rerun(view.dark)
live.side_by_side(view)
derivation(view)
ui.finish(view)
