"""List tokenizers, vocabularies, tokens, texts, names and links that go wrong: python tests/bad_texts.py OUT_DIR.

Rows 41 to 49 and 51 of the list that bad_inputs.py begins. The first three become folders of a good model with one bad
file beside its weights.
"""

import json
import shutil
import sys
from pathlib import Path

GOOD = Path(__file__).parent / "fixtures/hf_transfoxl/untied_mem_2seg/hf"
N_TOKEN = 37  # of the good model
WORDS = [f"w{n}" for n in range(N_TOKEN)]


def tokenizer(ids: dict | None = None, **parts: object) -> bytes:
    """Write a tokenizer.json that cuts at white space, and whatever else is asked for."""
    vocab = {"[UNK]": 0, "a": 1} if ids is None else ids
    model = {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}
    space = {"type": "WhitespaceSplit"}
    return json.dumps({"version": "1.0", "added_tokens": [], "pre_tokenizer": space, "model": model} | parts).encode()


def replace(text: str, by: str) -> dict:
    return {"type": "Replace", "pattern": {"String": text}, "content": by}


SPLIT = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
MANY = {"type": "Sequence", "normalizers": [replace("a", "a" * 60)] * 6}
FILES: dict[str, tuple[str, bytes]] = {  # name of the folder -> its bad file
    "41_no_json": ("tokenizer.json", b"{"),
    "41_no_unknown": ("tokenizer.json", tokenizer({"b": 0})),
    "41_gap": ("tokenizer.json", tokenizer({"[UNK]": 0, "a": 10**9})),
    "41_twice": ("tokenizer.json", tokenizer({"[UNK]": 0, "a": 1, "b": 1})),
    "41_rows": ("tokenizer.json", tokenizer({word: i for i, word in enumerate([*WORDS, "[UNK]"])})),
    "42_charsmap": (
        "tokenizer.json", tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
    ),
    "42_regex": ("tokenizer.json", tokenizer(pre_tokenizer=SPLIT)),
    "42_explodes": ("tokenizer.json", tokenizer(normalizer=MANY)),
    "43_mark": ("vocab.txt", b"\xef\xbb\xbf" + "\n".join(WORDS).encode()),
    "43_crlf": ("vocab.txt", "\r\n".join(WORDS).encode()),
    "43_gbk": ("vocab.txt", "\n".join([*WORDS[:-1], "愁"]).encode("gbk")),
    "43_blank": ("vocab.txt", "\n".join([*WORDS[:-2], "", WORDS[-1]]).encode()),
    "43_blanks": ("vocab.txt", "\n".join([*WORDS[:-2], "", "", WORDS[-1]]).encode()),
    "43_twice": ("vocab.txt", "\n".join([*WORDS[:-1], WORDS[0]]).encode()),
    "43_long": ("vocab.txt", b"a\n" * 10**7),
    "43_short": ("vocab.txt", "\n".join(WORDS[:-1]).encode()),
}  # fmt: skip
TEXT = "a" * 40 + " b"  # what a tokenizer that opens is given

TOKENS: dict[str, list[str]] = {  # the row -> tokens that a figure may read as something else
    "44": [
        "<s>",
        "</s>",
        "<b>",
        "<br>",
        "&lt;",
        "%{z}",
        "$x$",
        "<a/href='http://h'>h</a>",
        "<unk>",
        "![x](http://h/p)",
    ],
    "45": ["\u202e", "\u200b", "\ud800", "👩\u200d👩\u200d👧", "e\u0301", "x" * 10_000, "\0", "\x1b[31m", "\ufeff"],
    "46": ["the", "the", "1", "2", "3", "2024-01-02", "nan", "null", "true", "1e9", "the"],
}
TEXTS: dict[str, tuple[str, bool]] = {  # what it is -> the text, and whether a picture can be drawn of it
    "empty": ("", False),
    "one token": ("a", True),
    "nothing known": ("愁云", False),
    "a megabyte": ("To be, or not to be. " * 50_000, True),
    "Chinese without spaces": ("to 花落知多少 be", True),
    "mixed ends of lines": ("to be\r\nor not\rto be\n\x0b\x85\u2028", True),
}
NAMES = [  # of an uploaded file
    "![x](http://h/t.png).safetensors", "<img src=x onerror=alert(1)>.safetensors", "../../a.safetensors",
    "CON.safetensors", "n" * 243 + ".safetensors", "\u202efdp.safetensors", "a\nb.safetensors", "$x$ **b**.safetensors",
]  # fmt: skip
LINKS: dict[str, dict[str, str]] = {
    "out of range": {"l": "999", "h": "-1", "ck": "../../etc/passwd"},
    "not a number": {"l": "nan", "h": "1e3", "q": "0x10", "k": "٣", "m": "true", "n": "−1"},
    "half a megabyte": {"ck": "x" * (500 << 10), "q": "9" * 5000, "other": "y" * 1000},  # Streamlit reads no longer one
    "no text": {"l": "", "ck": "\0", "lang": "\u202e", "a": "{" * 5000},
}


def write(out: Path, name: str) -> Path:
    """Write one of the folders and give it."""
    file, data = FILES[name]
    shutil.copytree(GOOD, out / name)
    (out / name / file).write_bytes(data)
    return out / name


def write_tokens(out: Path, row: str) -> Path:
    """Write a folder of a good model to which the tokens of a row are words of its vocabulary."""
    words = list(dict.fromkeys(TOKENS[row]))
    shutil.copytree(GOOD, out / row)
    (out / row / "vocab.json").write_text(json.dumps([*words, *WORDS[len(words) :]]))
    return out / row


if __name__ == "__main__":
    for each in FILES:
        print(write(Path(sys.argv[1]), each))
    for each in TOKENS:
        print(write_tokens(Path(sys.argv[1]), each))
