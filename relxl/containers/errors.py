"""What is said when a file is refused: always one sentence."""

MAX_SHOWN = 300


class CheckpointError(ValueError):
    """Say in one sentence what came, what was expected and what to do."""


class Refused(Exception):
    """Give the rest of a sentence that begins with the name of the file; only the reader, which knows it, adds it."""


def show(text: object, longest: int = 80) -> str:
    """Quote a text from outside, so that neither its length nor what is in it can spoil a sentence."""
    return repr(shorten(str(text), longest))


def show_name(name: object) -> str:
    """Write a file's name as it is, where it can be printed."""
    text = shorten(str(name), MAX_SHOWN)
    return text if text.isprintable() else repr(text)


def shorten(text: str, longest: int) -> str:
    """Leave the middle out of a long text: names differ at their ends."""
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def show_some(names: list[str], most: int = 3) -> str:
    """Name the first of many."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
