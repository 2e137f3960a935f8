"""The functions of expressions: one table per number of arguments, from the name in the text to what computes it.

To add a function, add a line. What stands in a line says how torch treats the types (``type_rules.py``).
Tensors are NumPy arrays. Sizes and settings are plain Python numbers, and stay so: ``mul(size(@0,2),2)`` is an int.
"""

from __future__ import annotations

import difflib
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.expression.erf import erf
from kuiper.expression.lgamma import lgamma
from kuiper.expression.promotion import is_tensor, result_type
from kuiper.expression.type_rules import Function, cast, division, exact, floating, of_64_bits, real, rounding
from kuiper.layers.element_type import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.expression.lexer import Token
    from kuiper.expression.source import Source
    from kuiper.layers.layer import Array


def reciprocal(x: Array) -> Array:
    """1 / x, in the element type of x."""
    x = np.asarray(x)
    return np.asarray(np.divide(x.dtype.type(1), x))


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)."""
    return reciprocal(np.sqrt(x))


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 for NaN, as in torch (NumPy: NaN)."""
    if x.dtype.kind == "b":
        return x
    return np.asarray(np.greater(x, 0).astype(x.dtype) - np.less(x, 0).astype(x.dtype))


_SHORT_POWERS: dict[float, Callable[[Array], Array]] = {
    -1: reciprocal,
    -0.5: rsqrt,
    0.5: np.sqrt,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
}
"""Powers that torch computes without ``pow``: faster, and sqrt(-inf) is NaN where pow(-inf, 0.5) is inf."""


def whole_power(base: Array, exponent: Array) -> Array:
    """base ** exponent; of integers with a negative exponent the whole part, which is 0 but for bases 1 and -1."""
    if exponent.dtype.kind != "i" or not (exponent < 0).any():
        return np.asarray(np.power(base, exponent)).astype(base.dtype, copy=False)  # NumPy makes int8 of bools
    sign_of_one = np.where(exponent % 2 == 0, 1, base)
    below_one = np.where(np.abs(base) == 1, sign_of_one, 0)
    return np.where(exponent < 0, below_one, np.power(base, np.maximum(exponent, 0))).astype(base.dtype)


def power(base: Any, exponent: Any) -> Any:
    """base ** exponent. Of plain real numbers comes a real number or NaN, never a complex one."""
    if is_tensor(base) and not is_tensor(exponent):
        dtype = result_type(base, exponent)
        if dtype.kind in "iu" and exponent < 0:
            raise ValueError("integers to a negative power")  # torch refuses it, too
        if exponent in _SHORT_POWERS and dtype.kind == "f" and dtype != np.float16:  # for float16 torch does call pow
            return np.asarray(_SHORT_POWERS[exponent](np.asarray(base, dtype)))
    value = _power(base, exponent)
    if isinstance(value, complex) and not isinstance(base, complex) and not isinstance(exponent, complex):
        return math.nan
    return value


def power_of_numbers(base: Any, exponent: Any) -> Any:
    """base ** exponent; 9 ** 999999999 is refused before Python spends its time on it."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 63 and abs(base) > 1:
        raise OverflowError("an integer beyond 64 bits")
    return base**exponent


def shift_left(number: int, bits: int) -> int:
    """number << bits; beyond 64 bits it is refused before there is memory to be found for it."""
    return number << (min(bits, 64) if isinstance(bits, int) else bits)


_power = exact(whole_power, power_of_numbers)


def fmod(x: float, y: float) -> float:
    """The remainder with the sign of x, C's ``%``; of ints an int, exactly."""
    if isinstance(x, int) and isinstance(y, int) and y:
        return x - y * truncated_quotient_of_numbers(x, y)
    return math.fmod(x, y)


def truncated_quotient_of_numbers(x: float, y: float) -> int:
    """x / y without its fraction, C's ``/``; of ints exactly, which a quotient of doubles is not beyond 53 bits."""
    if isinstance(x, int) and isinstance(y, int) and y:
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return math.trunc(x / y)


def truncated_quotient(x: Array, y: Array) -> Array:
    """x / y without its fraction; integers stay whole."""
    if x.dtype.kind == "f":
        return np.asarray(np.trunc(np.divide(x, y)))
    return np.asarray((x - np.fmod(x, y)) // y)


def onnx_div(x: Any, y: Any) -> Any:
    """x / y as in ONNX: of integers, tensors or not, the whole part."""
    whole = all(np.asarray(value).dtype.kind in "iu" for value in (x, y))
    return BINARY["trunc_divide" if whole else "div"](x, y)


def xlogy(x: Array, y: Array) -> Array:
    """x log(y), which is 0 for x = 0 whatever y is but NaN."""
    product = np.asarray(x * np.log(y))
    return np.where((x == 0) & ~np.isnan(y), x, product)


def to_int(x: Any) -> int:
    """The whole part of a plain number or of a tensor of one element, as a plain int."""
    whole = int(x.item() if is_tensor(x) else x)
    of_64_bits(whole)
    return whole


def sizes(x: Array) -> list[int]:
    """The shape, as a list."""
    return [size(x, axis) for axis in range(x.ndim)]


def size(x: Array, axis: int) -> int:
    """The size of one axis."""
    return int(x.shape[axis])


CASTS: dict[str, Function] = {
    "int": to_int,
    **{name: cast(dtype) for name, dtype in ELEMENT_TYPES.items()},
    "torch.cfloat": cast(np.complex64),
    "torch.complex64": cast(np.complex64),
    "torch.cdouble": cast(np.complex128),
    "torch.complex128": cast(np.complex128),
}

UNARY: dict[str, Function] = {
    "abs": exact(np.abs, abs),
    "acos": floating(np.arccos),
    "acosh": floating(np.arccosh),
    "asin": floating(np.arcsin),
    "asinh": floating(np.arcsinh),
    "atan": floating(np.arctan),
    "atanh": floating(np.arctanh),
    "ceil": rounding(np.ceil, math.ceil),
    "cos": floating(np.cos),
    "cosh": floating(np.cosh),
    "erf": real(erf),
    "exp": floating(np.exp),
    "exp2": floating(np.exp2),
    "expm1": floating(np.expm1),
    "floor": rounding(np.floor, math.floor),
    "lgamma": real(lgamma),
    "log": floating(np.log),
    "log10": floating(np.log10),
    "log1p": floating(np.log1p),
    "log2": floating(np.log2),
    "neg": exact(np.negative, operator.neg),
    "reciprocal": floating(reciprocal),
    "round": rounding(np.rint, round),  # half to even, both of them
    "rsqrt": floating(rsqrt),
    "sign": exact(sign, lambda x: (x > 0) - (x < 0)),
    "sin": floating(np.sin),
    "sinh": floating(np.sinh),
    "size": sizes,
    "sqrt": floating(np.sqrt),
    "square": lambda x: power(x, 2),
    "tan": floating(np.tan),
    "tanh": floating(np.tanh),
    "trunc": rounding(np.trunc, math.trunc),
    **CASTS,
}

BINARY: dict[str, Function] = {
    "add": exact(np.add, operator.add),
    "and": exact(np.bitwise_and, operator.and_),
    "atan2": floating(np.arctan2),
    "copysign": floating(np.copysign),
    "div": floating(np.divide),
    "floor_divide": division(np.floor_divide, operator.floordiv),
    "fmax": exact(np.fmax, max),
    "fmin": exact(np.fmin, min),
    "fmod": division(np.fmod, fmod),
    "hypot": floating(np.hypot),
    "logaddexp": floating(np.logaddexp),
    "lshift": exact(np.left_shift, shift_left),
    "max": exact(np.maximum, max),
    "maximum": exact(np.maximum, max),
    "min": exact(np.minimum, min),
    "minimum": exact(np.minimum, min),
    "mul": exact(np.multiply, operator.mul),
    "onnx_div": onnx_div,
    "or": exact(np.bitwise_or, operator.or_),
    "pow": power,
    "remainder": division(np.remainder, operator.mod),
    "rshift": exact(np.right_shift, operator.rshift),
    "size": size,
    "sub": exact(np.subtract, operator.sub),
    "trunc_divide": division(truncated_quotient, truncated_quotient_of_numbers),
    "xlogy": floating(xlogy),
    "xor": exact(np.bitwise_xor, operator.xor),
}

TABLES = {1: UNARY, 2: BINARY}


def find_function(name: Token, count: int, source: Source) -> Function:
    """The function of this name that takes ``count`` arguments.

    Raises
    ------
    ExpressionError
        If there is none; the message lists names that are alike.
    """
    if count in TABLES and name.text in TABLES[count]:
        return TABLES[count][name.text]
    counts = [str(n) for n, table in TABLES.items() if name.text in table]
    if counts:
        expected = f"{name.text} with {' or '.join(counts)} argument{'' if counts == ['1'] else 's'}"
        raise source.error(name.position, expected, count)
    raise source.error(name.position, "a function", f"'{name.text}'", alike(name.text))


def alike(name: str) -> str:
    """Advice for an unknown name: the functions whose names are like it."""
    near = difflib.get_close_matches(name, sorted({*UNARY, *BINARY}), n=3, cutoff=0.5)
    return f"similar: {', '.join(near)}" if near else "here"
