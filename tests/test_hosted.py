"""What opens this repository elsewhere: VS Code, Codespaces, Binder, and notebooks on somebody else's machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
JSON_FILES = (
    ".devcontainer/devcontainer.json",
    ".vscode/extensions.json",
    ".vscode/settings.json",
    "student_folder/.vscode/extensions.json",
    "student_folder/.vscode/settings.json",
)
LECTURES = sorted((ROOT / "notebooks").glob("*.ipynb"))
PIP = re.compile(r"`%pip install -q '(?P<own>[^']+)'(?P<others>[^`]*)`")


def extras() -> set[str]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return set(table["project"]["optional-dependencies"])


def extras_asked_for(text: str) -> set[str]:
    return {name for group in re.findall(r"\[([\w,]+)\]'", text) for name in group.split(",")}


@pytest.mark.parametrize("name", JSON_FILES)
def test_settings_are_json(name: str) -> None:
    """VS Code would take comments, other tools would not."""
    assert isinstance(json.loads((ROOT / name).read_text(encoding="utf-8")), dict)


def test_every_settings_file_is_checked() -> None:
    folders = (".vscode", ".devcontainer", "student_folder/.vscode")
    assert {path.relative_to(ROOT).as_posix() for each in folders for path in (ROOT / each).iterdir()} == {*JSON_FILES}


def test_devcontainer_builds_with_what_this_repository_has() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    targets = re.findall(r"\bmake (\S+)", container["onCreateCommand"])
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert extras_asked_for(container["onCreateCommand"]) == {"dev", "course", "notebooks"} <= extras()
    for name in container["customizations"]["codespaces"]["openFiles"]:
        assert (ROOT / name).is_file()
    own = json.loads((ROOT / ".vscode/extensions.json").read_text(encoding="utf-8"))["recommendations"]
    assert set(container["customizations"]["vscode"]["extensions"]) <= set(own)


def test_binder_installs_with_what_this_repository_has() -> None:
    script = ROOT / ".binder/postBuild"
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/bin/bash\n")
    assert extras_asked_for(text) == {"course", "notebooks"} <= extras()
    assert (ROOT / "kuiper/models/assets/cat.jpg").is_file()
    assert re.fullmatch(r"python-3\.\d+\n", (ROOT / ".binder/runtime.txt").read_text(encoding="utf-8"))
    if os.name == "posix":
        assert os.access(script, os.X_OK)
        subprocess.run([shutil.which("bash") or "sh", "-n", script], check=True)


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.name)
def test_the_first_cell_of_a_lecture_has_the_one_line_for_a_hosted_notebook(lecture: Path) -> None:
    first = json.loads(lecture.read_text(encoding="utf-8"))["cells"][0]
    assert first["cell_type"] == "markdown"
    line = PIP.search("".join(first["source"]))
    assert line is not None
    assert line["own"].startswith("./FILE.whl[")  # a file: no index has kuiper
    assert extras_asked_for(f"{line['own']}'") <= extras()
    code = [cell for cell in json.loads(lecture.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    uses_matplotlib = any("matplotlib" in "".join(cell["source"]) for cell in code)
    assert not uses_matplotlib or "matplotlib" in line["others"]
