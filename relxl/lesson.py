"""A lesson is a Markdown file; this reads it: its title, and its steps with their text, figures and questions.

    # Title
    Text of the first step.
    ```figure terms          a figure of the page Lessons, with settings, `key: value` a line
    head: v_bias
    ```
    ```question largest_term
    q: 5
    ```
    ---                      the next step
    ```try distance          a page that goes deeper, with what is to be chosen there
    ```

What there is to name is handed in, so this module knows no figure and no page. A file that can not be read is one
sentence: file, line, what came, what was expected.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

KINDS = ("figure", "question", "try")
MOST_BYTES, MOST_STEPS, MOST_FILES, MOST_NAMES = 100_000, 12, 100, 24
FENCE = re.compile(r"^(`{3,}|~{3,})\s*(\S*)\s*(.*?)\s*$")
LANGUAGE_OF = re.compile(r"\.(en|zh)$")


class LessonError(ValueError):
    """Say in one sentence what is wrong with a lesson."""


@dataclass(frozen=True)
class Setting:
    """Say what a value may be, and how it is read; `read` raises ValueError for anything else."""

    expected: str
    read: Callable[[str], object]


Known = Mapping[str, Mapping[str, Mapping[str, Setting]]]  # kind -> name -> key -> what its value may be


def whole(low: int, high: int) -> Setting:
    """Take a whole number from low to high."""

    def read(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return Setting(f"a whole number from {low} to {high}", read)


def one_of(*choices: str) -> Setting:
    """Take one of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return Setting(f"one of {', '.join(choices)}", read)


def some_of(*choices: str) -> Setting:
    """Take one or more of a few words, with spaces between them."""

    def read(text: str) -> tuple[str, ...]:
        names = tuple(text.split())
        if not names or set(names) - set(choices):
            raise ValueError(text)
        return names

    return Setting(f"some of {', '.join(choices)}", read)


def number(low: float, high: float) -> Setting:
    """Take a number from low to high."""

    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return Setting(f"a number from {low:g} to {high:g}", read)


def fill(read: Callable[[str], object]) -> Setting:
    """Take what a mask is filled with, as `read` reads it."""
    return Setting("a number, min or multiply", read)


def word() -> Setting:
    """Take a single word or number, such as a link holds."""

    def read(text: str) -> str:
        if not re.fullmatch(r"[\w.+-]{1,40}", text):
            raise ValueError(text)
        return text

    return Setting("a single word or number", read)


@dataclass(frozen=True)
class Block:
    """Hold a piece of a step: its text (kind "text"), or the name of a figure, a question or a page to try."""

    kind: str
    text: str
    settings: tuple[tuple[str, object], ...] = ()


Step = tuple[Block, ...]


@dataclass(frozen=True)
class Lesson:
    """Hold a lesson: its title and its steps, one screen each."""

    title: str
    steps: tuple[Step, ...]

    @property
    def shape(self) -> list[list[tuple]]:
        """Give all but the words: what two languages of a lesson have in common."""
        return [[(b.kind, b.text, b.settings) for b in step if b.kind != "text"] for step in self.steps]


def parse_lesson(text: str, file: str, known: Known) -> Lesson:
    """Read a lesson. Raises LessonError with one sentence: file, line, what came, what was expected."""
    lines = text.removeprefix("\ufeff").splitlines()
    title = lines[0].strip() if lines else ""
    if not re.match(r"# \S", title):
        raise wrong(file, 1, f"{title[:60]!r}", "'# ' and the title of the lesson")
    steps: list[Step] = []
    for first, part in split_steps(lines[1:], file):
        step = tuple(read_blocks(part, first, file, known))
        if not step:
            raise wrong(file, first, "a step with nothing in it", "a text, a figure or a question")
        steps.append(step)
    if len(steps) > MOST_STEPS:
        raise wrong(file, len(lines), f"a lesson of {len(steps)} steps", f"no more than {MOST_STEPS}")
    return Lesson(title[2:].strip(), tuple(steps))


def wrong(file: str, line: int, came: str, expected: str) -> LessonError:
    return LessonError(f"{file}, line {line}: found {came}, expected {expected}")


def split_steps(lines: list[str], file: str) -> Iterator[tuple[int, list[str]]]:
    """Cut the lines after the title at every `---` outside a fence: the number of the first line, and the lines."""
    start, opened, fence = 0, 0, ""
    for place, line in enumerate(lines):
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found := FENCE.match(line):
            fence, opened = found[1], place
        elif line.strip() == "---":
            yield start + 2, lines[start:place]
            start = place + 1
    if fence:
        raise wrong(file, opened + 2, f"a block that {fence} opens and nothing closes", f"a line {fence} after it")
    yield start + 2, lines[start:]


def read_blocks(lines: list[str], first: int, file: str, known: Known) -> Iterator[Block]:
    """Read the blocks of a step whose first line has the number `first`; fences of other kinds stay in the text."""
    text: list[str] = []
    words = lambda: unwrapped("\n".join(text).strip())  # noqa: E731
    place = 0
    while place < len(lines):
        found = FENCE.match(lines[place])
        end = place
        if found:
            end = next(k for k in range(place + 1, len(lines)) if lines[k].strip() == found[1])
        if found and found[2] in KINDS:
            if words():
                yield Block("text", words())
            text = []
            yield read_named(found[2], found[3], lines[place + 1 : end], first + place, file, known[found[2]])
        else:
            text += lines[place : end + 1]
        place = end + 1
    if words():
        yield Block("text", words())


def unwrapped(text: str) -> str:
    """Join Chinese lines: a line end between two of its characters would be shown as a space."""
    chinese = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”"
    return re.sub(rf"(?<=[{chinese}])\n(?=[{chinese}])", "", text)


def read_named(
    kind: str, name: str, lines: list[str], at: int, file: str, known: Mapping[str, Mapping[str, Setting]]
) -> Block:
    """Read a block that names a figure, a question or a page; `at` is the number of its first line."""
    if name not in known:
        raise wrong(file, at, f"{kind} {name[:40]!r}", f"one of {', '.join(known)}")
    settings: dict[str, object] = {}
    for number, line in enumerate(lines, at + 1):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            raise wrong(file, number, f"{line.strip()[:40]!r}", "'key: value'")
        if key not in known[name]:
            allowed = ", ".join(list(known[name])[:MOST_NAMES]) or "no setting at all"
            raise wrong(file, number, f"the setting {key[:40]!r} of {name}", allowed)
        if key in settings:
            raise wrong(file, number, f"the setting {key!r} a second time", "each setting once")
        try:
            settings[key] = known[name][key].read(value)
        except ValueError:
            raise wrong(file, number, f"{key}: {value[:40]!r}", known[name][key].expected) from None
    return Block(kind, name, tuple(settings.items()))


# Files ---------------------------------------------------------------------------------------------------------------


def lesson_files(folder: Path) -> dict[str, dict[str, Path]]:
    """Find the lessons of a folder in the order of their names: name -> language ("" for neither) -> file.

    `walk.md`, `walk.en.md` and `walk.zh.md` are one lesson. A folder that is not there has none.
    """
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob("*.md"))[:MOST_FILES] if folder.is_dir() else []:
        language = LANGUAGE_OF.search(path.stem)
        name = path.stem if language is None else path.stem[: language.start()]
        found.setdefault(name, {})[language[1] if language else ""] = path
    return found


def spoken_file(files: Mapping[str, Path], language: str) -> Path:
    """Choose the file of a language, else the one of none, else the English one, else what there is."""
    return next((files[name] for name in (language, "", "en") if name in files), next(iter(files.values())))


def read_lesson(path: Path, known: Known) -> Lesson:
    """Read a lesson from its file. Raises LessonError with one sentence."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise LessonError(f"{path.name} has {size} bytes, expected no more than {MOST_BYTES}: cut it into lessons")
        return parse_lesson(path.read_text(encoding="utf-8"), path.name, known)
    except UnicodeDecodeError as error:
        raise LessonError(f"{path.name} is not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except OSError as error:
        raise LessonError(f"{path.name} is a lesson that can not be read: {error.strerror}") from None


def harmless(markdown: str) -> str:
    """Take from a text of a file what would fetch or run something: a picture or a tag is shown as it is written.

    A zero-width space breaks the two marks apart, inside code too, where a backslash would be seen.
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "<\u200b", markdown.replace("![", "!\u200b["))
