"""Exercise 4.4: a stack machine that computes with tensors.

Steps come in as 4.3 makes them, in reverse Polish. An input or a number is pushed onto the stack. A function takes its
arguments from the stack and pushes its result. With @0 = [1 2 3] and @1 = [10]:

    step      stack
    @0        [1 2 3]
    1         [1 2 3]   1
    add       [2 3 4]
    @1        [2 3 4]   [10]
    mul       [20 30 40]

All values are float32, also the numbers and what lies on the stack in between: 16777216 + 1 is 16777216 (a float32 has
24 bits for its digits, no more), and not what a Python float, of 53 bits, would make of it. NumPy broadcasts the shapes,
so there is nothing for you to do about them.
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
    "pow": (2, np.power),
    "neg": (1, np.negative),
    "sqrt": (1, np.sqrt),
}
"""Name -> number of arguments, and what computes it."""


def evaluate(
    steps: list[str], inputs: list[np.ndarray], functions: dict[str, tuple[int, Callable[..., Any]]] = FUNCTIONS
) -> np.ndarray:
    """The value of an expression: a float32 array. Of numbers alone comes an array without axes, its shape is ().

    >>> evaluate(["@0", "1", "add", "@1", "mul"], [np.float32([1, 2, 3]), np.float32([10])])
    array([20., 30., 40.], dtype=float32)
    >>> evaluate(["2", "0.5", "sub"], [])
    array(1.5, dtype=float32)

    A step is a function if ``functions`` has it, an input if it begins with @ (``@0`` is ``inputs[0]``), else a number.
    An input may be used twice or not at all, and nothing is ever written into it.

    Raises
    ------
    ValueError
        If a function finds too few values on the stack, an input is not there, or a step is none of the three: the
        message has the step. If at the end there is not exactly one value: the message has their number.
    """
    # BEGIN SOLUTION
    stack = []
    for step in steps:
        if step in functions:
            count, function = functions[step]
            if len(stack) < count:
                raise ValueError(f"{step}: expected {count} arguments, got {len(stack)}")
            arguments = stack[-count:]
            del stack[-count:]
            stack.append(function(*arguments))
        elif step.startswith("@"):
            number = int(step[1:])
            if number >= len(inputs):
                raise ValueError(f"expected one of {len(inputs)} inputs, got {step}")
            stack.append(inputs[number])
        else:
            stack.append(np.float32(step))
    if len(stack) != 1:
        raise ValueError(f"expected a single value at the end, got {len(stack)}")
    return np.asarray(stack[0], np.float32)
    # END SOLUTION
