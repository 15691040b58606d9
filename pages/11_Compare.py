"""What changed between these two?"""

from relxl import ui
from relxl.ui import compare, compare_film, compare_text

view = ui.page("compare")
compare.presets(view)
if compare.mode() == "film":
    film = compare_film.choose_film(view)
    if film is not None:
        compare_film.picture(film)
        ui.let_paint()
        compare_film.moved(film)
        compare_film.over_time(film)
else:
    pair = compare.choose_pair(view)
    if pair is not None:
        compare.picture(pair)
        ui.let_paint()
        compare_text.shares(pair)
        compare.table(pair)
compare.how()
ui.finish(view, proof=False)
