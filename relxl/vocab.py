"""Turn text into token ids and back, and show a token so that a person sees it."""

import json
from collections import Counter
from dataclasses import dataclass

SHOWN = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}


@dataclass(frozen=True)
class Encoded:
    """Hold the ids of a text and the characters that had none, with how often each came."""

    ids: list[int]
    unknown: dict[str, int]


@dataclass(frozen=True)
class Vocab:
    """Hold a character vocabulary: the id of a character is its place in `tokens`."""

    tokens: tuple[str, ...]

    @classmethod
    def from_text(cls, text: str) -> "Vocab":
        """Take every distinct character of a text, in code point order."""
        return cls(tuple(sorted(set(text))))

    @classmethod
    def from_json(cls, text: str) -> "Vocab":
        """Read a JSON list of distinct characters. Raises ValueError for anything else."""
        tokens = json.loads(text)
        if not isinstance(tokens, list) or not tokens or not all(isinstance(token, str) for token in tokens):
            raise ValueError("a vocabulary must be a non-empty JSON list of strings")
        if long := [token for token in tokens if len(token) != 1]:
            raise ValueError(f"a vocabulary must hold single characters, but it has {long[0][:40]!r}")
        if len(set(tokens)) != len(tokens):
            twice = next(token for token, count in Counter(tokens).items() if count > 1)
            raise ValueError(f"a vocabulary must not name a token twice, but {twice!r} comes more than once")
        return cls(tuple(tokens))

    def to_json(self) -> str:
        return json.dumps(list(self.tokens), ensure_ascii=False)

    def encode(self, text: str) -> Encoded:
        """Look every character up; characters outside the vocabulary are left out and counted."""
        index = {token: i for i, token in enumerate(self.tokens)}
        ids = [index[character] for character in text if character in index]
        return Encoded(ids, dict(Counter(character for character in text if character not in index)))

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokens[i] for i in ids)


def show_token(token: str) -> str:
    """Give a visible form of a token: space as ␣, newline as ↵, other unprintable ones as U+200B and so on."""
    return "".join(SHOWN.get(c) or (c if c.isprintable() else f"U+{ord(c):04X}") for c in token)
