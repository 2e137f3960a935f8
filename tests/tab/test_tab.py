"""What a page asks a worker, answered in Python: the same on any system."""

from __future__ import annotations

import io
import os
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.errors import CourseError
from kuiper.tab import requests
from kuiper.tab.cells import Lecture, mime_bundle
from kuiper.tab.requests import Tab
from kuiper.tab.student_files import StudentFiles

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "course1_tensor/exercises/offsets_and_strides.py"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tab, whose events are in ``tab.events``; its settings are for this module only."""
    before, here, modules = dict(os.environ), os.getcwd(), set(sys.modules)
    events: list[dict[str, Any]] = []
    folder = tmp_path_factory.mktemp("tab") / "course"
    made = Tab(
        str(folder), {"photos/mine.bin": b"\xff\xfe", "course1_tensor/exercises/old.py": "x = 1\n"}, events.append
    )
    made.events = events  # type: ignore[attr-defined]
    yield made
    os.chdir(here)
    os.environ.clear()
    os.environ.update(before)
    for name in {"IPython", "IPython.display"} - modules:  # what a cell finds in place of it
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def own_settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test finds the settings of a tab; those of the tests elsewhere say nothing to it."""
    for name, value in requests.SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("KUIPER_STATE", raising=False)
    if "tab" in request.fixturenames:
        found: Any = request.getfixturevalue("tab")
        monkeypatch.chdir(found.root)
        found.events.clear()


def solution(tab: Any, id_: str) -> str:
    return str(tab.answer("solution", {"exercise": id_})["text"])


def of_kind(tab: Any, kind: str) -> list[dict[str, Any]]:
    return [event for event in tab.events if event["event"] == kind]


def test_about_lists_exercises_lectures_and_files_that_are_no_more(tab: Any) -> None:
    about = tab.about()
    first = about["exercises"][0]
    assert (first["id"], first["path"], first["language"], first["status"]) == ("1.1", FIRST, "python", "not started")
    assert {"1.6": "cython"}.items() <= {each["id"]: each["language"] for each in about["exercises"]}.items()
    assert "01_tensors" in about["lectures"]
    assert about["unknown"] == ["course1_tensor/exercises/old.py"]


def test_answer_refuses_what_it_does_not_know(tab: Any) -> None:
    with pytest.raises(CourseError, match="expected one of annotate, cell, check"):
        tab.answer("dance", {})


def test_check_reports_names_the_mistake_and_tells_which_files_changed(tab: Any) -> None:
    text = solution(tab, "1.1").replace('order == "C"', 'order == "F"')
    found = tab.answer("check", {"exercise": "1.1", "text": text})
    assert (found["passed"], found["status"]) == (False, "failing")
    assert found["tests"]["passed"] + found["tests"]["failed"] == 50
    assert any("`order`" in line for line in found["likely"])
    assert "1.1 offsets and strides" in found["report"]
    assert "next: " not in found["report"], "the page says what comes next by itself"
    assert "".join(event["text"] for event in of_kind(tab, "output")) == found["report"]
    changed = {name: content for event in of_kind(tab, "files") for name, content in event["changed"].items()}
    assert changed[FIRST] == text
    assert ".kuiper/progress.json" in changed
    assert not any("/build/" in name for name in changed)
    again = tab.answer("check", {"exercise": "1.1", "text": solution(tab, "1.1")})
    assert (again["passed"], again["status"], again["likely"]) == (True, "solved", [])


def test_compiles_is_asked_before_a_pyx_runs(tab: Any) -> None:
    assert not tab.compiles("check", {"exercise": "1.1"})
    assert not tab.compiles("check", {"exercise": "1.6"})  # not begun: there is nothing to compile
    assert tab.compiles("check", {"exercise": "1.6", "text": "x"})
    assert tab.compiles("cell", {"source": "module = cython('x = 1')"})
    assert not tab.compiles("cell", {"source": "import numpy as np"})


def test_draws_asks_for_matplotlib_before_a_cell_with_a_chart(tab: Any) -> None:
    assert tab.draws("cell", {"source": "figure, axes = subplots(2)"})
    assert tab.draws("cell", {"source": "from matplotlib.patches import Rectangle"})
    assert not tab.draws("cell", {"source": "grid(np.eye(3))"})
    assert not tab.draws("command", {"words": ["classify", "photos/mine.png"]})
    assert not tab.compiles("command", {"words": ["race"]})


def test_hint_climbs_the_ladder(tab: Any) -> None:
    hints = [tab.answer("hint", {"exercise": "1.2", "function": "fill"}) for _ in range(2)]
    assert [hint["level"] for hint in hints] == [1, 2]
    assert hints[0]["text"] != hints[1]["text"]
    assert {hint["function"] for hint in hints} == {"fill"}


def test_progress_knows_what_comes_next(tab: Any) -> None:
    found = tab.answer("progress", {})
    assert found["next"] == next(each["id"] for each in found["exercises"] if each["status"] != "solved")
    assert "course1_tensor" in found["text"]


def test_reset_keeps_a_backup(tab: Any) -> None:
    path = "course1_tensor/exercises/flatten.py"
    skeleton = tab.answer("read", {"path": path})["text"]
    tab.answer("save", {"path": path, "text": "mine = 1\n"})
    tab.events.clear()
    assert tab.answer("reset", {"exercise": "1.4"})["text"] == skeleton
    changed = of_kind(tab, "files")[0]["changed"]
    assert [content for name, content in changed.items() if "/backups/" in name] == ["mine = 1\n"]


def test_command_runs_kuiper_in_the_folder(tab: Any) -> None:
    done = tab.answer("command", {"words": ["show", "nothing.param"]})
    assert done["code"] == 1
    assert "kuiper show: nothing.param" in done["text"]
    assert of_kind(tab, "output")[0]["stream"] == "stderr"


def test_save_and_read_keep_bytes_and_stay_in_the_folder(tab: Any) -> None:
    tab.answer("save", {"path": "photos/cat.png", "bytes": b"\x89PNG\xff"})
    assert tab.answer("read", {"path": "photos/cat.png"}) == {"bytes": b"\x89PNG\xff"}
    for path in ("../outside.txt", "/etc/passwd", ""):
        with pytest.raises(CourseError, match="a path within the course folder"):
            tab.answer("save", {"path": path, "text": "x"})


def test_zip_goes_home_and_comes_back(tab: Any, tmp_path: Path) -> None:
    tab.answer("save", {"path": FIRST, "text": "mine = 1\n"})
    found = tab.answer("zip", {})
    with zipfile.ZipFile(io.BytesIO(found["bytes"])) as archive:
        names = archive.namelist()
    assert f"kuiper-course/{FIRST}" in names
    assert "kuiper-course/.kuiper-course.json" in names  # so that `kuiper course update` knows the folder
    assert not any("/build/" in name for name in names)
    other = StudentFiles(tmp_path / "other", {FIRST: "theirs = 2\n"})
    taken, kept = other.take(found["bytes"])
    assert FIRST in taken
    assert "photos/mine.bin" in taken
    assert "course1_tensor/course.toml" not in taken
    assert (other.root / FIRST).read_text() == "mine = 1\n"
    assert [(other.root / name).read_text() for name in kept] == ["theirs = 2\n"]


@pytest.mark.parametrize("names", [[], ["a.txt"], ["top/course1/course.toml", "top/../../exercises/x.py"]])
def test_take_refuses_other_zips(names: list[str], tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    files = StudentFiles(tmp_path / "course", {})
    with pytest.raises(CourseError, match=r"expected a (course folder in a zip|path within the course folder)"):
        files.take(data.getvalue() if names else b"no zip")
    assert not (tmp_path / "exercises").exists()


def test_cell_runs_prints_and_shows(tab: Any) -> None:
    lecture = tab.answer("lecture", {"name": "01_tensors"})
    assert {cell["kind"] for cell in lecture["cells"]} == {"code", "markdown"}
    tab.events.clear()
    assert tab.answer("cell", {"source": "x = 3\nprint('hello')\nx * 2", "name": "cell 1"}) == {
        "ok": True,
        "error": None,
    }
    assert "".join(event["text"] for event in of_kind(tab, "output")) == "hello\n"
    assert [event["data"] for event in of_kind(tab, "display")] == [{"text/plain": "6"}]
    error = tab.answer("cell", {"source": "\nx / 0", "name": "cell 2"})["error"]
    assert (error["type"], error["message"]) == ("ZeroDivisionError", "division by zero")
    assert 'File "<cell 2>", line 2' in error["traceback"]
    assert "kuiper" not in error["traceback"]
    assert not error["lacking"]


def test_cell_names_the_package_for_charts_that_lacks(tab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tab.answer("lecture", {"name": "01_tensors"})
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    source = "from kuiper.course.pictures.chart import subplots\nprint('before')\nsubplots()"
    assert tab.answer("cell", {"source": source, "name": "cell 1"})["error"]["lacking"] == "matplotlib"
    other = {"source": "import no_such_module", "name": "cell 2"}
    assert not tab.answer("cell", other)["error"]["lacking"]


def test_cells_of_a_lecture_run(tab: Any) -> None:
    cells = [
        cell["source"] for cell in tab.answer("lecture", {"name": "02a_model_files"})["cells"] if cell["kind"] == "code"
    ]
    found = [tab.answer("cell", {"source": source, "name": f"cell {i}"}) for i, source in enumerate(cells[:8], 1)]
    assert [each["error"] for each in found] == [None] * len(found)
    assert any("image/svg+xml" in event["data"] or "text/html" in event["data"] for event in of_kind(tab, "display"))


def test_lecture_offers_display_without_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "IPython"]:
        monkeypatch.delitem(sys.modules, name)
    shown: list[dict[str, str]] = []
    lecture = Lecture(shown.append, lambda: None)
    assert lecture.run("from IPython.display import Markdown\nMarkdown('**x**')", "cell") is None
    assert shown[0]["text/markdown"] == "**x**"
    assert lecture.run("display(1, 2)\n3;", "cell") is None
    assert [data["text/plain"] for data in shown[1:]] == ["1", "2"]
    picture = "from matplotlib.figure import Figure\nFigure().subplots().plot([1, 2])\nNone"
    assert lecture.run(picture, "cell") is None, "matplotlib takes it for an old IPython without a shell"
    for name in ("IPython", "IPython.display"):
        monkeypatch.delitem(sys.modules, name)


def test_mime_bundle_takes_every_form() -> None:
    class Rich:
        def _repr_svg_(self) -> str:
            return "<svg/>"

        def _repr_png_(self) -> bytes:
            return b"\x89"

        def __repr__(self) -> str:
            return "rich"

    assert mime_bundle(Rich()) == {"image/svg+xml": "<svg/>", "image/png": "iQ==", "text/plain": "rich"}


def test_zip_of_another_language_brings_what_is_the_students(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english = StudentFiles(tmp_path / "english", {FIRST: "mine = 1\n"})
    monkeypatch.setenv("KUIPER_LANG", "zh")
    chinese = StudentFiles(tmp_path / "chinese", {})
    second = FIRST.replace("offsets_and_strides", "flatten")
    texts = [(files.root / second).read_text(encoding="utf-8") for files in (english, chinese)]
    assert texts[0] != texts[1]
    assert "\u5f20\u91cf" in (chinese.root / "notebooks/01_tensors.ipynb").read_text(encoding="utf-8")
    assert chinese.take(english.zipped()) == ([FIRST], [])
    assert (chinese.root / FIRST).read_text(encoding="utf-8") == "mine = 1\n"
    assert (chinese.root / second).read_text(encoding="utf-8") == texts[1]


def test_check_names_the_mistake_in_the_language_of_the_page(tab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = solution(tab, "1.1").replace('order == "C"', 'order == "F"')
    monkeypatch.setenv("KUIPER_LANG", "zh")
    found = tab.answer("check", {"exercise": "1.1", "text": text})
    (line,) = found["likely"]
    assert "".join(line.split()) in "".join(found["report"].split())
    assert "`order`" in line
    assert re.search("[\u4e00-\u9fff]", line)
    assert "1.1 offsets" not in tab.about()["exercises"][0]["title"]
