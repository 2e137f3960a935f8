"""``import kuiper`` loads no package before somebody asks for one, and all names can be reached."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kuiper
from kuiper.course.places import pytest_environment, python_environment

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "expression", "graph", "layers", "onnx")
LOADED = f"[name for name in {PACKAGES} if f'kuiper.{{name}}' in sys.modules]"


def printed(code: str) -> str:
    """What a new process prints."""
    words = [sys.executable, "-c", f"import sys\n{code}"]
    done = subprocess.run(words, env=python_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_no_floor_above_the_tensor() -> None:
    assert printed(f"import kuiper\nkuiper.Tensor([1.0]); kuiper.build_info()\nprint({LOADED})") == "[]"


@pytest.mark.parametrize("module", ["kuiper.cli.progress", "kuiper.tab.requests"])
def test_what_a_student_waits_for_loads_no_floor_above_the_tensor(module: str) -> None:
    assert printed(f"import {module}\nprint({LOADED})") == "[]"


@pytest.mark.parametrize("part", [*PACKAGES, "tensor"])
def test_getattr_gives_each_part_with_all_that_load_needs(part: str) -> None:
    within = {"engine": "builder", "graph": "passes", "onnx": "source", "layers": "operators", "expression": "parser"}
    assert printed(f"import kuiper\nprint(kuiper.{part}.{within.get(part, 'csv')}.__name__)").startswith(
        f"kuiper.{part}."
    )


def test_getattr_gives_public_names_and_no_others() -> None:
    for name in kuiper.__all__:
        assert getattr(kuiper, name).__name__ == name
    assert set(kuiper.__all__) <= set(dir(kuiper))
    with pytest.raises(AttributeError, match="module 'kuiper' has no attribute 'lod'"):
        kuiper.lod  # noqa: B018


@pytest.mark.parametrize("first", ["layers.registry", "layers.factories", "expression", "expression.lexer", "graph"])
def test_layers_know_expressions_whatever_is_imported_first(first: str) -> None:
    asked = "from kuiper.layers.registry import is_supported\nprint(is_supported('pnnx.Expression'))"
    assert printed(f"import kuiper.{first}\n{asked}") == "True"


def test_pytest_of_the_first_course_loads_no_engine(tmp_path: Path) -> None:
    tmp_path.joinpath("seen.py").write_text(f"import sys\ndef pytest_sessionfinish():\n    print('loaded', {LOADED})\n")
    environment = pytest_environment()
    environment["PYTHONPATH"] += os.pathsep + str(tmp_path)
    words = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "seen", "-p", "no:cacheprovider", "--impl", "solution"]
    done = subprocess.run(
        [*words, "--exercise", "1.1", "course1_tensor"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loaded []" in done.stdout
