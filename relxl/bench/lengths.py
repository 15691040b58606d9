"""Read the lengths that a benchmark is asked for."""

LONGEST = 8192


def read_lengths(text: str, option: str = "--lengths") -> list[int]:
    """Read lengths apart by commas. Raises ValueError for anything but whole numbers from 2 to LONGEST."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 2 <= int(part) <= LONGEST for part in parts):
        raise ValueError(f"{option} {text!r}: give whole numbers from 2 to {LONGEST} apart by commas, such as 128,512")
    return sorted({int(part) for part in parts})
