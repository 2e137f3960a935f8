"""A language for tests, ``xx``: English in brackets. Words outside of brackets have escaped the catalogues.

    def test_progress_speaks(pseudo_language, capsys):
        main(["progress"])
        assert escaped(capsys.readouterr().out, {"im2col"}) == []

What stands in a field is not in the brackets of its sentence, and needs its own: ``⟦next: ⟧⟦convolution⟧⟦ (⟧9⟦ min)⟧``.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper import language

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

NAME = "xx"
LOCALE = "eo"  # Babel wants a language that it knows
MAKER = Path(__file__).parents[1] / "packaging" / "catalogues.py"
WITHOUT_FIELDS = ("exercises", "hints", "bugs")  # braces in their texts are code
FIELD = re.compile(r"(\{[a-z_]+(?::[^{}]*)?\}|%(?:\([a-z_]+\))?[rs])")
"""Ours, and those of argparse's messages."""

BRACKETS = re.compile("⟦[^⟦⟧]*⟧")
CODE = re.compile(r"""\S*[\d_/\\=<>()\[\]{}*^]\S*|[\w-]+(?:\.[\w-]+)+|--?[a-z-]+|`[^`]*`|'[^']*'""")
WORD = re.compile(r"[A-Za-z]{2,}")


def in_brackets(message: str, domain: str) -> str:
    """How the language says a message.

    >>> in_brackets("{n} tests pass", "kuiper"), in_brackets("a dict {a: 1}", "bugs"), in_brackets("not %s", "kuiper")
    ('{n}⟦ tests pass⟧', '⟦a dict {a: 1}⟧', '⟦not ⟧%s')
    """
    comment = "# " if message.startswith("# ") else ""  # the first line of a student's file
    rest = message.removeprefix(comment)
    parts = [rest] if domain in WITHOUT_FIELDS else FIELD.split(rest)
    return comment + "".join(part if number % 2 else f"⟦{part}⟧" * bool(part) for number, part in enumerate(parts))


def escaped(text: str, known: Collection[str] = ()) -> list[str]:
    """The English words outside of brackets; not those ``known``, numbers, options, files, or what looks like code.

    >>> escaped("⟦next: ⟧im2col (2.4)⟦, ⟧course/x.py done", {"done"}), escaped("⟦a⟧ cat")
    ([], ['cat'])
    """
    outside = CODE.sub(" ", BRACKETS.sub(" ", text))
    assert not re.search("[⟦⟧]", outside), f"a bracket alone, of a text that was cut: {outside}"
    return [word for word in WORD.findall(outside) if word not in known]


@pytest.fixture(scope="session")
def pseudo_catalogues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that KUIPER_LOCALE names."""
    return write_catalogues(tmp_path_factory.mktemp("locale"))


def write_catalogues(folder: Path) -> Path:
    """Every message of every catalogue in brackets."""
    from babel.messages.catalog import Catalog  # here: WebAssembly's tests do without
    from babel.messages.mofile import write_mo

    maker = catalogue_maker()
    for domain in maker.DOMAINS:
        catalogue = Catalog(locale=LOCALE, domain=domain)
        for message in maker.template(domain):
            if message.id:
                catalogue.add(message.id, in_brackets(message.id, domain))
        path = folder / NAME / "LC_MESSAGES" / f"{domain}.mo"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_mo(file, catalogue)
    return folder


@pytest.fixture
def pseudo_language(pseudo_catalogues: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Speak it, here and in programs that the test starts; the folder of its catalogues."""
    monkeypatch.setenv("KUIPER_LOCALE", str(pseudo_catalogues))
    monkeypatch.setenv("KUIPER_LANG", NAME)
    yield pseudo_catalogues
    language.prefer("")


def catalogue_maker() -> Any:
    spec = importlib.util.spec_from_file_location("catalogues", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
