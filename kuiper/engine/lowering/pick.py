"""Numbers picked by index: gather, index_select, and tables of vectors (embeddings)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import Declined, axis_of, decline_if
from kuiper.engine.kernels.panel_rows import PanelRows
from kuiper.engine.kernels.pick import Pick
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering.projection import packed_table, stored
from kuiper.engine.lowering.quantized import lower_quantized_embedding, quantized_table
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.tables import lies_in_panels
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import end_of, pixels_of
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.embedding import Embedding, FunctionalEmbedding
from kuiper.layers.operators.gather import Gather, IndexSelect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.transfers import End
    from kuiper.layers.layer import Array
    from kuiper.layers.operators.attribute import Attribute


@lowers(Gather)
def lower_gather(layer: Gather, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.gather."""
    x, index = (builder.tensor(value) for value in inputs)
    decline_if(not x.view.ndim == index.view.ndim <= MAX_NDIM or not is_index(index))
    dim = axis_of(layer.dim, x.view.ndim)
    decline_if(any(i > n for axis, (i, n) in enumerate(zip(index.shape, x.shape, strict=True)) if axis != dim))
    corner = x.view[tuple(slice(1 if axis == dim else n) for axis, n in enumerate(index.shape))]
    return [picked(builder, x, dim, corner, index, index.shape, from_end=layer.from_end)]


@lowers(IndexSelect)
def lower_index_select(layer: IndexSelect, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.index_select."""
    x, index = (builder.tensor(value) for value in inputs)
    decline_if(not is_index(index) or index.view.ndim != 1 or x.view.ndim > MAX_NDIM)
    dim = axis_of(layer.dim, x.view.ndim)
    shape = (*x.shape[:dim], index.shape[0], *x.shape[dim + 1 :])
    along = index.view.reshape(-1, *(1 for _ in x.shape[dim + 1 :]))
    first = x.view[(slice(None),) * dim + (slice(1),)]
    return [picked(builder, x, dim, first, Value(index.buffer, along), shape, from_end=layer.from_end)]


@lowers(Embedding)
def lower_embedding(layer: Embedding, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Embedding."""
    if layer.quantized is not None:
        return lower_quantized_embedding(builder, layer.quantized, builder.tensor(inputs[0]))
    return [_looked_up(builder, builder.tensor(inputs[0]), layer.weight)]


@lowers(FunctionalEmbedding)
def lower_functional_embedding(
    layer: FunctionalEmbedding, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """F.embedding with a table that is stored with the model."""
    assert builder.op is not None
    quantized, in_panels = quantized_table(builder, 1), lies_in_panels(builder.op.inputs[1])
    if quantized is not None and len(quantized.shape) == 2:
        return lower_quantized_embedding(builder, quantized, builder.tensor(inputs[0]), in_panels)
    table = stored(builder, 1)
    if table is None:
        raise Declined
    index = builder.tensor(inputs[0])
    if in_panels and _suits_panels(index, table):
        return [_looked_up_in_panels(builder, index, table, layer.from_end)]
    return [_looked_up(builder, index, table.data, layer.from_end)]


def _suits_panels(index: Value, table: Attribute) -> bool:
    fits = index.view.dtype == np.int64 and index.view.flags.c_contiguous and index.view.ndim < MAX_NDIM
    return fits and len(table.shape) == 2 and 0 not in table.shape


def _looked_up_in_panels(builder: Builder, index: Value, table: Attribute, from_end: bool) -> AnyValue:
    """Rows of a table that lies in the panels of a product, which are those of as many rows as there are indices."""
    size, depth = table.shape
    packed = packed_table(builder, 1, table, index.view.size)
    out = builder.rows((*index.shape, depth), fixed=True)
    out_rows, error_flag = pixels_of(builder, out), builder.shared_error_flag()

    def make() -> PanelRows:
        numbers = {
            "index": index.byte_offset, "out": out_rows.offset, "out_row": out_rows.strides[3],
            "count": index.view.size, "size": size, "lowest": -size if from_end else 0, "depth": depth,
            "error_flag": error_flag.offset,
        }  # fmt: skip
        return PanelRows(numbers, packed.weights, packed.panels)

    builder.emit(
        "rows from panels",
        make,
        reads=[index, Value(error_flag, error_flag.placeholder)],
        writes=[out],
        more_bytes=out.view.nbytes,
    )
    return out


def _looked_up(builder: Builder, index: Value, table: Array, from_end: bool = False) -> AnyValue:
    """Rows of a table, which stays where it is: an arena has no copy of it."""
    decline_if(not is_index(index) or table.ndim != 2 or table.dtype != np.float32 or table.size == 0)
    decline_if(index.view.ndim >= MAX_NDIM)
    count, width = table.shape
    rows = np.ascontiguousarray(table)
    binding = builder.bind(builder.python_value(rows, constant=True))
    shape = (*index.shape, width)
    source = Source(
        lambda: 4 * width,
        count,
        rows.dtype,
        lambda: (binding[0], 0, TYPES["float32"], (*(0 for _ in index.shape), 4)),
        (),
        from_end,
    )
    return emit_pick(builder, source, Value(index.buffer, index.view[..., None]), shape, [binding])


def is_index(value: Value) -> bool:
    return value.view.dtype in (np.int64, np.int32)


@dataclass(frozen=True, slots=True)
class Source:
    """What is picked from: bytes from index to index, how many there are, and where an index of 0 everywhere points."""

    step: Callable[[], int]
    size: int
    dtype: np.dtype
    first: Callable[[], End]
    reads: tuple[Value, ...]
    from_end: bool = False  # whether an index may count from there


def pick_along(builder: Builder, x: Value, dim: int, table: Array, out: Value) -> Value:
    """``x`` with the entries along ``dim`` that the table names, which lie within it; ``out`` is where they go."""
    index = builder.typed_constant(table.astype(np.int64).reshape(-1, *(1 for _ in x.shape[dim + 1 :])))
    first = x.view[(slice(None),) * dim + (slice(1),)]
    return picked(builder, x, dim, first, index, out.shape, out)


def picked(
    builder: Builder,
    x: Value,
    dim: int,
    first: Array,
    index: Value,
    shape: tuple[int, ...],
    out: Value | None = None,
    from_end: bool = False,
) -> Value:
    """Numbers of ``x``; ``first`` is the view of it that indices of 0 pick, and broadcasts to ``shape``."""
    where = Value(x.buffer, first)
    source = Source(
        lambda: x.view.strides[dim], x.shape[dim], x.view.dtype, lambda: end_of(where, shape), (x,), from_end
    )
    return emit_pick(builder, source, index, shape, [], out)


def emit_pick(
    builder: Builder,
    source: Source,
    index: Value,
    shape: tuple[int, ...],
    bindings: Sequence[tuple[int, PythonValue]],
    place: Value | None = None,
) -> Value:
    """Add ``out = source[.. index ..]``, in new memory unless there is a place for it."""
    is_float = source.dtype == np.float32
    out = place or (builder.rows(shape, exact=True) if is_float else builder.typed(shape, source.dtype))
    error_flag = builder.shared_error_flag()
    lowest = -source.size if source.from_end else 0
    numbers = {"size": source.size, "lowest": lowest, "element": source.dtype.itemsize}

    def make() -> Pick:
        ends = [end_of(out, shape), end_of(index, shape), source.first()]
        return Pick({**numbers, "step": source.step(), "error_flag": error_flag.offset}, shape, ends)

    builder.emit(
        "pick",
        make,
        reads=[*source.reads, index, Value(error_flag, error_flag.placeholder)],
        writes=[out],
        more_bytes=out.view.nbytes,
        bindings=bindings,
        relocatable=True,
    )
    return out
