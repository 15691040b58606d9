"""Teach me."""

from relxl import ui
from relxl.ui.lessons import sections

view = ui.page("lessons")
shelf = sections.shelf()
place = sections.kept_place(shelf)
sections.bar(place, view.dark)
sections.step(view, place)
ui.let_paint()
sections.contents(shelf, place)
ui.finish(view)
