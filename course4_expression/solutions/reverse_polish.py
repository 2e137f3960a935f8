"""Exercise 4.3: reverse Polish, and back.

Write a tree down with every function behind its arguments, and brackets are not needed any more:

    mul                    |
    |-- add                |
    |   |-- @0             |      @0  1  add  @1  mul
    |   `-- 1              |
    `-- @1                 |

Read it aloud: take @0, take 1, add them, take @1, multiply. It is the order in which a machine works.

A tree is what 4.2 makes: a leaf is its text, a call is a tuple of its name and a tree for each argument. The tree above
is ``("mul", ("add", "@0", "1"), "@1")``. A function may have any number of arguments, one or more.
"""

from __future__ import annotations

from typing import Any

ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "neg": 1, "sqrt": 1}
"""How many arguments each function takes."""


def reverse_polish(tree: Any) -> list[str]:
    """The texts of a tree in a row: arguments from left to right, each complete before the next, then their function.

    >>> reverse_polish(("sub", "@0", ("neg", "2")))
    ['@0', '2', 'neg', 'sub']
    >>> reverse_polish("@0")
    ['@0']
    """
    # BEGIN SOLUTION
    if isinstance(tree, str):
        return [tree]
    name, *arguments = tree
    return [step for argument in arguments for step in reverse_polish(argument)] + [name]
    # END SOLUTION


def tree_of(steps: list[str], arity: dict[str, int] = ARITY) -> Any:
    """The tree that a row in reverse Polish came from: the proof that nothing was lost with the brackets.

    >>> tree_of(["@0", "2", "neg", "sub"])
    ('sub', '@0', ('neg', '2'))

    What is in ``arity`` is a function, all else a leaf. In words: keep the trees that are ready in a list. A leaf goes
    to its end. A function takes as many trees from the end as it has arguments, and puts one in their place:

        step        trees that are ready
        @0          @0
        2           @0   2
        neg         @0   (neg 2)
        sub         (sub @0 (neg 2))

    Raises
    ------
    ValueError
        If a function finds too few trees: the message has its name.
        If at the end there is not exactly one tree: the message has their number.
    """
    # BEGIN SOLUTION
    trees = []
    for step in steps:
        if step not in arity:
            trees.append(step)
            continue
        first = len(trees) - arity[step]
        if first < 0:
            raise ValueError(f"{step}: expected {arity[step]} arguments, got {len(trees)}")
        arguments = trees[first:]
        trees[first:] = [(step, *arguments)]
    if len(trees) != 1:
        raise ValueError(f"expected a single tree at the end, got {len(trees)}")
    return trees[0]
    # END SOLUTION
