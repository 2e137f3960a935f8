"""What of a student's file is meant for its reader, and the same file in another language: docstrings and comments.

Code stays as it is, the examples of docstrings with it: a translation has the same lines behind ``>>>`` and ``...``.
"""

from __future__ import annotations

import io
import re
import tokenize
from inspect import cleandoc
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUOTES = '"""'
EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.) .*$", re.MULTILINE)


class Words(NamedTuple):
    """A docstring or a comment: what it says, where it begins and ends (line, column), and its kind."""

    text: str
    begin: tuple[int, int]
    end: tuple[int, int]
    is_docstring: bool


def reader_words(source: str) -> Iterator[Words]:
    """The docstrings and the comments of a Python or Cython file, in their order; the first line is sync's.

    Comments in lines one below the other are one. A string that begins with an empty line is C code.

    >>> [words.text for words in reader_words('# head' + chr(10) + 'x = 1  # one')]
    ['one']
    """
    block: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if block and not (token.type in (tokenize.COMMENT, tokenize.NL) and _goes_on(block[-1], token)):
            yield _comment(block)
            block = []
        if token.type == tokenize.COMMENT and token.start[0] > 1 and token.string.strip("# "):
            block.append(token)
        elif token.type == tokenize.STRING and re.match(f"{QUOTES}(?!\\n)", token.string):
            yield Words(cleandoc(token.string[3:-3]), token.start, token.end, is_docstring=True)


def in_language(source: str, translate: Callable[[str], str]) -> str:
    """The file with its docstrings and comments as ``translate`` gives them.

    >>> print(in_language('# head' + chr(10) + 'x = 1  # one', str.upper))
    # head
    x = 1  # ONE
    """
    lines = source.splitlines(keepends=True)
    for words in reversed([*reader_words(source)]):
        said = translate(words.text)
        if said == words.text:
            continue
        (first, column), (last, end) = words.begin, words.end
        indent = " " * column
        if words.is_docstring:
            ends_alone = lines[last - 1][:end].strip() == QUOTES
            rows = [f"{QUOTES}{said}", ""] if ends_alone else [f"{QUOTES}{said}"]
            rows = "\n".join(rows).splitlines() + ([""] if ends_alone else [])
            rows[-1] += QUOTES
        else:
            rows = [f"# {row}".rstrip() for row in said.splitlines()]
        rows = [rows[0], *(f"{indent}{row}" if row else "" for row in rows[1:])]
        lines[first - 1 : last] = [lines[first - 1][:column] + "\n".join(rows) + lines[last - 1][end:]]
    return "".join(lines)


def _goes_on(last: tokenize.TokenInfo, token: tokenize.TokenInfo) -> bool:
    """Whether a comment goes on, or its line ends."""
    stands_alone = not last.line[: last.start[1]].strip()
    if token.type == tokenize.NL:
        return token.start[0] == last.start[0] and stands_alone
    return stands_alone and token.start == (last.start[0] + 1, last.start[1])


def _comment(block: list[tokenize.TokenInfo]) -> Words:
    rows = [re.sub("^#+ ?", "", token.string) for token in block]
    return Words("\n".join(rows), block[0].start, block[-1].end, is_docstring=False)


def examples(docstring: str) -> list[str]:
    """The lines of code in a docstring, which a translation repeats."""
    return [line.strip() for line in EXAMPLE.findall(docstring)]
