"""The glossary and the list of the original documents' topics say what the lectures hold; lectures have one form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kuiper.course.manifest import read_syllabus

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "learn" / "glossary.md"
SEEDS = ROOT / "docs" / "learn" / "credits.md"
LECTURE = re.compile(r"\[(\w+)\]\(\.\./\.\./notebooks/(\w+\.ipynb)\)")


def rows(page: Path) -> list[list[str]]:
    """The cells of all rows of the tables of a page, without their heads."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] not in ("term", "topic")]


def words(notebook: str) -> str:
    """The markdown of a lecture."""
    cells = json.loads((ROOT / "notebooks" / notebook).read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[`*]", "", text))


def spellings(term: str) -> list[str]:
    """What a term may be called in a lecture: ``batch normalisation (batch norm)`` has two names."""
    outside, _, inside = term.partition(" (")
    return [outside.lower(), *([inside.rstrip(")").lower()] if inside else [])]


def test_glossary_explains_every_term_once_in_alphabetical_order_and_in_both_languages() -> None:
    terms = [row[0] for row in rows(GLOSSARY)]
    assert len(terms) >= 100
    assert terms == sorted(set(terms), key=str.lower)
    both = re.compile(r"[A-Z\"(].*\.<br>.*[\u4e00-\u9fff].*。")
    assert [row[0] for row in rows(GLOSSARY) if not row[1] or not both.fullmatch(row[2])] == []
    latin = {row[1] for row in rows(GLOSSARY) if not re.search(r"[\u4e00-\u9fff]", row[1])}
    assert latin == {"Cython", "TorchScript"}  # names


@pytest.mark.parametrize("row", rows(GLOSSARY), ids=lambda row: row[0])
def test_glossary_term_stands_in_the_lecture_that_it_names(row: list[str]) -> None:
    link = LECTURE.fullmatch(row[3])
    assert link
    assert link[2].startswith(f"0{link[1]}_")
    text = plain(words(link[2])).lower()
    stems = [re.sub(r"(isation|s|ing)$", "", name) for name in spellings(row[0])]
    assert any(stem in text for stem in stems)


def test_seeds_names_sections_that_exist() -> None:
    missing, notebook = [], ""
    for topic, where, *_ in rows(SEEDS):
        for part in where.split("; "):
            link = LECTURE.match(part)
            notebook = link[2] if link else notebook
            section = plain(part[link.end() if link else 0 :]).split(" (")[0].strip()
            titles = [plain(title) for title in re.findall(r"^#+ (.+)$", words(notebook), re.MULTILINE)]
            if section and not any(section in title for title in titles):
                missing.append((topic[:30], notebook, section))
    assert missing == []


def test_seeds_names_exercises_that_exist() -> None:
    known = {exercise.id for exercise in read_syllabus(ROOT)}
    named = [id_ for row in rows(SEEDS) for id_ in re.findall(r"\b\d\.\d+\b", row[2])]
    assert len(named) > 30
    assert set(named) <= known


@pytest.mark.parametrize("notebook", ["01_tensors", "02a_model_files", "02b_running_graphs"])
def test_lecture_opens_each_section_with_a_question_and_closes_it_with_questions(notebook: str) -> None:
    before, *sections = re.split(r"^## ", words(f"{notebook}.ipynb"), flags=re.MULTILINE)
    assert re.findall(r"^\| \*\*(.+?)\*\* \|", before, re.MULTILINE) == [
        "Before you start",
        "Afterwards you can",
        "Time",
    ]
    assert sections[-1].startswith("Summary\n")
    taught = [section for section in sections if not section.startswith(("Summary\n", "The classes together\n"))]
    assert len(taught) >= 4
    for section in taught:
        title, _, text = section.partition("\n")
        assert re.match(r"\s*\*[^*]+\?\*\n", text), title
        assert text.count("**Keep this:**") == 1, title
        asked = text.partition("**Check yourself**")[2]
        assert len(re.findall(r"^\d\. ", asked, re.MULTILINE)) == 2, title
        assert asked.count("<details><summary>Answer</summary>\n\n") == asked.count("\n\n</details>") == 2, title
