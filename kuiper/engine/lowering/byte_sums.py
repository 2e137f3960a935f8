"""What sums of products of bytes become: they stay integers, or become bytes again, or floats."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.kernels.integer_convolution import FORMS
from kuiper.engine.lowering.activation import NO_ACTIVATION, activation_numbers
from kuiper.engine.lowering.byte_values import constant_of
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.values import AnyValue, Value

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array

_NOTHING: dict[str, float] = {
    "low": 0, "high": 0, "out_zero": 0, "factor": -1, "factor_step": 0, "added": -1, **NO_ACTIVATION,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WholeNumbers:
    """Sums stay as they are."""

    dtype: ClassVar[np.dtype] = np.dtype(np.int32)
    scale: ClassVar[Array | None] = None
    shift: ClassVar[Array | None] = None
    reads: ClassVar[tuple[Value, ...]] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """For a kernel."""
        return {**_NOTHING, "form": FORMS["sums"]}


@dataclass(frozen=True, slots=True)
class Requantisation:
    """How sums become bytes: what each output's are multiplied with, and the zero point and type of the bytes."""

    scale: Array
    zero: int
    dtype: np.dtype
    shift: ClassVar[Array | None] = None
    reads: ClassVar[tuple[Value, ...]] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """For a kernel: what bytes can hold, less the zero point."""
        limits = np.iinfo(self.dtype)
        ends = {"low": limits.min - self.zero, "high": limits.max - self.zero, "out_zero": self.zero}
        return {**_NOTHING, **ends, "form": FORMS["bytes"]}


@dataclass(frozen=True, slots=True)
class Dequantisation:
    """How sums become floats: ``activation((sum + added) * (scale * factor) + shift)``.

    ``scale`` and ``shift`` have a number for each output, None is 1 and 0. What the graph computes are ``factor``, a
    float32 for all outputs or one for each, and ``added``, an int32 for each; they lie without gaps.
    """

    scale: Array | None = None
    factor: Value | None = None
    added: Value | None = None
    shift: Array | None = None
    activation: dict[str, float] = field(default_factory=lambda: NO_ACTIVATION)
    dtype: ClassVar[np.dtype] = np.dtype(np.float32)

    @property
    def reads(self) -> tuple[Value, ...]:
        """What a step reads beside its input."""
        return tuple(value for value in (self.factor, self.added) if value is not None)

    @property
    def numbers(self) -> dict[str, float]:
        """For a kernel."""
        places: dict[str, float] = {"form": FORMS["floats"]}
        if self.factor is not None:
            places |= {"factor": self.factor.offset, "factor_step": int(self.factor.view.size > 1)}
        if self.added is not None:
            places["added"] = self.added.byte_offset
        return {**_NOTHING, **places, **self.activation}


Ending = WholeNumbers | Requantisation | Dequantisation


def requantised(given: dict[str, AnyValue], scales: tuple[str, str, str], zero: str, outputs: int) -> Requantisation:
    """How sums become bytes; declines if a scale or the zero point is no constant, or of another size.

    The scale of a sum is that of the input times that of the weights over that of the output, as onnxruntime has it.
    """
    found = [constant_of(given.get(name)) for name in scales]
    number = constant_of(given.get(zero))
    if number is None or number.size != 1 or number.dtype.itemsize != 1:
        raise Declined
    decline_if(any(scale is None or scale.dtype != np.float32 for scale in found))
    x, weight, y = (np.asarray(scale, np.float32).reshape(-1) for scale in found)
    decline_if(x.size != 1 or y.size != 1 or weight.size not in (1, outputs))
    scale = np.ascontiguousarray(np.broadcast_to(x * weight / y, (outputs,)))
    return Requantisation(scale, int(number.reshape(-1)[0]), number.dtype)


def dequantised(
    builder: Builder,
    factor: AnyValue | None,
    scale: Array | None,
    shift: Array | None,
    added: AnyValue | None = None,
    activation: dict[str, float] = NO_ACTIVATION,
) -> Dequantisation:
    """How sums become floats; ``factor`` and ``added`` may be constants. Declines if one of them is of another type.

    ``factor`` is a number, or has one for each output, as ``added`` has: the caller has looked at their sizes.
    """
    parts: list[Value | None] = []
    for value, dtype in ((factor, np.float32), (added, np.int32)):
        example = None if value is None else value.view if isinstance(value, Value) else value.example
        decline_if(value is not None and getattr(example, "dtype", None) != dtype)
        constant = constant_of(value)
        if isinstance(constant, np.ndarray):
            flat = np.ascontiguousarray(constant.reshape(-1))
            part: Value | None = builder.constant(flat) if dtype == np.float32 else builder.typed_constant(flat)
        else:
            part = None if value is None else builder.tensor(value)
        parts.append(None if part is None else _side_by_side(builder, part))
    return Dequantisation(scale, parts[0], parts[1], shift, activation)


def to_floats(builder: Builder, layer: Any, given: dict[str, AnyValue], outputs: int, behind: int) -> Dequantisation:
    """The ending of a fused product, whose outputs have ``behind`` axes behind them."""
    scale, added, bias = given["scale"], given.get("added"), layer.ending.bias
    decline_if(not _is_of_outputs(scale, outputs, behind) or not _is_of_outputs(added, outputs, behind))
    decline_if(added is not None and math.prod(added.shape) != outputs)
    decline_if(bias is not None and bias.shape != (outputs,))
    return dequantised(builder, scale, None, bias, added, activation_numbers(layer))


def _is_of_outputs(value: AnyValue | None, outputs: int, behind: int = 0) -> bool:
    """Whether it is missing, or has one number, or one for each output, which has ``behind`` axes behind it."""
    if value is None:
        return True
    size = math.prod(value.shape)
    return size == 1 or (size == outputs and len(value.shape) > behind and value.shape[-1 - behind] == outputs)


def _side_by_side(builder: Builder, value: Value) -> Value:
    """The numbers of a value without gaps: as it lies, or a copy."""
    if value.view.flags.c_contiguous:
        return value
    flat = builder.typed(value.shape, value.view.dtype)
    emit_typed(builder, "copy", flat, [value])
    return flat
