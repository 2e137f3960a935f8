"""Exercise 3.1: from a name in a file to an object that computes.

A model file says "here runs an nn.ReLU". Somebody has to know which class that is. A chain of ``if`` in the middle of
the engine would know, and would have to be edited for every new layer. A registry turns it round: each layer announces
itself.

    @layers.register("nn.ReLU", "F.relu")        announces:   "nn.ReLU" -> ReLU,  "F.relu" -> ReLU
    class ReLU: ...

    layer = layers.create(op)                    looks up op.type and calls what it finds:  ReLU(op)

Write the methods of ``Registry`` first, then a first layer that uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np


class Operator(NamedTuple):
    """What the registry needs to know of a line of the model file."""

    name: str
    type: str


class Registry:
    """The layers that are known, by the type of operator they run. Two registries know nothing of each other."""

    def __init__(self) -> None:
        self.factories: dict[str, Callable[[Operator], Any]] = {}

    def register(self, *types: str) -> Callable[[Any], Any]:
        """A decorator: the class (or function) below it makes the layers for operators of all these types.

        The decorator hands back what it decorates, unchanged.

        >>> known = Registry()
        >>> @known.register("nn.ReLU", "F.relu")
        ... class ReLU:
        ...     def __init__(self, op):
        ...         self.op = op
        >>> known.types()
        ['F.relu', 'nn.ReLU']

        Raises
        ------
        ValueError
            If a type has a layer already; the message names the type. The old layer stays.
        """

        # BEGIN SOLUTION
        def decorator(factory: Any) -> Any:
            for type_name in types:
                if type_name in self.factories:
                    raise ValueError(f"register: expected a type without a layer, got {type_name}")
                self.factories[type_name] = factory
            return factory

        return decorator
        # END SOLUTION

    def types(self) -> list[str]:
        """The types that have a layer, in alphabetical order."""
        # BEGIN SOLUTION
        return sorted(self.factories)
        # END SOLUTION

    def create(self, op: Operator) -> Any:
        """A new layer for this operator: what is registered for its type, called with the operator.

        Raises
        ------
        LookupError
            If the type is unknown. Think of who will read this at midnight: the message has the operator's name, its
            type, and all known types in alphabetical order with ", " between them. Upper and lower case differ.
        """
        # BEGIN SOLUTION
        if op.type not in self.factories:
            raise LookupError(f"{op.name}: expected one of {', '.join(self.types())}, got {op.type}")
        return self.factories[op.type](op)
        # END SOLUTION

    @contextmanager
    def override(self, type_name: str, factory: Callable[[Operator], Any]) -> Iterator[None]:
        """Within a ``with`` block, ``factory`` makes the layers of this type; afterwards the type is as it was before.

        "As before" holds also if an error leaves the block (the error goes on its way), if the type had no layer
        before, and for an override inside an override. Other types are not touched: one that is registered within the
        block stays. This is how your own layers will run in real networks.

        In words: remember what is there; put the new one in; ``yield`` runs the block; at last, whatever happened in
        the block, undo it.

        >>> known = Registry()
        >>> with known.override("nn.ReLU", print):
        ...     known.types()
        ['nn.ReLU']
        >>> known.types()
        []
        """
        # BEGIN SOLUTION
        had_one = type_name in self.factories
        before = self.factories.get(type_name)
        self.factories[type_name] = factory
        try:
            yield
        finally:
            if had_one:
                self.factories[type_name] = before
            else:
                del self.factories[type_name]
        # END SOLUTION


layers = Registry()

# Now a layer: a class Sigmoid, registered in ``layers`` for the types nn.Sigmoid and F.sigmoid. It is made with an
# operator, which it keeps as ``self.op``; ``forward(x)`` gives a new array of the shape and dtype of x (float32), with
# 1 / (1 + exp(-x)) of every number:
#
#     x = -1  0  1     ->     0.269  0.5  0.731          (np.exp takes whole arrays)

# BEGIN SOLUTION: # exercise 3.1: here goes your class Sigmoid


@layers.register("nn.Sigmoid", "F.sigmoid")
class Sigmoid:
    """The logistic function."""

    def __init__(self, op: Operator) -> None:
        self.op = op

    def forward(self, x: np.ndarray) -> np.ndarray:
        """The logistic function of each number."""
        return 1 / (1 + np.exp(-x))


# END SOLUTION
