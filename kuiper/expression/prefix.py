"""Evaluation without a tree: read the tokens from the right.

In ``mul(add(@0,1),@1)`` every function stands before its arguments. Seen from the right, the arguments come first; they
wait on a stack until their function comes and takes them all, down to the mark that its closing bracket left:

    mul ( add ( @0 , 1 ) , @1 )
                              ^   )                     push the mark
                           ^      @1                    push y                 ) y
                         ^        )                     push the mark          ) y )
                       ^          1                     push 1                 ) y ) 1
                  ^               @0                    push x                 ) y ) 1 x
            ^                     add takes x, 1        push x + 1             ) y x+1
    ^                             mul takes x+1, y      push (x + 1) y         (x+1)y

No tree, no second list, no recursion: a text of any depth will do. Commas and opening brackets are passed over, so this
trusts the text more than the parser does. The layer uses the parser's program; tests hold both to the same values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.expression.brackets import restore_brackets
from kuiper.expression.functions import find_function
from kuiper.expression.lexer import Token, TokenType, tokenize
from kuiper.expression.promotion import unwrapped
from kuiper.expression.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

_SILENT = (TokenType.COMMA, TokenType.OPEN)


def evaluate_prefix(text: str, inputs: Sequence[Any], where: str = "expression") -> Any:
    """The value of an expression for these inputs, in one pass over its tokens from right to left.

    Parameters
    ----------
    text : an expression such as ``mul(add(@0,1),@1)``
    inputs : ``@0``, ``@1`` and so on: tensors, arrays of any broadcastable shapes, or numbers
    where : whose expression it is, for error messages

    Returns
    -------
    An array, a number, or a list of numbers, as the expression says.

    Raises
    ------
    ExpressionError
        If a function is unknown or has a wrong number of arguments, a bracket lacks its partner, or an input is
        missing.

    Examples
    --------
    >>> evaluate_prefix("mul(add(@0,1),@1)", [2, 5])
    15
    """
    source, inputs = Source(text, where), unwrapped(inputs)
    tokens = restore_brackets(tokenize(text, where))
    stack: list[Any] = []
    with np.errstate(all="ignore"):
        for i in reversed(range(len(tokens))):
            token = tokens[i]
            if token.type in (TokenType.CLOSE, TokenType.CLOSE_LIST):
                stack.append(token)
            elif token.type is TokenType.OPEN_LIST:
                stack.append(_take_to_mark(stack, TokenType.CLOSE_LIST, token, source))
            elif token.type is TokenType.WORD and tokens[i + 1 : i + 2] and tokens[i + 1].type is TokenType.OPEN:
                arguments = _take_to_mark(stack, TokenType.CLOSE, token, source)
                stack.append(find_function(token, len(arguments), source)(*arguments))
            elif token.type is TokenType.INPUT:
                stack.append(_input(token, inputs, source))
            elif token.type not in _SILENT:
                stack.append(token.value)
    stack.reverse()
    for value in stack:
        if isinstance(value, Token):
            raise source.error(value.position, "a bracket opened before", value)
    if not stack:
        raise source.error(0, "an expression", "none")
    return stack[0] if len(stack) == 1 else stack


def _take_to_mark(stack: list[Any], closing: TokenType, opening: Token, source: Source) -> list[Any]:
    """The values above the nearest mark, first argument first; they and the mark leave the stack."""
    items = []
    while stack and not isinstance(stack[-1], Token):
        items.append(stack.pop())
    if not stack or stack.pop().type is not closing:
        raise source.error(opening.position, f"a {closing.value} for this bracket", "none")
    return items


def _input(token: Token, inputs: Sequence[Any], source: Source) -> Any:
    if int(token.text[1:]) >= len(inputs):
        raise source.error(token.position, f"one of {len(inputs)} inputs", token)
    return inputs[int(token.text[1:])]
