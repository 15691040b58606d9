"""What is wrong with it?"""

from relxl import ui
from relxl.ui.doctor import sections

view = ui.page("doctor")
found = sections.examined(view)
sections.summary(view, found)
sections.presets()
sections.findings(view, found)
ui.let_paint()
sections.reference_box()
sections.downloads(found)
sections.checks(found)
ui.finish(view, proof=False)
