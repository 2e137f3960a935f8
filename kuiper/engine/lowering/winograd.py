"""Winograd's algorithm for 3 x 3 kernels of stride 1 or 2, where the cost model says that it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.winograd import Winograd
from kuiper.engine.kernels.winograd_packing import pack_winograd
from kuiper.engine.lowering.image_numbers import image_numbers, residual_numbers
from kuiper.engine.lowering.pixel_runs import best_run
from kuiper.engine.packing import padded_bias
from kuiper.engine.values import whole_vectors
from kuiper.engine.winograd_cost import cut_winograd, winograd_cost
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.engine.values import Value
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine


class Option(NamedTuple):
    """A way to compute a 3 x 3 convolution, and its cycles: F(2, 3) or F(4, 3) by its ``size``, 0 is the direct one."""

    cost: float
    size: int
    stride: int

    @property
    def algorithm(self) -> str:
        if not self.size:
            return "direct 3x3"
        return f"Winograd F({self.size},3)" + (" /2" if self.stride == 2 else "")


def options_for(machine: Machine, channels: int, out_shape: tuple[int, int, int, int], stride: int) -> list[Option]:
    """The ways to compute a 3 x 3 convolution of stride 1 or 2, the fastest first; of equal ones, the direct one.

    Their bits differ. So the choice depends on the machine and the size of one image alone: not on the kernels of this
    build, and not on how many images come at once.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> [option.algorithm for option in options_for(REPRODUCIBLE, 64, (1, 64, 56, 56), stride=1)]
    ['Winograd F(4,3)', 'Winograd F(2,3)', 'direct 3x3']
    """
    n, out_c, out_h, out_w = out_shape
    window = Window((3, 3), (stride, stride))
    found = [Option(n * best_run(machine, (out_c, channels, 3, 3), window, out_h, out_w).cost, 0, stride)]
    for size in (2, 4):
        cut = cut_winograd(machine, 1, out_h, out_w, channels, out_c, size, stride)
        found.append(Option(n * winograd_cost(machine, cut, channels, out_c), size, stride))
    return sorted(found, key=lambda option: option.cost)


def emit_winograd(
    builder: Builder,
    x: Value,
    out: Value,
    weight: Array,
    bias: Array | None,
    padding: tuple[int, int],
    chosen: Option,
    activation: dict[str, float],
    residual: Value | None,
    rejected: Sequence[tuple[str, float]] = (),
) -> None:
    """Add the convolution of ``x`` with ``weight`` (out_c, in_c, 3, 3)."""
    n, out_c, out_h, out_w = out.shape
    cut = cut_winograd(builder.machine, n, out_h, out_w, x.shape[1], out_c, chosen.size, chosen.stride)
    panels = cut.panels
    key = ("winograd", cut.size, cut.stride, panels)
    packed = builder.pack(key, lambda: pack_winograd(weight, cut.size, cut.stride, panels))

    def make() -> Step:
        numbers = {
            "images": n, "in_h": x.shape[2], "in_w": x.shape[3], "out_h": out_h, "out_w": out_w,
            "pad_top": padding[0], "pad_left": padding[1],
            **image_numbers(x, out),
            "channels": x.shape[1],
            "out_channels": whole_vectors(out_c),
            **residual_numbers(residual),
            "size": cut.size, "stride": cut.stride,
            "block": cut.block, "panels": panels, "panel_groups": cut.panel_groups,
            **activation,
        }  # fmt: skip
        return Winograd(numbers, packed, padded_bias(bias, out_c))

    width = -(-whole_vectors(out_c) // LANES // panels) * LANES
    builder.emit(
        f"{chosen.algorithm}, {cut.block} tiles x {width} channels",
        make,
        reads=[x] if residual is None else [x, residual],
        writes=[out],
        flops=2 * n * out_h * out_w * out_c * x.shape[1] * 9,
        more_bytes=packed.nbytes,
        relocatable=True,
        expected=chosen.cost,
        rejected=rejected,
    )
