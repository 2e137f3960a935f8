"""Numbers in another place or shape, for which pnnx has no name: ``aten::hstack``, ``aten::diagonal``, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.operators.aten_functions import register_functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.layers.layer import Array


def block_diagonal(tensors: list[Array]) -> Array:
    """Matrices along a diagonal, zeros around them.

    >>> block_diagonal([np.array([[1, 2]]), np.array([3])])
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    blocks = [np.atleast_2d(tensor) for tensor in tensors]
    out = np.zeros(np.sum([block.shape for block in blocks], axis=0), np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        h, w = block.shape
        out[row : row + h, column : column + w] = block
        row, column = row + h, column + w
    return out


def diagonal_embedded(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Each line of the last axis as a diagonal of a matrix in two new axes.

    >>> diagonal_embedded(np.array([1, 2]), 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    places = np.arange(x.shape[-1])
    out[..., places + max(-offset, 0), places + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def products_of_sets(tensors: list[Array]) -> Array:
    """Every row that takes one number of each tensor.

    >>> products_of_sets([np.array([1, 2]), np.array([5, 6])])
    array([[1, 5],
           [1, 6],
           [2, 5],
           [2, 6]])
    """
    if len(tensors) == 1:
        return tensors[0]
    return np.stack([axis.reshape(-1) for axis in np.meshgrid(*tensors, indexing="ij")], axis=-1)


def _of_parts(split: Callable[..., Any]) -> Callable[[Array, Any], tuple[Array, ...]]:
    """A function of NumPy that splits, as PyTorch calls it."""
    return lambda x, parts: tuple(split(x, list(parts) if isinstance(parts, (list, tuple)) else parts))


def _of_at_least(axes: int) -> Callable[[Any], Any]:
    """A tensor, or each of a list, with this many axes at least."""

    def widened(x: Array) -> Array:
        missing = axes - x.ndim
        if missing <= 0:
            return x
        return x.reshape(
            (1, *x.shape, 1)
            if axes == 3 and x.ndim == 1
            else (*x.shape, 1)
            if axes == 3 and x.ndim == 2
            else (1,) * missing + x.shape
        )

    return lambda given: tuple(map(widened, given)) if isinstance(given, (list, tuple)) else widened(given)


register_functions(
    {
        "aten::argwhere": lambda x: np.argwhere(x).astype(np.int64),
        "aten::atleast_1d": _of_at_least(1),
        "aten::atleast_2d": _of_at_least(2),
        "aten::atleast_3d": _of_at_least(3),
        "aten::block_diag": block_diagonal,
        "aten::cartesian_prod": products_of_sets,
        "aten::column_stack": np.column_stack,
        "aten::diag_embed": diagonal_embedded,
        "aten::diagflat": lambda x, offset=0: np.diagflat(x, offset),
        "aten::diagonal": lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
        "aten::dsplit": _of_parts(np.dsplit),
        "aten::dstack": np.dstack,
        "aten::fft_fftshift": lambda x, dim=None: np.fft.fftshift(x, dim),
        "aten::fliplr": np.fliplr,
        "aten::flipud": np.flipud,
        "aten::hsplit": _of_parts(np.hsplit),
        "aten::hstack": np.hstack,
        "aten::narrow_copy": lambda x, dim, start, length: np.take(x, range(start, start + length), dim),
        "aten::numpy_T": lambda x: x.T,
        "aten::ravel": np.ravel,
        "aten::vander": lambda x, n=None, increasing=False: np.vander(x, n, increasing).astype(x.dtype),
        "aten::vsplit": _of_parts(np.vsplit),
        "aten::vstack": np.vstack,
        "aten::where": lambda condition: tuple(places.astype(np.int64) for places in np.nonzero(condition)),
    },
    tuples=("aten::dsplit", "aten::hsplit", "aten::vsplit", "aten::where"),
)
