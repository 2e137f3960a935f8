"""Lectures without a C compiler: what needs one is left out, with its reason, and everything else runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.cells import CellFilter
from kuiper.course.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Sequence

REASON = "exercise: expected a C compiler, got none; pip install something"


def without_a_compiler() -> None:
    raise BuildError("exercise", "a C compiler", "none", hint="pip install something")


def run(cells: Sequence[str], capsys: pytest.CaptureFixture[str], **names: Any) -> list[str]:
    """What each cell prints."""
    seen = CellFilter(without_a_compiler)
    printed = []
    for cell in cells:
        exec(compile(seen.visit(ast.parse(cell)), "cell", "exec"), names)
        printed.append(capsys.readouterr().out.strip())
    return printed


def test_a_cell_that_compiles_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["print('before')", "loops = cython('def one(): return 1')"], capsys) == ["before", f"not run: {REASON}"]
    assert run(["yellow_lines('x = 1')"], capsys) == [f"not run: {REASON}"]
    imports_it_too = "from kuiper.course.lecture import cython\nloops = cython('')"
    assert run([imports_it_too], capsys) == [f"not run: {REASON}"]


def test_cells_that_use_what_was_not_made_are_left_out_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "loops = cython('')\ndef timed():\n    return loops.one()",
        "took = timed()",
        "for value in (took,):\n    print(value)",
        "took = 3",
        "print(took)",
    ]
    assert run(cells, capsys)[1:] == [
        "not run: it needs timed from a cell above that was not run",
        "not run: it needs took from a cell above that was not run",
        "",
        "3",
    ]


def test_a_cell_that_has_names_of_its_own_runs(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "loops = cython('')\nfor n in (1, 2):\n    rate = loops.one()",
        "def twice(n):\n    rate = 2 * n\n    return rate",
        "print([n for n in (3, 4)], twice(5), (lambda rate: rate)(6))",
        "for n in (7, 8):\n    rate = n\nprint(n, rate)",
        "print(n, rate)",
    ]
    assert run(cells, capsys)[1:] == ["", "[3, 4] 10 6", "8 8", "8 8"]


def test_a_cell_that_reads_a_name_before_it_makes_it_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["peak = cython('').one()", "peak = peak / 2", "def share(rate):\n    return rate / peak"]
    words = "not run: it needs peak from a cell above that was not run"
    assert run(cells, capsys)[1:] == [words, words]


def test_what_a_cell_imports_is_there_whether_it_runs_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["from math import sqrt as root\nloops = cython('')", "print(root(9))"]
    assert run(cells, capsys) == [f"not run: {REASON}", "3.0"]


def test_a_cell_that_only_speaks_of_compiling_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["from math import sqrt as root  # cython(\nprint('cython(')"], capsys) == ["cython("]


def test_with_a_compiler_every_cell_is_as_it_was_and_nothing_is_compiled_before_it_must() -> None:
    tried = []
    seen = CellFilter(lambda: tried.append("compiled"))
    plain, compiling = ast.parse("x = 1"), ast.parse("loops = cython('')\nloops.one()")
    assert seen.visit(plain) is plain
    assert tried == []
    assert seen.visit(compiling) is compiling
    assert seen.visit(compiling) is compiling
    assert tried == ["compiled"]


def test_another_error_of_the_compiler_is_not_hidden() -> None:
    def broken() -> None:
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        CellFilter(broken).visit(ast.parse("cython('')"))


def test_a_lecture_runs_to_its_end_without_a_compiler(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook's kernel itself, which asks the filter only if importing the lecture has told it to."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    cells = [
        "from kuiper.course.lecture import cython",
        "loops = cython('def one(): return 1')",
        "loops.one()",
        "6 * 7",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [cell.outputs[0] if cell.outputs else None for cell in notebook.cells]
    assert outputs[0] is None
    assert outputs[1].text.startswith("not run: exercise: expected ")
    assert outputs[2].text == "not run: it needs loops from a cell above that was not run\n"
    assert outputs[3].data["text/plain"] == "42"
