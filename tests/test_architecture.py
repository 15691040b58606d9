"""Who may import whom is a rule that a test holds, and so is what an import may cost."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PURE = {"config", "style", "files", "jobs", "lesson", "relative", "positions", "server", "vocab", "definition", "zh"}
ALLOWED = {  # module (or package) of relxl -> the modules of relxl that it may import
    **{name: set() for name in PURE},
    "language": {"zh"},
    "shift": {"relative"},
    "masking": {"shift"},
    "canonical": {"config", "relative", "positions", "shift", "masking"},
    "families": {"canonical", "config", "masking", "positions"},
    "model": {"canonical", "config", "relative", "positions", "masking"},
    "split": {"masking", "relative"},
    "causality": {"canonical", "masking", "model"},
    "trace": {"canonical", "model", "relative", "masking", "definition", "split", "vocab"},
    "proof": {"split", "trace"},
    "atlas": {"canonical", "diagnostics", "model", "split", "trace"},
    "training": {"config", "files", "model", "relative", "masking", "vocab"},
    "checkpoint": {"canonical", "config", "containers", "families", "files", "model", "tokenizer", "vocab"},
    "tokenizer": {"containers", "vocab"},
    "census": {"checkpoint"},
    "compare": {"checkpoint", "weights_only"},
    "tensor_view": set(),
    "weights_only": {"checkpoint", "families", "positions"},
    "export": {"checkpoint", "containers", "files", "split"},
    "derivation": {"masking", "positions", "relative", "weights_only"},
    "diagnostics": set(),
    "matrix_view": {"style"},
    "figures": {"style", "language", "matrix_view"},
    "bench": {
        "canonical",
        "checkpoint",
        "doctor",
        "experiments",
        "families",
        "files",
        "masking",
        "matrix_view",
        "relative",
        "trace",
        "ui",
        "vocab",
    },
    "shift_example": set(),
    "term_parts": {"canonical", "model", "relative"},
    "reading": {"canonical", "model", "positions"},
    "experiments": {
        "canonical",
        "checkpoint",
        "config",
        "definition",
        "files",
        "masking",
        "model",
        "positions",
        "reading",
        "relative",
        "split",
        "trace",
        "training",
        "vocab",
    },
    "doctor": {
        "canonical",
        "causality",
        "checkpoint",
        "config",
        "export",
        "families",
        "masking",
        "model",
        "positions",
        "reading",
        "relative",
        "shift",
        "split",
        "trace",
        "training",
    },
    "museum": {
        "canonical",
        "diagnostics",
        "doctor",
        "masking",
        "model",
        "positions",
        "reading",
        "relative",
        "shift",
        "split",
        "trace",
    },
    "mystery": {"checkpoint", "model", "training"},
    "containers": {"files"},
    "notebook": {
        "canonical",
        "checkpoint",
        "diagnostics",
        "families",
        "figures",
        "matrix_view",
        "model",
        "proof",
        "split",
        "style",
        "trace",
        "vocab",
    },
    "cli_doctor": {"cli_open", "doctor", "export", "files", "trace"},
    "cli_open": {"canonical", "census", "checkpoint", "containers", "export", "trace"},
    "sweeps": {"files"},
    "cli_relative_absolute": {"experiments", "files", "sweeps", "training"},
    "cli_sweep": {"cli_relative_absolute", "experiments", "sweeps"},
    "cli_bench": {"bench"},
    "cli": {"checkpoint", "cli_bench", "cli_doctor", "cli_open", "cli_sweep", "config", "training", "vocab"},
    "__main__": {"cli"},
}
LIBRARIES = {  # a library -> the modules that may import it
    "streamlit": {"ui", "app", "pages", "bench"},
    "starlette": {"server"},
    "plotly": {"figures", "ui", "bench", "notebook"},
    "pandas": {"sweeps", "diagnostics", "experiments", "notebook", "ui"},
    "distributed": {"sweeps"},
    "playwright": {"bench"},
    "bertviz": {"bench"},
    "tokenizers": {"containers"},
    "yaml": {"containers"},
    "pickle": {"containers"},
    "torch": {
        "relative",
        "shift",
        "shift_example",
        "positions",
        "masking",
        "causality",
        "definition",
        "derivation",
        "canonical",
        "families",
        "model",
        "reading",
        "split",
        "trace",
        "atlas",
        "training",
        "census",
        "checkpoint",
        "compare",
        "containers",
        "tensor_view",
        "weights_only",
        "export",
        "experiments",
        "term_parts",
        "notebook",
        "bench",
        "cli",
        "cli_doctor",
        "cli_open",
        "cli_relative_absolute",
        "sweeps",
        "doctor",
        "museum",
        "mystery",
        "ui",
    },
}
CHILD, INERT = (ROOT / "relxl" / "containers" / name for name in ("child.py", "inert.py"))
FILES = [path for folder in ("relxl", "pages") for path in (ROOT / folder).rglob("*.py")] + [ROOT / "app.py"]


def room(path: Path) -> str:
    """Name the module or package that a file belongs to."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if parts[0] in ("app", "pages") or len(parts) == 1 else parts[1]


def imports(path: Path) -> set[str]:
    """Give every dotted name that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    here = room(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "relxl" and len(parts) > 1 and here in ALLOWED and parts[1] != here:
            assert parts[1] in ALLOWED[here], f"{here} must not import relxl.{parts[1]}"
        if parts[0] in LIBRARIES and here != "__init__":
            assert here in LIBRARIES[parts[0]], f"{here} must not import {parts[0]}"


@pytest.mark.parametrize("path", [path for path in FILES if room(path) in ("app", "pages")], ids=lambda path: path.name)
def test_pages_are_short_and_know_neither_torch_nor_session_state(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 45
    assert "session_state" not in text and not {"torch", "plotly"} & {name.split(".")[0] for name in imports(path)}


def test_every_module_stands_in_the_rules():
    assert {room(path) for path in FILES} - {"app", "pages", "ui", "__init__"} == set(ALLOWED)


@pytest.mark.parametrize("statement, absent", [
    ("import relxl", "torch streamlit plotly pandas numpy"),
    ("import relxl.cli", "torch streamlit plotly pandas numpy"),
    ("import relxl.trace, relxl.training, relxl.checkpoint, relxl.proof", "streamlit plotly pandas"),
    ("import relxl.tokenizer", "tokenizers torch streamlit plotly pandas numpy"),
    ("import relxl.checkpoint, relxl.containers.child", "tokenizers"),
    ("import relxl.language, relxl.checkpoint", "relxl.zh streamlit"),
    ("import relxl.jobs", "torch streamlit plotly pandas numpy"),
    ("import relxl.lesson", "torch streamlit plotly pandas numpy"),
    ("import relxl.diagnostics", "torch streamlit plotly pandas"),
    ("import relxl.matrix_view", "torch streamlit plotly pandas"),
    ("import relxl.figures.score_terms, relxl.figures.matrix", "torch streamlit"),
])  # fmt: skip
def test_an_import_brings_no_more_than_it_must(statement, absent):
    code = f"import sys; {statement}; print([name for name in {absent.split()!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("given, threads", [(None, min(os.cpu_count() or 1, 4)), ("1", 1)])
def test_the_app_says_once_how_many_threads_torch_has(given, threads):
    code = "import relxl.ui, torch; print(torch.get_num_threads())"
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment |= {"OMP_NUM_THREADS": given} if given else {}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str(threads)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_readable_and_run_no_code_from_files(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("eval", "exec") and not name.startswith("pickle."), f"{path}: {name}"
            assert name != "torch.load" or path == CHILD, f"{path}: {name}"


def test_figures_are_made_in_one_piece():
    growing = re.compile(r"\.(add_[a-z]+|update_(layout|traces|annotations|xaxes|yaxes))\(|make_subplots")
    for folder in ("figures", "ui"):
        for path in (ROOT / "relxl" / folder).rglob("*.py"):
            assert not growing.search(path.read_text()), f"{path.name}: see relxl/figures/chart.py"


def test_torch_unpickles_once_in_the_child_and_never_without_its_allowlist():
    calls = [node for node in ast.walk(ast.parse(CHILD.read_text())) if isinstance(node, ast.Call)]
    loads = [call for call in calls if ast.unparse(call.func) == "torch.load"]
    options = [{option.arg: ast.unparse(option.value) for option in call.keywords} for call in loads]
    assert options == [{"map_location": "'cpu'", "weights_only": "True", "mmap": "False"}]


def test_only_the_child_that_runs_tokenizers_imports_them():
    found = [path for path in FILES if any(name.split(".")[0] == "tokenizers" for name in imports(path))]
    assert found == [ROOT / "relxl" / "containers" / "tokenizing.py"]
    assert not [path for path in FILES if any(name.endswith("containers.tokenizing") for name in imports(path))]


def test_python_unpickles_nowhere_but_in_the_converter_and_imports_no_name_of_a_pickle():
    """Its unpickler has a find_class of its own, which neither imports nor asks the one that would."""
    assert [path for path in FILES if any(name.split(".")[0] == "pickle" for name in imports(path))] == [INERT]
    tree = ast.parse(INERT.read_text())
    unpicklers = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "InertUnpickler"]
    assert [ast.unparse(base) for base in unpicklers[0].bases] == ["pickle.Unpickler"]
    assert INERT.read_text().count("pickle.Unpickler") == 1
    methods = {node.name: ast.unparse(node) for node in unpicklers[0].body if isinstance(node, ast.FunctionDef)}
    assert {"find_class", "persistent_load"} <= set(methods)
    assert "super" not in methods["find_class"] and "import" not in ast.unparse(unpicklers[0])
