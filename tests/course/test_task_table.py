from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.manifest import Course, Exercise
from kuiper.course.task_table import readmes_with_tables
from kuiper.course.translations import digest

if TYPE_CHECKING:
    from pathlib import Path

HEAD, TAIL = "# A course\n\nText.\n\n", "\n## More\n"


def course(folder: Path, readme: str) -> Course:
    (folder / "README.md").write_text(readme, encoding="utf-8")
    first = Exercise("7.1", "one", folder, "one.py", ("f",), ("test_one.py",), 3, 2, 50, ("a", "b", "c"))
    second = Exercise("7.2", "two", folder, "two.pyx", ("g",), ("test_two.py",), 4, 3, 70, ("a", "b", "c"), ("7.1",))
    return Course(folder, "A course", (first, second))


def readme_with_table(found: Course) -> str:
    """The English one, which is the only one here."""
    ((path, text),) = readmes_with_tables(found)
    assert path == found.folder / "README.md"
    return text


def test_readme_with_table_replaces_what_stands_between_the_markers(tmp_path: Path) -> None:
    text = readme_with_table(course(tmp_path, f"{HEAD}<!-- tasks -->\nold\n<!-- tasks -->\n{TAIL}"))
    assert text.startswith(HEAD)
    assert text.endswith(TAIL)
    assert "old" not in text
    assert "| 7.2 | two (needs 7.1) |  | 70 | 3 | [two.pyx](exercises/two.pyx) |" in text
    assert "2 exercises, about 2 hours, 5 points." in text


def test_readme_with_table_names_the_section_that_an_exercise_stands_in(tmp_path: Path) -> None:
    cells = [
        {
            "cell_type": "markdown",
            "source": ["# 7b\n", "## Before\n", "words\n", "## Where `two` stands\n", "### More\n"],
        },
        {
            "cell_type": "code",
            "source": ["from kuiper.course.lecture import task\n", "\n", "task(\n", '    "7.2", "bug"\n', ")"],
        },
    ]
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "07b_numbers.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (tmp_path / "course7").mkdir()
    text = readme_with_table(course(tmp_path / "course7", f"{HEAD}<!-- tasks -->\n<!-- tasks -->\n{TAIL}"))
    assert "| 7.1 | one |  | 50 |" in text
    assert "| 7.2 | two (needs 7.1) | [7b Where `two` stands](../notebooks/07b_numbers.ipynb) | 70 |" in text


def test_readme_with_table_changes_nothing_the_second_time(tmp_path: Path) -> None:
    text = readme_with_table(course(tmp_path, f"{HEAD}<!-- tasks -->\n<!-- tasks -->\n{TAIL}"))
    assert readme_with_table(course(tmp_path, text)) == text


def test_readme_without_two_markers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="expected the line <!-- tasks --> twice, got 1 times"):
        readme_with_table(course(tmp_path, f"{HEAD}<!-- tasks -->\n{TAIL}"))


def test_readme_in_another_language_has_its_titles_and_sections(tmp_path: Path) -> None:
    """Chinese, which kuiper speaks: the words of the table, and the section as the Chinese lecture has it."""
    cells = [
        {"id": "top", "cell_type": "markdown", "source": ["## Where it stands\n"]},
        {"id": "task", "cell_type": "code", "source": ['task("7.2")']},
    ]
    notebooks, folder = tmp_path / "notebooks", tmp_path / "course7"
    (notebooks / "zh").mkdir(parents=True)
    (notebooks / "07b_numbers.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}), encoding="utf-8")
    made_from = digest("## Where it stands\n")
    (notebooks / "zh" / "07b_numbers.md").write_text(f"<!-- top {made_from} -->\n## 它在哪里\n", encoding="utf-8")
    folder.mkdir()
    (folder / "README.zh-CN.md").write_text("# 课程\n\n<!-- tasks -->\n<!-- tasks -->\n", encoding="utf-8")
    found = dict(readmes_with_tables(course(folder, "<!-- tasks -->\n<!-- tasks -->\n")))
    chinese = found[folder / "README.zh-CN.md"]
    assert "| 7.2 | two（先做 7.1） | [7b 它在哪里](../notebooks/07b_numbers.ipynb) | 70 |" in chinese
    assert "2 个练习，约 2 小时，5 分。" in chinese
    assert "[7b Where it stands]" in found[folder / "README.md"]
