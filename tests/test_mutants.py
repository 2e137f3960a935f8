"""What mutants are made of a text, and which tests belong to them."""

from __future__ import annotations

import ast
import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.mutants.__main__ import EXPLAINED, SHARES, drawn, sites_of
from tests.mutants.belonging import Noted, function_around, guards_of, imports, read_calls
from tests.mutants.kernel_sites import kernel_sites
from tests.mutants.sites import ROOT, Mutant, alike, python_sites
from tests.mutants.trial import noticed, put_back

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = '''"""A docstring with 1 and True."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 7


def area(out_h: int, out_w: int, kept: bool = True) -> int:
    """Of 3 things."""
    if out_h < 2 and kept:
        return grow(out_h, out_w) + 5
    total = 0
    total += out_w
    note(f"{total} of 9")
    return total
'''

KERNEL = '''"""A kernel of 4 lanes."""

cdef int LANES = 8


cdef void add(const float* x, float* y, int count,
              int step=3) noexcept nogil:
    """Adds 1."""
    cdef int i = 0
    for i in range(count - 1):
        if i < step and x[i] > 0:
            y[i] += x[i] + 2  # not 5
'''


def made(sites: list[Mutant], text: str, kind: str) -> list[str]:
    """The changed lines of the mutants of one kind."""
    return [mutant.changed(text)[1] for mutant in sites if mutant.kind == kind]


def test_python_sites_change_what_runs() -> None:
    sites = python_sites("a.py", PYTHON)
    assert made(sites, PYTHON, "comparison") == ["if out_h <= 2 and kept:", "if out_h > 2 and kept:"]
    assert made(sites, PYTHON, "and/or") == ["if out_h < 2 or kept:"]
    assert made(sites, PYTHON, "negated condition") == ["if not (out_h < 2 and kept):"]
    assert made(sites, PYTHON, "swapped") == ["return grow(out_w, out_h) + 5"]
    assert made(sites, PYTHON, "arithmetic") == ["return grow(out_h, out_w) - 5", "total -= out_w"]
    assert made(sites, PYTHON, "dropped statement") == ["pass", "pass"]
    assert made(sites, PYTHON, "True/False") == ["def area(out_h: int, out_w: int, kept: bool = False) -> int:"]
    assert len(made(sites, PYTHON, "constant")) == 6  # 2, 5 and 0, one more and one less; no 1, 3, 7, 9


def test_python_sites_stay_python() -> None:
    for pattern in ("kuiper/engine/lowering/*.py", "kuiper/graph/passes/*.py"):
        for path in ROOT.glob(pattern):
            text = path.read_text(encoding="utf-8")
            for mutant in python_sites(str(path), text)[::23]:
                changed = mutant.applied(text)
                assert changed != text
                ast.parse(changed)


def test_python_sites_count_columns_as_python_does() -> None:
    text = 'def f(x: int) -> str:\n    return g("é", x + 1)\n'
    [mutant] = [site for site in python_sites("a.py", text) if site.kind == "arithmetic"]
    assert mutant.applied(text).splitlines()[1] == '    return g("é", x - 1)'
    assert mutant.line == 2


def test_kernel_sites_leave_declarations_and_words_alone() -> None:
    sites = kernel_sites("a.pyx", KERNEL)
    lines = {mutant.line for mutant in sites}
    assert lines == {10, 11, 12}
    assert made(sites, KERNEL, "and/or") == ["if i < step or x[i] > 0:"]
    assert "y[i] += x[i] + 2 # not 5" not in made(sites, KERNEL, "constant")
    assert "for i in range(count + 1):" in made(sites, KERNEL, "arithmetic")
    assert "pass # not 5" in made(sites, KERNEL, "dropped statement")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("h", "w", True), ("out_w", "out_h", True), ("x[0]", "x[1]", True), ("self.rows", "self.columns", True),
     ("h", "h", False), ("in_h", "out_w", False), ("x", "weight", False)],
)  # fmt: skip
def test_alike_knows_pairs(one: str, other: str, expected: bool) -> None:
    assert alike(one, other) is expected


def test_function_around_is_the_innermost() -> None:
    tree = ast.parse("@mark\ndef f():\n    def g():\n        return 1\n    return g\nx = 1\n")
    assert [function_around(tree, line) for line in (4, 5, 6)] == ["g", "f", None]


def test_guards_of_takes_those_that_call_the_function() -> None:
    calls = read_calls(
        {
            "tests/layers/test_other.py::test_a": {"seconds": 0.1, "functions": {"kuiper/layers/a.py": ["area"]}},
            "tests/layers/test_a.py::test_b": {"seconds": 5.0, "functions": {"kuiper/layers/a.py": ["area", "note"]}},
            "tests/layers/test_a.py::test_c": {"seconds": 0.1, "functions": {"kuiper/layers/a.py": ["note"]}},
        }
    )
    assert calls["tests/layers/test_a.py::test_b"] == Noted(5.0, {"kuiper/layers/a.py": {"area", "note"}})
    [mutant] = [site for site in python_sites("kuiper/layers/a.py", PYTHON) if site.kind == "and/or"]
    assert guards_of(mutant, PYTHON, calls) == ["tests/layers/test_a.py::test_b", "tests/layers/test_other.py::test_a"]
    assert guards_of(Mutant("kuiper/layers/b.py", 0, 0, "", 1, "constant"), "x = 1\n", calls) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.kernels.add", True),
        ("from a.kernels.add import add", True),
        ("    from a.kernels import add as kernel", True),
        ("from a.kernels import (\n    mul,\n    add,\n)", True),
        ("from a.kernels import adding\nadd = 1", False),
        ("from a.kernels.mul import add", False),
    ],
)
def test_imports_knows_every_spelling(text: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "user.py"
    path.write_text(text, encoding="utf-8")
    assert imports(path, "a.kernels.add") is expected


def test_noticed_names_the_first_test_that_fails(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_good(): pass\n\ndef test_bad(): assert 0\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  torch\n  gates\n", encoding="utf-8")
    assert noticed(["test_it.py::test_good"], tmp_path) == ""
    assert noticed(["test_it.py::test_good", "test_it.py::test_bad"], tmp_path) == "test_it.py::test_bad"
    assert noticed(["test_it.py::test_none"], tmp_path) == "exit code 4"


def test_put_back_restores_the_text_and_the_time_of_files(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n", encoding="utf-8")
    os.utime(path, (1e9, 1e9))
    with put_back(path):
        path.write_text("x = 2\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "x = 1\n"
    assert path.stat().st_mtime == 1e9


def test_drawn_takes_of_every_room_the_same_for_a_seed() -> None:
    chosen = drawn(60, 3)
    assert chosen == drawn(60, 3)
    assert abs(len(chosen) - 60) <= len(SHARES)
    assert sum(mutant.file.endswith(".pyx") for mutant in chosen) == round(60 * SHARES["kuiper/*/kernels/*.pyx"])


def test_explained_mutants_are_still_there() -> None:
    for one in json.loads(EXPLAINED.read_text(encoding="utf-8")):
        text = (ROOT / one["file"]).read_text(encoding="utf-8")
        assert (one["before"], one["after"]) in {mutant.changed(text) for mutant in sites_of(one["file"])}, one
        assert one["why"]
