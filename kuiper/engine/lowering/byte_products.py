"""Products of two matrices of bytes, or stacks of them, which the graph computes: QLinearMatMul and MatMulInteger."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.byte_product import ByteMatrixProduct
from kuiper.engine.kernels.integer_convolution import FORMS, ROWS
from kuiper.engine.lowering.byte_values import bytes_on_arena
from kuiper.engine.lowering.matmul import product_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.lowering.byte_sums import Requantisation, WholeNumbers
    from kuiper.engine.step import Step
    from kuiper.engine.values import AnyValue, Value

_MAX_STACKED = 4  # axes in front of a matrix
_TASKS = 16
_PRODUCTS_OF_A_TASK = 1 << 18


def product_of_stacks(
    builder: Builder,
    inputs: tuple[AnyValue, AnyValue],
    zeros: tuple[int, int],
    ending: WholeNumbers | Requantisation,
) -> Sequence[AnyValue]:
    """The products of two tensors of bytes, less their zero points."""
    a, b = (bytes_on_arena(builder, value) for value in inputs)
    decline_if(min(len(a.shape), len(b.shape)) < 2)
    shape = product_shape(a.shape, b.shape)
    decline_if(len(shape) > _MAX_STACKED + 2 or not math.prod(shape) or not a.shape[-1])
    out = builder.typed(shape, ending.dtype)
    _emit(builder, a, b, out, zeros, ending)
    return [out]


def _emit(
    builder: Builder, a: Value, b: Value, out: Value, zeros: tuple[int, int], ending: WholeNumbers | Requantisation
) -> None:
    """Add the step."""
    fours, (*stack, rows, columns), depth = builder.machine.vnni, out.shape, a.shape[-1]
    left, right = (np.broadcast_to(value.view, (*stack, *value.shape[-2:])) for value in (a, b))
    count = math.prod(stack)
    products = count * rows * depth * columns
    wanted = min(_TASKS, products // _PRODUCTS_OF_A_TASK)
    block = -(-rows // max(1, min(-(-wanted // count), rows // ROWS)))
    signs = {"a_signed": a.view.dtype == np.int8, "b_signed": b.view.dtype == np.int8}
    scale = 1.0 if ending.scale is None else float(ending.scale[0])

    def make() -> Step:
        numbers = {
            "rows": rows, "depth": depth, "columns": columns, "block": block,
            "a": a.byte_offset, "a_row": left.strides[-2], "a_depth": left.strides[-1],
            "b": b.byte_offset, "b_depth": right.strides[-2], "b_column": right.strides[-1],
            "out": out.byte_offset, "out_row": out.view.strides[-2], "zero_a": zeros[0], "zero_b": zeros[1], **signs,
            "fours": fours, "to_bytes": ending.numbers["form"] == FORMS["bytes"], "scale": scale,
            **{key: ending.numbers[key] for key in ("low", "high", "out_zero")},
        }  # fmt: skip
        return ByteMatrixProduct(numbers, stack, out.view.strides[:-2], left.strides[:-2], right.strides[:-2])

    builder.emit(
        f"bytes {count}x{rows}x{depth}x{columns}, {'fours' if fours else 'pairs'}",
        make,
        reads=[a, b],
        writes=[out],
        flops=2 * products,
    )
