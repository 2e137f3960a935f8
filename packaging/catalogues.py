"""Message catalogues: ``kuiper/locale/LANGUAGE/LC_MESSAGES/DOMAIN.po``, for gettext.

    python packaging/catalogues.py           take what is new from the sources into every catalogue; say what is missing
    setup.py                                 makes of each .po the .mo that kuiper reads; git has none

    kuiper       what commands and reports say: ``_("...")`` in Python
    exercises    docstrings and comments of the students' files
    hints        titles, hints and what follows a course, from course.toml
    bugs         known mistakes: what stands behind "likely:"
    operators    what operators compute, in the words of their layers; the page of ``kuiper explore`` shows them
    explore      the page of ``kuiper explore``: its document, and ``_("...")`` in its scripts; see kuiper/language.js
    serve, live  the page of ``kuiper serve``, and the course in a browser's tab, likewise
    pictures     what stands in pictures: ``words("...")`` in Python, and what a lecture's cells write into theirs

A message that has changed is fuzzy, and shown in English until somebody has looked at it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import runpy
import sys
from datetime import datetime, timezone
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_javascript, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "kuiper" / "locale"
DOMAINS = ("kuiper", "exercises", "hints", "bugs", "operators", "pictures", "explore", "serve", "live")
PYTHON = ("kuiper/**/*.py", "course*/engine.py", "course*/test_*.py", "benchmarks/*.py", "docs/site/*.py")
KEYWORDS = ("_", "translate", "noop", "phrase")
"""Functions whose first argument is a message."""
WIDTH = 120
HEAD = "# {domain}: what kuiper says, in the language {language}. Made by packaging/catalogues.py."
AUTHORS = "the kuiper authors"
PAGES = {
    "explore": ROOT / "kuiper" / "explore" / "page",
    "serve": ROOT / "kuiper" / "serving" / "http" / "page",
    "live": ROOT / "live",
}
SAID = ("alt", "aria-label", "placeholder", "title")
"""Attributes of a document that a reader gets to know; kuiper/language.js has the same."""

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
DATE = datetime(2026, 1, 1, tzinfo=timezone.utc)  # a file changes with its messages, and not with the day


def languages() -> list[str]:
    """Those with catalogues."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir()) if LOCALE.is_dir() else []


def catalogue_file(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def template(domain: str) -> Catalog:
    """All messages of a domain, as the sources have them."""
    catalogue = Catalog(domain=domain, project="kuiper", charset="utf-8", creation_date=DATE)
    for path, line, message in FINDERS[domain]():
        if message.strip():
            catalogue.add(message, locations=[(path.relative_to(ROOT).as_posix(), line)])
    return catalogue


def read(language: str, domain: str) -> Catalog:
    """A catalogue; an empty one if there is no file.

    Raises
    ------
    ValueError
        If something else stands between its messages, such as the marks of a merge.
    """
    path = catalogue_file(language, domain)
    if not path.is_file():
        return Catalog(locale=language, domain=domain, project="kuiper", charset="utf-8")
    try:
        with path.open("rb") as file:
            return read_po(file, locale=language, domain=domain, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected messages as gettext writes them, got: {error}") from error


def update(language: str, domain: str) -> list[str]:
    """Bring a catalogue up to date; the messages that it does not translate."""
    catalogue = read(language, domain)
    catalogue.update(template(domain), no_fuzzy_matching=len(catalogue) == 0, keep_user_comments=True)
    catalogue.header_comment = HEAD.format(domain=domain, language=language)
    catalogue.msgid_bugs_address = catalogue.last_translator = catalogue.language_team = AUTHORS
    catalogue.revision_date, catalogue.version, catalogue.fuzzy = DATE, "1", False
    path = catalogue_file(language, domain)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(
            file,
            catalogue,
            width=WIDTH,
            ignore_obsolete=True,
            sort_by_file=False,
            omit_header=False,
            include_lineno=False,
        )
    return [str(message.id) for message in catalogue if message.id and (message.fuzzy or not message.string)]


def compile_all(target: Path = LOCALE) -> None:
    """Write what kuiper reads."""
    for language in languages():
        for domain in DOMAINS:
            if catalogue_file(language, domain).is_file():
                path = target / language / "LC_MESSAGES" / f"{domain}.mo"
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    write_mo(file, read(language, domain))


def in_python() -> Iterator[tuple[Path, int, str]]:
    for path in (found for pattern in PYTHON for found in sorted(ROOT.glob(pattern))):
        with path.open("rb") as file:
            for line, _, found, _ in extract_python(file, dict.fromkeys(KEYWORDS), (), {}):
                message = found[0] if isinstance(found, tuple) else found
                if isinstance(message, str):  # of a variable there is nothing to be kept
                    yield path, line, message


def in_exercises() -> Iterator[tuple[Path, int, str]]:
    from kuiper.course.manifest import read_syllabus
    from kuiper.course.student_text import reader_words
    from kuiper.course.sync import generated_text

    for exercise in read_syllabus(ROOT):
        for words in reader_words(generated_text(exercise)):
            yield exercise.student_file, words.begin[0], words.text


def in_manifests() -> Iterator[tuple[Path, int, str]]:
    from kuiper.course.toml import read_toml

    for path in sorted(ROOT.glob("course*/course.toml")):
        for text in _texts(read_toml(path)):
            yield path, 1, text


def in_bugs() -> Iterator[tuple[Path, int, str]]:
    from kuiper.course.toml import read_toml

    for path in sorted(ROOT.glob("course*/bugs/*.toml")):
        for bug in read_toml(path)["bug"]:
            yield path, 1, bug["when"]


def in_operators() -> Iterator[tuple[Path, int, str]]:
    """First paragraphs of layers' docstrings, where they have words, and are no base of other layers alone."""
    import kuiper.expression
    import kuiper.layers
    from kuiper.explore.operators import first_paragraph
    from kuiper.layers.layer import Layer

    for package in (kuiper.expression, kuiper.layers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    known, waiting = [], [Layer]
    while waiting:
        below = [cls for cls in waiting.pop().__subclasses__() if cls.__module__.startswith("kuiper.")]
        known += below
        waiting += below
    for cls in sorted(set(known), key=lambda cls: (cls.__module__, cls.__qualname__)):
        text = first_paragraph(cls)
        words = re.search(r"[A-Za-z]{2}", re.sub("`[^`]*`", "", text))
        if words and not text.startswith("The base"):
            yield Path(inspect.getfile(cls)), 1, text


def in_page(folder: Path) -> Iterator[tuple[Path, int, str]]:
    """The texts of a page's documents, and the messages of its scripts."""
    for path in sorted(folder.glob("*.html")):
        document = Document(path.name)
        document.feed(path.read_text(encoding="utf-8"))
        document.close()
        yield from ((path, line, text) for line, text in document.texts)
    for path in sorted([*folder.glob("*.js"), *folder.glob("page/*.js")]):
        with path.open("rb") as file:
            for line, _, found, _ in extract_javascript(file, {"_": None, "many": None, "parts": None}, (), {}):
                messages = found if isinstance(found, tuple) else (found,)
                yield from ((path, line, message) for message in messages if isinstance(message, str))


class Document(HTMLParser):
    """The texts of a document as kuiper/language.js looks them up: those of one element, with ``{tag}`` for elements in
    them, and attributes; without what stands in an element with ``translate="no"``. ``name`` says in errors whose.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.texts: list[tuple[int, str]] = []
        self._open: list[tuple[str, bool, list[str]]] = [("", True, [])]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        _, is_said, parts = self._open[-1]
        parts.append(f"{{{tag}}}")
        is_said = is_said and tag not in ("code", "script", "style") and given.get("translate") != "no"
        self._note(is_said, *(given[name] or "" for name in SAID if name in given))
        if tag not in VOID:
            self._open.append((tag, is_said, []))

    def handle_endtag(self, tag: str) -> None:
        name, is_said, parts = self._open.pop()
        if name != tag:
            raise self._error(f"</{name}>", f"</{tag}>")
        inner = [part for part in parts if re.fullmatch(r"\{\w+\}", part)]
        if any(part.strip() for part in parts if part not in inner):
            if len(set(inner)) < len(inner):
                raise self._error("one element of a kind in a text", inner)
            self._note(is_said, " ".join("".join(parts).split()))

    def handle_data(self, data: str) -> None:
        self._open[-1][2].append(data)

    def _note(self, is_said: bool, *texts: str) -> None:
        if is_said:
            self.texts += ((self.getpos()[0], text) for text in texts if re.search(r"[A-Za-z]{2}", text))

    def _error(self, expected: str, got: object) -> ValueError:
        return ValueError(f"{self._name}:{self.getpos()[0]}: expected {expected}, got {got}")


def in_pictures() -> Iterator[tuple[Path, int, str]]:
    return runpy.run_path(str(Path(__file__).with_name("picture_messages.py")))["messages"](ROOT)


def _texts(table: dict[str, Any]) -> Iterator[str]:
    """What of a manifest a reader sees."""
    yield table["title"]
    after = table.get("afterwards", {})
    yield from (after[key] for key in ("built", "engines") if key in after)
    yield from after.get("try", ())
    for path in table.get("path", ()):
        yield from (path["title"], path["goal"], *path.get("answers", {}).values())
    for exercise in table["exercise"]:
        yield exercise["title"]
        for hints in exercise.get("hints", ()):
            yield from hints["ladder"]


FINDERS = {
    "kuiper": in_python,
    "exercises": in_exercises,
    "hints": in_manifests,
    "bugs": in_bugs,
    "operators": in_operators,
    "pictures": in_pictures,
}
FINDERS |= {domain: partial(in_page, folder) for domain, folder in PAGES.items()}


def main() -> int:
    for language in languages():
        for domain in DOMAINS:
            missing = update(language, domain)
            print(f"{language} {domain}: {len(missing)} without a translation")
    compile_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
