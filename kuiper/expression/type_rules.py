"""How torch treats the types of a function's arguments: a rule makes a function of expressions out of a computation.

floating(f)      float32 comes out of integers: sin, sqrt, div
real(f)          the same, and complex numbers are refused: erf
exact(f, g)      integers stay whole: add, neg; g does plain Python numbers
division(f, g)   the same, and integers divided by zero are an error
rounding(f, g)   integers are left alone; of a plain Python number comes an int, for sizes
cast(dtype)      the conversion to an element type
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.expression.promotion import is_tensor, operands
from kuiper.graph.pnnx.values import HIGHEST, LOWEST

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

Function = Callable[..., Any]


def floating(compute: Function) -> Function:
    """A function whose results are floats (or complex numbers) whatever comes in."""

    def apply(*values: Any) -> Any:
        arrays = operands(values, floating=True)
        if arrays is None:
            return compute(*(value if isinstance(value, complex) else float(value) for value in values)).item()
        return np.asarray(compute(*arrays))

    return apply


def of_64_bits(number: Any) -> Any:
    """A plain number; a whole one must fit into 64 bits, as it does in torch. Python's own would grow without end.

    >>> of_64_bits(2**63 - 1)
    9223372036854775807

    Raises
    ------
    OverflowError
        If it does not fit.
    """
    if isinstance(number, int) and not LOWEST <= number <= HIGHEST:
        raise OverflowError("an integer beyond 64 bits")
    return number


def real(compute: Function) -> Function:
    """A function of real numbers, floating like ``floating``; complex ones are refused, as in torch."""

    def apply(x: Array) -> Array:
        if np.asarray(x).dtype.kind == "c":
            raise TypeError("a complex number")
        return np.asarray(compute(x))

    return floating(apply)


def exact(compute: Function, compute_numbers: Function) -> Function:
    """A function that keeps integers whole; ``compute_numbers`` does the work when no tensor comes in."""

    def apply(*values: Any) -> Any:
        arrays = operands(values)
        return of_64_bits(compute_numbers(*values)) if arrays is None else np.asarray(compute(*arrays))

    return apply


def rounding(compute: Function, compute_number: Function) -> Function:
    """A function that rounds floats. A plain number becomes an int, as Python's math has it: it is to be a size."""

    def apply(x: Any) -> Any:
        if is_tensor(x):
            return np.asarray(compute(x)) if x.dtype.kind == "f" else x
        return of_64_bits(compute_number(x)) if math.isfinite(x) else x

    return apply


def cast(dtype: type[np.generic]) -> Function:
    """The conversion to an element type; a plain number stays one, rounded as that type would."""

    def apply(x: Any) -> Any:
        array = np.asarray(x)
        if array.dtype.kind == "c" and np.dtype(dtype).kind not in "bc":
            array = array.real  # which is all that is left; NumPy would warn
        converted = array.astype(dtype, copy=False)
        return converted if is_tensor(x) else converted.item()

    return apply


def division(compute: Function, compute_numbers: Function) -> Function:
    """A division in integers or floats; integers by zero are an error, as in torch (NumPy gives 0)."""

    def divide(x: Array, y: Array) -> Array:
        if y.dtype.kind in "iu" and not y.all():
            raise ZeroDivisionError("integers divided by zero")
        return np.asarray(compute(x, y))

    return exact(divide, compute_numbers)
