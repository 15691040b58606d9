"""Be the child process that runs a tokenizer.json: its rules can loop, break off or take all memory, here alone.

It answers on stdout: b"R" when it is ready, then the lengths of the two parts that follow: facts as JSON, and numbers
or texts as bytes. Nothing of a file is read before files, memory and time are given up. Only here is `tokenizers`
imported.
"""

import contextlib
import gc
import json
import os
import struct
import sys
from array import array

from relxl.containers.child import limit_process
from relxl.containers.errors import Refused, show
from relxl.containers.limits import MAX_IDS, MAX_PIECES_BYTES, MIB, TOKENIZER_SECONDS
from relxl.containers.tokenizer_rules import AGAIN, DAMAGED, Sheet, check_library_agrees, check_tokenizer, show_pieces

MEMORY = 1024 * MIB
MAX_CHARACTERS = 20_000  # different ones; a long Chinese text has a quarter of these
PROBE = "The 2 quick foxes’\n 愁 \t're (over)  it."
SMALL = {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, "added_tokens": []}


def main() -> None:
    """Do one job: sys.argv is the job (read, encode or decode), n_token, and the parent's sys.path."""
    job, n_token = sys.argv[1], int(sys.argv[2])
    gc.disable()  # it looks at every value again and again, which are kept to the end anyway
    load_tokenizer(SMALL).encode(PROBE)  # what the library opens when it is first used, it opens now
    limit_process(TOKENIZER_SECONDS - 1, MEMORY)  # what has begun counts as a second
    answer = sys.stdout.buffer
    answer.write(b"R")
    answer.flush()
    try:
        message = sys.stdin.buffer.read()
        (length,) = struct.unpack_from("<Q", message)
        sheet = check_tokenizer(message[8 : 8 + length], n_token)
        tokenizer = load_tokenizer(sheet.value)
        check_library_agrees({text: tokenizer.token_to_id(text) for text in sheet.added.values()}, sheet.added)
        facts, body = JOBS[job](tokenizer, sheet, n_token, message[8 + length :])
    except Refused as refusal:
        facts, body = {"error": str(refusal)}, b""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        facts, body = {"error": explain(error)}, b""
    text = json.dumps(facts).encode()
    answer.write(struct.pack("<QQ", len(text), len(body)) + text + body)
    answer.flush()
    os._exit(0)


def load_tokenizer(value: dict):
    import tokenizers

    return tokenizers.Tokenizer.from_str(json.dumps(value))


def explain(error: BaseException) -> str:
    """Say what the library found; what it says itself of a panic helps nobody."""
    if isinstance(error, MemoryError):
        return f"needs more memory than a tokenizer may take: {AGAIN}"
    if isinstance(error, Exception):
        return f"is not understood by the library that reads it, which says {show(error, 160)}: {AGAIN}"
    return f"makes the library that reads it break off, so it {DAMAGED}"


def read(tokenizer, sheet: Sheet, n_token: int, _: bytes) -> tuple[dict, bytes]:
    """Give the text of every id: all their lengths in bytes, then all texts."""
    with contextlib.suppress(Exception):  # it may know other characters only, and says so where a text is given
        tokenizer.encode(PROBE, add_special_tokens=False)  # some break off at every text
    texts = [text.encode() for text in show_pieces(sheet, n_token)]
    body = array("I", map(len, texts)).tobytes() + b"".join(texts)
    if len(body) > MAX_PIECES_BYTES:
        raise Refused(f"has {len(body)} bytes of pieces, but at most {MAX_PIECES_BYTES} are read: {AGAIN}")
    return {}, body


def encode(tokenizer, sheet: Sheet, _: int, text: bytes) -> tuple[dict, bytes]:
    """Give ids, and where in the text each begins and ends, in characters."""
    try:
        # No special tokens: the model would be shown a <sep> that nobody typed.
        encoding = tokenizer.encode(text.decode(), add_special_tokens=False)
    except Exception as error:
        if "unk" not in str(error).lower():
            raise
        raise Refused("has no token for what is unknown, and the text has a character it does not know") from None
    if len(encoding.ids) > MAX_IDS:
        raise Refused(f"makes {len(encoding.ids)} tokens of the text, but at most {MAX_IDS} are read: shorten it")
    begins, ends = zip(*encoding.offsets, strict=True) if encoding.ids else ((), ())
    unknown = tokenizer.token_to_id(sheet.unknown) if isinstance(sheet.unknown, str) else sheet.unknown
    facts = {"unknown": unknown, "dropped": "".join(dropped(tokenizer, text.decode()))}
    return facts, b"".join(array("I", part).tobytes() for part in (encoding.ids, begins, ends))


def dropped(tokenizer, text: str) -> list[str]:
    """List the characters that become no token: a BPE without an unknown token leaves out what it does not know.

    Each is tried alone, since the library counts what follows such a character at a wrong place of the text.
    """
    found = []
    for character in [character for character in set(text) if not character.isspace()][:MAX_CHARACTERS]:
        with contextlib.suppress(Exception):  # a tokenizer may know it in a longer piece only, and have no unknown one
            if not tokenizer.encode(character, add_special_tokens=False).ids:
                found.append(character)
    return found


def decode(tokenizer, _: Sheet, __: int, ids: bytes) -> tuple[dict, bytes]:
    """Give the text of ids."""
    text = tokenizer.decode(array("I", ids).tolist(), skip_special_tokens=False).encode()
    if len(text) > MAX_PIECES_BYTES:
        raise Refused(f"makes a text of {len(text)} bytes of the ids, but at most {MAX_PIECES_BYTES} are read")
    return {}, text


JOBS = {"read": read, "encode": encode, "decode": decode}
