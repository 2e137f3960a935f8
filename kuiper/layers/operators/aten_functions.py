"""Functions of PyTorch that pnnx has no name for: ``aten::movedim`` and others, whose arguments are all operands.

The operands come in the order of TorchScript's schema: tensors as arrays, settings as the numbers, lists and Nones that
the graph computes. So each is one function here, with the arguments of the schema.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError, UnsupportedOperatorError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.norm import norm
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

Axes = int | list[int] | tuple[int, ...] | None


def cdist(x: Array, y: Array, p: float = 2.0, mode: int | None = None) -> Array:
    """The p-norm of each row of x (..., n, e) minus each row of y (..., m, e): (..., n, m).

    >>> cdist(np.float32([[0, 0]]), np.float32([[3, 4], [0, 1]]))
    array([[5., 1.]], dtype=float32)
    """
    if min(x.ndim, y.ndim) < 2 or x.shape[-1] != y.shape[-1]:
        raise ShapeError("cdist", "rows of one length, (..., n, e) and (..., m, e)", (x.shape, y.shape))
    return norm(x[..., :, None, :] - y[..., None, :, :], p, (-1,))


def linalg_norm(x: Array, order: Any = None, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The norm of vectors along one axis; over two axes, or all, the root of the sum of squares only.

    >>> linalg_norm(np.float32([[3, 4], [0, 2]]), None, [1])
    array([5., 2.], dtype=float32)
    """
    axes = () if dim is None else tuple(dim) if isinstance(dim, (list, tuple)) else (dim,)
    of_matrices = len(axes) == 2 or (not axes and x.ndim == 2)
    if (isinstance(order, str) and order != "fro") or (of_matrices and order not in (None, "fro")):
        raise UnsupportedOperatorError("linalg.norm", "a norm of vectors, or ord=fro", order)
    return norm(x, 2.0 if order in (None, "fro") else float(order), axes, keepdim)


def broadcast_to(x: Array, shape: list[int]) -> Array:
    """The tensor, repeated along axes of size one; -1 keeps the size of an axis.

    >>> broadcast_to(np.array([[1], [2]]), [2, 2])
    array([[1, 1],
           [2, 2]])
    """
    front = len(shape) - x.ndim
    wanted = tuple(x.shape[i - front] if size == -1 and i >= front else size for i, size in enumerate(shape))
    try:
        return np.broadcast_to(x, wanted)
    except ValueError:
        raise ShapeError("broadcast_to", f"an input that broadcasts to {wanted}", x.shape) from None


def take(x: Array, index: Array) -> Array:
    """Entries of the tensor as one long row.

    >>> take(np.array([[1, 2], [3, 4]]), np.array([3, -4]))
    array([4, 1])
    """
    return np.asarray(x.reshape(-1)[index])


def take_along_dim(x: Array, index: Array, dim: int | None = None) -> Array:
    """For each place the entry of its line along ``dim`` that ``index`` names; all other axes broadcast.

    >>> take_along_dim(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), 1)
    array([[2],
           [3]])
    """
    if dim is None:
        return np.asarray(x.reshape(-1)[index.reshape(-1)])
    return np.take_along_axis(x, index, dim)


def moments(x: Array, dim: Axes = None, correction: float | None = 1, keepdim: bool = False) -> tuple[Array, Array]:
    """Variance and mean, computed in float64; the sum of squares is divided by n - ``correction``.

    >>> moments(np.float32([[1, 3]]), [1])
    (array([2.], dtype=float32), array([2.], dtype=float32))
    """
    if isinstance(dim, bool):  # the schema without axes: (input, unbiased)
        correction, dim = float(dim), None
    axes = tuple(dim) if isinstance(dim, (list, tuple)) and len(dim) else dim if isinstance(dim, int) else None
    correction = 1 if correction is None else correction
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    squares = ((wide - mean) ** 2).sum(axis=axes, keepdims=keepdim)
    variance = squares / (x.size // mean.size - correction)
    return variance.astype(x.dtype), wide.mean(axis=axes, keepdims=keepdim).astype(x.dtype)


def std_mean(x: Array, dim: Axes = None, correction: float | None = 1, keepdim: bool = False) -> tuple[Array, Array]:
    """Standard deviation and mean, as ``moments``.

    >>> std_mean(np.float32([[1, 1]]), [1])
    (array([0.], dtype=float32), array([1.], dtype=float32))
    """
    variance, mean = moments(x, dim, correction, keepdim)
    return np.sqrt(variance), mean


def running_extreme(x: Array, dim: int, function: np.ufunc) -> tuple[Array, Array]:
    """The largest or smallest entry up to each place, and the place of the last that is as large.

    >>> running_extreme(np.array([1, 3, 2, 3]), 0, np.maximum)
    (array([1, 3, 3, 3]), array([0, 1, 1, 3]))
    """
    values = function.accumulate(x, axis=dim)
    shape = [-1 if axis == dim % x.ndim else 1 for axis in range(x.ndim)]
    places = np.arange(x.shape[dim], dtype=np.int64).reshape(shape)
    return values, np.maximum.accumulate(np.where(x == values, places, 0), axis=dim)


def median(x: Array, dim: int | None = None, keepdim: bool = False) -> Array | tuple[Array, Array]:
    """The lower of the middle entries along ``dim``, and its place; of all entries, only the entry.

    >>> median(np.array([4, 1, 3, 2]), 0)
    (array(2), array(3))
    """
    if dim is None:
        return np.asarray(np.sort(x, axis=None)[(x.size - 1) // 2])
    order = np.argsort(x, axis=dim, kind="stable").astype(np.int64)
    place = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    value = np.take_along_axis(x, place, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def diff(x: Array, n: int = 1, dim: int = -1, before: Array | None = None, after: Array | None = None) -> Array:
    """Each entry along ``dim`` minus the one before it, n times.

    >>> diff(np.array([1, 4, 9]), 1, 0)
    array([3, 5])
    """
    parts = [part for part in (before, x, after) if part is not None]
    whole = np.concatenate(parts, axis=dim)
    result: Array = np.diff(whole, min(n, whole.shape[dim]), axis=dim)  # NumPy goes on when there is nothing left
    return result


def places_in_order(boundaries: Array, values: Array, int32: bool = False, right: bool = False) -> Array:
    """How many boundaries, which are in order, lie before each value; with ``right`` equal ones count, too.

    >>> places_in_order(np.array([1, 3]), np.array([1, 2, 4]))
    array([0, 1, 2])
    """
    found = np.searchsorted(boundaries, values, "right" if right else "left")
    return np.asarray(found, np.int32 if int32 else np.int64)


def nan_to_num(x: Array, nan: float | None = None, high: float | None = None, low: float | None = None) -> Array:
    """NaN as 0, infinities as the largest numbers there are, or as the numbers given.

    >>> nan_to_num(np.float32([np.nan, np.inf]), None, 9.0)
    array([0., 9.], dtype=float32)
    """
    result: Array = np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=high, neginf=low)
    return result


def count_nonzero(x: Array, dim: Axes = None) -> Array:
    """How many entries are not 0.

    >>> count_nonzero(np.array([[1, 0], [2, 3]]), 1)
    array([1, 2])
    """
    return np.asarray(np.count_nonzero(x, axis=tuple(dim) if isinstance(dim, (list, tuple)) else dim), np.int64)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "aten::aminmax": lambda x, dim=None, keepdim=False: (
        np.min(x, axis=dim, keepdims=keepdim),
        np.max(x, axis=dim, keepdims=keepdim),
    ),
    "aten::broadcast_tensors": lambda tensors: tuple(np.broadcast_arrays(*tensors)),
    "aten::broadcast_to": broadcast_to,
    "aten::bucketize": lambda x, boundaries, *settings: places_in_order(boundaries, x, *settings),
    "aten::cdist": cdist,
    "aten::count_nonzero": count_nonzero,
    "aten::cummax": lambda x, dim: running_extreme(x, dim, np.maximum),
    "aten::cummin": lambda x, dim: running_extreme(x, dim, np.minimum),
    "aten::diff": diff,
    "aten::dot": np.dot,
    "aten::inner": np.inner,
    "aten::kron": np.kron,
    "aten::linalg_norm": linalg_norm,
    "aten::logcumsumexp": lambda x, dim: np.logaddexp.accumulate(x, axis=dim),
    "aten::median": median,
    "aten::movedim": np.moveaxis,
    "aten::nan_to_num": nan_to_num,
    "aten::outer": np.outer,
    "aten::rot90": lambda x, k=1, dims=(0, 1): np.rot90(x, k, tuple(dims)),
    "aten::sinc": np.sinc,
    "aten::std_mean": std_mean,
    "aten::take": take,
    "aten::take_along_dim": take_along_dim,
    "aten::trace": np.trace,
    "aten::var_mean": moments,
    "prim::DictConstruct": lambda *keys_and_values: keys_and_values[1::2],
}


class AtenFunction(Layer):
    """One function of the operands, in the order in which they are there.

    Source: torch's function of that name; its schema in PyTorch's native_functions.yaml.
    """

    data_inputs = None

    def forward(self, *inputs: Any) -> Any:
        result = _KNOWN[self.op.type](*inputs)
        if len(self.op.outputs) == 1 and isinstance(result, tuple):
            return result if self.op.type in _TUPLES else result[0]
        return result if isinstance(result, tuple) else np.asarray(result)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        if self.op.type == "aten::cdist":
            return 3 * math.prod(outputs[0]) * inputs[0][-1]
        return 0


_KNOWN: dict[str, Callable[..., Any]] = {}

_TUPLES: set[str] = set()
"""Functions whose one output is a tuple; of the others, pnnx leaves out those behind the first that nobody reads."""


def register_functions(functions: dict[str, Callable[..., Any]], tuples: tuple[str, ...] = ()) -> None:
    """Make an operator of each function.

    Parameters
    ----------
    functions : by the type of the operator; their arguments are its operands, in the order of the schema
    tuples : of these types, the one output is the whole tuple that the function returns
    """
    _KNOWN.update(functions)
    _TUPLES.update(tuples)
    register(*functions)(AtenFunction)


register_functions(_FUNCTIONS, tuples=("aten::broadcast_tensors", "prim::DictConstruct"))
