"""The live page as the site has it: what it knows of the course, and the links that lead to it."""

from __future__ import annotations

import importlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

from kuiper.course.manifest import read_syllabus
from tests.pseudo_language import catalogue_maker

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))
live_bytecode: Any = importlib.import_module("live_bytecode")
live_course: Any = importlib.import_module("live_course")
live_links: Any = importlib.import_module("live_links")
live_runtime: Any = importlib.import_module("live_runtime")


def built(site: Path) -> dict[str, Any]:
    """A site whose lectures are empty pages, and the course's table."""
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        write_page(site / "notebooks" / f"{notebook.stem}.html", notebook.stem)
    table: dict[str, Any] = live_course.course_table(ROOT, site)
    return table


def write_page(path: Path, title: str, rest: str = "") -> Path:
    """A page as the site has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<title>{title} - kuiper</title><h1>{title}</h1>{rest}", encoding="utf-8")
    return path


def test_course_table_has_every_exercise_beside_its_lecture(tmp_path: Path) -> None:
    table = built(tmp_path)
    lectures = [item["name"] for item in table["lectures"]]
    assert [entry["id"] for entry in table["exercises"]] == [exercise.id for exercise in read_syllabus(ROOT)]
    for entry in table["exercises"]:
        assert entry["lecture"] in lectures
        assert (ROOT / entry["file"]).read_text(encoding="utf-8") == entry["skeleton"]


def test_add_links_leads_from_lectures_and_files_to_the_page_once(tmp_path: Path) -> None:
    table = built(tmp_path)
    file = table["exercises"][0]["file"]
    link = f'<a class="reference external" href="../source/{file}.html">the file</a>'
    page = tmp_path / "notebooks" / "01_tensors.html"
    page.write_text(f"<h1>Tensors</h1>{link}", encoding="utf-8")
    for course in table["courses"]:
        (tmp_path / course["name"]).mkdir()
        (tmp_path / course["name"] / "README.html").write_text("<h1>Course</h1>", encoding="utf-8")
    live_links.add_links(tmp_path, table)
    live_links.add_links(tmp_path, table)
    text = page.read_text(encoding="utf-8")
    assert text.count('href="../live/index.html#01_tensors"') == 1
    assert text.count('href="../live/index.html#01_tensors/1.1"') == 1
    assert text.count('href="../lab/en/lab/index.html?path=notebooks/01_tensors.ipynb"') == 1


def test_runtime_gives_other_content_another_address(tmp_path: Path) -> None:
    file = tmp_path / "a.whl"
    addresses = []
    for content in (b"1", b"2", b"1"):
        file.write_bytes(content)
        addresses.append(live_runtime.Runtime(tmp_path / "live", tmp_path).add([file]))
    assert addresses[0] == addresses[2] != addresses[1]
    assert (tmp_path / "live" / addresses[1] / "a.whl").read_bytes() == b"2"


def test_needed_lists_what_packages_depend_on_once() -> None:
    lock = {
        "packages": {"chart": {"depends": ["font", "array"]}, "font": {"depends": ["array"]}, "array": {"depends": []}}
    }
    assert live_runtime.needed(lock, ["array", "chart"]) == ["array", "chart", "font"]


def wheel_with(folder: Path, name: str, *files: str) -> Path:
    """An archive of empty files."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        for file in files:
            archive.writestr(file, "")
    return folder / name


def test_bytecode_of_takes_from_what_each_start_fetches_what_it_imports(tmp_path: Path) -> None:
    files = ("kuiper/__init__.py", "kuiper/errors.py", "kuiper/cli/grade.py", "kuiper/errors.pyi")
    wheel = wheel_with(tmp_path, "kuiper-1-py3-none-any.whl", *files)
    told = live_bytecode.bytecode_of(wheel, {"kuiper", "kuiper.errors"})
    assert told == {"files": ["kuiper/__init__.py", "kuiper/errors.py"], "keep": True}
    numpy = wheel_with(tmp_path, "numpy-1-py3-none-any.whl", "numpy/core/x.py", "numpy/f2py/y.py")
    assert live_bytecode.bytecode_of(numpy, {"numpy.core.x"}) == {"files": ["numpy/core/x.py"], "keep": False}


def test_bytecode_of_takes_nearly_all_of_what_comes_later(tmp_path: Path) -> None:
    files = ("Cython/Compiler/Main.py", "Cython/Tests/a.py", "Cython/Utility/b.c")
    told = live_bytecode.bytecode_of(wheel_with(tmp_path, "cython-3-py3-none-any.whl", *files), set())
    assert told == {"files": ["Cython/Compiler/Main.py"], "keep": True}


def test_course_table_in_another_language_has_its_words_and_lectures(tmp_path: Path) -> None:
    english = built(tmp_path)
    write_page(tmp_path / "zh" / "notebooks" / "01_tensors.html", "张量")
    table = live_course.course_table(ROOT, tmp_path, "zh")
    lectures = {item["name"]: item for item in table["lectures"]}
    assert lectures["01_tensors"] == {
        "name": "01_tensors",
        "title": "张量",
        "page": "../zh/notebooks/01_tensors.html",
    }
    assert lectures["02a_model_files"]["page"] == "../notebooks/02a_model_files.html", "nobody has translated it"
    for entry, original in zip(table["exercises"], english["exercises"], strict=True):
        assert entry["id"] == original["id"]
        assert entry["texts"] == original["texts"]
        begins = {re.match(r"# .* ([0-9a-f]{12})\W?\n", each["skeleton"])[1] for each in (entry, original)}  # type: ignore[index]
        assert begins <= set(entry["texts"])
    assert sum(a["title"] != b["title"] for a, b in zip(table["exercises"], english["exercises"], strict=True)) > 20
    assert "messages" not in english
    assert table["messages"]["Check"] == "检查"


def test_add_links_leads_from_a_page_in_another_language_to_the_live_page_in_it(tmp_path: Path) -> None:
    table = built(tmp_path)
    file = table["exercises"][0]["file"]
    link = f'<a class="reference external" href="../../source/{file}.html">x</a>'
    page = write_page(tmp_path / "zh" / "notebooks" / "01_tensors.html", "张量", link)
    for course in table["courses"]:
        write_page(tmp_path / course["name"] / "README.html", "Course")
    live_links.add_links(tmp_path, table)
    live_links.add_links(tmp_path, table)
    text = page.read_text(encoding="utf-8")
    assert text.count('href="../../live/index.html?lang=zh#01_tensors"') == 1
    assert text.count('href="../../live/index.html?lang=zh#01_tensors/1.1"') == 1
    assert text.count('href="../../lab/zh/lab/index.html?path=notebooks/01_tensors.ipynb"') == 1


def test_runtime_keeps_apart_what_not_every_reader_needs(tmp_path: Path) -> None:
    file = tmp_path / "zh.zip"
    file.write_bytes(b"1")
    runtime = live_runtime.Runtime(tmp_path / "live", tmp_path)
    address = runtime.add_apart(file)
    assert (tmp_path / "live" / address).read_bytes() == b"1"
    assert runtime.files == []
    assert [address.startswith(prefix) for prefix in runtime.prefixes] == [True]


def test_catalogue_has_each_message_of_the_scripts() -> None:
    """Of a message within another one's fields Babel says nothing."""
    known = {message.id for message in catalogue_maker().template("live")}
    scripts = [*(ROOT / "live").glob("*.js"), *(ROOT / "live" / "page").glob("*.js")]
    call = re.compile(r"""\b(?:_|parts|many)\((?:[\w.]+, )?(?:'([^']*)'|"([^"]*)")""")
    found = [one or other for path in scripts for one, other in call.findall(path.read_text(encoding="utf-8"))]
    assert len(found) > 150
    assert sorted(set(found) - known) == []
