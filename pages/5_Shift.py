"""Which distance does each cell really read, and what does it cost?"""

from relxl import ui
from relxl.ui.shift import cost, sections

dark = ui.plain_page("shift")
sections.microscope(dark)
ui.let_paint()
sections.which_is_mine()
cost.sections(dark)
sections.how()
ui.finish()
