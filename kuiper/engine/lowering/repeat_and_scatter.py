"""Numbers in other places, as copies between views: repetitions, diagonals, parts that are replaced.

diag_embed     zeros | a copy to the diagonal of the output
slice_scatter  a copy of the whole | a copy of the source to the slice
tile           one copy of a view in which the axes that repeat have stride 0
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, axis_of, decline_if
from kuiper.engine.lowering.aten_functions import float_tensors, lowers_function, settings_of
from kuiper.engine.lowering.placement import copy_between, memory_by_rows, memory_like, view_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.reshape import reshaped
from kuiper.engine.lowering.roll import rolled
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value, narrow
from kuiper.errors import KuiperError
from kuiper.layers.operators.repeat import Repeat
from kuiper.layers.operators.slice import part_of
from kuiper.layers.operators.slice_copy import SliceCopy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.lowering.aten_functions import Arguments
    from kuiper.layers.layer import Array


@lowers(Repeat)
def lower_repeat(layer: Repeat, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Tensor.repeat and torch.tile."""
    x = builder.on_arena(inputs[0])
    decline_if(not (layer.is_tile or len(layer.sizes) >= x.view.ndim) or 0 in layer.sizes)
    axes = max(x.view.ndim, len(layer.sizes))
    old, times = ((1,) * (axes - len(sizes)) + tuple(sizes) for sizes in (x.shape, layer.sizes))
    shape = tuple(size * count for size, count in zip(old, times, strict=True))
    decline_if(not shape)
    parts = [part for pair in zip(times, old, strict=True) for part in pair]
    source = np.broadcast_to(x.view.reshape([part for size in old for part in (1, size)]), parts)
    out = memory_by_rows(builder, shape)
    copy_between(builder, Value(x.buffer, source), Value(out.buffer, out.view.reshape(parts)))
    return [out]


@lowers(SliceCopy)
def lower_slice_copy(layer: SliceCopy, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Tensor.slice_copy and torch.slice_scatter."""
    decline_if(len(inputs) != 2)
    cut = partial(part_of, dims=layer.dims, cuts=layer.cuts, where=layer.op.where)
    return [_replaced(builder, inputs, cut, broadcasts=True)]


@lowers_function("aten::select_scatter")
def lower_select_scatter(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.select_scatter."""
    dim, index = arguments[2:]
    decline_if(not (isinstance(dim, int) and isinstance(index, int)))
    return [_replaced(builder, arguments[:2], lambda whole: np.moveaxis(whole, dim, 0)[index, ...])]


@lowers_function("aten::diagonal_scatter")
def lower_diagonal_scatter(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.diagonal_scatter."""
    decline_if(not all(isinstance(one, int) for one in arguments[2:]))
    return [_replaced(builder, arguments[:2], lambda whole: np.diagonal(whole, *arguments[2:]))]


def _replaced(
    builder: Builder, arguments: Sequence[Any], cut: Callable[[Array], Array], broadcasts: bool = False
) -> Value:
    """The first tensor with the second in the place of the view that ``cut`` makes of it."""
    x, source = float_tensors(builder, arguments)
    try:
        part = cut(x.view)
        wide = np.broadcast_to(source.view, part.shape)
    except (KuiperError, IndexError, ValueError) as error:  # the layer says why
        raise Declined from error
    decline_if(x.view.ndim > MAX_NDIM or not part.size or not (broadcasts or source.shape == part.shape))
    out = memory_like(builder, x, x.shape)
    copy_into(builder, x, out)
    copy_into(builder, Value(source.buffer, wide), Value(out.buffer, cut(out.view)))
    return out


@lowers_function("aten::diag_embed")
def lower_diag_embed(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.diag_embed: lines of the last axis become diagonals in two new axes."""
    (x,), settings = float_tensors(builder, arguments[:1]), settings_of(arguments[1:], (0, -2, -1))
    decline_if(not all(isinstance(one, int) for one in settings))
    (offset, dim1, dim2), rank = settings, x.view.ndim + 1
    dims = {axis_of(dim, rank) for dim in (dim1, dim2)}
    decline_if(not 2 <= rank <= MAX_NDIM or len(dims) < 2)
    size = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for dim in sorted(dims):
        shape.insert(dim, size)
    return _on_diagonal(builder, x, tuple(shape), offset, dim1, dim2)


@lowers_function("aten::diagflat")
def lower_diagflat(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.diagflat of a row."""
    (x,), offset = float_tensors(builder, arguments[:1], 1), arguments[1] if len(arguments) > 1 else 0
    decline_if(not isinstance(offset, int))
    size = x.shape[0] + abs(offset)
    return _on_diagonal(builder, x, (size, size), offset, 0, 1)


def _on_diagonal(builder: Builder, x: Value, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> list[Value]:
    """Zeros of this shape, with ``x`` on the diagonal of two axes."""
    out = memory_by_rows(builder, shape)
    zeros = builder.constant(np.zeros(shape[-1:], np.float32))
    copy_into(builder, Value(zeros.buffer, np.broadcast_to(zeros.view, shape)), out)
    copy_into(builder, x, Value(out.buffer, np.diagonal(out.view, offset, dim1, dim2)))
    return [out]


@lowers_function("aten::narrow_copy")
def lower_narrow_copy(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.narrow_copy: here a view, since nothing is ever written to."""
    (x,), (dim, start, length) = float_tensors(builder, arguments[:1]), arguments[1:]
    decline_if(not all(isinstance(one, int) for one in arguments[1:]))
    axis = axis_of(dim, x.view.ndim)
    decline_if(not 0 <= start < start + length <= x.shape[axis])
    return [narrow(x, axis, start, length)]


@lowers_function("aten::fft_fftshift")
def lower_fftshift(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.fft.fftshift: the middle comes first, as by torch.roll."""
    found, dims = float_tensors(builder, arguments[:1]), arguments[1] if len(arguments) > 1 else None
    if found is None or found[0].view.ndim > MAX_NDIM:
        raise Declined
    (x,) = found
    axes = range(x.view.ndim) if dims is None else [dims] if isinstance(dims, int) else dims
    decline_if(not all(-x.view.ndim <= axis < x.view.ndim for axis in axes))
    return [rolled(builder, x, {axis % x.view.ndim: x.shape[axis] // 2 for axis in axes})]


@lowers_function("aten::ravel")
def lower_ravel(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.ravel: a view, or one copy."""
    (x,) = float_tensors(builder, arguments)
    decline_if(x.view.ndim == 0)
    return [view_of(x, x.view.reshape(-1)) or reshaped(builder, x, (x.view.size,))]
