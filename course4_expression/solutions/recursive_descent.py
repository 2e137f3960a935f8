"""Exercise 4.2: from tokens to a tree, by recursive descent.

Tokens come in as 4.1 makes them: ``(kind, text, position)``. The grammar has two lines, and each becomes one function:

    expression = item                                          and nothing behind it
    item       = input | number | word "(" item {"," item} ")"         { } means: any number of times, or not at all

An item may contain items: so the function ``item`` calls itself, once for each argument and not once more: reading an
argument twice at each level makes 2 x 2 x 2 ... times the work. That is all there is to recursive descent.

A tree is written in the plainest way. A leaf is its text. A call is a tuple: the name, then a tree for each argument.

                                        mul
    mul(add(@0,1),@1)    ->             |-- add             ->      ("mul", ("add", "@0", "1"), "@1")
                                        |   |-- @0
                                        |   `-- 1
                                        `-- @1
"""

from __future__ import annotations

from typing import Any

ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "neg": 1, "sqrt": 1}
"""How many arguments each function takes."""


def at(tokens: list[tuple[str, str, int]], place: int) -> tuple[str, str]:
    """Kind and text of the token at a place; behind the last one comes ("end", "the end"). Yours to use.

    >>> at([("input", "@0", 0)], 0), at([("input", "@0", 0)], 1)
    (('input', '@0'), ('end', 'the end'))
    """
    return tokens[place][:2] if place < len(tokens) else ("end", "the end")


def item(tokens: list[tuple[str, str, int]], place: int, arity: dict[str, int] = ARITY) -> tuple[Any, int]:
    """The tree of the item that begins at ``place``, and the place behind it. What follows there is not looked at.

    >>> comma = (",", ",", 2)
    >>> item([("input", "@0", 0), comma, ("number", "-1.5", 3)], 0)
    ('@0', 1)
    >>> item([("input", "@0", 0), comma, ("number", "-1.5", 3)], 2)
    ('-1.5', 3)

    ``arity`` holds the functions there are. In words, for a call: the name must be among them; an opening bracket must
    follow; then an item, and as long as a comma follows, one more item; then the closing bracket; last, count.

    Raises
    ------
    ValueError
        If a token does not fit, or a function is unknown: the message has the text of that token, or "the end".
        If a function has the wrong number of arguments: the message has its name.
    """
    # BEGIN SOLUTION
    kind, text = at(tokens, place)
    if kind in ("input", "number"):
        return text, place + 1
    if kind != "word" or text not in arity:
        raise ValueError(f"expected an input, a number or a function, got {text}")
    if at(tokens, place + 1)[0] != "(":
        raise ValueError(f"expected '(' behind {text}, got {at(tokens, place + 1)[1]}")
    argument, place = item(tokens, place + 2, arity)
    arguments = [argument]
    while at(tokens, place)[0] == ",":
        argument, place = item(tokens, place + 1, arity)
        arguments.append(argument)
    if at(tokens, place)[0] != ")":
        raise ValueError(f"expected ',' or ')', got {at(tokens, place)[1]}")
    if len(arguments) != arity[text]:
        raise ValueError(f"{text}: expected {arity[text]} arguments, got {len(arguments)}")
    return (text, *arguments), place + 1
    # END SOLUTION


def parse(tokens: list[tuple[str, str, int]], arity: dict[str, int] = ARITY) -> Any:
    """The tree of a whole expression.

    >>> parse([("word", "neg", 0), ("(", "(", 3), ("input", "@0", 4), (")", ")", 6)])
    ('neg', '@0')

    Raises
    ------
    ValueError
        As ``item`` does, and if anything is left behind the item: the message has the text of the first token left.
    """
    # BEGIN SOLUTION
    tree, place = item(tokens, 0, arity)
    if place < len(tokens):
        raise ValueError(f"expected the end, got {tokens[place][1]}")
    return tree
    # END SOLUTION
