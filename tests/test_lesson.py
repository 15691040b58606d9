"""The format of a lesson: what is read, and the one sentence for everything that can not be."""

import pytest

from relxl.lesson import (
    LessonError,
    harmless,
    lesson_files,
    number,
    one_of,
    parse_lesson,
    read_lesson,
    some_of,
    spoken_file,
    unwrapped,
    whole,
    word,
)

KNOWN = {
    "figure": {"terms": {"q": whole(-9, 9), "show": some_of("content", "sum"), "mo": one_of("after", "before")}},
    "question": {"largest_term": {"is": number(0.001, 10)}},
    "try": {"masking": {"mf": word()}},
}
GOOD = """# A title

Look at this.

```figure terms
q: -1
show: content sum
```
---
```python
---
```
And that.
```question largest_term
is: 0.02
```
```try masking
mf: -1e4
```
"""


def test_a_lesson_is_read_with_its_steps_figures_and_questions():
    lesson = parse_lesson(GOOD, "a.md", KNOWN)
    assert lesson.title == "A title" and [len(step) for step in lesson.steps] == [2, 3]
    text, figure = lesson.steps[0]
    assert (text.kind, text.text) == ("text", "Look at this.")
    assert (figure.kind, figure.text, figure.settings) == (
        "figure", "terms", (("q", -1), ("show", ("content", "sum"))),
    )  # fmt: skip
    code, question, door = lesson.steps[1]
    assert code.text == "```python\n---\n```\nAnd that."
    assert question.settings == (("is", 0.02),) and door.settings == (("mf", "-1e4"),)
    assert lesson.shape[1] == [("question", "largest_term", (("is", 0.02),)), ("try", "masking", (("mf", "-1e4"),))]


BAD = {
    "empty": ("", "line 1: found '', expected '# ' and the title"),
    "no title": ("Title\n", "line 1: found 'Title', expected '# '"),
    "a title without a name": ("# \ntext", "line 1: found '#', expected"),
    "a second level": ("## Title\ntext", "line 1: found '## Title', expected"),
    "nothing but a title": ("# T\n", "line 2: found a step with nothing in it, expected a text, a figure"),
    "an empty step": ("# T\na\n---\n\n---\nb", "line 4: found a step with nothing in it"),
    "an open fence": ("# T\na\n```figure terms\nq: 1\n", "line 3: found a block that ``` opens and nothing closes"),
    "an unknown figure": ("# T\n\n```figure pie\n```", "line 3: found figure 'pie', expected one of terms"),
    "a figure without a name": ("# T\n```figure\n```", "line 2: found figure '', expected one of terms"),
    "an unknown question": ("# T\n```question why\n```", "line 2: found question 'why', expected one of largest_term"),
    "an unknown page": ("# T\n```try shop\n```", "line 2: found try 'shop', expected one of masking"),
    "no colon": ("# T\n```figure terms\nq 1\n```", "line 3: found 'q 1', expected 'key: value'"),
    "an unknown key": ("# T\n```figure terms\nz: 1\n```", "found the setting 'z' of terms, expected q, show, mo"),
    "a key twice": ("# T\n```figure terms\nq: 1\nq: 2\n```", "line 4: found the setting 'q' a second time"),
    "no number": ("# T\n```figure terms\nq: x\n```", "found q: 'x', expected a whole number from -9 to 9"),
    "a number outside": ("# T\n```figure terms\nq: 10\n```", "found q: '10', expected a whole number from -9 to 9"),
    "a huge number": (f"# T\n```figure terms\nq: {'9' * 99}\n```", "expected a whole number from -9 to 9"),
    "a fraction too small": ("# T\n```question largest_term\nis: 0\n```", "expected a number from 0.001 to 10"),
    "not a number": ("# T\n```question largest_term\nis: nan\n```", "expected a number from 0.001 to 10"),
    "a wrong word": ("# T\n```figure terms\nmo: late\n```", "found mo: 'late', expected one of after, before"),
    "a wrong panel": ("# T\n```figure terms\nshow: sum pie\n```", "expected some of content, sum"),
    "no panel": ("# T\n```figure terms\nshow:\n```", "expected some of content, sum"),
    "several words": ("# T\n```try masking\nmf: a b\n```", "found mf: 'a b', expected a single word or number"),
    "many steps": ("# T\na" + "\n---\na" * 12, "found a lesson of 13 steps, expected no more than 12"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_lesson_is_one_sentence_with_file_and_line(case):
    text, said = BAD[case]
    with pytest.raises(LessonError) as error:
        parse_lesson(text, "walk.md", KNOWN)
    sentence = str(error.value)
    assert sentence.startswith("walk.md, line ") and said in sentence and "\n" not in sentence and len(sentence) < 300


def test_a_file_that_is_no_text_too_long_or_gone_is_one_sentence(tmp_path):
    (tmp_path / "latin.md").write_bytes("# Grün".encode("latin-1"))
    (tmp_path / "long.md").write_text("# T\n" + "a" * 100_001)
    for name, said in (
        ("latin", "not UTF-8 at byte 4"),
        ("long", "100005 bytes"),
        ("gone", "can not be read: No such"),
    ):
        with pytest.raises(LessonError, match=said):
            read_lesson(tmp_path / f"{name}.md", KNOWN)


def test_a_byte_order_mark_and_windows_line_ends_are_taken():
    assert parse_lesson("\ufeff" + GOOD.replace("\n", "\r\n"), "a.md", KNOWN) == parse_lesson(GOOD, "a.md", KNOWN)


def test_the_files_of_a_folder_are_joined_by_language(tmp_path):
    for name in ("b.md", "b.zh.md", "a.en.md", "a.zh.md", "c.md", "notes.txt"):
        (tmp_path / name).write_text("# T\na")
    found = lesson_files(tmp_path)
    assert {name: sorted(files) for name, files in found.items()} == {"a": ["en", "zh"], "b": ["", "zh"], "c": [""]}
    names = [spoken_file(found[name], language).name for name in "abc" for language in ("en", "zh")]
    assert names == ["a.en.md", "a.zh.md", "b.md", "b.zh.md", "c.md", "c.md"]
    assert lesson_files(tmp_path / "none") == {}


@pytest.mark.parametrize("evil", [
    "![x](http://h/t.png)",
    "![x][y]\n\n[y]: http://h/t.png",
    "[![x](http://h/t.png)](http://h)",
    r"\`![x](http://h/t.png)\`",
    "<img src=http://h/t.png>",
    "<script>alert(1)</script>",
    "</p><!-- x --><?x?>",
    "<http://h>",
])  # fmt: skip
def test_a_text_fetches_and_runs_nothing(evil):
    shown = harmless(evil)
    assert "![" not in shown and not any(f"<{mark}" in shown for mark in "abcdefghijklmnopqrstuvwxyz!?/")
    assert shown.replace("\u200b", "") == evil  # nothing is lost to the eye


def test_what_is_harmless_stays():
    for text in ("2 < 3 and x <- y", "`a < b`", "**bold** [link](pages)", "done!", "$a<1$"):
        assert harmless(text) == text


def test_chinese_lines_are_joined_and_others_are_not():
    assert unwrapped("位置，\n距离（一\n二）\nq · k\n三") == "位置，距离（一二）\nq · k\n三"
