"""What a question of a lesson is, and the ways to ask one: for a number, a head, or what becomes of a loss."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from relxl.language import _

SAME_LOSS = 0.005  # nats per token: below it two losses are called equal


@dataclass(frozen=True)
class Question:
    """Hold a question: its text, its options, which of them is right, and the numbers that say why; markdown."""

    text: str
    options: tuple[str, ...]
    right: int
    because: str


def marked(option: str, right: bool, chosen: bool, answered: bool) -> tuple[str, str]:
    """Give an option's label and icon: after an answer the right one is marked, and a wrong one that was chosen."""
    if answered and right:
        return f":green[{option}]", ":material/check_circle:"
    if chosen:
        return f":red[{option}]", ":material/cancel:"
    return option, ":material/radio_button_unchecked:"


def verdict(right: bool) -> str:
    """Say whether an answer was right; markdown."""
    word = _("Right.") if right else _("Not this one.")
    return f":{'green' if right else 'red'}[**{word}**]"


def pick(text: str, values: Iterable[float], right: float, because: str, say: Callable = str) -> Question:
    """Ask for a number: the right one among others, ascending, each label once."""
    labels = {say(value): value for value in (*values, right)}
    options = sorted(labels, key=labels.get)
    return Question(text, tuple(options), options.index(say(right)), because)


def spread_out(order: Sequence[int]) -> list[int]:
    """Take the first of an order, the second, one of the middle and the last: each once."""
    places = dict.fromkeys((0, 1, len(order) // 2, len(order) - 1))
    return [order[place] for place in places if 0 <= place < len(order)]


def listed(names: Iterable[str], values: Iterable[str]) -> str:
    return _("; ").join(f"{name}: **{value}**" for name, value in zip(names, values, strict=True)) + _(".")


def best_head(text: str, measured: np.ndarray, because: str) -> Question | str:
    """Ask for the head in which a share [layer head] is largest."""
    order = np.argsort(-measured.ravel(), kind="stable").tolist()
    if len(order) < 2:
        return _("This model has a single head.")
    shown = sorted(spread_out(order))
    names = ["L{}H{}".format(*divmod(place, measured.shape[1])) for place in shown]
    because += " " + listed(names, (f"{100 * measured.ravel()[place]:.1f} %" for place in shown))
    return Question(text, tuple(names), shown.index(order[0]), because)


def compared(text: str, before: float, after: float, because: str) -> Question | str:
    """Ask whether a loss is lower, the same or higher after something was done."""
    if math.isnan(before) or math.isnan(after):
        return _("The loss on this text is not a number, so nothing can be compared.")
    right = 1 if abs(after - before) < SAME_LOSS else 0 if after < before else 2
    equal = _("equal, within {difference}").format(difference=SAME_LOSS)
    return Question(text, (_("lower"), equal, _("higher")), right, because)
