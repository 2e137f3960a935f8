"""torch.einsum: sums of products, told by the letters of the axes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.cat import listed
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_PRODUCT_OF_TWO = re.compile(r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]*)")


MAX_PRODUCTS = 1 << 36
"""More take NumPy's loop over all letters some minutes; a file of a hundred bytes can ask for years."""


@register("torch.einsum")
class Einsum(Layer):
    """``bij,bjk->bik`` and the like: multiply where letters agree, add over the letters that the right side lacks.

    Source: torch.einsum.
    """

    data_inputs = ("operands",)

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        as_operand = not op.has_param("equation") and not any(op.input_names)  # at optlevel 0
        self.equation = "" if as_operand else op.str_param("equation")

    def forward(self, *inputs: Any) -> Array:
        equation, *operands = (self.equation, *inputs) if self.equation else inputs
        return einsum(equation.replace(" ", ""), listed(tuple(operands)), self.op.where)


def einsum(equation: str, arrays: list[Array], where: str = "einsum") -> Array:
    """The sum of products that the equation tells: a stack of matrix products where it is one, else NumPy's loop.

    >>> einsum("ij,kj->ik", [np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])])
    array([[11., 17.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the equation cannot be read, the arrays do not fit it, or the loop would take ages.
    """
    terms = _PRODUCT_OF_TWO.fullmatch(equation)
    if terms and len(arrays) == 2 and is_matrix_product(terms[1], terms[2], terms[3], *arrays):
        return contract(terms[1], terms[2], terms[3], *arrays)
    products = _products(equation, arrays)
    if products > MAX_PRODUCTS:
        raise ShapeError(where, f"at most {MAX_PRODUCTS} products of numbers for {equation}", products)
    try:
        return np.asarray(np.einsum(equation, *arrays))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ShapeError(where, f"inputs that fit {equation}", shapes, hint=str(error)) from None


def _products(equation: str, arrays: list[Array]) -> int:
    """How often NumPy's loop multiplies: once for each combination of all letters. Dots count as nothing."""
    sizes: dict[str, int] = {}
    for term, array in zip(equation.split("->")[0].split(","), arrays, strict=False):
        for letter, size in zip(term, array.shape, strict=False):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return math.prod(sizes.values())


def is_matrix_product(left: str, right: str, out: str, a: Array, b: Array) -> bool:
    """Whether each letter comes once in a term, with one size, and one that is summed over is in both factors."""
    each_once = all(len(set(term)) == len(term) for term in (left, right, out))
    named = each_once and len(left) == a.ndim and len(right) == b.ndim and a.dtype == b.dtype
    sizes = dict(zip(left, a.shape, strict=False))
    return (
        named
        and all(sizes.get(letter, size) == size for letter, size in zip(right, b.shape, strict=True))
        and set(out) <= set(left + right)
        and set(left) ^ set(right) <= set(out)
    )


def contract(left: str, right: str, out: str, a: Array, b: Array) -> Array:
    """One stack of matrix products (batch, rows, inner) (batch, inner, columns), its axes then put in order.

    A letter in all three terms is of the batch, one in both factors only is inner, the others are rows or columns.
    """
    batch = [letter for letter in left if letter in right and letter in out]
    inner = [letter for letter in left if letter in right and letter not in out]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    sizes = dict(zip(left + right, a.shape + b.shape, strict=True))

    def grouped(x: Array, letters: str, *groups: list[str]) -> Array:
        order = [letters.index(letter) for group in groups for letter in group]
        return np.asarray(
            x.transpose(order).reshape([math.prod(sizes[letter] for letter in group) for group in groups])
        )

    product = matmul(grouped(a, left, batch, rows, inner), grouped(b, right, batch, inner, columns))
    found = batch + rows + columns
    product = product.reshape([sizes[letter] for letter in found])
    return np.asarray(product.transpose([found.index(letter) for letter in out]))
