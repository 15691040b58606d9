"""The Chinese texts, by the English ones that stand in the code; a module for each page, and for what comes from below.

`SENTENCES` and `WORDS` hold texts that are finished where they are shown, with values in the place of {0}, {1}, ...:
a sentence may follow on the name of a file, a word stands inside a sentence as one of its values.
"""

from relxl.zh import (
    checkpoint,
    checks,
    common,
    compare,
    distance,
    doctor,
    findings,
    frame,
    heads,
    init_scale,
    lessons,
    masking,
    max_len,
    memory,
    memory_cost,
    museum,
    museum_exhibits,
    relative_absolute,
    score_terms,
    sentences,
    sentences_files,
    server,
    shift,
    words,
)

SENTENCES = sentences.TEXTS | sentences_files.TEXTS | lessons.SENTENCES
WORDS = words.TEXTS | lessons.WORDS
MODULES = (
    checkpoint,
    checks,
    common,
    compare,
    distance,
    doctor,
    findings,
    frame,
    heads,
    init_scale,
    lessons,
    masking,
    max_len,
    memory,
    memory_cost,
    museum,
    museum_exhibits,
    relative_absolute,
    score_terms,
    sentences,
    sentences_files,
    server,
    shift,
    words,
)
TEXTS = {english: chinese for module in MODULES for english, chinese in module.TEXTS.items()}
