"""Text to ids and back, and tokens that a person can see."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relxl import vocab as module
from relxl.checkpoint import read_words
from relxl.containers import CheckpointError
from relxl.vocab import Vocab, WordVocab, decode_text, read_vocab_json, show_token


@given(st.text(min_size=1))
def test_encoding_is_undone_by_decoding(text):
    vocab = Vocab.from_text(text)
    encoded = vocab.encode(text)
    assert vocab.decode(encoded.ids) == text and encoded.unknown == {}
    assert Vocab.from_json(vocab.to_json()) == vocab


def test_unknown_characters_are_left_out_and_counted():
    encoded = Vocab.from_text("abc").encode("axbéé")
    assert encoded.ids == [0, 1] and encoded.unknown == {"x": 1, "é": 2}


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", "3", '["a", "a"]', '["ab"]', '[""]', "not json"])
def test_what_is_no_vocabulary_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        Vocab.from_json(text)


def test_every_token_is_visible():
    assert show_token(" ") == "␣" and show_token("\n") == "↵" and show_token("愁") == "愁"
    assert show_token("\u202e") == "U+202E" and show_token("\u200b") == "U+200B" and show_token("\0") == "U+0000"


@pytest.mark.parametrize("data, words", [
    (b"the\nof\n", ("the", "of")),
    (b"the\nof", ("the", "of")),
    (b"\xef\xbb\xbfthe\r\nof\r\n", ("the", "of")),
    (b"the\rof\r", ("the", "of")),
    (b"the 120\nof\t7\n", ("the", "of")),  # with counts, as the reference code writes them
    (b"New York\nNew Jersey\n  padded  \n", ("New York", "New Jersey", "padded")),
    (b"the\n\nof\n\n\n", ("the", "", "of")),  # a blank line is an id, but not at the end
    ("愁\n\u3000\n\u2028a\n".encode(), ("愁", "\u3000", "a")),  # lines end where a file's do, not where Unicode's do
    (b"<unk>\n5 3\n7\n", ("<unk>", "5", "7")),
])  # fmt: skip
def test_a_list_of_words_is_read_by_its_rule(data, words):
    assert read_words("vocab.txt", data, len(words)) == WordVocab(words)


@pytest.mark.parametrize("data, said", [
    ("愁\n的\n".encode("gbk"), "line 1 has the byte 0xb3, which is not UTF-8 but perhaps GBK: .* iconv -f GBK -t"),
    ("a\ncafé\n".encode("latin-1"), "line 2 has the byte 0xe9, which is not UTF-8 but perhaps ISO-8859-1"),
    ("a\nb\n".encode("utf-16"), "it is UTF-16, but UTF-8 is read"),
    (b"", "a word a line, but there is none"),
    (b"\n\n", "a word a line, but there is none"),
    (b"a\nb\na 3\nb\na\n", "'a' comes 3 times, first at lines 1 and 3, and 1 other words come more than once"),
    (b"a\n\n\nb\n", "a blank line comes 2 times, first at lines 2 and 3"),
    (b"a\n\nb\n", "vocab.txt has 3 tokens, 1 of them blank lines, but the model has n_token=5"),
    (b"a\nb\n", "vocab.txt has 2 tokens, but the model has n_token=5"),
    (b"x" * 9000 + b"\n" + b"x" * 9000, "'x{40}' comes 2 times"),
])  # fmt: skip
def test_a_bad_list_of_words_is_refused_in_a_sentence(data, said):
    with pytest.raises(CheckpointError, match=said) as error:
        read_words("vocab.txt", data, 5)
    assert str(error.value).isprintable() and len(str(error.value)) < 400


@pytest.mark.parametrize(
    "data", [b"a\n" * 10**7, b"\n" * 10**7 + b"a", b"a\r\n" * 10**7, b"[" + b"[]," * 10**7 + b"1]"]
)
def test_millions_of_words_are_counted_before_they_take_memory(data):
    tracemalloc.start()
    file = "vocab.json" if data.startswith(b"[") else "vocab.txt"
    with pytest.raises(CheckpointError, match=f"at most {module.MAX_WORDS}"):
        read_words(file, data, 5)
    assert tracemalloc.get_traced_memory()[1] < 3 * len(data)
    tracemalloc.stop()


@pytest.mark.parametrize("text, expected", [
    ('["a", "b"]', Vocab(("a", "b"))),
    ('["a", "the"]', WordVocab(("a", "the"))),
    ('{"the": 1, "a": 0}', WordVocab(("a", "the"))),
    ('{"the": 2, "a": 0}', WordVocab(("a", "<id 1>", "the"))),
    ('{"b": 1, "a": 0}', Vocab(("a", "b"))),
])  # fmt: skip
def test_a_vocabulary_is_a_list_or_an_object_of_ids(text, expected):
    vocab = read_vocab_json(text, len(expected.tokens))
    assert vocab == expected and vocab.encode("a").ids == [0]


@pytest.mark.parametrize("text, said", [
    ('{"the": 0, "of": 0, "a": 1}', "gives '0' to 'the' and 'of', and has 3 words with 2 ids"),
    ('{"the": 1000000000}', "'the' has the id '1000000000', but the model has n_token=3"),
    ('{"the": "0"}', "must give every word a whole number from 0"),
    ('{"the": -1}', "must give every word a whole number from 0"),
    ('{"the": true}', "must give every word a whole number from 0"),
    ("{}", "must give every word a whole number from 0"),
    ('["the", "a", "the"]', "'the' comes 2 times, first at places 0 and 2"),
    ("3", "must be a JSON list of strings, or a JSON object"),
    ('["the", 3]', "must be a JSON list of strings, or a JSON object"),
    ("[" * 100_000, "can not be read"),
    ('["the", "a"]', "vocab.json has 2 tokens, but the model has n_token=3"),
])  # fmt: skip
def test_what_gives_no_ids_that_fit_is_refused(text, said):
    with pytest.raises(CheckpointError, match=said):
        read_words("vocab.json", text.encode(), 3)


@given(st.text())
def test_text_is_decoded_as_it_was_written(text):
    assert decode_text(b"\xef\xbb\xbf" + text.encode()) == text
