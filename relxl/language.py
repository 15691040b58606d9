"""_("English text") gives the text in the language of the running session; the source language is English."""

import re
from contextvars import ContextVar
from functools import cache

LANGUAGES = {"en": "English", "zh": "中文"}  # as a link names them, and as they name themselves
LANGUAGE: ContextVar[str] = ContextVar("language", default="en")
VALUE = re.compile(r"\{([0-9]+)\}")


def _(text: str) -> str:
    """Translate a text; where there is no translation, the English text stands."""
    return translations(LANGUAGE.get()).get(text, text)


@cache
def translations(language: str) -> dict[str, str]:
    """Give the translations of a language by the English text; they are read when somebody first speaks it."""
    if language != "zh":
        return {}
    from relxl.zh import TEXTS

    return TEXTS


def translated(sentence: str) -> str:
    """Translate a sentence whose values are in it already: an error, or the words of a finding.

    It may follow on a name, as in "model.pt is empty", and its values may be such texts themselves. What was made of
    no known template stays as it is.
    """
    if sentence in (texts := translations(LANGUAGE.get())):
        return texts[sentence]
    for pattern, template in templates(LANGUAGE.get()):
        if found := pattern.fullmatch(sentence):
            before, colon, *values = found.groups()
            told = VALUE.sub(lambda place: translated(values[int(place[1])]), template)  # noqa: B023
            return told if not before else f"{translated(before)}{'：' if colon == ': ' else ' '}{told}"
    return sentence


@cache
def templates(language: str) -> tuple[tuple[re.Pattern, str], ...]:
    """Give a pattern and the translation of each text that is shown with its values in it, the wordiest first."""
    if language != "zh":
        return ()
    from relxl.zh import SENTENCES, WORDS

    wordiest = sorted(SENTENCES | WORDS, key=lambda text: len(VALUE.sub("", text)), reverse=True)
    return tuple((pattern_of(text, text in SENTENCES), translations(language)[text]) for text in wordiest)


def pattern_of(template: str, after_a_name: bool) -> re.Pattern:
    """Match what a template may have become; the groups are a name and what joins it, then the values."""
    name = r"(?:(\S.*?)(: | ))??" if after_a_name else r"(?:(\S.*?)(: ))??"
    return re.compile(name + "(.*?)".join(map(re.escape, VALUE.split(template)[::2])), re.DOTALL)
