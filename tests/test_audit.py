"""What the code may not do at all, read from the code itself: run what a file says, call out, show a name as markup."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from relxl.containers import bundles, limits
from relxl.jobs import Jobs
from relxl.ui import library
from tests.conftest import ROOT
from tests.test_architecture import FILES, imports, room
from tests.test_language import name_of

OURS = [*FILES, ROOT / "asgi.py"]
EVERY = [*OURS, *sorted((ROOT / "tests").rglob("*.py"))]
UI = [path for path in OURS if room(path) in ("app", "pages", "ui")]

RUNS_CODE = r"eval|exec|compile|__import__|importlib\.import_module|os\.(system|popen|exec\w+|spawn\w+)|runpy\.\w+"
RUNS_CODE += r"|torch\.(jit|hub|package)\.\w+|yaml\.(unsafe_load|full_load)(_all)?|tempfile\.mktemp"
UNPICKLES = {"marshal", "shelve", "dill", "cloudpickle", "joblib", "_pickle", "jsonpickle"}
CALLS_OUT = (
    r"socket|ssl|requests|httpx|aiohttp|websockets?|ftplib|smtplib|telnetlib|http\.client|urllib3|urllib\.request"
)
MARKDOWN = {  # what Streamlit reads as markdown, or as HTML
    "badge", "button", "caption", "checkbox", "error", "expander", "form_submit_button", "header", "html", "info",
    "link_button", "markdown", "metric", "page_link", "pills", "progress", "radio", "segmented_control", "spinner",
    "subheader", "success", "text_input", "title", "toast", "toggle", "warning", "write",
}  # fmt: skip
SAFE = {"escape", "code", "shown", "plain", "number", "percent", "grouped", "plot_text", "_", "int", "len", "round"}
OUTSIDE = re.compile(  # names and texts that a person or a file brought
    r"\b(checkpoint|other|path|folder|file|place)\.name\b|tokens\[|\.title\b|\berror\b|\braw\b|files\[|weights\["
)
REVIEWED = {  # page and file of relxl/ui -> what is put into a text as it is
    # words, numbers and names of ours, or sentences in which every name went through escape or code
    "checkpoint/answers.py": {"layer", "head"},
    "checkpoint/settings.py": {"origins[setting.origin]"},
    "compare/sections.py": {"sentence", "said", "path.name", "self.view.checkpoint.name", "self.other.name"},
    "compare/film.py": {"alt", "loss_sentence(watched)", "folder.name"},
    "doctor/sections.py": {"mark(finding.severity)", "where", "sentence(finding)"},
    "score_terms/equation.py": {"look.letter", "term", "line.file", "line.number"},
    "ui/frame.py": {"SPACING", "GLYPHS.get(LANGUAGE.get(), '')", "door.name"},
    "lessons/step.py": {"found.text", "found.because", "verdict(choice == found.right)"},
    "lessons/sections.py": {"FOLDER", "place.lessons[at].lesson.title"},
    "masking/leaks.py": {"LEAKY"},
    "masking/sections.py": {"preset.name", "preset.text"},
    "max_len/table.py": {"alt", "dotted"},
    "museum/sections.py": {"words.title", "checks", "entry"},
    "museum/mystery.py": {"verdict(choice == asked.fault.kind)", "answer.name", "proof_of(asked)"},
    "score_terms/sections.py": {
        "split",
        "shares",
        "''.join(cells)",
        "re.sub('[^A-Za-z0-9._-]', '_', view.checkpoint.name)",
    },
    "shift/sections.py": {"finding(look)", "text"},
    # names in labels of a selectbox and in titles of a job, and parts of a sentence that is escaped as a whole
    "ui/jobs.py": {"key", "running.title"},
    "lessons/charts.py": {"view.tokens[top]"},
    "lessons/view.py": {"view.checkpoint.name", "other.checkpoint.name"},
    "ui/library.py": {"path.name", "path.name[:12]", "files[0][0][:80]", "weights[0][:80]"},
    "max_len/losses.py": {"checkpoint.name", "file.name"},
    "memory/cost.py": {"checkpoint.name"},
    "memory/losses.py": {"checkpoint.name"},
    "ui/show.py": {"error.strerror"},
    "ui/state.py": {"name", "raw[:40]"},
}  # fmt: skip
HTML = {  # what st.html is given: styles of ours, and what is made of numbers and of words of ours
    "STYLE", "LEFT", "f\"<style>{SPACING}{GLYPHS.get(LANGUAGE.get(), '')}</style>\"", "dots(place, dark)", "drawn.html",
    "CSS + PRESENTER * place.presenting", "held_html(rows, dark)", "stage_html(tables, legend(look), room, dark)",
    "stage_html(tables, legend(found), (rows, len(tables) * columns, longest), dark)",
    "STYLE + WALL_STYLE + stage_html(tables, legend, (query_len, 2 * key_len, longest), dark)",
    "STYLE + ladder_html(rungs(derived, shift.value), LETTERS, step.value, view.dark)",
    "f\"\"\"<div style=\"display:flex;flex-wrap:wrap;gap:.5rem\">{''.join(cells)}</div>\"\"\"",
}  # fmt: skip


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]


def options(call: ast.Call) -> dict[str | None, str]:
    return {option.arg: ast.unparse(option.value) for option in call.keywords}


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_nothing_that_a_file_says_is_run(path):
    emitted = "compile(source, 'test_emitted.py', 'exec')"  # whether what relxl wrote itself is Python
    for call in calls(path):
        name = ast.unparse(call.func)
        assert not re.fullmatch(RUNS_CODE, name) or ast.unparse(call) == emitted, ast.unparse(call)
        assert options(call).get("shell") is None and options(call).get("allow_pickle") in (None, "False")
        assert name != "torch.load" or options(call).get("weights_only") == "True", ast.unparse(call)
        assert name not in ("yaml.load", "yaml.load_all") or options(call) == {"Loader": "Loader"}
    assert not {name.split(".")[0] for name in imports(path)} & UNPICKLES


def test_the_yaml_loader_is_the_safe_one():
    assert bundles.Loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))


# The network ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in OURS if room(path) != "bench"], ids=name_of)
def test_nothing_calls_another_machine(path):
    """Dask is the exception: `sweep --scheduler ADDRESS` goes where a person says."""
    assert not [name for name in imports(path) if re.match(rf"({CALLS_OUT})(\.|$)", name)]


# The pages -----------------------------------------------------------------------------------------------------------


def put_in(tree: ast.AST) -> Iterator[ast.expr]:
    """Give every value that is put into an f-string or by `format`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            yield from (*node.args, *(option.value for option in node.keywords))


def is_safe(value: ast.expr) -> bool:
    """Tell what went through one of the functions that make a text harmless."""
    if isinstance(value, ast.IfExp):
        return is_safe(value.body) and is_safe(value.orelse)
    safe = isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in SAFE | {"format"}
    return safe or isinstance(value, ast.Constant | ast.JoinedStr)


def what_is_drawn(call: ast.Call) -> list[ast.expr]:
    """Give the arguments of a call that a person sees."""
    unseen = ("key", "icon", "args", "kwargs")
    return [*call.args, *(option.value for option in call.keywords if option.arg not in unseen)]


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_no_name_is_put_into_markdown_as_it_is(path):
    """A new value stands in `escape` or `code`, or in REVIEWED with whoever reads this."""
    drawn = [call for call in calls(path) if isinstance(call.func, ast.Attribute) and call.func.attr in MARKDOWN]
    strings = [part for call in drawn for seen in what_is_drawn(call) for part in ast.walk(seen)]
    values = [value for part in strings if isinstance(part, ast.JoinedStr) for value in put_in(part)]
    values += [value for value in put_in(ast.parse(path.read_text())) if OUTSIDE.search(ast.unparse(value))]
    assert {ast.unparse(value) for value in values if not is_safe(value)} == REVIEWED.get(name_of(path), set())


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_html_is_made_by_functions_that_were_reviewed(path):
    text = path.read_text()
    assert "unsafe_allow_html" not in text and "unsafe_allow_javascript" not in text and "components.v1" not in text
    given = [ast.unparse(call.args[0]) for call in calls(path) if ast.unparse(call.func).endswith(".html")]
    assert set(given) <= HTML


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_every_cache_is_bounded_and_none_is_on_disk(path):
    """On disk it would be a pickle, which runs what somebody wrote there."""
    for node in ast.walk(ast.parse(path.read_text())):
        for made in getattr(node, "decorator_list", ()):
            if "st.cache_" in ast.unparse(made):
                said = options(made) if isinstance(made, ast.Call) else {}
                assert said.get("max_entries", "").isdecimal() and "persist" not in said, ast.unparse(made)


# SECURITY.md ---------------------------------------------------------------------------------------------------------


def test_every_clause_of_the_promise_names_tests_that_are_there():
    clauses = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line.startswith("| ")][1:]
    named = [re.findall("`(tests/[a-z_/]+.py)`", clause.split("|")[2]) for clause in clauses]
    assert len(clauses) > 12 and all(named)
    assert all((ROOT / file).is_file() for files in named for file in files)


def test_the_bounds_that_are_told_are_those_that_hold():
    text = " ".join((ROOT / "SECURITY.md").read_text().split())
    upload = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]["maxUploadSize"]
    for told in (
        f"{limits.MAX_BYTES >> 30} GiB, {limits.MAX_TENSORS:,} tensors of at most {limits.MAX_DIMS} dims",
        f"A config: {limits.MAX_CONFIG >> 20} MiB", f"tokenizer: {limits.MAX_TEXT >> 20} MiB",
        f"{limits.MAX_TYPED:,} characters", f"{limits.most_seconds(0)} s and 1 s more for each 25 MiB",
        f"{limits.most_memory(0) >> 20} MiB and six times", f"{limits.TOKENIZER_SECONDS} s of a processor",
        f"An upload: {upload} MB", f"a server: {library.MOST_BYTES >> 30} GiB", f"most {Jobs().most_alive} a session",
    ):  # fmt: skip
        assert told in text, told
