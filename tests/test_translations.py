"""The app speaks Chinese as well as English: every text has its translation, and no session hears another's."""

import ast
import re
import threading
import unicodedata
from collections import Counter
from types import ModuleType, SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import relxl.doctor
from relxl.doctor.finding import Kind
from relxl.doctor.registry import CHECKS
from relxl.language import LANGUAGE, VALUE, _, translated
from relxl.ui.speak import settle_language
from relxl.zh import MODULES, SENTENCES, TEXTS, WORDS
from tests.conftest import ROOT
from tests.test_language import FILES, PROSE, name_of

ASKED_FOR = {  # what is translated though it is no literal: a text of the core
    "relxl/ui/doctor/sections.py": {"_(check.sees)", "_(check.blind_spot)", "_(finding.template)", "_(finding.advice)"},
    "relxl/ui/jobs.py": {"_(job.progress.message)"},
}
# Modules whose sentences come up on a page, and those of their texts that do not: names, code, what files record.
CORE = ["atlas", "causality", "checkpoint", "compare", "config", "export", "jobs", "masking", "model", "positions"]
CORE += ["lesson", "reading", "relative", "split", "tokenizer", "trace", "vocab"]
PACKAGES = ["canonical", "containers", "diagnostics", "doctor", "experiments", "families"]
UNSEEN = ["containers/convert.py", "doctor/report.py", "experiments/max_len_cli.py", "experiments/max_len_variants.py"]
UNSEEN += ["experiments/recurrence.py", "experiments/relative_absolute.py"]  # on no page
CORE_FILES = [ROOT / f"relxl/{name}.py" for name in CORE]
CORE_FILES += [path for name in PACKAGES for path in sorted((ROOT / "relxl" / name).glob("*.py"))]
CORE_FILES = [path for path in CORE_FILES if str(path.relative_to(ROOT / "relxl")) not in UNSEEN]
NOT_SHOWN = {
    "torch zip",
    "torch legacy",
    "nemo tar",
    "relxl jobs",
    "Cannot see: ",
    " Cannot see: ",
    "\u00a0The 2 quick",
    "token ids",
    "an atlas needs a text [token] with at least one, windows of 1 or more and a memory of 0 or more, got tokens {0}, "
    "window={1} and mem_len={2}",
    "done is {0}, but must lie from 0 to 1: give the share of the work that is done",
    "a job must yield Progress, and this one yielded {0}",
}
FIELD = re.compile(r"\{[^{}]*\}")
ENGLISH = re.compile(r"\b[A-Za-z]{2,}(?: [a-z]{2,}){2,}\b")


def literals(path) -> set[str]:
    """Find every text that a file gives to _()."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if is_translation(node)]
    return {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}


def progress_of(path) -> set[str]:
    """Find what the jobs of a file say that they do."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    said = [call.args[1] for call in calls if ast.unparse(call.func) == "Progress" and len(call.args) > 1]
    return {part.value for text in said for part in ast.walk(text) if isinstance(part, ast.Constant)}


def is_translation(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_"


def is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (is_text(node.left) or is_text(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def template_of(node: ast.AST) -> str:
    """Write a text with {0}, {1}, ... in the place of the values that it is given."""
    values = Counter()

    def write(part: ast.AST) -> str:
        if isinstance(part, ast.Constant):
            return str(part.value)
        if isinstance(part, ast.JoinedStr):
            return "".join(map(write, part.values))
        if isinstance(part, ast.BinOp) and is_text(part):
            return write(part.left) + write(part.right)
        values["n"] += 1
        return f"{{{values['n'] - 1}}}"

    return write(node)


def texts_of(tree: ast.AST) -> set[str]:
    """Find the texts of a file as templates, docstrings left out, and those in the values of others too."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return set()
    inside = ast.iter_child_nodes(tree)
    found = set()
    if is_text(tree):
        found, parts = {template_of(tree)}, list(ast.walk(tree))
        inside = [part.value for part in parts if isinstance(part, ast.FormattedValue)]
        inside += [part for part in parts if isinstance(part, ast.IfExp)]
    return found.union(*map(texts_of, inside))


def core_texts(path) -> set[str]:
    return texts_of(ast.parse(path.read_text()))


def spoken(texts: set[str]) -> set[str]:
    """Keep what is prose and is shown."""
    return {
        text for text in texts if PROSE.search(text) and text not in NOT_SHOWN and not text.startswith("import sys")
        and "quick fox" not in text
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_text_of_a_page_has_its_translation(path):
    assert (literals(path) | progress_of(path)) - TEXTS.keys() == set()


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_every_sentence_that_a_page_can_show_has_its_translation(path):
    assert spoken(core_texts(path)) - TEXTS.keys() == set()


def test_every_finding_says_in_every_language_what_is_wrong_and_what_to_do():
    modules = [module for name, module in vars(relxl.doctor).items() if isinstance(module, ModuleType)]
    held = [it for module in modules for value in vars(module).values() for it in members(value)]
    kinds = [it for it in held if isinstance(it, Kind)]
    assert len(kinds) > 40 and {text for kind in kinds for text in (kind.template, kind.advice)} <= TEXTS.keys()


def members(value: object) -> list:
    """Give a value, or what a dict of values holds."""
    return list(value.values()) if isinstance(value, dict) else [value]


def test_every_check_says_in_every_language_what_it_sees():
    assert {text for check in CHECKS for text in (check.sees, check.blind_spot)} <= TEXTS.keys()


def test_no_translation_is_left_over():
    known = set().union(*map(literals, FILES), *map(progress_of, FILES), *map(core_texts, CORE_FILES))
    known |= {text for check in CHECKS for text in (check.sees, check.blind_spot)}
    known |= {text.replace("_", " ") for text in known}  # names of evidence are shown without underscores
    assert TEXTS.keys() - known == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_text_has_one_translation(module):
    assert module.TEXTS.items() <= TEXTS.items()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_translations_keep_every_value_and_mark(module):
    for english, chinese in module.TEXTS.items():
        assert Counter(FIELD.findall(english)) == Counter(FIELD.findall(chinese)), english
        for mark in ("**", "`", "\\_", "<b>"):
            assert english.count(mark) == chinese.count(mark), english
        assert english.startswith("  ") == chinese.startswith("  "), english


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_bold_is_bold_between_chinese_characters(module):
    """Markdown takes ** for a mark only where no letter follows on it directly after a sign, or comes before one."""
    for text in module.TEXTS.values():
        text = re.sub(r"`[^`]*`", "x", text)
        for found in re.finditer(r"(?<!\*)(\*\*?)(?!\s)(.+?)\1(?!\*)", text):
            before, after = text[: found.start()][-1:], text[found.end() :][:1]
            assert not (is_sign(found[2][0]) and is_letter(before)), text
            assert not (is_sign(found[2][-1]) and is_letter(after)), text


def is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def is_letter(character: str) -> bool:
    return bool(character) and not character.isspace() and not is_sign(character)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_is_translated_is_a_literal(path):
    """Anything else would be found by no test, and a formatted text by no translation."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if is_translation(node)]
    others = {ast.unparse(call) for call in calls if not isinstance(call.args[0], ast.Constant)}
    assert others <= ASKED_FOR.get(str(path.relative_to(ROOT)), set())


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_translated_outlives_a_run(path):
    """A text of a module or of a cache would stand in the language of whoever came first."""
    tree = ast.parse(path.read_text())
    kept = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    kept += [function for function in functions if "cache" in " ".join(map(ast.unparse, function.decorator_list))]
    kept += [default for function in functions for default in function.args.defaults + function.args.kw_defaults]
    assert not [ast.unparse(node) for root in kept if root for node in ast.walk(root) if is_translation(node)]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_part_that_is_redrawn_by_itself_takes_its_language_along(path):
    assert path.name == "speak.py" or "st.fragment" not in path.read_text()


# Sentences that are finished -----------------------------------------------------------------------------------------


@pytest.fixture
def chinese():
    token = LANGUAGE.set("zh")
    yield
    LANGUAGE.reset(token)


@pytest.mark.parametrize("english, said", [
    ("model.pt is empty: download or save it again", "model.pt 是空的：请重新下载或保存"),
    ("config.json: dropout must be below 1, got 3", "config.json：dropout 必须小于 1，得到 3"),
    ("n_layer must be a whole number from 1 to 4, got 0", "n_layer 必须是从 1 到 4 的整数，得到 0"),
    (
        "the choice says clamp_len='x', but it must be a whole number from -1 to 1048576: correct it",
        "所选的值说 clamp_len='x'，而它必须是从 -1 到 1048576 的整数：请改正",
    ),
    (
        "m.safetensors is a damaged safetensors file: it ends too early (3 bytes of tensors, the header says 9), "
        "download or save it again",
        "m.safetensors 是损坏的 safetensors 文件：它提前结束（张量有 3 字节，文件头说是 9），请重新下载或保存",
    ),
    ("distances clamped at 64", "在 64 处截断的距离"),
    ("nobody wrote such a sentence", "nobody wrote such a sentence"),
])  # fmt: skip
def test_a_finished_sentence_is_translated_by_what_it_was_made_of(chinese, english, said):
    assert translated(english) == said


@pytest.mark.parametrize("english", [*SENTENCES, *WORDS])
def test_every_finished_sentence_is_recognised(chinese, english):
    fill = lambda text: VALUE.sub(lambda place: f"Wert{place[1]}", text)  # noqa: E731
    assert translated(fill(english)) == fill(TEXTS[english])


def test_in_english_nothing_changes():
    assert translated("model.pt is empty: download or save it again").startswith("model.pt is empty")


# Sessions ------------------------------------------------------------------------------------------------------------


def open_app(page: str | None = None, **link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(page).run() if page else app


def test_the_language_comes_from_the_link_then_from_the_browser_then_it_is_english(monkeypatch):
    def spoken_by(locale: str | None, **link: str) -> tuple[str, list]:
        reports = []
        monkeypatch.setattr("relxl.ui.state.st.session_state", SimpleNamespace(), raising=False)
        state = Session()
        monkeypatch.setattr(
            "relxl.ui.state.st", SimpleNamespace(session_state=state, query_params=link, toast=reports.append)
        )
        monkeypatch.setattr("relxl.ui.speak.st", SimpleNamespace(context=SimpleNamespace(locale=locale)))
        settle_language()
        return LANGUAGE.get(), reports

    token = LANGUAGE.set("en")
    assert spoken_by(None) == ("en", []) and spoken_by("fr-FR") == ("en", [])
    assert spoken_by("zh-CN") == ("zh", []) and spoken_by("zh") == ("zh", [])
    assert spoken_by("zh-CN", lang="en") == ("en", []) and spoken_by("de", lang="zh") == ("zh", [])
    language, reports = spoken_by("de", lang="tlh")
    assert language == "en" and "lang=tlh" in reports[0]
    LANGUAGE.reset(token)


class Session(dict):
    """Stand for a session's state."""

    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


def test_the_control_changes_the_language_and_nothing_else():
    app = open_app(l="1", h="4")
    before = {key: value for key, value in app.query_params.items() if key != "lang"}
    switch = next(control for control in app.segmented_control if control.key == "control_lang")
    switch.set_value("zh").run()
    assert app.subheader[0].value == "这个模型的注意力得分由什么组成？" and not app.exception
    assert app.query_params["lang"] == "zh"
    assert {key: value for key, value in app.query_params.items() if key != "lang"} == before
    app.switch_page("pages/5_Shift.py").run()
    assert app.subheader[0].value.startswith("每个格子实际读的是哪个距离")


def test_sessions_of_two_languages_do_not_mix():
    apps = {language: open_app("pages/5_Shift.py", lang=language) for language in ("en", "zh")}
    for _turn in range(2):
        for language, title in (("en", "Which distance"), ("zh", "每个格子")):
            app = apps[language].run()
            assert app.subheader[0].value.startswith(title) and app.query_params["lang"] in (language, [language])


def test_runs_at_the_same_time_do_not_mix():
    barrier, said = threading.Barrier(2), {}

    def run(language: str) -> None:
        LANGUAGE.set(language)
        barrier.wait()
        said[language] = {_("Head") for _turn in range(10_000)}

    threads = [threading.Thread(target=run, args=(language,)) for language in ("en", "zh")]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert said == {"en": {"Head"}, "zh": {"头"}}


def test_a_fragment_that_runs_by_itself_speaks_the_language_of_its_page(monkeypatch):
    from relxl.ui import speak

    parts, said = [], []
    monkeypatch.setattr(st, "fragment", lambda function, run_every=None: lambda *args: parts.append((function, args)))
    token = LANGUAGE.set("zh")
    speak.fragment(lambda name: said.append(_("Head") + name))("0")
    LANGUAGE.reset(token)
    function, args = parts[0]
    thread = threading.Thread(target=function, args=args)  # knows nothing of the page's run
    thread.start()
    thread.join()
    assert said == ["头0"] and LANGUAGE.get() == "en"


PAGES = [None, *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_chinese_throughout(page):
    app = open_app(page, lang="zh")
    assert not app.exception
    texts = list(said_by(app))
    assert re.search("[一-鿿]", app.subheader[0].value)
    assert not [text for text in texts if ENGLISH.search(bare(text))]


ALLOWED = re.compile(  # names, commands, what is cited, and numbers of versions
    r"`[^`]*`|\$[^$]*\$|python -m relxl [^\n]*|<[^>]*>|https?://\S+|\[[a-z_ \\0-9+−×-]*\]|scale · v · W|Dai et al"
)


def bare(text: str) -> str:
    """Take code, addresses and shapes out of a text."""
    return ALLOWED.sub(" ", text)


def said_by(app: AppTest):
    """Give what stands on a page as prose: texts, captions, labels and helps."""
    for kind in ("subheader", "markdown", "caption", "error", "warning", "info"):
        yield from (element.value for element in getattr(app, kind))
    for kind in (
        "selectbox",
        "segmented_control",
        "number_input",
        "toggle",
        "button",
        "slider",
        "select_slider",
        "pills",
    ):
        for element in getattr(app, kind, app.get(kind)):
            yield getattr(element, "label", "")
            yield getattr(element, "help", None) or ""


def test_the_doctors_report_is_english_in_every_session():
    from relxl.ui import speak

    token = LANGUAGE.set("zh")
    assert speak.in_english(_, "Head") == "Head" and _("Head") == "头"
    LANGUAGE.reset(token)
