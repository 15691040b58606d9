"""A tokenizer.json cuts texts as its library does, and whatever is wrong with one is a sentence and harms nobody."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from relxl import tokenizer
from relxl.checkpoint import OWN, open_checkpoint, read_vocab
from relxl.containers import CheckpointError
from relxl.containers.errors import Refused
from relxl.containers.limits import MAX_TEXT, MAX_TYPED, MIB
from relxl.containers.tokenizer_rules import BYTES, check_library_agrees, check_tokenizer
from relxl.tokenizer import TokenizerVocab, read_tokenizer
from relxl.vocab import IdVocab, Vocab, WordVocab
from tests.conftest import ROOT
from tests.test_bad_inputs import check_sentence, read_status

needs_library = pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None, reason="needs the optional package: pip install tokenizers"
)
TEXT = "hello world, the théâtre of 愁 the world"
SPECIAL = ["<unk>", "<sep>", "<cls>"]


def train(model: str):
    """Train a small tokenizer of each kind, as the documentation of the library does."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    options = {"special_tokens": SPECIAL, "show_progress": False}
    match model:
        case "bytes":
            made = Tokenizer(models.BPE())
            made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
            trainer = trainers.BpeTrainer(
                vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options
            )
        case "BPE":
            made = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
            made.pre_tokenizer, made.decoder = pre_tokenizers.Whitespace(), decoders.BPEDecoder()
            trainer = trainers.BpeTrainer(vocab_size=60, end_of_word_suffix="</w>", **options)
        case "WordPiece":
            made = Tokenizer(models.WordPiece(unk_token="<unk>"))
            made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
            made.decoder = decoders.WordPiece()
            trainer = trainers.WordPieceTrainer(vocab_size=60, **options)
        case "Unigram":
            made = Tokenizer(models.Unigram())
            made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("``", '"')])
            made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
            trainer = trainers.UnigramTrainer(vocab_size=60, unk_token="<unk>", **options)
        case "WordLevel":
            made = Tokenizer(models.WordLevel(unk_token="<unk>"))
            made.pre_tokenizer = pre_tokenizers.Whitespace()
            trainer = trainers.WordLevelTrainer(**options)
    made.train_from_iterator([TEXT] * 5, trainer)
    # As of XLNet: what would be put around every text that is cut with special tokens.
    made.post_processor = processors.TemplateProcessing(
        single="$A <sep> <cls>", special_tokens=[("<sep>", 1), ("<cls>", 2)]
    )
    return made


MODELS = ["bytes", "BPE", "WordPiece", "Unigram", "WordLevel"]


def plain(model: dict | None = None, **parts) -> bytes:
    """Write a tokenizer.json with two words, and whatever else a test wants in it."""
    words = {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model or words, **parts}).encode()


@needs_library
@pytest.mark.parametrize("model", MODELS)
def test_a_text_is_cut_as_the_library_cuts_it_without_special_tokens(model):
    made = train(model)
    size = made.get_vocab_size()
    vocab = read_tokenizer(made.to_str().encode(), size + 3)
    for text in (TEXT, f"  the <sep> world\n\n{TEXT}\tre", "", "\ud800 world"):
        expected = made.encode(text.replace("\ud800", "\ufffd"), add_special_tokens=False).ids
        ids = vocab.encode(text).ids
        assert ids == expected and vocab.decode(ids) == made.decode(expected, skip_special_tokens=False)
    assert vocab.encode(TEXT).unknown == {} and set(vocab.tokens[:3]) == set(SPECIAL)
    assert vocab.tokens[size:] == (f"<id {size}>", f"<id {size + 1}>", f"<id {size + 2}>")
    if model in ("bytes", "Unigram"):  # nothing of a text is lost in its tokens
        shown = "".join(vocab.tokens[i] for i in vocab.encode("the world").ids)
        assert shown.strip() == vocab.decode(vocab.encode("the world").ids) == "the world"


@needs_library
def test_pieces_are_shown_as_the_text_that_they_stand_for():
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(BYTES) == set(ByteLevel.alphabet())
    shown = read_tokenizer(train("bytes").to_str().encode(), 400).tokens
    assert {" the", "\n", " théâtre", "\\xe6"} <= set(shown) and not any("Ġ" in token for token in shown[:3])
    assert "world " in read_tokenizer(train("BPE").to_str().encode(), 400).tokens
    assert " world" in read_tokenizer(train("Unigram").to_str().encode(), 400).tokens
    assert "##o" in read_tokenizer(train("WordPiece").to_str().encode(), 400).tokens


@needs_library
def test_what_became_the_unknown_token_is_counted_and_so_is_what_was_dropped():
    words = read_tokenizer(train("WordLevel").to_str().encode(), 100)
    assert words.encode("the moon of the moon ❤").unknown == {"moon": 2, "❤": 1}
    assert read_tokenizer(train("Unigram").to_str().encode(), 100).encode("the ❤❤ x ❤❤").unknown == {"❤❤": 2, "x": 1}
    drops = plain({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]})
    encoded = read_tokenizer(drops, 3).encode("abxa x")
    assert encoded.ids == [2, 0] and encoded.unknown == {"x": 2}
    none = read_tokenizer(plain({"type": "Unigram", "unk_id": None, "vocab": [["a", -1.0]]}), 3)
    with pytest.raises(CheckpointError, match="no token for what is unknown"):
        none.encode("b")
    longer = read_tokenizer(plain({"type": "Unigram", "unk_id": None, "vocab": [["ab", -1.0], ["a", -9.0]]}), 3)
    assert longer.encode("aba").ids == [0, 1] and longer.encode("aba").unknown == {}


@needs_library
def test_what_cuts_fills_or_chances_is_left_out():
    value = json.loads(train("bytes").to_str())
    whole = read_tokenizer(json.dumps(value).encode(), 400)
    value["truncation"] = {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    value["padding"] = {"strategy": {"Fixed": 10**10}, "direction": "Right", "pad_to_multiple_of": None}
    value["model"]["dropout"] = 0.9
    other = read_tokenizer(json.dumps(value).encode(), 400)
    assert other != whole and other.encode(TEXT) == whole.encode(TEXT)


@needs_library
@pytest.mark.parametrize("model", ["bytes", "Unigram", "WordPiece", "WordLevel"])
def test_files_of_2020_do_not_name_the_kind_of_their_model(model):
    made = train(model)
    value = json.loads(made.to_str())
    del value["model"]["type"]
    old = read_tokenizer(json.dumps(value).encode(), 400)
    assert old.encode(TEXT).ids == made.encode(TEXT, add_special_tokens=False).ids


@needs_library
def test_the_same_again_starts_no_process_and_an_answer_can_not_be_spoilt(monkeypatch):
    vocab = read_tokenizer(plain(), 2)
    ids = vocab.encode("a").ids
    assert vocab.decode(ids) == "a"
    monkeypatch.setattr("relxl.containers.sandbox.subprocess.Popen", None)
    ids.append(7)
    same = TokenizerVocab(vocab.tokens, bytes(bytearray(vocab.tokenizer)))
    assert same == vocab and hash(same) == hash(vocab) and same != IdVocab(2)
    assert same.encode("a").ids == [0] and same.decode([0]) == "a"
    with pytest.raises(IndexError):
        vocab.decode([2])
    with pytest.raises(CheckpointError, match=f"has {MAX_TYPED + 1} characters, but at most {MAX_TYPED}"):
        vocab.encode("a" * (MAX_TYPED + 1))


# ---- hostile files -------------------------------------------------------------------------------------------------


def part(kind: str, **fields) -> dict:
    return {"type": kind, **fields}


def split_by(regex: str) -> dict:
    return part("Split", pattern={"Regex": regex}, behavior="Isolated", invert=False)


def nested(depth: int) -> dict:
    inner = part("NFC")
    for _ in range(depth):
        inner = part("Sequence", normalizers=[inner])
    return inner


def added(*tokens: tuple[int, str]) -> list[dict]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return [{"id": i, "content": content, **flags} for i, content in tokens]


def words(**ids) -> dict:
    return part("WordLevel", vocab=ids, unk_token="a")


GROWS = part("Replace", pattern={"String": "a"}, content="a" * 60)
MALFORMED = {  # what it is -> the file, what is said
    "no JSON": (b"a", "is not JSON"),
    "empty": (b"", "is not JSON"),
    "not UTF-8": (b'{"model": "\xff"}', "is not JSON"),
    "deep": (b"[" * 100_000, "is not JSON"),
    "long number": (b'{"model": ' + b"9" * 5000 + b"}", "is not JSON"),
    "a list": (b"[]", "holds a list"),
    "no model": (b"{}", "holds an object without a model"),
    "model a list": (plain([1]), "without a model"),
    "model unknown": (plain(part("Neural", vocab={"a": 0})), "model of the type 'Neural', but the known types are BPE"),
    "model nested": (plain(words(a=0) | {"extra": {"b": []}}), "model whose 'extra' is a dict"),
    "model empty": (plain(words()), "without a single piece"),
    "vocab a list": (plain(part("BPE", vocab=["a"], merges=[])), "BPE model whose vocab"),
    "vocab without scores": (plain(part("Unigram", vocab=["a"])), "Unigram model whose vocab is no list of pieces"),
    "id a text": (plain(words(a="0")), "whole number from 0"),
    "id true": (plain(words(a=True)), "whole number from 0"),
    "id negative": (plain(words(a=-1)), "whole number from 0"),
    "id 10^9": (plain(words(a=0, b=10**9)), "'b' the id '1000000000', but the model has n_token=5, so"),
    "id too large by one": (plain(words(a=0, b=5)), "'b' the id '5', but the model has n_token=5"),
    "added id 10^9": (plain(added_tokens=added((10**9, "b"))), "'b' the id '1000000000', but the model has n_token=5"),
    "id twice": (plain(words(a=0, b=0)), "gives the id '0' to 'a' and to 'b'"),
    "added id taken": (plain(added_tokens=added((0, "b"))), "gives the id '0' to 'a' and to 'b'"),
    "added id twice": (plain(added_tokens=added((2, "b"), (2, "c"))), "gives the id '2' to 'b' and to 'c'"),
    "added no list": (plain(added_tokens={"b": 2}), "added_tokens that are a dict"),
    "added no text": (plain(added_tokens=[{"id": 2}]), "added token that is not an id from 0 with a text"),
    "merges numbers": (plain(part("BPE", vocab={"a": 0}, merges=[1])), "merges are no list of pairs"),
    "long piece": (plain(words(**{"a" * 3000: 0})), "piece of 3000 characters"),
    "normalizer unknown": (plain(normalizer=part("Python")), "normalizer of the type 'Python', but the known types"),
    "normalizer a text": (plain(normalizer="NFC"), "normalizer that is a str"),
    "type a list": (plain(normalizer=part(["NFC"])), "normalizer of the type"),
    "decoder for a normalizer": (plain(normalizer=part("Fuse")), "normalizer of the type 'Fuse'"),
    "pre_tokenizer unknown": (plain(pre_tokenizer=part("Custom")), "pre_tokenizer of the type 'Custom'"),
    "decoder unknown": (plain(decoder=part("Custom")), "decoder of the type 'Custom'"),
    "sequence without a list": (plain(normalizer=part("Sequence")), "Sequence that has no list"),
    "sequences nested": (plain(normalizer=nested(20)), "Sequence that has no list, or 4 others around it"),
    "many parts": (plain(normalizer=part("Sequence", normalizers=[part("NFC")] * 99)), "normalizer of 99 parts"),
    "long pattern": (plain(pre_tokenizer=split_by("a" * 3000)), "pattern of more than 2000 characters"),
    "long content": (plain(normalizer=GROWS | {"content": "a" * 3000}), "'content' is no number or short text"),
    "nested field": (plain(decoder=part("Strip", content={"a": []})), "'content' is no number or short text"),
}  # fmt: skip
HARMFUL = {  # what it is -> the file, the text, what is said
    "added id of its own": (plain(added_tokens=added((4, "b"))), "a", "wrong ids to added .* .'b' 4, but 2 follows"),
    "charsmap": (plain(normalizer=part("Precompiled", precompiled_charsmap="AAAA")), "a", "break off"),
    "charsmap of 4 GiB": (
        plain(normalizer=part("Precompiled", precompiled_charsmap="/" * 39 + "=")), "a", "break off|broke off",
    ),
    "charsmap that points out": (
        plain(normalizer=part("Precompiled", precompiled_charsmap="BAAAAP////8=")), "a", "break off",
    ),
    "charsmap no text": (plain(normalizer=part("Precompiled", precompiled_charsmap=None)), "a", "break off, so it"),
    "bad regex": (plain(pre_tokenizer=split_by("(")), "a", "not understood by the library that reads it"),
    "catastrophic regex": (plain(pre_tokenizer=split_by("(a+)+$")), "a" * 60 + "b", "break off"),
    "quadratic regex": (plain(pre_tokenizer=split_by(".*\\d")), "a" * 150_000, "took longer than 5 s: give a shorter"),
    "exploding normalizer": (plain(normalizer=part("Sequence", normalizers=[GROWS] * 6)), "a" * 32, "want of memory"),
    "normalizer explodes at every text": (
        plain(normalizer=part("Sequence", normalizers=[part("Replace", pattern={"Regex": "."}, content="a" * 60)] * 6)),
        "a", "for want of memory",
    ),
    "merge without its pieces": (plain(part("BPE", vocab={"a": 0}, merges=["a a"])), "a", "not understood|break off"),
    "chunks of nothing": (plain(pre_tokenizer=part("FixedLength", length=0)), "a", "break off"),
    "unknown beyond": (plain(part("Unigram", unk_id=7, vocab=[["a", 0.0]])), "a", "not understood by"),
    "exploding decoder": (
        plain(decoder=part("Sequence", decoders=[part("Replace", pattern={"String": "a"}, content="a" * 60)] * 6)),
        "a", "want of memory",
    ),
    "lone surrogate": (plain(words(a=0, **{"\ud800": 1})), "a", "not understood by"),
    "lists of lists": (
        b'{"model": [' + b"[]," * (MAX_TEXT // 3 - 10) + b"1]}", "a", "more memory|without a model|took longer",
    ),
    "too many bytes": (b" " * (MAX_TEXT + 1), "a", f"has {MAX_TEXT + 1} bytes, but at most {MAX_TEXT}"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_tokenizer_is_refused_before_the_library_sees_it(name):
    data, said = MALFORMED[name]
    with pytest.raises(Refused, match=said) as error:
        check_tokenizer(data, 5)
    check_sentence(f"tokenizer.json {error.value}", "tokenizer.json")


@needs_library
@pytest.mark.parametrize("name", ["no JSON", "deep", "id 10^9", "id twice", "normalizer unknown"])
def test_the_sentence_comes_out_of_the_child(name):
    data, said = MALFORMED[name]
    with pytest.raises(CheckpointError, match=f"^tokenizer.json .*{said}") as error:
        read_tokenizer(data, 5)
    check_sentence(str(error.value), "tokenizer.json")


@needs_library
@pytest.mark.parametrize("name", HARMFUL)
def test_a_hostile_tokenizer_is_a_sentence_and_harms_nobody(name, tmp_path, monkeypatch):
    data, text, said = HARMFUL[name]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("/proc/self/clear_refs").write_text("5")  # the highest resident memory counts from here
    before = read_status("VmRSS")
    with pytest.raises(CheckpointError, match=said) as error:
        vocab = read_tokenizer(data, 5)
        vocab.decode(vocab.encode(text).ids)
    check_sentence(str(error.value), "tokenizer.json")
    assert read_status("VmHWM") - before < 2 * len(data) + 64 * MIB
    assert not list(tmp_path.iterdir())


def test_ids_that_the_library_counts_by_itself_are_compared():
    check_library_agrees({"a": 1, "b": 2}, {1: "a", 2: "b"})
    with pytest.raises(Refused, match="'b' 2, but None follows"):
        check_library_agrees({"a": 1, "b": None}, {1: "a", 2: "b"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.sampled_from(["a", "NFC", "Sequence", "BPE"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "vocab", "merges", "id", "content", "normalizers", "pattern", "Regex", "a"]), inner
        )
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(["model", "normalizer", "pre_tokenizer", "decoder", "added_tokens", "version"])


@given(st.dictionaries(KEYS, JSON), st.booleans())
def test_any_json_is_checked_or_refused(value, with_model):
    base = json.loads(plain()) if with_model else {}
    try:
        sheet = check_tokenizer(json.dumps(base | value).encode(), 5)
    except Refused as refusal:
        assert str(refusal).isprintable()
    else:
        assert max(sheet.pieces | sheet.added) < 5


READY = "import os, signal, sys, time; w = sys.stdout.buffer.write; w(b'R'); sys.stdout.flush(); "
READ = READY + "sys.stdin.buffer.read(); "
ANSWER = READ + "import struct; w(struct.pack('<QQ', {}, {}) + {})"
CHILDREN = {  # what a child does in place of reading -> what is said
    "import time; time.sleep(60)": "the process that reads such files did not start",
    "raise ImportError": "the process that reads such files did not start",
    READY + "time.sleep(60)": "took longer than",
    READ + "time.sleep(60)": "took longer than",
    READ + "os.abort()": "broke off for want of memory or by a fault of the library",
    READ + "os.kill(os.getpid(), signal.SIGSEGV)": "made the process that read it break off",
    READ + "os.kill(os.getpid(), signal.SIGXCPU)": "took longer than",
    READ + "sys.exit(3)": "made the process that read it break off",
    READ + "w(b'R' * 100)": "break off",
    ANSWER.format(1 << 40, 0, "b''"): "break off",
    ANSWER.format(2, 1 << 40, "b'{}'"): "break off",
    ANSWER.format(2, 0, "b'[]'"): "break off",
    ANSWER.format(2, 9, "b'{}' + bytes(9)"): "not what they seem",
    ANSWER.format(2, 9, "b'{}' + b'\\1\\0\\0\\0' + b'\\2\\0\\0\\0' + b'a'"): "not what they seem",
    ANSWER.format(16, 0, """b'{"error": "a b"}'"""): "tokenizer.json a b",
    ANSWER.format(17, 0, """b'{"error": "a\\\\nb"}'"""): r"'a\\nb'",
}


@pytest.mark.parametrize("code", CHILDREN)
def test_whatever_becomes_of_the_child_is_a_sentence(code, monkeypatch):
    monkeypatch.setattr(tokenizer, "is_installed", lambda: True)
    monkeypatch.setattr(tokenizer, "START", code)
    monkeypatch.setattr(tokenizer, "TOKENIZER_WAIT", 1)
    monkeypatch.setattr("relxl.containers.sandbox.START_SECONDS", 1)
    with pytest.raises(CheckpointError, match=CHILDREN[code]) as error:
        read_tokenizer(plain(), 2)
    check_sentence(str(error.value), "tokenizer.json")


@pytest.mark.parametrize("body", ["bytes(11)", "b'\\7\\0\\0\\0' + bytes(8)"])
def test_ids_that_a_child_makes_up_are_refused(body, monkeypatch):
    monkeypatch.setattr(tokenizer, "is_installed", lambda: True)
    monkeypatch.setattr(tokenizer, "START", ANSWER.format(2, f"len({body})", f"b'{{}}' + {body}"))
    with pytest.raises(CheckpointError, match="not what they seem"):
        TokenizerVocab(("a", "b"), plain()).encode(body)


# ---- beside weights ------------------------------------------------------------------------------------------------


def vocab_of(n_token: int = 2, family: object = None, **texts: bytes):
    """Read the vocabulary of a model of n_token tokens, beside which these files lie."""
    opened = SimpleNamespace(model=SimpleNamespace(config=SimpleNamespace(n_token=n_token)), family=family)
    texts = {name.replace("__", "."): data for name, data in texts.items()}
    return read_vocab(SimpleNamespace(texts=texts), opened)


@needs_library
def test_a_tokenizer_comes_after_a_vocabulary_but_before_the_list_of_its_own_pieces():
    assert vocab_of(tokenizer__json=plain()).tokens == ("a", "[UNK]")
    assert vocab_of(tokenizer__json=plain(), vocab__json=b'["x", "y"]') == Vocab(("x", "y"))
    pieces = {"vocab__json": b'{"a": 0, "\xc4\xa0a": 1}', "vocab__txt": b"a\n##a\n"}
    assert isinstance(vocab_of(tokenizer__json=plain(), **pieces), TokenizerVocab)
    assert vocab_of(vocab__json=pieces["vocab__json"]) == WordVocab(("a", "Ġa"))
    assert vocab_of(n_token=0, tokenizer__json=b"not read") is None
    assert isinstance(vocab_of(tokenizer__json=plain(), family=OWN), TokenizerVocab)
    with pytest.raises(CheckpointError, match=r"n_token=2000001, but .* is read for at most 2000000"):
        vocab_of(n_token=2_000_001, tokenizer__json=plain())


def copy_official(folder: Path) -> Path:
    """Copy the bundled model that the reference code trained, with a tokenizer in place of its characters."""
    shutil.copytree(ROOT / "checkpoints/txl-official", folder)
    characters = json.loads((folder / "vocab.json").read_text())
    (folder / "vocab.json").unlink()
    (folder / "training.json").unlink()  # its sample is a text
    ids = {character: i for i, character in enumerate(characters)}
    model = {"type": "BPE", "vocab": ids, "merges": []}
    (folder / "tokenizer.json").write_bytes(plain(model))
    return folder


@needs_library
def test_a_checkpoint_is_opened_with_its_tokenizer(tmp_path):
    checkpoint = open_checkpoint(copy_official(tmp_path / "model"))
    official = open_checkpoint(ROOT / "checkpoints/txl-official")
    assert checkpoint.vocab.tokens == official.vocab.tokens
    text = "To be, or not to be: €"
    assert checkpoint.vocab.encode(text) == official.vocab.encode(text)
    (tmp_path / "model/tokenizer.json").write_bytes(plain(words(a=0, b=10**9)))
    with pytest.raises(CheckpointError, match=r"^model: .* gives 'b' the id '1000000000', but the model has"):
        open_checkpoint(tmp_path / "model")


def test_without_the_library_a_model_is_given_ids_and_the_page_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr("relxl.checkpoint.is_installed", lambda: False)
    monkeypatch.setattr("relxl.tokenizer.is_installed", lambda: False)
    vocab = vocab_of(tokenizer__json=plain())
    assert vocab == IdVocab(2, tokenizer.NOT_INSTALLED) and vocab.encode("1 0").ids == [1, 0]
    check_sentence(vocab.reason, "pip install tokenizers")
    with pytest.raises(CheckpointError, match="pip install tokenizers"):
        read_tokenizer(plain(), 2)
    copy_official(tmp_path / "model")
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = open_score_terms("model")
    assert any("pip install tokenizers" in caption.value for caption in app.sidebar.caption)
    assert app.text_area[0].label == "Token ids"


@needs_library
def test_a_page_cuts_a_text_by_the_tokenizer(tmp_path, monkeypatch):
    copy_official(tmp_path / "model")
    monkeypatch.setenv("RELXL_CHECKPOINTS", str(tmp_path))
    app = open_score_terms("model")
    assert app.text_area[0].label == "Text"
    app.text_area[0].set_value("To be, or not to be €").run()
    assert not app.exception and not app.error
    assert any("unknown token: 1 (€)" in caption.value.replace("\\", "") for caption in app.caption)


def open_score_terms(name: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["ck"] = f"folder/{name}"
    app.run().switch_page("pages/1_Score_terms.py").run()
    assert not app.exception and [error.value for error in app.error] == []
    return app
