"""Text to ids and back, and tokens that a person can see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relxl.vocab import Vocab, show_token


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
