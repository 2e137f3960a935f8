"""The messages of pictures: what kuiper/course/pictures says, and what the cells of lectures write into their pictures.

``packaging/catalogues.py`` runs this file by itself. Of a lecture's cell, a string is a message if it stands in a
stored picture of that lecture; an f-string is one with a field for each value.
"""

from __future__ import annotations

import ast
import json
import re
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUT_TOGETHER = (  # texts of pictures that no one string has, or one that is no picture's alone
    "{hours} h {minutes} min",
    "{name}: a graph of {count} operators",
    "{machine}, {cores} cores, kernels for {level}",
    "{machine}, 1 core, kernels for {level}",
    "first: {numbers}",
    "second: {numbers}",
    "together: {numbers}",
    "Python, {size}, {share}",
    "Cython, {share}",
    "Cython, other order, {share}",
    "a tile of {size}, {share}",
    "kuiper's engine, {share}",
    "{count} channels",
)
NAME = re.compile(r"\S*[\d._(\[=␣↵]\S*|[A-Z_]+")  # in a cell: of code, or a piece of a text
PICTURE_WORDS = "from kuiper.course.picture_words import"  # what a module has that draws
LADDER = "kuiper/course/ladder.py"  # names that a race's picture has


def messages(root: Path) -> Iterator[tuple[Path, int, str]]:
    """Each with its file and line."""
    for path in sorted((root / "kuiper").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if PICTURE_WORDS in source or path == root / LADDER:
            yield from ((path, line, message) for line, message in _marked(ast.parse(source)))
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        yield from ((path, 1, message) for message in _shown_texts_of_cells(json.loads(path.read_text("utf-8"))))
    yield from ((root / "packaging/picture_messages.py", 1, message) for message in PUT_TOGETHER)


def _shown_texts_of_cells(lecture: dict[str, Any]) -> Iterator[str]:
    """What of a lecture's cells stands in its pictures."""
    from kuiper.course.picture_words import FIELD, pattern, sentences
    from kuiper.course.stored_forms import texts_in_pictures

    shown = {piece for text in texts_in_pictures(lecture) for piece in (text, *sentences(text))}
    messages = dict.fromkeys(_messages_of_cells(lecture))
    for message in filter(FIELD.search, messages):
        found = list(filter(None, map(pattern(message).fullmatch, shown)))
        shown.update(value for match in found for value in match.groupdict().values())
        if found:
            yield message
    yield from (message for message in messages if message in shown)


def _marked(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The messages of pictures in a module."""
    for node in ast.walk(module):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("words", "template", "noop")
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value


def _messages_of_cells(lecture: dict[str, Any]) -> Iterator[str]:
    """What the strings of the cells could say, with fields for values."""
    for cell in lecture["cells"]:
        source = re.sub(r"^[ \t]*[%!].*$", "pass", "".join(cell["source"]), flags=re.MULTILINE)
        for node in ast.walk(ast.parse(source if cell["cell_type"] == "code" else "")):
            message, _ = _message(node, 1)
            letters = re.sub(r"\{\w+\}", "", message)
            if NAME.fullmatch(message):
                continue
            if "\n" not in message and re.search("[A-Za-z]" if letters != message else "[A-Za-z]{2}", letters):
                yield message


def _message(node: ast.AST, number: int) -> tuple[str, int]:
    """The message of a string, with a field for each value, and the number of the next field; "" of anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, number
    parts: list[ast.AST] = list(node.values) if isinstance(node, ast.JoinedStr) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    message = ""
    for part in parts:
        words, number = _message(part, number)
        if not words:
            name = getattr(getattr(part, "value", None), "id", "")
            name = name if re.fullmatch("[a-z_]+", name) else f"value_{ascii_lowercase[number - 1]}"
            words, number = f"{{{name}}}", number + 1
        message += words
    return message, number
