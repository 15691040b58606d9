"""The only part besides the pages that imports streamlit: frame, kept state, caches, and how things are shown.

A page calls `ui.page(...)` for what it looks at, the sections of its own module, the picture first, and `ui.finish`:

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
    jobs.py         long work: its button, progress, cancel, and the result that is kept
    score_terms.py  the sections of the page "Score terms"
    distance.py     the picture of the page "Distance"; distance_reach.py belongs to it
    masking.py      the rule and the picture of the page "Masking"; mask_gallery and mask_leaks.py belong to it
    init_scale.py   the sections of the page "Initialisation"
    max_len.py      the sections of the page "Max len"; max_len_table and max_len_losses.py belong to it
    doctor.py       the findings of the page "Doctor"; doctor_evidence.py shows the numbers of one
    memory.py       what crosses the seam, of the page "Memory"; memory_losses and memory_collision.py belong to it
    compare.py      two checkpoints, of the page "Compare"; compare_text and compare_film.py belong to it
    museum.py       the gallery of the page "Bug museum", museum_exhibits and museum_words.py what it says; mystery.py
                    is the model to find a fault in
    derivation.py   from absolute to relative by steps; derivation_run and derivation_words.py belong to it
    lessons.py      the page "Lessons"; lesson_step draws a step, lesson_view finds what it looks at, lesson_figures,
                    lesson_charts, lesson_asking, lesson_questions and lesson_questions_model.py are what it may name
    shift.py        the sections of the page "Shift"; shift_tables, shift_words and shift_cost.py belong to it
"""

import os

# How torch computes beside others; read when it is first imported, so it stands before everything else. An idle thread
# must sleep: by default it spins, and beside a browser or a second session a split that takes 1 ms alone takes 50. And
# every run of a page is a thread that would bring as many as the machine has cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", str(min(os.cpu_count() or 1, 4)))

# Two sessions that import pandas late and at once find it half made. Here one thread imports it, and the others wait.
import pandas  # noqa: F401

from relxl.ui.card import model_card
from relxl.ui.frame import doors, finish, page, plain_page, weights_page
from relxl.ui.show import let_paint
from relxl.ui.state import kept_cell, pick_cell

__all__ = ["doors", "finish", "kept_cell", "let_paint", "model_card", "page", "pick_cell", "plain_page", "weights_page"]
