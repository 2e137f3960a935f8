"""The text of an expression, and errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from kuiper.errors import ExpressionError

_WINDOW = 72
"""How much of a long text an error shows."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text of an expression and where it stands, for messages."""

    text: str
    where: str = "expression"

    def error(self, position: int, expected: str, got: object, advice: str = "here") -> ExpressionError:
        """An error whose hint shows the text with a caret under ``position``.

        >>> print(Source("add(@0;@1)").error(6, "',' or ')'", "';'"))
        expression: expected ',' or ')', got ';'; here:
            add(@0;@1)
                  ^
        """
        start = max(0, min(position - _WINDOW // 2, len(self.text) - _WINDOW))
        shown = self.text[start : start + _WINDOW]
        before = "..." if start else ""
        after = "..." if start + _WINDOW < len(self.text) else ""
        caret = " " * (len(before) + position - start) + "^"
        return ExpressionError(self.where, expected, got, f"{advice}:\n    {before}{shown}{after}\n    {caret}")
