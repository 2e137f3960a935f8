"""Lectures and pages in other languages: ``notebooks/zh/NAME.md`` and ``PAGE.zh-CN.md`` have the words, by passages.

Each passage names the cell or the section that it translates, and the digest of the English words it was made from:

    <!-- 432cf278 6f1a09c2be51 -->
    # 张量
    ...
    <!-- 79bb8e54 0c77d1e93a40 -->
    # the shape of a picture
    # 图片的形状

The first is a cell of text. The second is a cell of code: pairs of lines, an English comment and its translation. Code
and what it printed come from the English lecture, so they cannot differ; translated_outputs.py puts words of pictures.
Of a page, each section from one heading to the next is a passage; tables that are written by a command (between two
lines ``<!-- tasks -->``) do not count.

When the English words change, the digest no longer fits: the passage is stale, and a reader gets the English words,
behind a line that says so.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tokenize
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kuiper.bounded_file import read_text
from kuiper.course.errors import CourseError
from kuiper.course.translated_outputs import put_outputs
from kuiper.language import ENGLISH, noop, other_languages, tag, translate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Fate = Literal["missing", "stale", "left over"]

NAME = re.compile("[a-z]{2,3}")  # ISO 639
HEAD = re.compile(r"^<!-- ([\w-]+) ([0-9a-f]{12}) -->$", re.MULTILINE)
WRITTEN = re.compile(r"^(<!-- (\w+) -->)\n.*?^<!-- \2 -->$", re.MULTILINE | re.DOTALL)
NOTHING_WRITTEN = re.compile(r"^(<!-- (\w+) -->)\n\1$", re.MULTILINE)
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
NOTICE = noop("There is no translation of today's words yet; here they are in English.")


class English(NamedTuple):
    """What is translated as one: its key in the file, the heading above it, its words; ``is_code``: comments only."""

    key: str
    section: str
    words: str
    is_code: bool = False


class Passage(NamedTuple):
    """A translation, and the digest of the English words that it was made from."""

    digest: str
    text: str

    def fits(self, english: English) -> bool:
        """Whether the English words are still those; of code, whether a translation is below each of its comments."""
        lines, words = self.text.splitlines(), english.words.splitlines()
        if english.is_code and (lines[::2] != words or len(lines) != 2 * len(words)):
            return False
        return self.digest == digest(english.words)


@dataclass(frozen=True)
class Gap:
    """A passage that a translation does not have, has from older words, or that nothing in English stands for."""

    source: str
    section: str
    key: str
    fate: Fate


def sources(root: Path) -> list[Path]:
    """The lectures, and those pages of a folder that some language has."""
    lectures = sorted((root / "notebooks").glob("*.ipynb"))
    others = map(tag, other_languages())
    found = {path.with_name(path.name.replace(f".{other}.", ".")) for other in others for path in _pages(root, other)}
    return [*lectures, *sorted(found)]


def _pages(root: Path, other: str) -> Iterator[Path]:
    for place in ("", "course*/", "docs/**/", "notebooks/", "student_folder/"):
        yield from root.glob(f"{place}*.{other}.md")


def new_language(name: str) -> str:
    """The name of a language that there are translations into, or are to be.

    It becomes the name of a folder. What the web says, as zh-CN, is not that name: see ``tag``.

    Raises
    ------
    CourseError
        If it is no such name, or English, which all is translated from.

    >>> new_language("fr")
    'fr'
    """
    if name == ENGLISH or not NAME.fullmatch(name):
        short = re.split("[-_.@]", name, maxsplit=1)[0].lower()
        hint = f"say {short}" if short != ENGLISH and NAME.fullmatch(short) else ""
        raise CourseError("translations", "the short name of a language other than English", repr(name), hint)
    return name


def translation_file(source: Path, language: str) -> Path:
    """Where the words of a lecture or a page stand in another language."""
    if source.suffix == ".ipynb":
        return source.parent / language / f"{source.stem}.md"
    return source.with_name(f"{source.stem}.{tag(language)}.md")


def editions(page: Path) -> dict[str, Path]:
    """A page in each language that has it."""
    files = {ENGLISH: page, **{name: translation_file(page, name) for name in other_languages()}}
    return {name: path for name, path in files.items() if path.is_file()}


def read_translation(path: Path) -> dict[str, Passage]:
    """The passages of a file by their keys; none if there is no such file.

    Raises
    ------
    CourseError
        If it does not begin with a passage, or has one twice.
    """
    if not path.is_file():
        return {}
    before, *parts = HEAD.split(_with_plain_ends(read_text(path, CourseError, "a translation")))
    if before.strip():
        raise CourseError(str(path), "a line <!-- KEY DIGEST --> at the beginning", repr(before.strip()[:40]))
    passages: dict[str, Passage] = {}
    for key, made_from, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if key in passages:
            raise CourseError(str(path), "each passage once", f"{key} twice")
        passages[key] = Passage(made_from, text.strip("\n"))
    return passages


def digest(words: str) -> str:
    """What tells whether the English words are still those that a passage was made from.

    >>> digest("# Tensors") == digest("# Tensors  "), digest("# Tensors") == digest("# Tensor")
    (True, False)
    """
    lines = (line.rstrip() for line in words.strip().splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def english_words(source: Path) -> list[English]:
    """What of a lecture or a page is to be translated.

    Raises
    ------
    CourseError
        If it is neither, by its name.
    """
    if source.suffix not in (".ipynb", ".md"):
        raise CourseError(str(source), "a lecture (.ipynb) or a page (.md)", source.suffix or "no ending")
    text = source.read_text(encoding="utf-8")
    return _of_page(text) if source.suffix == ".md" else _of_lecture(json.loads(text))


def gaps(source: Path, language: str) -> list[Gap]:
    """What is missing in a translation, or does not fit any more."""
    passages = read_translation(translation_file(source, language))
    found = []
    for english in english_words(source):
        passage = passages.pop(english.key, None)
        if passage is None or not passage.fits(english):
            fate: Fate = "missing" if passage is None else "stale"
            found.append(Gap(source.name, english.section, english.key, fate))
    return [*found, *(Gap(source.name, "", key, "left over") for key in passages)]


def outline(source: Path, language: str) -> str:
    """A translation to be filled in: what fits is kept, the rest has the English words in its place."""
    passages = read_translation(translation_file(source, language))
    parts = []
    for english in english_words(source):
        passage = passages.get(english.key)
        text = passage.text if passage and passage.fits(english) else english.words
        if english.is_code and text == english.words:
            text = "\n".join(f"{line}\n{line}" for line in text.splitlines())
        parts.append(f"<!-- {english.key} {digest(english.words)} -->\n{text}\n")
    return "\n".join(parts)


def translated_lecture(notebook: dict[str, Any], passages: dict[str, Passage], language: str) -> dict[str, Any]:
    """A lecture in another language; what is missing or stale is English, behind a line that says so."""
    found = deepcopy(notebook)
    cells = {cell["id"]: cell for cell in found["cells"]}
    for english in _of_lecture(notebook):
        cell, passage = cells[english.key], passages.get(english.key)
        if not english.is_code:
            text = _shown(english, passage, language)
        elif passage is not None and passage.fits(english):
            text = _with_comments("".join(cell["source"]), passage.text)
        else:
            continue
        cell["source"] = text.splitlines(keepends=True)
    put_outputs(found, language)
    found["metadata"] = {**found["metadata"], "kuiper": {"language": language}}
    return found


def translated_page(page: str, passages: dict[str, Passage], language: str) -> str:
    """A page in another language, at the English page's place; what is missing or stale is English, behind a notice.

    What a command writes is English where the translation has nothing between its two lines.
    """
    page = _with_plain_ends(page)
    text = "\n\n".join(_shown(english, passages.get(english.key), language) for english in _of_page(page)) + "\n"
    written = {found[2]: found[0] for found in WRITTEN.finditer(page)}
    text = NOTHING_WRITTEN.sub(lambda found: written.get(found[2], found[0]), text)
    return text.replace(f".{tag(language)}.md", ".md")


def _with_plain_ends(text: str) -> str:
    """A text whose lines end as everywhere: git on Windows may have written them in its way."""
    return text.replace("\r\n", "\n")


def _shown(english: English, passage: Passage | None, language: str) -> str:
    if passage is not None and passage.fits(english):
        return passage.text
    return f"> {translate(NOTICE, into=language)}\n\n{english.words}"


def _of_lecture(notebook: dict[str, Any]) -> list[English]:
    found, section = [], ""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] != "markdown"
        if not is_code:
            section = ([section, *re.findall(r"^#+ (.+)$", source, re.MULTILINE)])[-1]
        words = "\n".join(dict.fromkeys(comment.string for comment in _comments(source))) if is_code else source
        if words:
            found.append(English(cell["id"], section, words, is_code))
    return found


def _of_page(text: str) -> list[English]:
    """The sections of a page, from each heading to the next."""
    parts: list[list[str]] = [[]]
    in_fence = False
    for line in WRITTEN.sub(r"\1\n\1", text).splitlines():
        in_fence ^= bool(FENCE.match(line))
        if re.match("#+ ", line) and not in_fence:
            parts.append([])
        parts[-1].append(line)
    found: dict[str, English] = {}
    for part in parts:
        words = "\n".join(part).strip()
        if words:
            title = part[0].lstrip("# ") if part[0].startswith("#") else ""
            key = re.sub(r"[^\w]+", "-", title.lower()).strip("-") or "top"
            same = sum(other == key or re.fullmatch(rf"{re.escape(key)}-\d+", other) is not None for other in found)
            key = f"{key}-{same + 1}" if same else key
            found[key] = English(key, title, words)
    return list(found.values())


def _comments(source: str) -> Iterator[tokenize.TokenInfo]:
    """The comments of a cell of code, in their order; lines of Jupyter's own (%, !) hold none."""
    plain = re.sub(r"^[ \t]*[%!].*$", "pass", source, flags=re.MULTILINE)
    tokens = tokenize.generate_tokens(io.StringIO(plain).readline)
    return (token for token in tokens if token.type == tokenize.COMMENT)


def _with_comments(source: str, text: str) -> str:
    """A cell of code with its comments in another language: ``text`` has pairs of lines."""
    lines = text.splitlines()
    pairs = dict(zip(lines[::2], lines[1::2], strict=True))
    code = source.splitlines(keepends=True)
    for token in reversed(list(_comments(source))):
        row, column = token.start
        line = code[row - 1]
        code[row - 1] = line[:column] + pairs[token.string] + line[column + len(token.string) :]
    return "".join(code)
