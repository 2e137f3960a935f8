"""Functions of each number for which pnnx has no name: ``aten::logit``, ``aten::heaviside``, ``aten::isclose``, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.operators.aten_functions import register_functions

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def logit(x: Array, eps: float | None = None) -> Array:
    """log(x / (1 - x)); with ``eps``, x is first put between eps and 1 - eps.

    >>> logit(np.float32([0.5, 0]), 0.25)
    array([ 0.       , -1.0986123], dtype=float32)
    """
    wide = x.astype(np.float64)
    if eps is not None:
        wide = np.clip(wide, eps, 1 - eps)
    result: Array = (np.log(wide) - np.log1p(-wide)).astype(x.dtype)
    return result


def heaviside(x: Array, at_zero: Array) -> Array:
    """1 above 0, 0 below, at 0 the number that is given.

    >>> heaviside(np.float32([-1, 0, 2]), np.float32([7]))
    array([0., 7., 1.], dtype=float32)
    """
    return np.where(x == 0, at_zero, (x > 0).astype(x.dtype))


def isclose(x: Array, y: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether x is within ``atol + rtol * |y|`` of y.

    >>> isclose(np.float32([1, 2]), np.float32([1.000001, 2.1]))
    array([ True, False])
    """
    return np.asarray(np.isclose(x, y, rtol, atol, equal_nan))


def isin(elements: Any, among: Any, assume_unique: bool = False, invert: bool = False) -> Array:
    """Whether each number is one of others.

    >>> isin(np.array([1, 2, 3]), np.array([3, 1]))
    array([ True, False,  True])
    """
    return np.asarray(np.isin(elements, among, invert=invert))


register_functions(
    {
        "aten::gcd": np.gcd,
        "aten::heaviside": heaviside,
        "aten::isclose": isclose,
        "aten::isfinite": np.isfinite,
        "aten::isin": isin,
        "aten::isneginf": lambda x: x == -np.inf,
        "aten::isposinf": lambda x: x == np.inf,
        "aten::lcm": np.lcm,
        "aten::logaddexp2": np.logaddexp2,
        "aten::logit": logit,
        "aten::nextafter": np.nextafter,
        "aten::signbit": np.signbit,
    }
)
