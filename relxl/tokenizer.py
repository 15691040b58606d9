"""Use a tokenizer.json as a vocabulary. What is in it runs in a child process with little memory and time, never here.

The package `tokenizers` is optional, and this module does not import it: only the child does.
"""

import hashlib
import importlib.util
import io
import json
import signal
import struct
import subprocess
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

from relxl.containers import CheckpointError
from relxl.containers.errors import Refused, show
from relxl.containers.limits import (
    MAX_FACTS,
    MAX_IDS,
    MAX_PIECES_BYTES,
    MAX_TEXT,
    MAX_TYPED,
    TOKENIZER_SECONDS,
    TOKENIZER_WAIT,
)
from relxl.containers.sandbox import deadline, read_exactly, send, start_child
from relxl.vocab import Encoded, whole

START = "import sys; sys.path[:] = sys.argv[3:]; from relxl.containers.tokenizing import main; main()"
NOT_INSTALLED = (
    "tokenizer.json lies beside the weights, but the package that reads it is not installed here: "
    "pip install tokenizers, or type token ids"
)
MAX_TOKENS = 2_000_000
ADVICE = {
    "read": "it is damaged or made to do harm, take it out of the folder and type token ids",
    "encode": "give a shorter text, or take it out of the folder and type token ids",
    "decode": "take it out of the folder and type token ids",
}
ENDS = {  # the signal that ended a child -> what it was about
    **dict.fromkeys((signal.SIGKILL, signal.SIGXCPU), f"took longer than {TOKENIZER_SECONDS} s"),
    signal.SIGABRT: "broke off for want of memory or by a fault of the library that reads it",
}
WRONG = f"tokenizer.json can not be read, since its contents are not what they seem: {ADVICE['decode']}"


@dataclass(frozen=True, eq=False)
class TokenizerVocab:
    """Hold a tokenizer, with the text that every id stands for. Two are equal when their bytes are."""

    tokens: tuple[str, ...]
    tokenizer: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.tokenizer).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenizerVocab) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[str, int]:
        return self.digest, len(self.tokens)

    def encode(self, text: str) -> Encoded:
        """Cut a text into tokens, without special ones that nobody typed.

        Counted as unknown is what became the unknown token, and every character that alone becomes no token.
        Raises CheckpointError for a text that is too long, and for a tokenizer that breaks off or takes too long.
        """
        if len(text) > MAX_TYPED:
            raise CheckpointError(f"the text has {len(text)} characters, but at most {MAX_TYPED} are read: shorten it")
        ids, unknown = encode_text(self, whole(text)) if text else ((), ())
        return Encoded(list(ids), dict(unknown))

    def decode(self, ids: list[int]) -> str:
        """Put the text of ids together, as the tokenizer does."""
        if wrong := [i for i in ids if not 0 <= i < len(self.tokens)]:
            raise IndexError(f"{wrong[0]} is no id of a vocabulary of {len(self.tokens)}")
        return decode_ids(self, tuple(ids)) if ids else ""


def is_installed() -> bool:
    """Tell whether the child will find the package `tokenizers`."""
    return importlib.util.find_spec("tokenizers") is not None


def read_tokenizer(data: bytes, n_token: int) -> TokenizerVocab:
    """Read a tokenizer.json for a model of `n_token` ids. Raises CheckpointError, one sentence."""
    if n_token > MAX_TOKENS:
        raise CheckpointError(
            f"the model has n_token={n_token}, but a tokenizer.json is read for at most {MAX_TOKENS}: take it out of "
            "the folder and type token ids"
        )
    _, body = ask("read", data, n_token, b"", MAX_PIECES_BYTES)
    lengths = array("I", body[: len(body) // 4 * 4][: 4 * n_token])
    if len(lengths) != n_token or sum(lengths) != len(body) - 4 * n_token:
        raise CheckpointError(WRONG)
    texts = io.BytesIO(body[4 * n_token :])
    tokens = tuple(texts.read(length).decode("utf-8", "replace") for length in lengths)
    return TokenizerVocab(tokens, data)


# A rerun of a page asks for the same again; the answers are functions of the arguments alone. What fails is not kept.
@lru_cache(maxsize=8)
def encode_text(vocab: TokenizerVocab, text: str) -> tuple[tuple[int, ...], tuple[tuple[str, int], ...]]:
    """Give the ids of a text, and what of it is unknown with how often it comes."""
    facts, body = ask("encode", vocab.tokenizer, len(vocab.tokens), text.encode(), 12 * MAX_IDS)
    count, rest = divmod(len(body), 12)
    numbers = array("I", body[: 12 * count])
    ids, begins, ends = numbers[:count], numbers[count : 2 * count], numbers[2 * count :]
    if rest or any(i >= len(vocab.tokens) for i in ids):
        raise CheckpointError(WRONG)
    unknown = Counter()
    for i, begin, end in zip(ids, begins, ends, strict=True):
        if i == facts.get("unknown"):
            unknown[text[begin:end].strip() or text[begin:end] or vocab.tokens[i]] += 1
    dropped = set(str(facts.get("dropped", "")))
    unknown.update(character for character in text if character in dropped)
    return tuple(ids), tuple(unknown.items())


@lru_cache(maxsize=8)
def decode_ids(vocab: TokenizerVocab, ids: tuple[int, ...]) -> str:
    data = array("I", ids).tobytes()
    return ask("decode", vocab.tokenizer, len(vocab.tokens), data, MAX_PIECES_BYTES)[1].decode("utf-8", "replace")


def ask(job: str, data: bytes, n_token: int, rest: bytes, most: int) -> tuple[dict, bytes]:
    """Let the child do `job` with a tokenizer. Raises CheckpointError, whatever becomes of the child."""
    if len(data) > MAX_TEXT:
        raise CheckpointError(f"tokenizer.json has {len(data)} bytes, but at most {MAX_TEXT} are read: leave it out")
    if not is_installed():
        raise CheckpointError(NOT_INSTALLED)
    message = b"".join((struct.pack("<Q", len(data)), data, rest))
    try:
        # Until the child is ready nothing of the tokenizer has been read, so that no busy machine refuses one.
        with start_child(START, job, str(n_token)) as process, deadline(process, TOKENIZER_WAIT):
            try:
                send(process.stdin, io.BytesIO(message), len(message))
                return receive(process.stdout, most)
            except EOFError:
                raise Refused(f"{describe_end(process)}: {ADVICE[job]}") from None
    except Refused as refusal:
        raise CheckpointError(f"tokenizer.json {refusal}") from None


def receive(pipe, most: int) -> tuple[dict, bytes]:
    """Read facts and body, both within bounds. Raises EOFError for an answer that is none, Refused for a refusal."""
    length, size = struct.unpack("<QQ", read_exactly(pipe, 16))
    if length > MAX_FACTS or size > most:
        raise EOFError
    try:
        facts = json.loads(read_exactly(pipe, length))
        error = facts.get("error")
    except (ValueError, RecursionError, AttributeError):
        raise EOFError from None
    if error is not None:
        raise Refused(error if isinstance(error, str) and error.isprintable() else show(error))
    return facts, read_exactly(pipe, size)


def describe_end(process: subprocess.Popen) -> str:
    """Say how a child ended that gave no answer. One that is killed was over its time."""
    try:
        code = process.wait(1)
    except subprocess.TimeoutExpired:
        return "gives no answer"
    how = ENDS.get(-code) if code < 0 else None
    return how or "made the process that read it break off"
