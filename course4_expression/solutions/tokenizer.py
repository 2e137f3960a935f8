"""Exercise 4.1: from text to tokens.

A token is the smallest piece of a text that means something. Find them here, and nobody later has to look at
characters.

    mul(@0,-1.5)    ->    mul    (    @0    ,    -1.5    )

Each token is a tuple: its kind, its text, and the position of its first character (counted from 0).

    kind        what it looks like                                             examples
    "input"     @ and one or more digits                                       @0  @12
    "number"    a sign or none, digits, perhaps a point with digits,           2  -0.5  +3  1e-05  -1.500000E+02
                perhaps e or E with a sign or none and digits
    "word"      a letter or _, then letters, digits, _ and points              add  log10  floor_divide  torch.float
    "(" ")" "," the kind is the character itself

A token is as long as it can be: 12 is one number, log10 is one word. It is no longer than the table says: an e without
digits behind it is no part of a number, so 2e is the number 2 and the word e. Digits are 0 to 9, letters are a to z and A
to Z. Blanks (spaces, tabs, line ends) may stand between tokens; they are no tokens. Other spellings of numbers (.5, 2.,
inf) are left open: do as you like.

A way to do it, in words: stand at position 0. If there is a blank, go one further. Otherwise find out which kind of
token starts here, and how far it reaches; keep it; go on behind it. If no kind starts here, that is an error.
The module ``re`` can do the looking, and so can a loop over characters.
"""

from __future__ import annotations

import re

Token = tuple[str, str, int]

# BEGIN SOLUTION
PATTERN = re.compile(
    r"(?P<input>@[0-9]+)"
    r"|(?P<number>[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<mark>[(),])"
)
# END SOLUTION


def tokenize(text: str) -> list[Token]:
    """The tokens of an expression, in order.

    >>> tokenize("neg(@0)")
    [('word', 'neg', 0), ('(', '(', 3), ('input', '@0', 4), (')', ')', 6)]
    >>> tokenize(" 2, -0.5")
    [('number', '2', 1), (',', ',', 2), ('number', '-0.5', 4)]
    >>> tokenize("")
    []

    Raises
    ------
    ValueError
        At the first character that no token starts with (also an @ or a sign without digits). The message has the
        character and its position, like this: ``';' at 6``.
    """
    # BEGIN SOLUTION
    tokens = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = PATTERN.match(text, position)
        if match is None:
            raise ValueError(
                f"expected an input, a number, a word, a bracket or ',', got {text[position]!r} at {position}"
            )
        kind = match.group() if match["mark"] else match.lastgroup
        tokens.append((kind, match.group(), position))
        position = match.end()
    return tokens
    # END SOLUTION
