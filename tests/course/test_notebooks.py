"""The gate of the lectures must be able to fail: made-up notebooks with one flaw each."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from kuiper.course import notebooks
from kuiper.course.material import SITE_FORM, handed_out
from kuiper.course.stored_pictures import is_shown_untrusted
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(300)  # a kernel takes seconds to start where others work too


def stream(text: str, name: str = "stdout") -> Any:
    return new_output("stream", name=name, text=text)


def one_cell(*outputs: Any, source: str = "1", deterministic: bool = False) -> nbformat.NotebookNode:
    cell = new_code_cell(source, outputs=list(outputs))
    if deterministic:
        cell.metadata["tags"] = ["deterministic"]
    return new_notebook(cells=[cell])


@pytest.mark.parametrize(
    ("output", "flaw"),
    [
        (new_output("error", ename="ValueError", evalue="no"), "ValueError: no"),
        (stream("a warning\n", "stderr"), "stderr: a warning"),
        (stream("wrote /home/me/x.npy"), "an absolute path"),
        (stream("wrote C:\\Users\\me"), "an absolute path"),
        (new_output("execute_result", data={"text/plain": "<object at 0x7f00a1b2c3d4>"}), "an address"),
    ],
)
def test_flaws_are_found(output: Any, flaw: str) -> None:
    [(number, text)] = notebooks.flaws(one_cell(output))
    assert number == 1
    assert flaw in text


@pytest.mark.parametrize("text", ["3 / 4", "course1/exercises/x.py", "https://arxiv.org/abs/1509.09308", "and/or 1/x"])
def test_flaws_lets_harmless_words_pass(text: str) -> None:
    assert notebooks.flaws(one_cell(stream(text))) == []


def test_differences_of_a_deterministic_cell_are_found() -> None:
    stored, new = (one_cell(stream(text), deterministic=True) for text in ("2\n", "3\n"))
    assert notebooks.differences(stored, stored) == []
    assert "'2' -> '3'" in notebooks.differences(stored, new)[0][1]


def test_differences_of_other_cells_are_none() -> None:
    assert notebooks.differences(one_cell(stream("2 ms")), one_cell(stream("3 ms"))) == []


def test_differences_finds_outputs_that_were_never_stored() -> None:
    assert notebooks.differences(one_cell(), one_cell(stream("2"))) == [(1, "expected a stored output, got none")]


def test_tidy_joins_pieces_and_drops_times() -> None:
    notebook = one_cell(stream("a"), stream("b"))
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.2"}
    notebook.cells[0].metadata["execution"] = {"iopub.status.busy": "2026"}
    tidied = notebooks.tidy(notebook)
    assert [output.text for output in tidied.cells[0].outputs] == ["ab"]
    assert "execution" not in tidied.cells[0].metadata
    assert tidied.metadata.language_info == {"name": "python"}


def test_tidy_folds_the_input_of_cells_with_the_tag() -> None:
    notebook = new_notebook(cells=[new_code_cell("1"), new_code_cell("2"), new_code_cell("3")])
    notebook.cells[0].metadata = {"tags": ["hide-input", "deterministic"]}
    notebook.cells[1].metadata = {"jupyter": {"source_hidden": True}}  # the tag decides
    tidied = notebooks.tidy(notebooks.tidy(notebook))
    assert [dict(cell.metadata) for cell in tidied.cells] == [
        {"tags": ["hide-input", "deterministic"], "jupyter": {"source_hidden": True}},
        {},
        {},
    ]
    nbformat.validate(tidied)


PICTURE = """
from kuiper.course.pictures import grid

grid([{}]).captioned("one number")
"""


def test_write_stores_pictures_that_every_viewer_shows_and_check_compares_them(tmp_path: Path) -> None:
    path = tmp_path / "drawn.ipynb"
    nbformat.write(one_cell(source=PICTURE.format(1), deterministic=True), path)
    assert notebooks.write(path) == []
    stored = nbformat.read(path, as_version=4)
    [output] = stored.cells[0].outputs
    assert is_shown_untrusted(output)
    assert output.metadata["image/png"]["alt"] == "one number"
    assert notebooks.check(path, "solution") == []
    path.write_bytes(handed_out(path))  # as students get it
    assert SITE_FORM not in path.read_text(encoding="utf-8")
    assert notebooks.check(path, "solution") == []
    stored.cells[0].source = PICTURE.format(2)
    nbformat.write(stored, path)
    [problem] = notebooks.check(path, "solution")
    assert "expected the stored output, got another" in problem


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count what processes took that have ended")
@pytest.mark.parametrize(("source", "is_long"), [("import time; time.sleep(3)", False), ("LOOP", True)])
def test_run_counts_seconds_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, is_long: bool
) -> None:
    """Other work on the machine makes a notebook wait; that is no fault of its own."""
    monkeypatch.setattr(notebooks, "MAX_SECONDS", 2)
    path = tmp_path / "long.ipynb"
    busy = "import time\nwhile time.process_time() < 2.5:\n    pass"
    nbformat.write(one_cell(source=busy if source == "LOOP" else source), path)
    _, problems = notebooks.run(path, "solution")
    assert ["expected at most 2 s of the processor" in problem for problem in problems] == [True] * is_long


SOURCE = """
from kuiper.course.lecture import exercise

mine = exercise("1.1")
print(mine.double(4) if mine else "later")
"""


def test_check_and_write_run_the_notebook_in_both_states(tmp_path: Path) -> None:
    made_up(tmp_path)
    (tmp_path / "notebooks").mkdir()
    path = tmp_path / "notebooks" / "1.ipynb"
    nbformat.write(one_cell(source=SOURCE, deterministic=True), path)
    assert notebooks.notebook_files(tmp_path) == [path]
    assert notebooks.check(path, "skeleton") == []
    assert notebooks.check(path, "solution") == ["1.ipynb, cell 1: expected a stored output, got none"]
    assert notebooks.write(path) == []
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].text == "8\n"
    assert notebooks.check(path, "solution") == []


def test_check_all_runs_each_notebook_in_both_states_and_keeps_their_order(tmp_path: Path) -> None:
    paths = [tmp_path / "1.ipynb", tmp_path / "2.ipynb"]
    nbformat.write(one_cell(source="import os, time; time.sleep(1); print(os.environ['KUIPER_IMPL'] + 1)"), paths[0])
    nbformat.write(one_cell(source="1"), paths[1])
    [(first, flaws), (second, none)] = notebooks.check_all(paths)
    assert [first, second] == paths
    assert [text.partition(":")[0] for text in flaws] == ["1.ipynb (skeleton)", "1.ipynb (solution)"]
    assert none == ["2.ipynb, cell 1: expected a stored output, got none"]


def begun(path: Path, state: notebooks.State) -> list[str]:
    """In place of a run, in its process: note that it has begun, and leave time for others to be called off."""
    path.with_suffix(".txt").touch()
    time.sleep(0.2)
    return []


def test_check_all_begins_no_run_that_nobody_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "AT_ONCE", 1)
    monkeypatch.setattr(notebooks, "check", begun)
    paths = [tmp_path / f"{number}.ipynb" for number in range(6)]  # the next three runs have been handed over by then
    checks = notebooks.check_all(paths)
    assert next(checks) == (paths[0], [])
    checks.close()  # type: ignore[attr-defined]
    assert (tmp_path / "0.txt").exists()
    assert not (tmp_path / "5.txt").exists()


def test_write_leaves_a_notebook_alone_whose_cells_fail(tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    nbformat.write(one_cell(source="1 / 0"), path)
    before = path.read_bytes()
    assert notebooks.write(path) == ["broken.ipynb (solution): ZeroDivisionError: division by zero"]
    assert path.read_bytes() == before
