"""setup.py: what is compiled again when the compiler, its flags or the place of the products are others.

A small checkout is built, by a compiler that only says its version and leaves empty files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALL = ["kuiper._cyutility", "kuiper.one.sum", "kuiper.two.sum"]

COMPILER = """#!/bin/sh
for word; do [ "$word" != --version ] || exec cat "$0.version"; done
while [ $# -gt 0 ]; do
  [ "$1" != -o ] || : > "$2"
  shift
done
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the compiler is a shell script")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two modules with the same last name."""
    for name in ("setup.py", "packaging/stamps.py", "kuiper/compiler.py", "kuiper/references.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for package in ("one", "two"):
        (tmp_path / "kuiper" / package).mkdir()
        (tmp_path / "kuiper" / package / "sum.pyx").write_text("def add(a, b):\n    return a + b\n")
    for folder in ("", "one", "two"):
        (tmp_path / "kuiper" / folder / "__init__.py").touch()
    program = tmp_path / "strange-cc"
    program.write_text(COMPILER)
    program.chmod(0o755)
    (tmp_path / "strange-cc.version").write_text("strange 1\n")
    return tmp_path


def compiled(checkout: Path, folder: str = "lib", **variables: str) -> list[str]:
    """Build, and say which modules were compiled."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("KUIPER_")}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", folder]
    environment = {**own, "CC": str(checkout / "strange-cc"), **variables}
    answer = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    lines = [line for line in answer.stderr.splitlines() if line.startswith("compiled ")]
    return sorted(line.split(": ")[1] for line in lines)


def test_modules_are_compiled_again_by_another_compiler_or_with_other_flags_of_the_user(checkout: Path) -> None:
    assert compiled(checkout) == ALL
    assert compiled(checkout) == []
    (checkout / "strange-cc.version").write_text("strange 2\n")
    assert compiled(checkout) == ALL
    assert compiled(checkout) == []
    assert compiled(checkout, CFLAGS="-DOTHER") == ALL


def test_a_second_folder_of_products_lets_none_be_compiled_again(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    folders = ["lib", str(outside / "a"), str(outside / "b")]
    assert [compiled(checkout, folder) for folder in folders] == [ALL, ALL, ALL]
    assert [compiled(checkout, folder) for folder in folders] == [[], [], []]
