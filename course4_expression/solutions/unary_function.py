"""Exercise 4.6: teach the language a new word, sin, from the text to the value.

Your tokenizer (4.1), parser (4.2), reverse Polish (4.3) and stack machine (4.4) are loaded below. None of them has to
change: what functions there are stands in tables, and ``parse`` and ``evaluate`` take a table as an argument. Their own
tables stay as they are, without sin: hand in new ones.

    "mul(sin(@0),2)"  --tokenizer-->  mul ( sin ( @0 ) , 2 )  --generate-->  @0 sin 2 mul  --compute-->  a tensor

Four short functions. Three of them walk this way, each a little further; the fourth is the sine itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kuiper.course import load_exercise

tokenize = load_exercise("4.1").tokenize  # tokenize(text) -> tokens
parse = load_exercise("4.2").parse  # parse(tokens, arity) -> tree
ARITY = load_exercise("4.2").ARITY  # name -> number of arguments
reverse_polish = load_exercise("4.3").reverse_polish  # reverse_polish(tree) -> steps
evaluate = load_exercise("4.4").evaluate  # evaluate(steps, inputs, functions) -> array
FUNCTIONS = load_exercise("4.4").FUNCTIONS  # name -> (number of arguments, what computes it)


def sin(x: Any) -> Any:
    """The sine of each value (x in radians), with the element type that PyTorch gives it.

    An array of floats (float16, float32, float64) keeps its element type and its shape. An array of integers or
    bools is made float32 before its sine is taken: not float64, as in NumPy. A plain Python number gives a plain float.

    >>> sin(np.array([0, 1])).dtype
    dtype('float32')
    >>> sin(np.float64([0, 1])).round(4)
    array([0.    , 0.8415])
    >>> sin(0)
    0.0
    """
    # BEGIN SOLUTION
    if not isinstance(x, (np.ndarray, np.generic)):
        return math.sin(x)
    return np.sin(x if x.dtype.kind == "f" else x.astype(np.float32))
    # END SOLUTION


def tokenizer(text: str) -> list[str]:
    """The texts of the tokens, in order.

    >>> tokenizer("sin(@0)")
    ['sin', '(', '@0', ')']
    """
    # BEGIN SOLUTION
    return [token_text for _, token_text, _ in tokenize(text)]
    # END SOLUTION


def generate(text: str) -> list[str]:
    """The steps of an expression in reverse Polish. It may use all functions of 4.2, and sin, which takes one argument.

    >>> generate("add(sin(@0),1)")
    ['@0', 'sin', '1', 'add']

    Raises
    ------
    ValueError
        As in 4.1 and 4.2: for sin, too, if it has the wrong number of arguments.
    """
    # BEGIN SOLUTION
    return reverse_polish(parse(tokenize(text), {**ARITY, "sin": 1}))
    # END SOLUTION


def compute(text: str, inputs: list[np.ndarray]) -> np.ndarray:
    """The value of an expression for these float32 inputs: a float32 array. All functions of 4.4, and sin.

    >>> compute("mul(sin(@0),2)", [np.zeros((1, 2), np.float32)])
    array([[0., 0.]], dtype=float32)
    """
    # BEGIN SOLUTION
    return evaluate(generate(text), inputs, {**FUNCTIONS, "sin": (1, sin)})
    # END SOLUTION
