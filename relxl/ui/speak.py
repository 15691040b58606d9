"""The language of a session: what its link or its control says, else what its browser asks for, else English.

Streamlit runs a fragment, and what makes a download, in a thread of its own without the script of the page. So both
take along the language in which the page was drawn.
"""

from collections.abc import Callable
from functools import wraps

import streamlit as st

from relxl.language import LANGUAGE, LANGUAGES, _
from relxl.ui.state import keep


def settle_language() -> None:
    """Find out which language this session speaks, and speak it from here on."""
    browser = "zh" if (st.context.locale or "").lower().startswith("zh") else "en"
    LANGUAGE.set(browser)  # for the report of a link that asks for another one
    LANGUAGE.set(keep("lang", browser, LANGUAGES).value)


def pick_language() -> None:
    """Draw the control that changes the language; everything else stays as it is."""
    st.segmented_control(
        _("Language"), LANGUAGES, format_func=LANGUAGES.get, required=True, label_visibility="collapsed",
        width="content", **keep("lang", LANGUAGE.get(), LANGUAGES).widget,
    )  # fmt: skip


def speaking(function: Callable) -> Callable:
    """Let a function that runs later, in another thread, speak the language of now."""
    language = LANGUAGE.get()

    @wraps(function)
    def speak(*args, **kwargs):
        LANGUAGE.set(language)
        return function(*args, **kwargs)

    return speak


def in_english(function: Callable, *args):
    """Call a function as an English session would: a report for a machine is the same, whoever asks for it."""
    token = LANGUAGE.set("en")
    try:
        return function(*args)
    finally:
        LANGUAGE.reset(token)


def fragment(function: Callable, run_every: float | None = None) -> Callable:
    """Make a part of a page that is redrawn by itself, in the language of the page; in the place of `st.fragment`."""

    @wraps(function)
    def draw(*args, **kwargs):
        return st.fragment(speaking(function), run_every=run_every)(*args, **kwargs)

    return draw
