"""docs/reference/operators.md as data: one Section for each heading of operators, with the rows of its table."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "operators.md"

_QUOTED = re.compile(r"`([^`]+)`")


@dataclass
class Row:
    """What a table says of one parameter, or of several that share a row."""

    type: str
    default: str
    meaning: str

    def literals(self) -> list[Any]:
        """The values in backticks in the column of defaults, as Python values; words are strings."""
        return [_value(text) for text in _QUOTED.findall(self.default)]


@dataclass
class Section:
    """The operators of one heading; ``text`` is everything up to the next heading."""

    types: list[str]
    text: str = ""
    rows: dict[str, Row] = field(default_factory=dict)
    family: str = ""

    def names(self, word: str) -> bool:
        """Whether the word stands in backticks somewhere, in the table or around it."""
        return word in self.rows or word in _QUOTED.findall(self.text)


def read_page() -> tuple[list[str], list[Section]]:
    """The headings of the families, and the sections, both in the order of the page."""
    families, sections = [], []
    for block in re.split(r"^(?=##)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading, _, text = block.partition("\n")
        if heading.startswith("### "):
            sections.append(Section(_QUOTED.findall(heading), text, _rows(text), families[-1]))
        elif heading.startswith("## "):
            families.append(heading.removeprefix("## "))
    return families, sections


def _rows(text: str) -> dict[str, Row]:
    rows = {}
    for line in re.findall(r"^\| `.*\|$", text, re.MULTILINE):
        names, *cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        for name in _QUOTED.findall(names):
            rows[name] = Row(*cells)
    return rows


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
