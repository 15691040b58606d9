"""What goes wrong in the wild?"""

from relxl import ui
from relxl.ui.museum import sections
from relxl.ui.museum.mystery import spot_the_bug

view = ui.page("bug_museum")
exhibit = sections.pick_exhibit()
sections.show_exhibit(view, exhibit)
ui.let_paint()
spot_the_bug()
sections.how()
ui.finish(view, proof=False)
