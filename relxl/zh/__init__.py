"""The Chinese texts, by the English ones that stand in the code; a module for each page, and for what comes from below.

`SENTENCES` and `WORDS` hold texts that are finished where they are shown, with values in the place of {0}, {1}, ...:
a sentence may follow on the name of a file, a word stands inside a sentence as one of its values.
"""

from importlib import import_module
from pkgutil import iter_modules

from relxl.zh import lessons, sentences, sentences_files, words

MODULES = tuple(import_module(f"relxl.zh.{module.name}") for module in iter_modules(__path__))
TEXTS = {english: chinese for module in MODULES for english, chinese in module.TEXTS.items()}
SENTENCES = sentences.TEXTS | sentences_files.TEXTS | lessons.SENTENCES
WORDS = words.TEXTS | lessons.WORDS
