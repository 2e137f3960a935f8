"""Evaluation by a stack machine: reverse Polish, one step after the other.

    mul(add(@0,1),@1)          step     stack
                               @0       [x]
                               1        [x, 1]
                               add      [x + 1]
                               @1       [x + 1, y]
                               mul      [(x + 1) y]

The text is read once, into a Program; running it looks up no name and reads no character.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ExecutionError, KuiperError, ShapeError
from kuiper.expression.functions import CASTS, find_function
from kuiper.expression.parser import Node, NodeKind, parse, reverse_polish
from kuiper.expression.promotion import unwrapped
from kuiper.expression.source import Source
from kuiper.graph.boundary import shapes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.expression.type_rules import Function


@dataclass(frozen=True, slots=True)
class Step:
    """One move: push an input or a constant, or take ``arity`` values from the stack and push ``function`` of them."""

    label: str
    function: Function | None = None
    arity: int = 0
    input: int | None = None
    constant: Any = None


@dataclass(frozen=True, slots=True)
class Program:
    """An expression ready to run."""

    text: str
    where: str
    steps: tuple[Step, ...]

    def run(self, inputs: Sequence[Any]) -> Any:
        """The value for these inputs: an array, a plain number, True, False, None, a word, or a list of such.

        NumPy's warnings about 1/0 and the like are up to the caller: a graph silences them for all its operators.

        Raises
        ------
        ShapeError
            If tensors meet whose shapes do not broadcast.
        ExecutionError
            If a function cannot take its arguments.
        """
        stack: list[Any] = []
        for step in self.steps:
            if step.function is not None:
                first = len(stack) - step.arity
                arguments = stack[first:]
                del stack[first:]
                try:
                    stack.append(step.function(*arguments))
                except Exception as error:
                    raise self._explained(error, step, arguments) from error
            elif step.input is not None:
                stack.append(inputs[step.input])
            else:
                stack.append(step.constant)
        return stack.pop()

    def flops(self, shapes: Sequence[tuple[int, ...]]) -> int:
        """One operation per function and element of its result, for tensors of these shapes; plain numbers are free."""
        total = 0
        stack: list[tuple[int, ...] | None] = []  # None: not a tensor
        for step in self.steps:
            first = len(stack) - step.arity
            tensors = [shape for shape in stack[first:] if shape is not None]
            del stack[first:]
            if step.input is not None:
                stack.append(shapes[step.input])
            elif step.label in ("size", "int", "[]") or not tensors:
                stack.append(None)
            else:
                shape = self._broadcast(tensors)
                total += 0 if step.label in CASTS else math.prod(shape)
                stack.append(shape)
        return total

    def inputs_read(self) -> set[int]:
        """The inputs whose elements matter; of the others no more than the ``size``.

        >>> compile_expression("mul(@0,size(@1,2))", 2).inputs_read()
        {0}
        """
        stack: list[set[int]] = []
        for step in self.steps:
            first = len(stack) - step.arity
            arguments = stack[first:]
            del stack[first:]
            if step.input is not None:
                stack.append({step.input})
            else:
                stack.append(set().union(*arguments) if step.label != "size" else set())
        return stack.pop()

    def _broadcast(self, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            got = " and ".join(map(str, shapes))
            raise ShapeError(self.where, "shapes that broadcast", got, hint=f"in {self.text}") from None

    def _explained(self, error: Exception, step: Step, arguments: list[Any]) -> KuiperError:
        """The error of a function, with the function and its arguments."""
        call = f"{step.label}({shapes_of(arguments)})"
        if isinstance(error, ValueError) and "broadcast" in str(error):
            return ShapeError(self.where, "shapes that broadcast", call, hint=f"in {self.text}")
        return ExecutionError(self.where, f"a value for {call}", f"{type(error).__name__}: {error}", f"in {self.text}")


def compile_expression(text: str, input_count: int, where: str = "expression") -> Program:
    """The program of an expression; the text is read once, and the program runs as often as you like.

    Parameters
    ----------
    text : an expression such as ``mul(add(@0,1),@1)``
    input_count : how many inputs there are, ``@0`` to ``@n``; not all of them need be used
    where : whose expression it is, for error messages

    Returns
    -------
    A program for a stack machine.

    Raises
    ------
    ExpressionError
        If the text cannot be read, or it refers to an input that does not exist.

    Examples
    --------
    >>> program = compile_expression("mul(add(@0,1),@1)", 2)
    >>> [step.label for step in program.steps]
    ['@0', '1', 'add', '@1', 'mul']
    >>> program.run([2, 5])
    15
    """
    source = Source(text, where)
    return Program(text, where, tuple(_step(node, input_count, source) for node in reverse_polish(parse(text, where))))


def evaluate(expression: str | Program, inputs: Sequence[Any]) -> Any:
    """The value of an expression for these inputs.

    Parameters
    ----------
    expression : its text, or its program
    inputs : ``@0``, ``@1`` and so on: tensors, arrays of any broadcastable shapes, or numbers

    Returns
    -------
    An array, a number, or a list of numbers, as the expression says.

    Raises
    ------
    ExpressionError
        If the text cannot be read.
    ShapeError
        If the shapes of the inputs do not broadcast.
    ExecutionError
        If a function cannot take its arguments.

    Examples
    --------
    >>> evaluate("mul(add(@0,1),@1)", [np.array([1, 2], np.float32), np.array([[10], [20]], np.float32)])
    array([[20., 30.],
           [40., 60.]], dtype=float32)
    >>> evaluate("[size(@0,0),-1]", [np.zeros((4, 2, 3))])
    [4, -1]
    """
    if isinstance(expression, str):
        expression = compile_expression(expression, len(inputs))
    with np.errstate(all="ignore"):  # as in torch, 1/0 is inf and asin(2) is NaN without a word
        return expression.run(unwrapped(inputs))


def _step(node: Node, input_count: int, source: Source) -> Step:
    """The move of the stack machine for one node."""
    if node.kind is NodeKind.CONSTANT:
        return Step(node.label, constant=node.value)
    if node.kind is NodeKind.LIST:
        return Step(node.label, lambda *items: list(items), len(node.children))
    assert node.token is not None
    if node.kind is NodeKind.CALL:
        return Step(node.label, find_function(node.token, len(node.children), source), len(node.children))
    if node.value >= input_count:
        expected = f"one of {input_count} inputs, @0 to @{input_count - 1}" if input_count else "no inputs"
        raise source.error(node.token.position, expected, node.label)
    return Step(node.label, input=node.value)
