"""Turn text into token ids and back, and show a token so that a person sees it."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

SHOWN = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}
HALVES = re.compile("[\ud800-\udfff]")  # of a pair of UTF-16: JSON and file names may have one alone
MAX_WORDS = 1_000_000  # the largest vocabulary of a model of ours has 267,735


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
        """Read one word a line, the id being the line's number; a count after the word is left out.

        Lines end with LF, CRLF or CR. A blank line has an id like every other, but at the end of the text it is
        left out. Raises ValueError.
        """
        if (lines := max(map(text.count, "\n\r"))) > MAX_WORDS:  # before they take memory
            raise ValueError(f"a vocabulary must have at most {MAX_WORDS} lines, but there are {lines}")
        words = [read_word(line) for line in text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")]
        if not any(words):
            raise ValueError("a vocabulary must have a word a line, but there is none")
        return cls(check_words(words, "line", 1))

    @classmethod
    def from_values(cls, value: dict | list, n_token: int) -> "WordVocab":
        """Take a list of words, or an object that gives every word its id; an id without a word becomes <id N>.

        Raises ValueError for an object that does not fit `n_token` ids.
        """
        if isinstance(value, list):
            return cls(check_words(value, "place", 0))
        if not all(type(i) is int and i >= 0 for i in value.values()) or not value:
            raise ValueError("a vocabulary that is a JSON object must give every word a whole number from 0")
        words = {i: word for word, i in value.items()}
        if len(words) < len(value):
            word, i = next((word, i) for word, i in value.items() if words[i] != word)
            raise ValueError(
                f"a vocabulary must not give two words one id, but it gives {short(i)} to {short(word)} and "
                f"{short(words[i])}, and has {len(value)} words with {len(words)} ids"
            )
        if (largest := max(words)) >= n_token:
            raise ValueError(
                f"{short(words[largest])} has the id {short(largest)}, but the model has n_token={n_token}"
            )
        return cls(tuple(words.get(i, f"<id {i}>") for i in range(n_token)))

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
    reason: str = ""  # why there is none, where that is not plain, and what to do

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


def read_vocab_json(text: str, n_token: int) -> Vocab | WordVocab:
    """Read a vocab.json: a list of tokens in the order of their ids, or an object that gives every token its id.

    Where all tokens are single characters, a text is cut into characters, otherwise at white space. Raises ValueError.
    """
    if (count := sum(map(text.count, ",[{"))) > 2 * MAX_WORDS:  # before so many values take memory
        raise ValueError(f"a vocabulary must have at most {MAX_WORDS} tokens, but there are about {count}")
    value = json.loads(text)
    words = list(value) if isinstance(value, dict) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("a vocabulary must be a JSON list of strings, or a JSON object of strings with their ids")
    if isinstance(value, list) and all(len(word) == 1 for word in words):
        return Vocab.from_json(text)
    vocab = WordVocab.from_values(value, n_token)
    return Vocab(vocab.tokens) if all(len(word) == 1 for word in words) else vocab


def decode_text(data: bytes) -> str:
    """Read text as UTF-8, with or without a byte order mark. Raises ValueError that says where it is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("it is UTF-16, but UTF-8 is read: convert it with iconv -f UTF-16 -t UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        likely = "GBK" if is_gbk(data) else "ISO-8859-1"
        raise ValueError(
            f"line {line} has the byte 0x{data[error.start]:02x}, which is not UTF-8 but perhaps {likely}: convert it "
            f"with iconv -f {likely} -t UTF-8"
        ) from None


def is_gbk(data: bytes) -> bool:
    try:
        data.decode("gbk")
    except UnicodeDecodeError:
        return False
    return True


def read_word(line: str) -> str:
    """Take the word of a line, without white space around it and a count behind it."""
    parts = line.split(maxsplit=2)
    if len(parts) == 2 and parts[1].isdecimal():
        return parts[0]
    return line.strip() or line


def check_words(words: list[str], place: str, first: int) -> tuple[str, ...]:
    """Check that no word comes twice, or say at which lines or places one does, counted from `first`."""
    if len(set(words)) != len(words):
        counts = Counter(words)
        twice = next(word for word, count in counts.items() if count > 1)
        where = [first + i for i, word in enumerate(words) if word == twice][:2]
        more = sum(count > 1 for count in counts.values()) - 1
        what = short(twice) if twice.strip() else f"a blank {place}"
        raise ValueError(
            f"a vocabulary must not name a word twice, but {what} comes {counts[twice]} times, first at {place}s "
            f"{where[0]} and {where[1]}" + (f", and {more} other words come more than once" if more else "")
        )
    return tuple(words)


def short(text: object) -> str:
    """Quote a text from outside, of any length."""
    return repr(str(text)[:40])


def whole(text: str) -> str:
    """Put U+FFFD in the place of half characters, which no page and no file can hold."""
    return HALVES.sub("\ufffd", text)


def show_token(token: str) -> str:
    """Give a visible form of a token: space as ␣, newline as ↵, other unprintable ones as U+200B and so on."""
    return "".join(SHOWN.get(c) or (c if c.isprintable() else f"U+{ord(c):04X}") for c in token)
