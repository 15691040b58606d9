"""_("English text") gives the text in the language of the running session; the source language is English."""

from contextvars import ContextVar

LANGUAGE: ContextVar[str] = ContextVar("language", default="en")
TRANSLATIONS: dict[str, dict[str, str]] = {}  # language -> English text -> translation


def _(text: str) -> str:
    """Translate a text; where there is no translation, the English text stands."""
    return TRANSLATIONS.get(LANGUAGE.get(), {}).get(text, text)
