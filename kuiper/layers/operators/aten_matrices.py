"""Products and norms of matrices for which pnnx has no name: ``aten::tensordot``, ``aten::bilinear``, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ExecutionError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.aten_functions import register_functions

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def bilinear(x: Array, y: Array, weight: Array, bias: Array | None = None) -> Array:
    """For each output o the sum of x[i] weight[o, i, j] y[j], plus a bias.

    >>> bilinear(np.float32([1, 2]), np.float32([3]), np.float32([[[1], [1]]]))
    array([9.], dtype=float32)
    """
    product = np.einsum("...i,oij,...j->...o", x, weight, y, optimize=True)
    return np.asarray(product if bias is None else product + bias, x.dtype)


def matrix_norm(
    x: Array, order: Any = "fro", dim: tuple[int, ...] = (-2, -1), keepdim: bool = False, dtype: Any = None
) -> Array:
    """A norm of the matrices in two axes, computed in float64: ``fro``, ``nuc``, 1, 2, inf, or a number negated.

    ``nuc`` is the sum of the singular values, 2 the largest and -2 the smallest of them.

    >>> matrix_norm(np.float32([[1, -2], [3, 4]]), 1)
    array(6., dtype=float32)

    Raises
    ------
    UnsupportedOperatorError
        If there is no such norm, or another element type is asked for.
    ShapeError
        If ``dim`` does not name two axes.
    """
    if order not in _MATRIX_NORMS:
        raise UnsupportedOperatorError("matrix_norm", f"ord among {', '.join(map(str, _MATRIX_NORMS))}", order)
    if dtype is not None:
        raise UnsupportedOperatorError("matrix_norm", "dtype=None", dtype)
    if len({axis % x.ndim for axis in dim if -x.ndim <= axis < x.ndim} if x.ndim else ()) != 2 or len(dim) != 2:
        raise ShapeError("matrix_norm", f"an input with two axes {tuple(dim)}", x.shape)
    return np.asarray(np.linalg.norm(x.astype(np.float64), order, tuple(dim), keepdim), x.dtype)


def matrix_power(x: Array, exponent: int) -> Array:
    """The matrices (..., n, n) multiplied with themselves; with a negative exponent their inverses.

    >>> matrix_power(np.float32([[0, 2], [1, 0]]), -2)
    array([[0.5, 0. ],
           [0. , 0.5]], dtype=float32)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ExecutionError
        If one that is to be inverted has no inverse.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError("matrix_power", "matrices (..., n, n)", x.shape)
    if exponent < 0 and not np.linalg.slogdet(x)[0].all():  # NumPy itself sees it where the CPU has flags for floats
        raise ExecutionError("matrix_power", "matrices that have an inverse", "a singular one")
    return np.linalg.matrix_power(x, exponent)


_MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))


register_functions(
    {
        "aten::addmv": lambda x, matrix, vector, beta=1, alpha=1: beta * x + alpha * (matrix @ vector),
        "aten::addr": lambda x, a, b, beta=1, alpha=1: beta * x + alpha * np.outer(a, b),
        "aten::bilinear": bilinear,
        "aten::linalg_matrix_norm": matrix_norm,
        "aten::linalg_matrix_power": matrix_power,
        "aten::linalg_multi_dot": np.linalg.multi_dot,
        "aten::linalg_vecdot": lambda x, y, dim=-1: np.sum(x * y, axis=dim),
        "aten::tensordot": lambda x, y, of_x, of_y: np.tensordot(x, y, (list(of_x), list(of_y))),
    }
)
