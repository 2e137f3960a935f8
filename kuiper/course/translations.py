"""Lectures in other languages: ``notebooks/zh/NAME.md`` has the words of ``notebooks/NAME.ipynb``, and nothing else.

Code and outputs come from the English notebook, so they cannot differ. Each passage names the cell that it translates,
and the digest of the English words that it was made from:

    <!-- 432cf278 6f1a09c2be51 -->
    # 张量
    ...
    <!-- 79bb8e54 0c77d1e93a40 -->
    # the shape of a picture
    # 图片的形状

The first is a cell of text. The second is a cell of code: pairs of lines, an English comment and its translation. When
the English words change, the digest no longer fits: the passage is stale, and a reader gets the English words, behind a
line that says so.
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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Fate = Literal["missing", "stale", "left over"]

HEAD = re.compile(r"^<!-- ([\w-]+) ([0-9a-f]{12}) -->$", re.MULTILINE)
NOTICES = {"zh": "> 这一段的译文还没有更新，下面是英文原文。"}
"""What stands above a passage that is shown in English, by language."""


class Passage(NamedTuple):
    """The translation of a cell, and the digest of the English words that it was made from."""

    digest: str
    text: str


@dataclass(frozen=True)
class Gap:
    """A cell that a translation does not have, has from older words, or that is there no more."""

    lecture: str
    section: str
    cell: str
    fate: Fate


def languages(root: Path) -> list[str]:
    """Those that lectures were translated into."""
    return sorted(path.name for path in (root / "notebooks").iterdir() if path.is_dir() and [*path.glob("*.md")])


def translation_file(lecture: Path, language: str) -> Path:
    """Where the words of a lecture stand in another language."""
    return lecture.parent / language / f"{lecture.stem}.md"


def read_translation(path: Path) -> dict[str, Passage]:
    """The passages of a file by their cells; none if there is no such file.

    Raises
    ------
    CourseError
        If it does not begin with a cell, or has one twice.
    """
    if not path.is_file():
        return {}
    before, *parts = HEAD.split(read_text(path, CourseError, "the translation of a lecture"))
    if before.strip():
        raise CourseError(str(path), "a line <!-- CELL DIGEST --> at the beginning", repr(before.strip()[:40]))
    passages: dict[str, Passage] = {}
    for cell, made_from, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if cell in passages:
            raise CourseError(str(path), "each cell once", f"{cell} twice")
        passages[cell] = Passage(made_from, text.strip("\n"))
    return passages


def words_of(cell: dict[str, Any]) -> str:
    """What of a cell is to be translated: its text, or the comments of its code, one in a line; "" for none."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n".join(dict.fromkeys(comment.string for comment in _comments(source)))


def digest(words: str) -> str:
    """What tells whether the English words are still those that a passage was made from.

    >>> digest("# Tensors") == digest("# Tensors  "), digest("# Tensors") == digest("# Tensor")
    (True, False)
    """
    lines = (line.rstrip() for line in words.strip().splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def gaps(lecture: Path, language: str) -> list[Gap]:
    """What is missing in a translation, or does not fit any more."""
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    passages = read_translation(translation_file(lecture, language))
    found, section = [], lecture.stem
    for cell in cells:
        section = _section(cell) or section
        words, passage = words_of(cell), passages.pop(cell["id"], None)
        if words and passage is None:
            found.append(Gap(lecture.stem, section, cell["id"], "missing"))
        elif passage is not None and not (words and passage.digest == digest(words)):
            found.append(Gap(lecture.stem, section, cell["id"], "stale" if words else "left over"))
    return [*found, *(Gap(lecture.stem, "", cell, "left over") for cell in passages)]


def translated(notebook: dict[str, Any], passages: dict[str, Passage], language: str) -> dict[str, Any]:
    """A notebook in another language; where a passage is missing or stale, the English words stand behind a line that
    says so."""
    found = deepcopy(notebook)
    for cell in found["cells"]:
        words, passage = words_of(cell), passages.get(cell["id"])
        if not words:
            continue
        fits = passage is not None and passage.digest == digest(words)
        if cell["cell_type"] == "markdown":
            text = passage.text if passage is not None and fits else f"{NOTICES.get(language, '')}\n\n{words}".lstrip()
            cell["source"] = text.splitlines(keepends=True)
        elif passage is not None and fits:
            cell["source"] = _with_comments("".join(cell["source"]), passage.text).splitlines(keepends=True)
    found["metadata"] = {**found["metadata"], "kuiper": {"language": language}}
    return found


def outline(lecture: Path, language: str) -> str:
    """A translation to be filled in: what fits is kept, the rest has the English words in its place."""
    passages = read_translation(translation_file(lecture, language))
    parts = []
    for cell in json.loads(lecture.read_text(encoding="utf-8"))["cells"]:
        words = words_of(cell)
        if not words:
            continue
        passage = passages.get(cell["id"])
        fits = passage is not None and passage.digest == digest(words)
        english = (
            words if cell["cell_type"] == "markdown" else "\n".join(f"{line}\n{line}" for line in words.splitlines())
        )
        parts.append(f"<!-- {cell['id']} {digest(words)} -->\n{passage.text if passage and fits else english}\n")
    return "\n".join(parts)


def _section(cell: dict[str, Any]) -> str:
    """The last heading of a cell of text, or ""."""
    if cell["cell_type"] != "markdown":
        return ""
    headings = re.findall(r"^#+ (.+)$", "".join(cell["source"]), re.MULTILINE)
    return str(headings[-1]) if headings else ""


def _comments(source: str) -> Iterator[tokenize.TokenInfo]:
    """The comments of a cell of code, in their order; lines of Jupyter's own (%, !) hold none."""
    plain = re.sub(r"^[ \t]*[%!].*$", "pass", source, flags=re.MULTILINE)
    tokens = tokenize.generate_tokens(io.StringIO(plain).readline)
    return (token for token in tokens if token.type == tokenize.COMMENT)


def _with_comments(source: str, text: str) -> str:
    """A cell of code with its comments in another language: ``text`` has pairs of lines."""
    lines = text.splitlines()
    pairs = dict(zip(lines[::2], lines[1::2], strict=False))
    code = source.splitlines(keepends=True)
    for token in reversed(list(_comments(source))):
        row, column = token.start
        line = code[row - 1]
        code[row - 1] = line[:column] + pairs.get(token.string, token.string) + line[column + len(token.string) :]
    return "".join(code)
