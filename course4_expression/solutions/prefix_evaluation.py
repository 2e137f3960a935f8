"""Exercise 4.5: the value without a tree, reading from the right.

In ``mul(add(@0,1),@1)`` every function stands before its arguments. Seen from the right, the arguments come first. So
read the tokens from the last to the first, with a stack of values. With @0 = 4 and @1 = 10:

    mul ( add ( @0 , 1 ) , @1 )       token     stack, its top on the left
                           ^          @1        10
                     ^                1         1  10
                ^                     @0        4  1  10
          ^                           add       5  10
    ^                                 mul       50

Look at ``add``: which of its two arguments is on top, the first or the last? (For ``sub`` it matters.)

A function knows how many values it takes, so brackets and commas say nothing new: pass over them. There is no recursion
either, and an expression may be nested thousands deep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "mul": (2, np.multiply),
    "div": (2, np.divide),
    "neg": (1, np.negative),
    "where": (3, np.where),
}
"""Name -> number of arguments, and what computes it. ``where(c,x,y)`` has x where c is not 0, and y elsewhere."""


def evaluate_prefix(
    tokens: list[tuple[str, str, int]],
    inputs: list[np.ndarray],
    functions: dict[str, tuple[int, Callable[..., Any]]] = FUNCTIONS,
) -> np.ndarray:
    """The value of an expression: a float32 array, and all values on the way are float32, too, as in 4.4.

    Tokens come as 4.1 makes them: kind, text, position.

    >>> sub = [("word", "sub", 0), ("(", "(", 3), ("input", "@0", 4)]
    >>> sub += [(",", ",", 6), ("number", "1.5", 7), (")", ")", 10)]
    >>> evaluate_prefix(sub, [np.float32([4, 5])])
    array([2.5, 3.5], dtype=float32)

    The kinds: "input" (``@0`` is ``inputs[0]``), "number", "word" (a function), and "(" ")" ",", which may be there or
    not.

    Raises
    ------
    ValueError
        If a function is unknown or finds too few values, or an input is not there: the message has the token's text.
        If at the end there is not exactly one value: the message has their number.
    """
    # BEGIN SOLUTION
    stack = []
    for kind, text, _ in reversed(tokens):
        if kind == "input":
            number = int(text[1:])
            if number >= len(inputs):
                raise ValueError(f"expected one of {len(inputs)} inputs, got {text}")
            stack.append(inputs[number])
        elif kind == "number":
            stack.append(np.float32(text))
        elif kind == "word":
            if text not in functions:
                raise ValueError(f"expected a function, got {text}")
            count, function = functions[text]
            if len(stack) < count:
                raise ValueError(f"{text}: expected {count} arguments, got {len(stack)}")
            arguments = [stack.pop() for _ in range(count)]
            stack.append(function(*arguments))
    if len(stack) != 1:
        raise ValueError(f"expected a single value at the end, got {len(stack)}")
    return np.asarray(stack[0], np.float32)
    # END SOLUTION
