"""Statistics for which pnnx has no name: ``aten::cov``, ``aten::quantile``, ``aten::searchsorted``, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.operators.aten_functions import Axes, cdist, places_in_order, register_functions
from kuiper.layers.operators.norm import norm

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def cov(x: Array, correction: int = 1, counts: Array | None = None, weights: Array | None = None) -> Array:
    """How the rows of x vary together, (rows, rows); the sum over the columns is divided by n - ``correction``.

    >>> cov(np.float32([[1, 3], [2, 6]]))
    array([[2., 4.],
           [4., 8.]], dtype=float32)
    """
    return np.asarray(np.cov(x.astype(np.float64), ddof=correction, fweights=counts, aweights=weights), x.dtype)


def corrcoef(x: Array) -> Array:
    """``cov`` divided by the standard deviations of both rows.

    >>> corrcoef(np.float32([[1, 3], [6, 2]]))
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    return np.asarray(np.corrcoef(x.astype(np.float64)), x.dtype)


def renorm(x: Array, p: float, dim: int, most: float) -> Array:
    """Each slice along ``dim`` whose p-norm is larger than ``most``, made as small as that.

    >>> renorm(np.float32([[3, 4], [0.3, 0.4]]), 2, 0, 1.0)
    array([[0.6, 0.8],
           [0.3, 0.4]], dtype=float32)
    """
    others = tuple(axis for axis in range(x.ndim) if axis != dim % x.ndim)
    norms = norm(x, float(p), others, True)
    scale = np.where(norms > most, most / (norms + 1e-7), 1).astype(x.dtype)
    return np.asarray(x * scale)


def search(
    order: Array, values: Any, int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Array:
    """How many numbers of a row that is in order lie before each value; row by row where there are several.

    >>> search(np.array([[1, 3], [2, 9]]), np.array([[2], [2]]))
    array([[1],
           [0]])
    """
    right = right or side == "right"
    if sorter is not None:
        order = np.take_along_axis(order, sorter, -1)
    wanted = np.asarray(values)
    if order.ndim == 1:
        return places_in_order(order, wanted, int32, right)
    if order.shape[:-1] != wanted.shape[:-1]:
        raise ShapeError("searchsorted", f"values of shape {order.shape[:-1]} in front of the last axis", wanted.shape)
    rows = zip(order.reshape(-1, order.shape[-1]), wanted.reshape(-1, wanted.shape[-1]), strict=True)
    found = [places_in_order(row, value, int32, right) for row, value in rows]
    return np.reshape(np.asarray(found, np.int32 if int32 else np.int64), wanted.shape)


def quantile(x: Array, q: Any, dim: int | None = None, keepdim: bool = False, how: str = "linear") -> Array:
    """The number below which the part ``q`` of the numbers along ``dim`` lies.

    >>> quantile(np.float32([[1, 2, 3, 4]]), 0.5, 1)
    array([2.5], dtype=float32)
    """
    found = np.quantile(x.astype(np.float64), np.asarray(q, np.float64), dim, method=how, keepdims=keepdim)  # type: ignore[call-overload]
    return np.asarray(found, x.dtype)


def nan_quantile(x: Array, q: Any, dim: int | None = None, keepdim: bool = False, how: str = "linear") -> Array:
    """``quantile`` of the numbers that are not NaN."""
    found = np.nanquantile(x.astype(np.float64), np.asarray(q, np.float64), dim, method=how, keepdims=keepdim)  # type: ignore[call-overload]
    return np.asarray(found, x.dtype)


def kth_value(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The k-th smallest number along ``dim``, counted from 1, and its place.

    >>> kth_value(np.array([5, 1, 3]), 2)
    (array(3), array(2))
    """
    if not 1 <= k <= x.shape[dim]:
        raise ShapeError("kthvalue", f"an axis of at least {k} numbers, k from 1 on", x.shape)
    place = np.take(np.argsort(x, axis=dim, kind="stable").astype(np.int64), [k - 1], axis=dim)
    value = np.take_along_axis(x, place, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def nan_mean(x: Array, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """The mean of the numbers that are not NaN.

    >>> nan_mean(np.float32([[1, np.nan, 3]]), 1)
    array([2.], dtype=float32)
    """
    counts = np.sum(~np.isnan(x), axis=_axes(dim), keepdims=keepdim)
    return np.asarray(np.nansum(x, axis=_axes(dim), keepdims=keepdim, dtype=np.float64) / counts, x.dtype)


def histogram(x: Array, bins: int = 100, low: float = 0, high: float = 0) -> Array:
    """How many numbers lie in each of ``bins`` parts of the range; with low = high, of the range of the numbers.

    >>> histogram(np.float32([1, 2, 2, 9]), 2, 0, 4)
    array([1., 2.], dtype=float32)
    """
    if low == high:
        low, high = float(x.min(initial=np.inf)), float(x.max(initial=-np.inf))
    return np.histogram(x, bins, (low, high))[0].astype(x.dtype)


def distances(x: Array, p: float = 2.0) -> Array:
    """The p-norm of the difference of each pair of rows, (0, 1), (0, 2), ..., (1, 2), ...

    >>> distances(np.float32([[0, 0], [3, 4], [0, 1]]))
    array([5.       , 1.       , 4.2426405], dtype=float32)
    """
    return np.asarray(cdist(x, x, p)[np.triu_indices(len(x), 1)])


def cosine_similarity(x: Array, y: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    """The cosine of the angle between vectors along ``dim``; lengths below ``eps`` count as ``eps``.

    >>> cosine_similarity(np.float32([[3, 4]]), np.float32([[0, 5]]))
    array([0.8], dtype=float32)
    """
    lengths = np.maximum(norm(x, 2.0, (dim,), True), eps), np.maximum(norm(y, 2.0, (dim,), True), eps)
    return np.asarray(np.sum((x / lengths[0]) * (y / lengths[1]), axis=dim, dtype=x.dtype))


def bin_count(x: Array, weights: Array | None = None, least: int = 0) -> Array:
    """How often each number from 0 to the largest, or to ``least`` - 1, is there; with weights their sums.

    >>> bin_count(np.array([2, 0, 2]), least=4)
    array([1, 0, 2, 0])
    """
    return np.asarray(np.bincount(x, weights, least), np.int64 if weights is None else None)


def _axes(dim: Axes) -> Any:
    return tuple(dim) if isinstance(dim, (list, tuple)) and len(dim) else dim if isinstance(dim, int) else None


register_functions(
    {
        "aten::bincount": bin_count,
        "aten::corrcoef": corrcoef,
        "aten::cosine_similarity": cosine_similarity,
        "aten::cov": cov,
        "aten::dist": lambda x, y, p=2: norm(x - y, float(p), (), False),
        "aten::histc": histogram,
        "aten::kthvalue": kth_value,
        "aten::msort": lambda x: np.sort(x, axis=0),
        "aten::nanmean": nan_mean,
        "aten::nanquantile": nan_quantile,
        "aten::nansum": lambda x, dim=None, keepdim=False, dtype=None: np.nansum(x, axis=_axes(dim), keepdims=keepdim),
        "aten::pdist": distances,
        "aten::quantile": quantile,
        "aten::renorm": renorm,
        "aten::searchsorted": search,
    }
)
