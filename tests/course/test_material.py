"""The courses as they are handed out: out of a checkout, and out of a package that was built from one."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from kuiper.course import handout, lecture, material, places, selection
from kuiper.course.errors import CourseError
from kuiper.course.handout_record import digest
from kuiper.course.manifest import read_syllabus
from kuiper.course.material import (
    CHECKOUT,
    DRAWN,
    PACKED,
    PAGES,
    PNG,
    SITE_FORM,
    gather,
    handed_out,
    material_files,
    pack,
    picture_digest,
)
from kuiper.course.selection import Selection, selected
from kuiper.course.stored_pictures import indexed_png

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a build writes into the package."""
    target = tmp_path_factory.mktemp("site-packages") / "kuiper" / "course" / "material"
    pack(CHECKOUT, target)
    return target


@pytest.fixture
def installed(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As if kuiper were installed from a wheel, and no course folder were around."""
    monkeypatch.setattr(material, "PACKAGED", package)
    monkeypatch.setattr(places, "PACKAGED", package)
    monkeypatch.setattr(lecture, "PACKAGED", package)
    monkeypatch.setattr(places, "__file__", str(package.parent / "places.py"))
    monkeypatch.setattr(selection, "_active", [])
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    places.state_folder.cache_clear()
    return package


def everything(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != handout.RECORD]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_gather_takes_every_file_of_the_courses() -> None:
    """A file of a new kind is either handed out, or named here."""
    made = {".c", ".html", ".pyd", ".so"}  # what git ignores
    folders = [*CHECKOUT.glob("course?_*"), CHECKOUT / "notebooks"]
    paths = [path for folder in folders for path in material._below(folder)]
    names = {path.relative_to(CHECKOUT).as_posix() for path in paths if path.suffix not in made}
    assert len(names) > 150
    assert names - gather(CHECKOUT).keys() == {"notebooks/ruff.toml"}


def test_gather_takes_the_documents_that_lectures_and_readmes_name() -> None:
    pages = [*CHECKOUT.glob("course*/README.md"), *CHECKOUT.glob("notebooks/*.ipynb")]
    named = {name for page in pages for name in re.findall(r"\(\.\./docs/([\w/-]+)\.md", page.read_text("utf-8"))}
    assert named == set(PAGES)


def test_gather_leaves_behind_what_editors_and_python_leave(tmp_path: Path) -> None:
    pack(CHECKOUT, tmp_path / "checkout")  # a student's layout will do for one
    root = tmp_path / "checkout"
    before = gather(root).keys()
    for name in ("notebooks/.ipynb_checkpoints/a.ipynb", "course1_tensor/__pycache__/b.py", "course1_tensor/c.so"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    assert gather(root).keys() == before


def test_pack_replaces_what_an_earlier_build_left(package: Path) -> None:
    (package / "course9").mkdir()
    (package / "course9" / "old.py").touch()
    pack(CHECKOUT, package)
    assert not (package / "course9").exists()
    assert (package / "course1_tensor" / "solutions" / "broadcast.py").is_file()


def pictures_by_digest(lecture: dict[str, Any]) -> dict[str, Any]:
    """A lecture with the digests of its pictures in their places, and without the site's forms."""
    for cell in lecture["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(SITE_FORM, None)
            if PNG in data:
                data[PNG] = output["metadata"][PNG][DRAWN] = picture_digest(data[PNG])
    return lecture


def test_pack_leaves_nothing_of_a_lecture_out_but_what_the_site_shows(package: Path) -> None:
    found = 0
    for path in sorted((CHECKOUT / "notebooks").glob("*.ipynb")):
        packed = package / "notebooks" / path.name
        assert b'": "iVBOR' not in packed.read_bytes()  # how a PNG begins
        got = pictures_by_digest(json.loads(handed_out(packed)))
        assert got == pictures_by_digest(json.loads(path.read_bytes()))
        found += json.dumps(got).count(DRAWN)
    assert found > 100


def test_a_packed_picture_has_its_points_and_its_colours() -> None:
    points = np.random.default_rng(0).integers(0, 5, (30, 41), np.uint8)
    colours = np.array([[9, 8, 7, 255], [0, 0, 0, 255], [255, 0, 90, 200], [1, 2, 3, 255], [0, 0, 0, 0]], float)
    png = indexed_png(colours, points)
    output = {"data": {PNG: base64.b64encode(png).decode()}, "metadata": {}}
    data = json.dumps({"cells": [{"outputs": [output]}]}).encode()
    packed = json.loads(material._packed(data, "a.ipynb"))["cells"][0]["outputs"][0]["data"]
    assert packed.keys() == {PACKED}
    with Image.open(io.BytesIO(material._unpacked(base64.b64decode(packed[PACKED])))) as image:
        image.load()  # with its checksums
        assert (np.asarray(image) == points).all()
        assert (np.asarray(image.convert("RGBA")) == colours.astype(np.uint8)[points]).all()
    assert material._packed(data, "a.md") == data


def test_picture_digest_knows_the_picture_whichever_zlib_has_written_it() -> None:
    def digest(colour: int, point: int, level: int = 9) -> str:
        points = np.zeros((40, 50), np.uint8)
        points[3, 4] = point
        png = indexed_png(np.array([[colour, 0, 0, 255], [0, 0, 0, 255]], float), points, level)
        return picture_digest(base64.b64encode(png).decode())

    assert digest(7, 1, 9) == digest(7, 1, 0)
    assert len({digest(7, 1), digest(8, 1), digest(7, 0)}) == 3


def test_lectures_come_without_pictures_where_python_has_no_lzma(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(material, "lzma", None)
    lecture = handed_out(package / "notebooks/01_tensors.ipynb")
    forms = [set(output.get("data", {})) for cell in json.loads(lecture)["cells"] for output in cell.get("outputs", [])]
    assert {"text/plain"} in forms
    assert not {PNG, PACKED} & set().union(*forms)
    pack(CHECKOUT, tmp_path / "built without")
    assert PNG.encode() + b'": "iVBOR' in (tmp_path / "built without/notebooks/01_tensors.ipynb").read_bytes()


def test_pack_stays_small(package: Path) -> None:
    """A wheel has room for 15 megabytes, and most of that belongs to models and to compiled modules."""
    assert sum(len(data) for data in everything(package).values()) < 7_000_000


def test_setup_packs_the_courses_before_anything_of_kuiper_is_compiled(tmp_path: Path) -> None:
    code = f"import runpy; runpy.run_path({str(CHECKOUT / 'kuiper/course/material.py')!r})"
    code += f"['pack'](__import__('pathlib').Path({str(CHECKOUT)!r}), __import__('pathlib').Path('packed'))"
    code += "; import sys; assert 'kuiper' not in sys.modules"
    subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "packed" / "AGENTS.md").is_file()
    assert "pack(ROOT" in (CHECKOUT / "setup.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("solutions", [False, True])
def test_a_wheel_hands_out_what_a_checkout_does(installed: Path, tmp_path: Path, solutions: bool) -> None:
    assert material_files()["AGENTS.md"] == installed / "AGENTS.md"
    handout.start(tmp_path / "from wheel", solutions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(material, "PACKAGED", installed / "nowhere")
        handout.start(tmp_path / "from checkout", solutions)
    found, wanted = everything(tmp_path / "from wheel"), everything(tmp_path / "from checkout")
    assert {name: digest(data) for name, data in found.items()} == {name: digest(data) for name, data in wanted.items()}


def test_a_students_folder_gets_solutions_from_the_installed_package(installed: Path, tmp_path: Path) -> None:
    handout.start(tmp_path / "mine")
    for exercise in read_syllabus(tmp_path / "mine"):
        assert exercise.solution_file.is_relative_to(installed)
        original = read_syllabus(CHECKOUT).exercise(exercise.id).solution_file
        assert exercise.solution_file.read_bytes() == original.read_bytes()


def test_commands_outside_of_a_course_folder_name_the_one_that_makes_it(installed: Path) -> None:
    with pytest.raises(CourseError, match=r"expected a course folder, here or above, got none; .*kuiper course start"):
        places.root_here()


def test_a_lecture_that_was_opened_by_itself_has_the_packages_courses(
    installed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert places.lecture_root() == installed
    assert lecture.task("1.1").part.course == installed / "course1_tensor"
    before = everything(installed)
    assert lecture.exercise("1.1") is None
    assert "kuiper course start writes the exercises into a folder of your own" in capsys.readouterr().out
    assert everything(installed) == before
    assert places.state_folder(installed).is_relative_to(tmp_path / "cache")


def without_solutions(syllabus: Syllabus) -> Syllabus:
    for exercise in syllabus:
        exercise.solution_file.unlink()
    return syllabus


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (lambda main: main(["hint", "1.1"]), ""),
        (lambda main: main(["hint", "1.1", "--level", "4"]), "expected the reference solution"),
        (lambda main: main(["solution", "1.1", "--yes"]), "expected the reference solution, got no such file"),
        (lambda main: main(["reset", "1.1"]), "expected the solution"),
    ],
)
def test_commands_where_a_class_has_taken_the_solutions_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: Callable[[Callable[[list[str]], int]], int],
    words: str,
) -> None:
    from kuiper.cli import main
    from tests.course.made_up import made_up

    syllabus = without_solutions(made_up(tmp_path))
    exercise = syllabus.exercise("1.1")
    monkeypatch.chdir(tmp_path)
    before = exercise.student_file.read_bytes()
    assert command(main) == (1 if words else 0)
    assert words in capsys.readouterr().err
    assert exercise.student_file.read_bytes() == before


def test_the_grader_takes_an_answer_out_of_the_engine_while_it_is_asked_for(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kuiper.course import submission

    seen: dict[str, str] = {}

    class Seen(submission.Sandbox):
        def command(self) -> list[str]:
            seen.update({path.name: other.read_text(encoding="utf-8") for path, other in self.covers.items()})
            return ["true"]

    monkeypatch.setattr(submission, "Sandbox", Seen)
    handout.start(tmp_path / "mine")
    syllabus = read_syllabus(tmp_path / "mine")
    (tmp_path / "home").mkdir()
    with selected(Selection(syllabus)):
        for id_, covered in (("3.4", []), ("2.6", ["schedule.py"])):  # a room that changes ends all processes below
            submission.SubmissionRoom(syllabus, tmp_path / "home", "bubblewrap").implementation(syllabus.exercise(id_))
            assert list(seen) == covered
    namespace: dict[str, Any] = {}
    exec(seen["schedule.py"], namespace)
    for order in syllabus.exercise("2.6").symbols:
        with pytest.raises(NotImplementedError, match=f"exercise 2.6: {order}"):
            namespace[order]([])
    assert namespace["last_uses"]([]) == []


def test_the_grader_covers_the_packages_courses_too(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kuiper.course import submission

    seen: list[Path] = []

    class Seen(submission.Sandbox):
        def command(self) -> list[str]:
            seen.extend(self.hidden)
            return ["true"]

    monkeypatch.setattr(submission, "Sandbox", Seen)
    handout.start(tmp_path / "mine")
    syllabus = read_syllabus(tmp_path / "mine")
    (tmp_path / "home").mkdir()
    room = submission.SubmissionRoom(syllabus, tmp_path / "home", "bubblewrap")
    with selected(Selection(syllabus)):
        room.implementation(syllabus.exercise("1.1"))
    assert {path.name for path in seen if path.is_relative_to(installed)} == {c.folder.name for c in syllabus.courses}
    assert {path.name for path in seen if path.is_relative_to(tmp_path / "mine")} >= {"course1_tensor"}


def test_pack_without_pictures_leaves_the_text(tmp_path: Path) -> None:
    pack(CHECKOUT, tmp_path / "lean", pictures=False)
    lectures = sorted((tmp_path / "lean/notebooks").glob("*.ipynb"))
    cells = [cell for path in lectures for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert {form for output in outputs for form in output.get("data", {})} == {"text/plain"}
    assert any(output["output_type"] == "stream" for output in outputs)
