"""The only part besides the pages that imports streamlit: frame, kept state, caches, and how things are shown.

A page calls `ui.page(...)` for what it looks at, the sections of its own package, the picture first, and `ui.finish`:

    start.py        what happens once: torch's threads, and what is imported early
    frame.py        the head of a page, the sidebar, the doors
    chooser.py      what is looked at: checkpoint, text or hidden states, layer, head; card.py says what it is
    library.py      which checkpoints there are, uploads, and answers to what the weights can not tell
    state.py        controls that keep their value over pages and in the link
    speak.py        the language of a session, and how what runs later keeps it
    view.py         what a page looks at, and the caches behind it
    matrix.py       the matrix view, mounted
    recorded.py     records that commands wrote and that lie beside the app
    texts.py        the text that a checkpoint was trained on, where it lies in the folder data
    show.py         figures with their table twin, the proof badge, text from outside
    loss.py         losses on the text in view, and what is said where there are none
    shown.py        what stands on the page; take_along.py gives it away, as a file or a link
    demo.py         what a shown server does not do
    jobs.py         long work: its button, progress, cancel, and the result that is kept

What one page alone shows is a package of its name, with `sections.py` as the way in.
"""

from relxl.ui import start  # noqa: F401, before torch is imported by anything else
from relxl.ui.card import model_card
from relxl.ui.frame import doors, finish, page, plain_page, weights_page
from relxl.ui.show import let_paint
from relxl.ui.state import kept_cell, pick_cell

__all__ = ["doors", "finish", "kept_cell", "let_paint", "model_card", "page", "pick_cell", "plain_page", "weights_page"]
