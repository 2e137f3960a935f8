"""The language that kuiper speaks, and its catalogues; tests speak English, as conftest.py has set."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from kuiper import language
from kuiper.course.manifest import read_syllabus
from kuiper.errors import KuiperError
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
VARIABLES = ("KUIPER_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture
def xx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language of two messages, and a terminal without any."""
    catalogue = Catalog(locale="eo", domain="kuiper")
    catalogue.add("all tests pass", "xx pass")
    path = tmp_path / "xx" / "LC_MESSAGES" / "kuiper.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalogue)
    monkeypatch.setenv("KUIPER_LOCALE", str(tmp_path))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    language.prefer("")  # whatever folder an earlier test was in
    yield
    language._refused.cache_clear()
    language.prefer("")


@pytest.mark.usefixtures("xx")
def test_language_is_chosen_by_variable_then_folder_then_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert language.language() == "en"
    monkeypatch.setenv("LANG", "xx_YY.UTF-8")
    assert language.language() == "xx"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert language.language() == "en"
    language.prefer("xx")
    assert language.language() == "xx"
    monkeypatch.setenv("KUIPER_LANG", "en")
    assert language.language() == "en"


@pytest.mark.usefixtures("xx")
@pytest.mark.parametrize("name", ["xx", "XX", "xx-YY", "xx_YY", "xx_YY.UTF-8", "xx@latin"])
def test_language_is_found_by_the_names_of_terminals_and_of_the_web(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUIPER_LANG", name)
    assert language.language() == "xx"


@pytest.mark.usefixtures("xx")
def test_a_path_is_no_language(tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    shutil.copytree(tmp_path / "xx", tmp_path / "beside" / "yy")
    language.prefer("beside/yy")  # as a folder or a notebook of somebody else may have it
    assert language.language() == "en"


@pytest.mark.usefixtures("xx")
def test_translate_is_english_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUIPER_LANG", "xx")
    assert language.translate("all tests pass") == "xx pass"
    assert language.translate("all tests fail") == "all tests fail"
    assert language.translate("all tests pass", into="en") == "all tests pass"
    assert language.translate("all tests pass", "bugs") == "all tests pass"  # there is no such domain
    assert language.translate("") == ""  # gettext would give the catalogue's head


@pytest.mark.usefixtures("xx")
@pytest.mark.parametrize("data", [b"no catalogue at all", b"\xde\x12\x04\x95\0\0"], ids=["other", "cut"])
def test_translate_refuses_a_file_that_has_no_messages(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "xx" / "LC_MESSAGES" / "bugs.mo"
    path.write_bytes(data)
    with pytest.raises(KuiperError) as caught:
        language.translate("all tests pass", "bugs", into="xx")
    assert str(caught.value).startswith(f"{path}: expected messages as gettext has them, got ")


@pytest.mark.usefixtures("xx")
def test_an_unknown_language_is_told_once_and_is_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUIPER_LANG", "klingon")
    assert [language.language(), language.language()] == ["en", "en"]
    assert capsys.readouterr().err == "language: expected one of en, xx, got 'klingon'; this is English\n"


def test_columns_count_what_a_terminal_shows() -> None:
    assert language.columns("3x3 conv") == 8
    assert language.columns("步长 2，填充 1") == 14  # a full-width comma is as wide as a letter
    assert language.columns("cafe\N{COMBINING ACUTE ACCENT}") == 4
    assert language.columns("█░“”") == 4  # rich counts these so, too


def test_padded_fills_columns_on_either_side_and_cuts_nothing() -> None:
    assert language.padded("层", 4) == "层  "
    assert language.padded("层", 4, right=True) == "  层"
    assert language.padded("卷积层", 4) == "卷积层"


def test_wrapped_is_textwrap_for_english_and_breaks_chinese_anywhere() -> None:
    english = "the reference does what this path leaves out: 2.1 2.2 course2_graph/exercises/a_long_name.py:12"
    plain = textwrap.wrap(english, 30, initial_indent="- ", break_long_words=False, break_on_hyphens=False)
    assert language.wrapped(english, 30, "- ") == plain
    chinese = "这条捷径跳过的练习由参考实现代替：（2.1 2.2），再看“访存”。"
    for width in range(12, 60):
        lines = language.wrapped(chinese, width, "  ", "    ")
        assert "".join(line.strip() for line in lines).replace(" ", "") == chinese.replace(" ", "")
        assert all(language.columns(line) <= width for line in lines)
        assert not any(line.strip()[0] in "，。：）”" for line in lines)
    assert language.wrapped("", 20) == []


def test_pseudo_language_says_every_message_in_brackets(pseudo_language: Path) -> None:
    assert (pseudo_language / "xx" / "LC_MESSAGES" / "kuiper.mo").is_file()
    assert language.languages() == ["en", "xx"]
    solved = language.translate("{solved}/{all} solved, {points}/{full} points")
    assert solved == "{solved}⟦/⟧{all}⟦ solved, ⟧{points}⟦/⟧{full}⟦ points⟧"
    title = read_syllabus(ROOT).courses[0].title
    assert language.translate(title, "hints") == f"⟦{title}⟧"


def test_escaped_finds_words_outside_brackets() -> None:
    assert escaped("⟦next: ⟧im2col⟦ (⟧9⟦ minutes)⟧, course2/a.py, --hint 2") == []
    assert escaped("⟦next: ⟧im2col solved") == ["solved"]
    with pytest.raises(AssertionError, match="bracket alone"):
        escaped("⟦cut in the mid")
