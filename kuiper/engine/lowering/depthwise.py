"""Depthwise convolutions, and those in narrow groups: a vector holds one group or several, one output in each lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.engine.cost import block_floats
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.depthwise import Depthwise
from kuiper.engine.lowering.activation import activation_numbers
from kuiper.engine.lowering.image_numbers import image_numbers, residual_numbers, window_numbers
from kuiper.engine.memory import for_weights
from kuiper.engine.packing import padded_bias
from kuiper.engine.values import AnyValue, Value, whole_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine


def suits_depthwise(machine: Machine, groups: int, channels: int, out_channels: int) -> bool:
    """Whether each group has as many outputs as inputs, and a vector of the machine holds several groups.

    A vector of the kernels must hold whole groups, too: lanes are permuted. The direct convolution adds up in another
    order.
    """
    own = channels // groups
    narrow = own < machine.lanes and machine.lanes % own == 0 and LANES % own == 0
    return groups > 1 and channels == out_channels and (own == 1 or narrow)


def lower_depthwise(layer: Any, value: AnyValue, residual: Value | None, builder: Builder) -> Sequence[AnyValue]:
    """nn.Conv2d whose groups suit, its residual and activation."""
    x = builder.image_of(value)
    n, c, h, w = x.shape
    own = c // layer.parameters.groups
    window = layer.window
    out_h, out_w = window.output_size((h, w))
    out = builder.image((n, c, out_h, out_w))
    weights, bias = builder.pack("depthwise", lambda: (_pack(layer.weight), padded_bias(layer.bias, c)))
    activation = activation_numbers(layer)

    def make() -> Step:
        numbers = {
            "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": whole_vectors(c), "own": own,
            **window_numbers(window),
            **image_numbers(x, out),
            **residual_numbers(residual),
            "near": block_floats(builder.machine),
            **activation,
        }  # fmt: skip
        return Depthwise(numbers, weights, bias)

    builder.emit(
        f"{'depthwise' if own == 1 else f'groups of {own},'} {window.kernel[0]}x{window.kernel[1]}",
        make,
        reads=[x] if residual is None else [x, residual],
        writes=[out],
        flops=2 * n * c * own * out_h * out_w * window.kernel[0] * window.kernel[1],
        more_bytes=weights.nbytes,
        relocatable=True,
        window=(window.stride[0], window.span[0]),
    )
    return [out]


def _pack(weight: Array) -> Array:
    """The weight (c, own, kernel_h, kernel_w) as [kernel_h][own][kernel_w][channels], channels in whole vectors."""
    c, own, kernel_h, kernel_w = weight.shape
    packed = for_weights(kernel_h * own * kernel_w * whole_vectors(c))
    packed[:] = 0
    packed.reshape(kernel_h, own, kernel_w, -1)[..., :c] = weight.transpose(2, 1, 3, 0)
    return packed
