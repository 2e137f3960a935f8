"""The lectures as CI sees them: every notebook runs from top to bottom, and shows what is stored in it.

A notebook is run in two states: with the skeletons, as on the first day, and with the solutions, whose outputs are the
ones that are stored. A cell with the tag ``deterministic`` must give exactly what is stored; all others may show times,
which differ from run to run. Pictures are stored as kuiper/course/stored_pictures.py says.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from multiprocessing import get_context
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, get_args

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

from kuiper.course.stored_pictures import comparable, lacks_site_form, store_picture
from kuiper.language import ENGLISH
from kuiper.models.many.processes import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

State = Literal["skeleton", "solution"]

MAX_SECONDS = 60  # of the processor, for a whole notebook
PATIENCE = 600  # seconds of the clock, for one cell
AT_ONCE = 2  # runs that are checked together: on one core most of the time, on all now and then
HIDDEN = "hide-input"  # the tag of a cell whose input is folded: it draws what the text talks about
_KEPT_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_ABSOLUTE = re.compile(r"(?<![\w.:/<])/(?:home|root|tmp|usr|opt|Users|work|private|var)/[\w.]|\b[A-Z]:\\\\?[\w.]")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")


def notebook_files(root: Path) -> list[Path]:
    """The lectures in their order."""
    return sorted((root / "notebooks").glob("*.ipynb"))


def run(path: Path, state: State) -> tuple[NotebookNode, list[str]]:
    """The notebook with the outputs of a new run, and what is wrong with them."""
    notebook = nbformat.read(path, as_version=4)
    began = _seconds_of_children()
    place = {"metadata": {"path": str(path.parent)}}
    try:
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(notebook, timeout=PATIENCE, resources=place, config=_connection(folder))
            client.execute(env={**os.environ, "KUIPER_IMPL": state, "KUIPER_LANG": ENGLISH})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return tidy(notebook), [f"{path.name} ({state}): {_COLOURS.sub('', _last_line(str(error)))}"]
    seconds = _seconds_of_children() - began
    problems = [f"{path.name} ({state}), cell {number}: {problem}" for number, problem in flaws(notebook)]
    if seconds > MAX_SECONDS:
        problems.append(
            f"{path.name} ({state}): expected at most {MAX_SECONDS} s of the processor, got {seconds:.0f} s"
        )
    return tidy(notebook), problems


def _connection(folder: str) -> Config:
    """Sockets in a folder of the kernel's own: two kernels that start at once may choose the same port.

    Windows has only ports.
    """
    if sys.platform == "win32":
        return Config()
    return Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})


def _seconds_of_children() -> float:
    """Seconds that processes which have ended took from the processor: kernels, and what these had started.

    The clock would count the work of others too, for which a notebook has to wait. Windows does not say: 0.
    """
    times = os.times()
    return times.children_user + times.children_system


def flaws(notebook: NotebookNode) -> list[tuple[int, str]]:
    """What no output may hold, by cell: errors, noise on stderr, paths and addresses of one machine."""
    found = []
    for number, cell in _code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                found.append((number, f"{output.ename}: {output.evalue}"))
            if output.get("name") == "stderr":
                found.append((number, f"stderr: {_last_line(output.text)}"))
            for text in _texts(output):
                for pattern, what in ((_ABSOLUTE, "an absolute path"), (_ADDRESS, "an address")):
                    if match := pattern.search(text):
                        found.append((number, f"{what}: ...{text[max(match.start() - 20, 0) : match.end() + 20]}..."))
    return found


def differences(stored: NotebookNode, new: NotebookNode) -> list[tuple[int, str]]:
    """The deterministic cells that no longer give what is stored, and all cells whose output was never stored."""
    found = []
    for (number, before), (_, after) in zip(_code_cells(stored), _code_cells(new), strict=True):
        if after.outputs and not before.outputs:
            found.append((number, "expected a stored output, got none"))
        elif "deterministic" in before.metadata.get("tags", []):
            was = [text for output in before.outputs for text in _texts(output)]
            handed_out = [lacks_site_form(output.get("data", {})) for output in before.outputs]
            pairs = zip_longest(after.outputs, handed_out[: len(after.outputs)], fillvalue=False)
            now = [text for output, lacks in pairs for text in _texts(output, site_form=not lacks)]
            if was != now:
                found.append((number, f"expected the stored output, got another: {_first_difference(was, now)}"))
    return found


def check(path: Path, state: State) -> list[str]:
    """What is wrong with a notebook, run in one state."""
    stored = nbformat.read(path, as_version=4)
    new, problems = run(path, state)
    if state == "solution" and not problems:
        problems = [f"{path.name}, cell {number}: {text}" for number, text in differences(stored, new)]
    return problems


def check_all(paths: Sequence[Path]) -> Iterator[tuple[Path, list[str]]]:
    """What is wrong with each notebook, run in both states.

    Each run has a process above it, which counts the seconds of that run alone.
    """
    with ProcessPoolExecutor(AT_ONCE, get_context("spawn"), _watch_parent) as pool:
        runs = [(path, [pool.submit(check, path, state) for state in get_args(State)]) for path in paths]
        try:
            for path, states in runs:
                yield path, [problem for state in states for problem in state.result()]
        except BaseException:  # Ctrl-C, or nobody asks for the rest: no other run is to begin
            pool.shutdown(cancel_futures=True)
            raise


def _watch_parent() -> None:
    """A parent that is killed ends its processes too, which would wait for more to run."""
    Thread(target=end_with_parent, daemon=True).start()


def write(path: Path) -> list[str]:
    """Run a notebook with the solutions and store its outputs, unless something is wrong with them.

    Raises
    ------
    CourseError
        If a picture cannot be stored because a package is missing.
    """
    notebook, problems = run(path, "solution")
    if not problems:
        for _, cell in _code_cells(notebook):
            for output in cell.outputs:
                store_picture(output)
        nbformat.write(notebook, path)
    return problems


def tidy(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what differs from run to run: versions, times of execution, words that came in pieces.

    What folds the input of a cell in JupyterLab is set by the tag that folds it on the site.
    """
    notebook.metadata = nbformat.from_dict(_KEPT_METADATA)
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), start=1):
        kept = {key: value for key, value in cell.metadata.items() if key == "tags"}
        if HIDDEN in kept.get("tags", []):
            kept["jupyter"] = {"source_hidden": True}
        cell.metadata = nbformat.from_dict(kept)
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
        cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Neighbouring pieces of one stream as one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _code_cells(notebook: NotebookNode) -> list[tuple[int, Any]]:
    return [(number, cell) for number, cell in enumerate(notebook.cells, start=1) if cell.cell_type == "code"]


def _texts(output: Any, site_form: bool = True) -> list[str]:
    """The words of an output."""
    return [output.text] if output.output_type == "stream" else comparable(output.get("data", {}), site_form)


def _first_difference(was: list[str], now: list[str]) -> str:
    lines = zip("\n".join(was).splitlines(), "\n".join(now).splitlines(), strict=False)
    return next((f"{a[:60]!r} -> {b[:60]!r}" for a, b in lines if a != b), "more or fewer lines")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:200]
