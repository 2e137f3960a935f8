"""The tables of passes and packages are what the modules say today."""

from __future__ import annotations

from tests.module_tables import first_sentence, packages, pages


def test_pages_are_what_the_modules_say() -> None:
    stale = [page.name for page, text in pages().items() if page.read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m tests.module_tables"


def test_every_package_says_what_it_is() -> None:
    assert [str(path) for path in packages() if not first_sentence(path).endswith(".")] == []
