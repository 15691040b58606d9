"""Every text on a page goes through _()."""

import ast
import re

import pytest

from relxl.language import LANGUAGE, _
from tests.conftest import ROOT

FOLDERS = [ROOT / "pages", ROOT / "relxl/ui", ROOT / "relxl/figures"]
FILES = [ROOT / "app.py", *(path for folder in FOLDERS for path in folder.rglob("*.py"))]
SAME_IN_EVERY_LANGUAGE = {"### relxl", "d_model", "CSV", "NPZ", "HTML", "safetensors"}
NO_PROSE = re.compile(
    r"python -m relxl |default-src |middle right$|CPU time$|\.st[A-Z]|\s*[.\[@]"
)  # commands, CSS, fields
PROSE = re.compile(r"\b[A-Za-z]{2,} [a-z]{2,}\b")
SHOW_TEXT = {
    "title",
    "header",
    "subheader",
    "markdown",
    "caption",
    "button",
    "toggle",
    "selectbox",
    "text_area",
    "error",
}
SHOW_TEXT |= {"number_input", "segmented_control", "expander", "badge", "warning", "toast", "download_button", "write"}


def name_of(path):
    return "/".join(path.parts[-2:])


def bare_prose(tree: ast.AST) -> list[str]:
    """Find texts of two words or more that are neither translated nor a docstring nor HTML."""
    allowed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("_", "st.html", "st.latex"):
            allowed |= {id(child) for child in ast.walk(node)}
        if isinstance(node, ast.Expr):
            allowed.add(id(node.value))
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [
        node.value
        for node in texts
        if id(node) not in allowed
        and "<" not in node.value
        and not NO_PROSE.match(node.value)
        and PROSE.search(node.value)
    ]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_prose_stands_outside_the_translation(path):
    assert bare_prose(ast.parse(path.read_text())) == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_labels_of_controls_are_translated(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in SHOW_TEXT
            and node.args
        ):
            first = node.args[0]
            assert not isinstance(first, ast.Constant) or first.value in SAME_IN_EVERY_LANGUAGE, ast.unparse(node)


def test_the_search_for_prose_finds_it():
    assert bare_prose(ast.parse('"""A docstring here."""\nst.write("two words")\nst.write(_("two words"))')) == [
        "two words"
    ]


def test_a_text_is_given_in_the_language_of_the_session():
    assert _("distance") == "distance"
    token = LANGUAGE.set("zh")
    assert _("distance") == "距离" and _("not translated") == "not translated"
    LANGUAGE.reset(token)
