"""What the README promises runs as it stands there."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TEXT = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
COMMANDS = dict.fromkeys(re.findall(r"^python -m relxl ((?:inspect|terms) .*)$", TEXT, flags=re.MULTILINE))


EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_python_examples_run(example, tmp_path):
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-W", "error", "-c", example], cwd=tmp_path, env=environment, check=True)
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(command, tmp_path):
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    words = [str(tmp_path / word) if word == "terms.npz" else word for word in words]
    subprocess.run([sys.executable, "-m", "relxl", *words], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize(
    "path", re.findall(r"`((?:relxl|pages|checkpoints)/[^`*]*)`", TEXT) + re.findall(r"\]\(([^)#:]+)\)", TEXT)
)
def test_every_place_on_the_map_is_there(path):
    assert (ROOT / path).exists()
