"""From text to tokens: ``add(@0,-1.5)`` is ``add`` ``(`` ``@0`` ``,`` ``-1.5`` ``)``.

A token is the smallest piece that means something. What belongs together is decided here, so that the parser never
looks at characters: ``-1.5`` and ``0e+00+2e+00j`` are one number each, ``torch.int`` is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from kuiper.expression.source import Source
from kuiper.graph.pnnx.values import HIGHEST, LOWEST, quote


class TokenType(Enum):
    """The kinds of tokens; the value is how messages call them."""

    INPUT = "an input"
    NUMBER = "a number"
    WORD = "a word"
    OPEN = "'('"
    CLOSE = "')'"
    OPEN_LIST = "'['"
    CLOSE_LIST = "']'"
    COMMA = "','"
    END = "the end"


# Nothing that could continue a number or a word may follow: "2x" is no number, and "info" does not start with one.
_BREAK = r"(?![\w.])"
_REAL = r"(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan(?:\.0)?)"
_IMAGINARY = rf"(?:(?:[+-]|\+-){_REAL}j|j)"  # "+-2j" is how C++ spells "-2j"
_PATTERN = re.compile(
    rf"""
    (?P<INPUT>      @[0-9]{{1,9}}{_BREAK}                   )  # @0
  | (?P<NUMBER>     [+-]?{_REAL}{_IMAGINARY}?{_BREAK}       )  # 2  -0.5  1e-5  -inf  nan.0  1+2j
  | (?P<WORD>       [A-Za-z_][\w.:]*                        )  # add  torch.int  None  ij
  | (?P<OPEN>       \(                                      )
  | (?P<CLOSE>      \)                                      )
  | (?P<OPEN_LIST>  \[                                      )
  | (?P<CLOSE_LIST> \]                                      )
  | (?P<COMMA>      ,                                       )
    """,
    re.VERBOSE | re.ASCII,
)
_EQUATION = re.compile(r"[A-Za-z., ]*->[A-Za-z. ]*")
_BLANK = re.compile(r"\s*")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_SPELLED_VALUES = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; ``position`` counts its first character from 0."""

    type: TokenType
    text: str
    position: int

    @property
    def value(self) -> int | float | complex | bool | str | None:
        """What the token stands for: the number of an input, a number, True, False, None, or the word itself.

        >>> [token.value for token in tokenize("@3 2 2.0 -inf 1e+00-2e+00j True ij")]
        [3, 2, 2.0, -inf, (1-2j), True, 'ij']
        """
        if self.type is TokenType.INPUT:
            return int(self.text[1:])
        if self.type is TokenType.NUMBER:
            return _number(self.text.replace("nan.0", "nan"))
        return _SPELLED_VALUES.get(self.text, self.text)

    def __str__(self) -> str:
        """How a message calls this token."""
        return self.type.value if self.type is TokenType.END else f"'{self.text}'"


def tokenize(text: str, where: str = "expression") -> list[Token]:
    """The tokens of an expression, in order; blanks between them are skipped.

    The equation of an einsum, which pnnx writes as an expression with optlevel 1, is one word.

    Parameters
    ----------
    text : an expression such as ``add(@0,-1.5)``
    where : whose expression it is, for error messages

    Returns
    -------
    A list of tokens; each knows its position in the text.

    Raises
    ------
    ExpressionError
        At a character that no token starts with, and at an integer beyond 64 bits.

    Examples
    --------
    >>> [token.text for token in tokenize("add(@0,-1.5)")]
    ['add', '(', '@0', ',', '-1.5', ')']
    >>> [token.text for token in tokenize("ij,jk->ik")]
    ['ij,jk->ik']
    """
    if _EQUATION.fullmatch(text):
        return [Token(TokenType.WORD, text, 0)]
    tokens = []
    position = _skip_blanks(text, 0)
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None:
            expected = "an input such as @0, a number, a word, ',' or a bracket"
            raise Source(text, where).error(position, expected, repr(text[position]))
        assert match.lastgroup is not None
        if _WHOLE.fullmatch(match[0]) and not _fits(match[0]):
            raise Source(text, where).error(position, "an integer of 64 bits", quote(match[0]))
        tokens.append(Token(TokenType[match.lastgroup], match.group(), position))
        position = _skip_blanks(text, match.end())
    return tokens


def _fits(digits: str) -> bool:
    """Whether an integer has 64 bits; Python itself refuses to read thousands of digits."""
    return len(digits) <= 4000 and LOWEST <= int(digits) <= HIGHEST


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _number(text: str) -> int | float | complex:
    """An int where the text is one, else a float or a complex number."""
    if text.endswith("j"):
        return complex(text.replace("+-", "-"))
    try:
        return int(text)
    except ValueError:
        return float(text)
