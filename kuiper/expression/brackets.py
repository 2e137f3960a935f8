"""Brackets that pnnx lost.

pnnx keeps an expression as a row of words and writes the brackets anew, by a list of the functions it knows. That list
lacks ``expm1``, ``log1p`` and the casts, so a file may say

    mul(log1p,abs(@0)),2        where      mul(log1p(abs(@0)),2)      is meant.

The order of the words is still right, and that is enough: where every function stands before its arguments and takes a
known number of them, brackets say nothing new. (Polish notation; J. Lukasiewicz, 1924.)
"""

from __future__ import annotations

import math

from kuiper.expression.functions import BINARY, UNARY
from kuiper.expression.lexer import Token, TokenType

_UNLIMITED = math.inf
"""How many items a list takes."""


def restore_brackets(tokens: list[Token]) -> list[Token]:
    """The same tokens if every function has its brackets, else the tokens with all brackets set by number of arguments.

    >>> from kuiper.expression.lexer import tokenize
    >>> "".join(token.text for token in restore_brackets(tokenize("mul(log1p,abs(@0)),2")))
    'mul(log1p(abs(@0)),2),'

    (The parser does not mind a comma too many.)
    """
    if len(tokens) < 2 or not any(_is_bare(tokens, i) for i in range(len(tokens))):
        return tokens  # a word alone is a constant, whatever it says
    restored: list[Token] = []
    missing: list[float] = []  # for each open bracket, how many items it still waits for
    for i, token in enumerate(tokens):
        if token.type in (TokenType.OPEN, TokenType.CLOSE, TokenType.COMMA):
            continue
        if token.type is TokenType.CLOSE_LIST:
            _close_functions(restored, missing, token)
            del missing[-1:]
        restored.append(token)
        if count := _arguments(tokens, i):
            restored.append(Token(TokenType.OPEN, "(", token.position))
            missing.append(count)
        elif token.type is TokenType.OPEN_LIST:
            missing.append(_UNLIMITED)
        else:
            _end_item(restored, missing, token)
    _close_functions(restored, missing, tokens[-1])
    return restored


def _is_bare(tokens: list[Token], i: int) -> bool:
    """Whether this is the name of a function without a bracket behind it."""
    bracket_follows = i + 1 < len(tokens) and tokens[i + 1].type is TokenType.OPEN
    return _arguments(tokens, i) > 0 and not bracket_follows


def _arguments(tokens: list[Token], i: int) -> int:
    """The number of arguments of the function at ``i``; 0 for anything else."""
    token = tokens[i]
    if token.type is not TokenType.WORD:
        return 0
    if token.text in UNARY and token.text in BINARY:  # size(@0) or size(@0,1), never bare
        after_input = tokens[i + 3 : i + 4]
        return 2 if after_input and after_input[0].type is TokenType.COMMA else 1
    return 1 if token.text in UNARY else 2 if token.text in BINARY else 0


def _end_item(restored: list[Token], missing: list[float], token: Token) -> None:
    """An item ends here: close every function that it completes."""
    while missing:
        missing[-1] -= 1
        if missing[-1]:
            break
        missing.pop()
        restored.append(Token(TokenType.CLOSE, ")", token.position))
    restored.append(Token(TokenType.COMMA, ",", token.position))


def _close_functions(restored: list[Token], missing: list[float], token: Token) -> None:
    """Close the functions up to the innermost list, though arguments are missing: the parser will say so."""
    while missing and missing[-1] != _UNLIMITED:
        missing.pop()
        restored.append(Token(TokenType.CLOSE, ")", token.position))
