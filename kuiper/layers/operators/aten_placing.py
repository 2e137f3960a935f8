"""Numbers written to places of a tensor, for which pnnx has no name: ``aten::index_add``, ``aten::masked_scatter``, ...

The input is left alone: what comes out is a copy with other numbers in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.aten_functions import register_functions

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def index_add(x: Array, dim: int, index: Array, source: Array, alpha: float = 1) -> Array:
    """``alpha`` times the slices of the source added to the slices of x that the index names, repeated ones as well.

    >>> index_add(np.array([1, 2, 3]), 0, np.array([2, 2]), np.array([10, 20]))
    array([ 1,  2, 33])
    """
    out: Array = x.copy()
    np.add.at(np.moveaxis(out, dim, 0), index, np.moveaxis(np.asarray(alpha * source, x.dtype), dim, 0))
    return out


def index_copy(x: Array, dim: int, index: Array, source: Array | float) -> Array:
    """The slices of the source, or one number, in the place of the slices of x that the index names.

    >>> index_copy(np.array([1, 2, 3]), 0, np.array([2, 0]), np.array([8, 9]))
    array([9, 2, 8])
    """
    out: Array = x.copy()
    np.moveaxis(out, dim, 0)[index] = np.moveaxis(np.asarray(source), dim, 0) if np.ndim(source) else source
    return out


def masked_scatter(x: Array, mask: Array, source: Array) -> Array:
    """The numbers of the source, in order, in the places where the mask is True.

    >>> masked_scatter(np.array([1, 2, 3]), np.array([True, False, True]), np.array([7, 8, 9]))
    array([7, 2, 8])
    """
    wide, mask = np.broadcast_arrays(x, mask)
    out: Array = wide.copy()
    count = int(mask.sum())
    if source.size < count:
        raise ShapeError("masked_scatter", f"a source of at least {count} numbers", source.shape)
    out[mask] = source.reshape(-1)[:count]
    return out


_REDUCTIONS: dict[str, tuple[np.ufunc, float]] = {
    "sum": (np.add, 0), "mean": (np.add, 0), "prod": (np.multiply, 1), "amax": (np.maximum, -np.inf),
    "amin": (np.minimum, np.inf),
}  # fmt: skip


def scatter_reduce(
    x: Array, dim: int, index: Array, source: Array, how: str = "sum", include_self: bool = True
) -> Array:
    """The sum, product, mean, largest or smallest of all numbers of the source that the index sends to a place.

    >>> scatter_reduce(np.float32([1, 2]), 0, np.array([1, 1]), np.float32([5, 9]), "mean", False)
    array([1., 7.], dtype=float32)
    """
    if how not in _REDUCTIONS:
        raise UnsupportedOperatorError("scatter_reduce", f"reduce among {', '.join(_REDUCTIONS)}", how)
    if index.ndim != x.ndim or any(a > b for a, b in zip(index.shape, source.shape, strict=True)):
        raise ShapeError("scatter_reduce", f"an index of {x.ndim} axes, no longer than the source", index.shape)
    function, neutral = _REDUCTIONS[how]
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    taken = source[tuple(map(slice, index.shape))]
    counts = np.zeros(x.shape, np.int64)
    np.add.at(counts, tuple(places), 1)
    start = x if include_self else np.where(counts > 0, x.dtype.type(neutral) if x.dtype.kind == "f" else 0, x)
    if not include_self and x.dtype.kind != "f" and how not in ("sum", "mean"):
        raise UnsupportedOperatorError("scatter_reduce", "floats where include_self=False", x.dtype)
    out = np.array(start, x.dtype)
    function.at(out, tuple(places), taken)
    if how != "mean":
        return out
    shares = np.maximum(counts + include_self, 1)
    return np.asarray(out / shares if x.dtype.kind == "f" else out // shares, x.dtype)


def select_scatter(x: Array, source: Array, dim: int, index: int) -> Array:
    """x with the source in the place of one slice.

    >>> select_scatter(np.array([[1, 2], [3, 4]]), np.array([8, 9]), 1, 0)
    array([[8, 2],
           [9, 4]])
    """
    out: Array = x.copy()
    np.moveaxis(out, dim, 0)[index] = source
    return out


def diagonal_scatter(x: Array, source: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """x with the source as one of its diagonals.

    >>> diagonal_scatter(np.array([[1, 2], [3, 4]]), np.array([8, 9]))
    array([[8, 2],
           [3, 9]])
    """
    out: Array = x.copy()
    turned = np.moveaxis(out, (dim1, dim2), (-2, -1))
    places = np.arange(source.shape[-1])
    turned[..., places + max(-offset, 0), places + max(offset, 0)] = source
    return out


def put(x: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """The numbers of the source at places of x, which are counted as if it were one long row.

    >>> put(np.array([[1, 2], [3, 4]]), np.array([0, 3]), np.array([8, 9]))
    array([[8, 2],
           [3, 9]])
    """
    out: Array = x.copy()
    row: Any = out.reshape(-1)
    if accumulate:
        np.add.at(row, index.reshape(-1), source.reshape(-1))
    else:
        row[index.reshape(-1)] = source.reshape(-1)
    return out


register_functions(
    {
        "aten::diagonal_scatter": diagonal_scatter,
        "aten::index_add": index_add,
        "aten::index_copy": index_copy,
        "aten::index_fill": index_copy,
        "aten::masked_scatter": masked_scatter,
        "aten::put": put,
        "aten::scatter_reduce": scatter_reduce,
        "aten::select_scatter": select_scatter,
    }
)
