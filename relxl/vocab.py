"""Turn text into token ids and back, and show a token so that a person sees it."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True)
class WordVocab:
    """Hold a vocabulary of words: a text is cut at white space, and the end of a line is <eos> where there is one."""

    tokens: tuple[str, ...]

    @classmethod
    def from_text(cls, text: str) -> "WordVocab":
        """Read one word a line, the id being the line's number; a count after the word is left out."""
        lines = text.removeprefix("\ufeff").splitlines()
        words = tuple(line.split()[0] if line.split() else line for line in lines)
        if not words:
            raise ValueError("a vocabulary must have a word a line, but there is none")
        if len(set(words)) != len(words):
            twice = next(word for word, count in Counter(words).items() if count > 1)
            raise ValueError(f"a vocabulary must not name a word twice, but {twice[:40]!r} comes more than once")
        return cls(words)

    def encode(self, text: str) -> Encoded:
        """Look every word up; one outside the vocabulary becomes <unk>, or is left out where there is none."""
        index = {token: i for i, token in enumerate(self.tokens)}
        unknown_id = index.get("<unk>", index.get("<UNK>"))
        ids, unknown = [], Counter()
        for line in text.splitlines():
            for word in [*line.split(), *(["<eos>"] if "<eos>" in index else [])]:
                if word not in index:
                    unknown[word] += 1
                if (found := index.get(word, unknown_id)) is not None:
                    ids.append(found)
        return Encoded(ids, dict(unknown))

    def decode(self, ids: list[int]) -> str:
        return " ".join(self.tokens[i] for i in ids)


@dataclass(frozen=True)
class IdVocab:
    """Stand in for a vocabulary that nobody has: a text is the ids themselves, apart by white space."""

    n_token: int

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.n_token)))

    def encode(self, text: str) -> Encoded:
        """Read ids; what is no id of the model is left out."""
        words = text.replace(",", " ").split()
        good = [word for word in words if word.isdecimal() and len(word) < 10 and int(word) < self.n_token]
        return Encoded([int(word) for word in good], dict(Counter(words) - Counter(good)))

    def decode(self, ids: list[int]) -> str:
        return " ".join(map(str, ids))


def show_token(token: str) -> str:
    """Give a visible form of a token: space as ␣, newline as ↵, other unprintable ones as U+200B and so on."""
    return "".join(SHOWN.get(c) or (c if c.isprintable() else f"U+{ord(c):04X}") for c in token)
