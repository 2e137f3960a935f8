"""Layer norms and RMS norms over the last axes, joined into one row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if, known_examples
from kuiper.engine.kernels.layer_norm import LayerNorm as LayerNormStep
from kuiper.engine.lowering.placement import as_rows, exact_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.layer_norm import LayerNorm
from kuiper.layers.operators.rms_norm import RMSNorm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array

_MAX_AXES = MAX_NDIM + 1  # six for the step to walk over, and the row


@lowers(LayerNorm, RMSNorm)
def lower_normalisation(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.LayerNorm and nn.RMSNorm, their weights in the file or constant operands."""
    x, shape = builder.on_arena(inputs[0]), layer.normalized_shape
    weights = constant_weights(layer, inputs[1:])
    decline_if(not shape or x.shape[-len(shape) :] != shape or x.view.ndim > _MAX_AXES)
    decline_if(any(weight.shape != shape for weight in weights.values()))
    rows = as_rows(builder, x, len(shape))
    out = exact_rows(builder, x.shape) if len(shape) == 1 else builder.rows(x.shape, fixed=True, padded=False)
    size = math.prod(shape)
    scale = weights.get("weight", np.ones(shape, np.float32)).reshape(size)
    shift = weights.get("bias", np.zeros(shape, np.float32)).reshape(size)
    joined = Value(out.buffer, out.view.reshape(rows.shape))
    emit_normalisation(builder, rows, joined, scale, shift, layer.eps, centred=type(layer) is LayerNorm)
    return [out]


def constant_weights(layer: Any, operands: Sequence[AnyValue]) -> dict[str, Array]:
    """The weights of a normalisation by name; declines if some are computed while the model runs."""
    given = layer.op.input_names[1 : len(layer.op.inputs)]
    names = [name or default for name, default in zip(given, layer.operands, strict=False)]
    examples = known_examples(operands)
    decline_if(not all(isinstance(example, np.ndarray) for example in examples))
    return {**layer.weights, **dict(zip(names, examples, strict=True))}


def emit_normalisation(
    builder: Builder, x: Value, out: Value, weight: Array, bias: Array, eps: float, centred: bool
) -> None:
    """Add the layer norm (``centred``) or RMS norm of rows whose numbers are side by side; ``out`` may be ``x``."""

    def make() -> Step:
        numbers = {"source": x.offset, "target": out.offset, "size": len(weight), "centred": centred, "eps": eps}
        return LayerNormStep(numbers, weight, bias, x.shape[:-1], x.strides[:-1], out.strides[:-1])

    builder.emit(
        "layer-norm" if centred else "RMS-norm",
        make,
        reads=[x],
        writes=[out],
        flops=(8 if centred else 4) * x.view.size,
        relocatable=True,
        more_bytes=weight.nbytes + bias.nbytes,
    )
