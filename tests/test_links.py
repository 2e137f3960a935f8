"""Nothing points into the void: links and their anchors, the lectures that hints name, the exercises in lectures."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from kuiper.course.manifest import Exercise, read_syllabus

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "course*", "docs", "kuiper", "notebooks", "tests", "zoo")
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in FOLDERS for page in ROOT.glob(f"{folder}/**/*.md")),
    *ROOT.glob("notebooks/*.ipynb"),
]
LINK = re.compile(r"""\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\)|\b(?:href|src)="([^"]+)\"""")


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


@cache
def markdown(page: Path) -> str:
    """The text of a page without its blocks of code; of a notebook, its words and those of its outputs."""
    if page.suffix == ".ipynb":
        parts = [cell["source"] for cell in cells(page, "markdown")]
        outputs = [output for cell in cells(page, "code") for output in cell["outputs"]]
        parts += [output.get("data", {}).get("text/markdown", "") for output in outputs]
        text = "\n\n".join("".join(part) for part in parts)
    else:
        text = page.read_text(encoding="utf-8")
    return re.sub(r"^([ >]*)(```+|~~~+).*?^[ >]*\2", "", text, flags=re.MULTILINE | re.DOTALL)


def titles(page: Path) -> list[str]:
    """The headings of a page, without marks."""
    found = re.findall(r"^#{1,6} +(.+?)(?: +#+)? *$", markdown(page), re.MULTILINE)
    return [re.sub(r"[`*]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)) for title in found]


@cache
def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings; a title that comes again gets a number."""
    found: set[str] = set()
    for title in titles(page):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        same = [anchor, *(f"{anchor}-{number}" for number in range(1, len(found) + 1))]
        found.add(next(each for each in same if each not in found))
    return found


def place(page: Path) -> Path:
    """The folder from which its links lead; the words of a lecture in another language are put into the lecture."""
    return page.parents[1] if (page.parents[1] / f"{page.stem}.ipynb").is_file() else page.parent


def broken_links(page: Path) -> list[str]:
    broken = []
    without_code = re.sub(r"(`+).+?\1", "", markdown(page))
    for link in ("".join(groups) for groups in LINK.findall(without_code)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (place(page) / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


@pytest.mark.parametrize("page", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda page: page.name)
def test_links_of_lectures_lead_to_what_jupyterlab_serves(page: Path) -> None:
    """Files below the root in which JupyterLab is started, the checkout's, and none whose name begins with a dot."""
    for link in ("".join(groups) for groups in LINK.findall(markdown(page))):
        if not re.match(r"[a-z]+:|#", link):
            target = (page.parent / unquote(link).partition("#")[0]).resolve()
            assert target.is_relative_to(ROOT), link
            assert not any(part.startswith(".") for part in target.relative_to(ROOT).parts), link


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_jupyterlab_is_started_in_the_root(page: Path) -> None:
    """A folder or a file behind the command would become the root (or its folder), and links could not leave it."""
    assert not re.findall(r"jupyter lab +[^\s#`]*notebooks\S*", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("b.md", False),
        ("b.md#what-is-nnrelu-", False),
        ("b.md#again-1", False),
        ("#here", False),
        ("https://example.org/x", False),
        ("c.md", True),
        ("b.md#again-2", True),
        ("#there", True),
    ],
)
def test_broken_links_are_found(tmp_path: Path, link: str, is_broken: bool) -> None:
    page = tmp_path / "a.md"
    text = f"# Here\n\n[`text`]({link}) and `[code](d.md)`\n\n```\n[more](e.md)\n# There\n```\n"
    page.write_text(text, encoding="utf-8")
    (tmp_path / "b.md").write_text("# What is `nn.ReLU` ?\n\n## Again\n\n## Again\n", encoding="utf-8")
    assert broken_links(page) == ([link] if is_broken else [])


def lectures(chapter: str) -> list[Path]:
    return sorted(ROOT.glob(f"notebooks/0{chapter}*.ipynb"))


EXERCISES = pytest.mark.parametrize("exercise", list(read_syllabus(ROOT)), ids=lambda exercise: exercise.id)


@EXERCISES
def test_hints_name_sections_of_lectures(exercise: Exercise) -> None:
    """A hint names one lecture, 3c and not 3, and whatever stands in quotes behind its name is a title there."""
    for hint in (rung for ladder in exercise.hints for rung in ladder.rungs):
        chapter = ""
        for lecture, title in re.findall(r'\b[Ll]ecture (\d[a-z]?)|"([^"]+)"', hint):
            chapter = lecture or chapter
            assert not lecture or len(lectures(lecture)) == 1, hint
            if title and chapter:
                assert title in [each for page in lectures(chapter) for each in titles(page)], hint


@EXERCISES
def test_exercises_are_set_in_their_lecture(exercise: Exercise) -> None:
    code = ["".join(cell["source"]) for page in lectures(exercise.id[0]) for cell in cells(page, "code")]
    assert re.search(rf'\btask\(\s*"{re.escape(exercise.id)}"', "\n".join(code))
