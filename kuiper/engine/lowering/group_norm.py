"""Group norms and instance norms: one step over images; whatever else comes in is seen as, or copied to, one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.group_norm import GroupNorm as GroupNormStep
from kuiper.engine.lowering.normalise import constant_weights
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value, is_image
from kuiper.layers.operators.group_norm import GroupNorm
from kuiper.layers.operators.instance_norm import InstanceNorm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array

# How many axes each module takes, the batch among them; without a batch, the layer runs itself.
_RANKS = {"nn.InstanceNorm1d": 3, "nn.InstanceNorm2d": 4, "nn.InstanceNorm3d": 5}


@lowers(GroupNorm)
def lower_group_norm(layer: GroupNorm, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.GroupNorm, its weights in the file or constant operands."""
    return [_lower(layer, inputs, builder, layer.num_groups)]


@lowers(InstanceNorm)
def lower_instance_norm(layer: InstanceNorm, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.InstanceNorm without running statistics: a group norm with one channel in each group."""
    shape = inputs[0].shape
    decline_if(len(shape) < 3 or _RANKS.get(layer.op.type, len(shape)) != len(shape))
    return [_lower(layer, inputs, builder, shape[1])]


def _lower(layer: Any, inputs: list[AnyValue], builder: Builder, groups: int) -> Value:
    x, weights = builder.on_arena(inputs[0]), constant_weights(layer, inputs[1:])
    decline_if(not weights.keys() <= {"weight", "bias"})
    decline_if(not 2 <= x.view.ndim <= MAX_NDIM or groups < 1 or x.shape[1] % groups > 0)
    channels = x.shape[1]
    decline_if(any(weight.shape != (channels,) for weight in weights.values()))
    image = _as_image(builder, x)
    out = builder.image(image.shape)
    scale, shift = weights.get("weight", np.ones(channels)), weights.get("bias", np.zeros(channels))
    _emit(builder, image, out, (scale, shift), groups, layer.eps)
    return Value(out.buffer, out.view.reshape(x.shape))


def _as_image(builder: Builder, x: Value) -> Value:
    """(n, c, ...) as an image (n, c, h, w) with channels side by side: a view, or a copy."""
    size = x.view.size // (x.shape[0] * x.shape[1])
    shape = x.shape if x.view.ndim == 4 else (*x.shape[:2], 1, size)
    seen = x.view.reshape(shape)
    if np.may_share_memory(seen, x.buffer.placeholder) and is_image(Value(x.buffer, seen)):
        return Value(x.buffer, seen)
    image = builder.image(shape, fixed=True)
    copy_into(builder, x, Value(image.buffer, image.view.reshape(x.shape)))
    return image


def _emit(builder: Builder, x: Value, out: Value, affine: tuple[Array, Array], groups: int, eps: float) -> None:
    (n, channels, h, w), (weight, bias) = x.shape, affine

    def make() -> Step:
        numbers = {
            "images": n, "pixels": h * w, "channels": channels, "groups": groups, "eps": eps,
            "source": x.offset, "in_image": x.strides[0], "in_pixel": x.strides[3],
            "target": out.offset, "out_image": out.strides[0], "out_pixel": out.strides[3],
        }  # fmt: skip
        return GroupNormStep(numbers, weight, bias)

    builder.emit(
        "instance-norm" if groups == channels else "group-norm",
        make,
        reads=[x],
        writes=[out],
        flops=8 * x.view.size,
        more_bytes=weight.nbytes + bias.nbytes,
        relocatable=True,
    )
