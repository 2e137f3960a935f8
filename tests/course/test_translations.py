"""Lectures and pages in other languages: what is stale, what a reader gets, and what a translator fills in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.cli import main
from kuiper.course.errors import CourseError
from kuiper.course.translations import (
    digest,
    english_words,
    gaps,
    new_language,
    outline,
    read_translation,
    translated_lecture,
    translated_page,
    translation_file,
)

if TYPE_CHECKING:
    from pathlib import Path

CELLS: list[dict[str, Any]] = [
    {"id": "title", "cell_type": "markdown", "source": ["# Tensors\n", "\n", "A tensor has a shape."]},
    {"id": "code", "cell_type": "code", "source": ["%matplotlib inline\n", "x = 1  # one\n", "y = '# no comment'"]},
    {"id": "bare", "cell_type": "code", "source": ["x + 1"]},
    {"id": "end", "cell_type": "markdown", "source": ["## Shapes\n", "Two words."]},
]
PAGE = """# Models

Read this.

```
# not a heading
```

## Speed

<!-- tasks -->
| a table | that is written |
<!-- tasks -->

## Speed

Again.
"""


def lecture(folder: Path) -> Path:
    path = folder / "01_tensors.ipynb"
    path.write_text(json.dumps({"cells": CELLS, "metadata": {"kernelspec": {}}}))
    return path


def translate(source: Path, **texts: str) -> Path:
    """Write a translation that has every passage, each begun with its language."""
    path = translation_file(source, "xx")
    path.parent.mkdir(exist_ok=True)
    parts = []
    for english in english_words(source):
        made = f"{english.words}\n# xx" if english.is_code else f"xx {english.key}"
        parts.append(f"<!-- {english.key} {digest(english.words)} -->\n{texts.get(english.key, made)}\n")
    path.write_text("\n".join(parts))
    return path


def change(source: Path, old: str, new: str) -> None:
    source.write_text(source.read_text().replace(old, new))


def test_a_changed_cell_makes_exactly_one_passage_stale(tmp_path: Path) -> None:
    source = lecture(tmp_path)
    assert [(gap.key, gap.fate) for gap in gaps(source, "xx")] == [(key, "missing") for key in ("title", "code", "end")]
    translate(source)
    assert gaps(source, "xx") == []
    change(source, "Two words", "Three words")
    assert [(gap.section, gap.key, gap.fate) for gap in gaps(source, "xx")] == [("Shapes", "end", "stale")]
    change(source, '"end"', '"other"')
    assert [(gap.key, gap.fate) for gap in gaps(source, "xx")] == [("other", "missing"), ("end", "left over")]


def test_code_may_change_under_its_comments(tmp_path: Path) -> None:
    source = lecture(tmp_path)
    translate(source)
    change(source, "x = 1  #", "x = 2  #")
    assert gaps(source, "xx") == []
    change(source, "# one", "# two")
    assert [gap.key for gap in gaps(source, "xx")] == ["code"]


def test_a_reader_gets_translated_words_and_the_same_code(tmp_path: Path) -> None:
    source = lecture(tmp_path)
    notebook = json.loads(source.read_text())
    found = translated_lecture(notebook, read_translation(translate(source, code="# one\n# 一")), "xx")
    sources = {cell["id"]: "".join(cell["source"]) for cell in found["cells"]}
    assert sources == {
        "title": "xx title",
        "code": "%matplotlib inline\nx = 1  # 一\ny = '# no comment'",
        "bare": "x + 1",
        "end": "xx end",
    }
    assert found["metadata"] == {"kernelspec": {}, "kuiper": {"language": "xx"}}
    assert notebook["cells"] == CELLS  # the English one is as it was


def test_a_reader_gets_english_words_behind_a_notice_where_a_passage_is_stale(tmp_path: Path) -> None:
    source = lecture(tmp_path)
    path = translate(source)
    change(source, "Two words", "Three words")
    change(source, "# one", "# two")
    found = translated_lecture(json.loads(source.read_text()), read_translation(path), "xx")
    sources = {cell["id"]: "".join(cell["source"]) for cell in found["cells"]}
    assert sources["title"] == "xx title"
    assert sources["code"] == "%matplotlib inline\nx = 1  # two\ny = '# no comment'"
    notice, _, words = sources["end"].partition("\n\n")
    assert notice.startswith("> There is no translation of today's words yet")
    assert words == "## Shapes\nThree words."


def test_sections_of_a_page_are_passages_and_written_tables_do_not_count(tmp_path: Path) -> None:
    source = tmp_path / "models.md"
    source.write_text(PAGE)
    assert [english.key for english in english_words(source)] == ["models", "speed", "speed-2"]
    path = translate(source)
    assert path == tmp_path / "models.xx.md"
    change(source, "a table", "another table")
    assert gaps(source, "xx") == []
    change(source, "# not a heading", "# still none")
    assert [gap.key for gap in gaps(source, "xx")] == ["models"]
    page = translated_page(source.read_text(), read_translation(path), "xx")
    assert page.startswith("> There is no translation of today's words yet; here they are in English.\n\n# Models\n")
    assert page.endswith("\n\nxx speed\n\nxx speed-2\n")


@pytest.mark.parametrize(
    ("between", "shown"),
    [("", "| a table | that is written |\n"), ("| eine Tabelle |\n", "| eine Tabelle |\n")],
)
def test_what_a_command_writes_is_english_where_a_translation_has_nothing(
    tmp_path: Path, between: str, shown: str
) -> None:
    source = tmp_path / "models.md"
    source.write_text(PAGE)
    path = translate(source, speed=f"## xx\n\n<!-- tasks -->\n{between}<!-- tasks -->")
    page = translated_page(source.read_text(), read_translation(path), "xx")
    assert f"## xx\n\n<!-- tasks -->\n{shown}<!-- tasks -->\n" in page


def test_a_checkout_on_windows_reads_as_any_other(tmp_path: Path) -> None:
    source = tmp_path / "models.md"
    source.write_text(PAGE)
    path = translate(source)
    page, passages = translated_page(PAGE, read_translation(path), "xx"), read_translation(path)
    for file in (source, path):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_translation(path) == passages
    assert gaps(source, "xx") == []
    assert translated_page(source.read_bytes().decode(), passages, "xx") == page


@pytest.mark.parametrize("text", ["# one", "# one\n\n# 一", "# 一\n# one"])
def test_comments_of_code_that_are_not_in_pairs_are_stale(tmp_path: Path, text: str) -> None:
    source = lecture(tmp_path)
    path = translate(source, code=text)
    assert [(gap.key, gap.fate) for gap in gaps(source, "xx")] == [("code", "stale")]
    found = translated_lecture(json.loads(source.read_text()), read_translation(path), "xx")
    assert found["cells"][1]["source"] == CELLS[1]["source"]


def test_chinese_files_are_called_as_the_web_calls_the_language(tmp_path: Path) -> None:
    assert translation_file(tmp_path / "README.md", "zh") == tmp_path / "README.zh-CN.md"
    assert translation_file(tmp_path / "01.ipynb", "zh") == tmp_path / "zh" / "01.md"


def test_an_outline_keeps_what_fits_and_has_english_for_the_rest(tmp_path: Path) -> None:
    source = lecture(tmp_path)
    path = translate(source)
    change(source, "Two words", "Three words")
    change(source, "# one", "# two")
    path.write_text(outline(source, "xx"))
    assert gaps(source, "xx") == []
    passages = read_translation(path)
    assert passages["title"].text == "xx title"
    assert passages["code"].text == "# two\n# two"
    assert passages["end"].text == "## Shapes\nThree words."
    assert outline(source, "xx") == path.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# no passage\n", "expected a line <!-- KEY DIGEST --> at the beginning, got '# no passage'"),
        ("<!-- a 0123456789ab -->\nx\n<!-- a 0123456789ab -->\ny\n", "expected each passage once, got a twice"),
    ],
)
def test_a_translation_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(text)
    with pytest.raises(CourseError) as error:
        read_translation(tmp_path / "x.md")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("zh-CN", "; say zh"), ("zh_CN.UTF-8", "; say zh"), ("ZH", "; say zh"), ("en", ""), ("EN-gb", ""), ("../x", "")],
)
def test_new_language_refuses_what_is_no_name_of_a_folder(name: str, hint: str) -> None:
    with pytest.raises(CourseError) as told:
        new_language(name)
    words = f"translations: expected the short name of a language other than English, got {name!r}{hint}"
    assert str(told.value) == words


def test_translations_write_nothing_for_a_wrong_name_or_another_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    (tmp_path / "page.rst").write_text(PAGE, encoding="utf-8")
    assert main(["course", "translations", "zh-CN", "--write", str(page)]) == 1
    assert "say zh" in capsys.readouterr().err
    assert main(["course", "translations", "zh", "--write", str(tmp_path / "page.rst")]) == 1
    assert "expected a lecture (.ipynb) or a page (.md), got .rst" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "page.rst"]
    assert main(["course", "translations", "zh", "--write", str(page)]) == 0
    assert (tmp_path / "page.zh-CN.md").is_file()
