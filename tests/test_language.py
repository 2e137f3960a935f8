"""The language that kuiper speaks, and its catalogues; tests speak English, as conftest.py has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from kuiper import language

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    language._catalogue.cache_clear()
    yield
    language._catalogue.cache_clear()
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
def test_translate_is_english_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUIPER_LANG", "xx")
    assert language.translate("all tests pass") == "xx pass"
    assert language.translate("all tests fail") == "all tests fail"
    assert language.translate("all tests pass", into="en") == "all tests pass"
    assert language.translate("all tests pass", "bugs") == "all tests pass"  # there is no such domain
    assert language.translate("") == ""  # gettext would give the catalogue's head


@pytest.mark.usefixtures("xx")
def test_an_unknown_language_is_told_once_and_is_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUIPER_LANG", "klingon")
    assert [language.language(), language.language()] == ["en", "en"]
    assert capsys.readouterr().err == "language: expected one of en, xx, got 'klingon'; this is English\n"
