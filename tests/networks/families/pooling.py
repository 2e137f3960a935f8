"""Pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.convolutions import sizes
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


def window(draw: Draw, axes: int) -> list[str]:
    """Kernel, stride and padding, which is at most half of a kernel."""
    kernel = draw.int(2, 4)
    words = [str(kernel) if draw.chance(0.6) else sizes(draw, axes, 2, 4)]
    if draw.chance(0.6):
        words.append(f"stride={sizes(draw, axes, 1, 3)}")
    if draw.chance(0.4):
        words.append(f"padding={sizes(draw, axes, 0, 1)}")
    if draw.chance(0.3):
        words.append("ceil_mode=True")
    return words


@family(3)
def max_pool(draw: Draw) -> Call:
    x = draw.value((3, 4, 4, 4, 5))
    axes, words = x.rank - 2, window(draw, x.rank - 2)
    if draw.chance(0.2):
        words.append(f"dilation={sizes(draw, axes, 1, 2)}")
    if draw.chance(0.3):
        return Call(f"F.max_pool{axes}d({{0}}, {', '.join(words)})", (x,))
    return Call("{m}({0})", (x,), f"nn.MaxPool{axes}d({', '.join(words)})")


@family()
def max_pool_with_indices(draw: Draw) -> Call:
    x = draw.value(4)
    words = ", ".join(window(draw, 2))
    return Call(f"F.max_pool2d({{0}}, {words}, return_indices=True)", (x,), results=2)


@family(3)
def average_pool(draw: Draw) -> Call:
    x = draw.value((3, 4, 4, 4, 5))
    axes, words = x.rank - 2, window(draw, x.rank - 2)
    if draw.chance(0.4):
        words.append("count_include_pad=False")
    if draw.chance(0.1) and axes > 1:
        words.append("divisor_override=5")
    if draw.chance(0.3):
        return Call(f"F.avg_pool{axes}d({{0}}, {', '.join(words)})", (x,))
    return Call("{m}({0})", (x,), f"nn.AvgPool{axes}d({', '.join(words)})")


@family(3)
def adaptive_pool(draw: Draw) -> Call:
    x = draw.value((3, 4, 4, 4, 5))
    axes, kind = x.rank - 2, draw.one(["avg", "avg", "max"])
    size = draw.one(["1", "1", sizes(draw, axes, 1, 5)])
    if axes > 1 and draw.chance(0.1):
        size = f"(None, {', '.join(str(draw.int(1, 4)) for _ in range(axes - 1))})"
    if draw.chance(0.3):
        return Call(f"F.adaptive_{kind}_pool{axes}d({{0}}, {size})", (x,))
    return Call("{m}({0})", (x,), f"nn.Adaptive{kind.capitalize()}Pool{axes}d({size})")


@family(0.5)
def lp_pool(draw: Draw) -> Call:
    x = draw.value((3, 4))
    return Call(f"F.lp_pool{x.rank - 2}d({{0}}.abs() + 0.1, 2, {draw.int(2, 3)})", (x,))
