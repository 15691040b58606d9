"""Check a tokenizer.json before the library that understands it sees it. Runs in the child process."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from relxl.containers.errors import Refused, show, show_some
from relxl.containers.plain import describe_kind

KINDS = {  # part -> the types that the library has; all of them are plain rules on texts
    "normalizer": (
        "BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend",
        "Replace", "Sequence", "Strip", "StripAccents",
    ),
    "pre_tokenizer": (
        "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace", "Punctuation",
        "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit",
    ),
    "decoder": (
        "BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace", "Sequence", "Strip",
        "WordPiece",
    ),
}  # fmt: skip
CHARSMAP = "precompiled_charsmap"  # the table of Precompiled, the one long text among the fields
LISTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}  # of a Sequence
MODELS = ("BPE", "Unigram", "WordLevel", "WordPiece")
MAX_PARTS = 64  # of a Sequence and the ones in it; those of good tokenizers have ten
MAX_DEPTH = 4
MAX_PATTERN = 2_000  # characters of a regular expression; the longest that is known has 400
MAX_PIECE = 2_000
AGAIN = "download it again, or take it out of the folder and type token ids"
DAMAGED = f"is damaged or made to do harm: {AGAIN}"


@dataclass(frozen=True)
class Sheet:
    """Hold a checked tokenizer: `value` is what the library gets, the rest is what it has been asked about."""

    value: dict
    pieces: dict[int, str]  # of the model
    added: dict[int, str]  # special tokens and others that a text is searched for before the model sees it
    byte_level: bool  # pieces stand for bytes, by GPT-2's table
    suffix: str  # how a piece that ends a word is marked
    unknown: str | int | None  # the piece, or with Unigram the id, of what is unknown


def check_tokenizer(data: bytes, n_token: int) -> Sheet:
    """Take out of a tokenizer.json what turns texts into ids, with every id below `n_token`. Raises Refused.

    Left out is what would cut or fill a text (truncation, padding), add tokens to it (post_processor) or read the
    same text differently each time (dropout).
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(f"is not JSON ({error}): {AGAIN}") from None
    if not isinstance(value, dict) or not isinstance(value.get("model"), dict):
        what = "an object without a model" if isinstance(value, dict) else describe_kind(value)
        raise Refused(f"holds {what}, but an object with a model (as tokenizers saves it) was expected: {AGAIN}")
    parts = {where: list(walk(value.get(where), where)) for where in KINDS}
    for where, found in parts.items():
        if len(found) > MAX_PARTS:
            raise Refused(f"has a {where} of {len(found)} parts, but at most {MAX_PARTS} are read: {AGAIN}")
    model, pieces = check_model(value["model"])
    added = check_added(value.get("added_tokens") or [], pieces)
    check_ids(pieces | added, n_token)
    kept = {where: value.get(where) for where in KINDS}
    dropped = {"version": "1.0", "truncation": None, "padding": None, "post_processor": None}
    return Sheet(
        dropped | kept | {"added_tokens": value.get("added_tokens") or [], "model": model},
        pieces,
        added,
        any(part["type"] == "ByteLevel" for found in parts.values() for part in found),
        model.get("end_of_word_suffix") or "",
        model.get("unk_id") if model["type"] == "Unigram" else model.get("unk_token"),
    )


def walk(part: object, where: str, depth: int = 0) -> Iterator[dict]:
    """Give a normalizer, pre_tokenizer or decoder and all that stand in it, each checked."""
    if part is None:
        return
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in KINDS[where]:
        what = f"of the type {show(kind)}" if isinstance(part, dict) else f"that is {describe_kind(part)}"
        raise Refused(f"has a {where} {what}, but the known types are {', '.join(KINDS[where])}: {AGAIN}")
    if kind != "Sequence":
        check_fields(part, where)
        yield part
        return
    inside = part.get(LISTS[where])
    if not isinstance(inside, list) or depth >= MAX_DEPTH:
        raise Refused(f"has a {where} with a Sequence that has no list, or {MAX_DEPTH} others around it: {AGAIN}")
    for item in inside:
        yield from walk(item, where, depth + 1)


def check_fields(part: dict, where: str) -> None:
    """Check that all fields are numbers and short texts."""
    for name, field in part.items():
        if name == "pattern" and isinstance(field, dict) and len(field) == 1 and set(field) <= {"String", "Regex"}:
            (field,) = field.values()
            if not isinstance(field, str) or len(field) > MAX_PATTERN:
                raise Refused(f"has a {where} with a pattern of more than {MAX_PATTERN} characters: {AGAIN}")
        elif not is_plain(field) or (isinstance(field, str) and len(field) > MAX_PIECE and name != CHARSMAP):
            raise Refused(f"has a {where} {part['type']} whose {show(name)} is no number or short text: {AGAIN}")


def is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def check_model(model: dict) -> tuple[dict, dict[int, str]]:
    """Check a model, and give it as the library shall see it, with the piece of every id."""
    kind = model.get("type") or guess_kind(model)  # which files of 2020 do not say
    if kind not in MODELS:
        raise Refused(f"has a model of the type {show(kind)}, but the known types are {', '.join(MODELS)}: {AGAIN}")
    for name, field in model.items():
        if name not in ("vocab", "merges") and not is_plain(field):
            raise Refused(f"has a model whose {show(name)} is {describe_kind(field)}: {AGAIN}")
    merges = model.get("merges", [])
    if not isinstance(merges, list) or not all(map(is_merge, merges)):
        raise Refused(f"has a model whose merges are no list of pairs of texts: {AGAIN}")
    vocab = model.get("vocab")
    if kind == "Unigram":
        if not isinstance(vocab, list) or not all(map(is_scored, vocab)):
            raise Refused(f"has a Unigram model whose vocab is no list of pieces, each with a score: {AGAIN}")
        pieces = {i: piece for i, (piece, _) in enumerate(vocab)}
    else:
        if not isinstance(vocab, dict) or not all(type(i) is int and i >= 0 for i in vocab.values()):
            raise Refused(f"has a {kind} model whose vocab does not give every piece a whole number from 0: {AGAIN}")
        pieces = {i: piece for piece, i in vocab.items()}
        if len(pieces) < len(vocab):
            piece, i = next((piece, i) for piece, i in vocab.items() if pieces[i] != piece)
            raise Refused(f"gives the id {show(i)} to {show(piece, 40)} and to {show(pieces[i], 40)}: {DAMAGED}")
    if not pieces:
        raise Refused(f"has a {kind} model without a single piece: {AGAIN}")
    return model | {"type": kind} | ({"dropout": None} if kind == "BPE" else {}), pieces


def guess_kind(model: dict) -> str:
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    if "merges" in model:
        return "BPE"
    return "WordPiece" if "continuing_subword_prefix" in model else "WordLevel"


def is_merge(merge: object) -> bool:
    return isinstance(merge, str) or (isinstance(merge, list) and [type(side) for side in merge] == [str, str])


def is_scored(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is str and type(entry[1]) in (int, float)


def check_added(tokens: object, pieces: dict[int, str]) -> dict[int, str]:
    """Give the added tokens by id; one that the model has too must have its id."""
    if not isinstance(tokens, list):
        raise Refused(f"has added_tokens that are {describe_kind(tokens)}, but a list was expected: {AGAIN}")
    added = {}
    for token in tokens:
        i, content = (token.get("id"), token.get("content")) if isinstance(token, dict) else (None, None)
        if type(i) is not int or i < 0 or not isinstance(content, str) or not all(map(is_plain, token.values())):
            raise Refused(f"has an added token that is not an id from 0 with a text: {AGAIN}")
        if (other := added.get(i, pieces.get(i, content))) != content:
            raise Refused(f"gives the id {show(i)} to {show(other, 40)} and to {show(content, 40)}: {DAMAGED}")
        added[i] = content
    return added


def check_ids(pieces: dict[int, str], n_token: int) -> None:
    largest = max(pieces)
    if largest >= n_token:
        raise Refused(
            f"gives {show(pieces[largest], 40)} the id {show(largest)}, but the model has n_token={n_token}, so that "
            f"ids end at {n_token - 1}: the two files belong to different models"
        )
    if long := next((piece for piece in pieces.values() if len(piece) > MAX_PIECE), None):
        raise Refused(f"has a piece of {len(long)} characters, but at most {MAX_PIECE} are read: {AGAIN}")


def check_library_agrees(found: dict[str, int | None], added: dict[int, str]) -> None:
    """Compare the ids of added tokens, which the library counts up by itself whatever the file says."""
    wrong = [f"{show(text, 40)} {i}, but {found[text]}" for i, text in added.items() if found[text] != i]
    if wrong:
        raise Refused(f"gives wrong ids to added tokens ({show_some(wrong)} follows from the rest of it): {DAMAGED}")


def show_pieces(sheet: Sheet, n_token: int) -> list[str]:
    """Give what every id stands for in a text: bytes as the characters they are, word marks as spaces."""
    tokens = [f"<id {i}>" for i in range(n_token)]
    for i, piece in sheet.pieces.items():
        tokens[i] = show_piece(piece, sheet) or tokens[i]
    for i, content in sheet.added.items():
        tokens[i] = content or tokens[i]
    return tokens


def show_piece(piece: str, sheet: Sheet) -> str:
    r"""Undo how a piece is written: Ġthe becomes " the", and bytes that are no whole character become \xe6."""
    if sheet.suffix and piece.endswith(sheet.suffix):
        piece = piece.removesuffix(sheet.suffix) + " "
    if sheet.byte_level and all(character in BYTES for character in piece):
        return bytes(BYTES[character] for character in piece).decode("utf-8", "backslashreplace")
    return piece.replace("▁", " ")


def byte_alphabet() -> dict[str, int]:
    """Give GPT-2's table: printable bytes stand for themselves, the others for the characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTES = byte_alphabet()
