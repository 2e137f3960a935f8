"""Convolutions of one, two and three axes, transposed ones, and blocks that passes fuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.activations import MODULES
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw, Value

WIDTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 33)
"""Channels: fewer than a vector has, as many, one more."""


def sizes(draw: Draw, axes: int, low: int, high: int) -> str:
    """One number for all axes, or one for each."""
    if draw.chance(0.5):
        return str(draw.int(low, high))
    numbers = [draw.int(low, high) for _ in range(axes)]
    return f"({', '.join(map(str, numbers))}{',' if axes == 1 else ''})"


def grouping(draw: Draw, channels: int) -> tuple[int, int]:
    """Groups, and channels that come out."""
    divisors = [k for k in range(1, channels + 1) if channels % k == 0]
    groups = draw.one([1, 1, 1, channels, draw.one(divisors)])
    if groups == channels and draw.chance(0.6):
        return groups, channels
    if groups > 1 and draw.chance(0.4):
        return groups, channels
    return groups, groups * draw.one([1, 2, 3]) if groups > 1 else draw.one(WIDTHS)


def settings(draw: Draw, axes: int, channels: int) -> str:
    """The arguments of a convolution."""
    groups, out = grouping(draw, channels)
    kernel = draw.one([sizes(draw, axes, 1, 4), "3", "3", "1"])
    words = [str(channels), str(out), kernel]
    if draw.chance(0.4):
        words.append(f"stride={sizes(draw, axes, 1, 3)}")
    if draw.chance(0.3):
        words.append(f"dilation={sizes(draw, axes, 1, 3)}")
    if draw.chance(0.15) and "stride" not in " ".join(words):
        words.append("padding='same'")
    elif draw.chance(0.7):
        words.append(f"padding={sizes(draw, axes, 0, 2)}")
        if draw.chance(0.15):
            words.append(f"padding_mode={draw.one(['reflect', 'replicate', 'circular'])!r}")
    if groups > 1:
        words.append(f"groups={groups}")
    if draw.chance(0.3):
        words.append("bias=False")
    return ", ".join(words)


def image(draw: Draw, axes: int) -> Value:
    """A batch of images of this many axes whose channels are fixed."""
    return draw.value(axes + 2, where=lambda value: value.fixed(1))


@family(5)
def conv2d(draw: Draw) -> Call:
    x = image(draw, 2)
    return Call("{m}({0})", (x,), f"nn.Conv2d({settings(draw, 2, x.shape[1])})")


@family(3)
def conv2d_block(draw: Draw) -> Call:
    """Convolution, batch norm and activation, in the order that passes fuse, or in another."""
    x = image(draw, 2)
    arguments = settings(draw, 2, x.shape[1])
    out = arguments.split(", ")[1]
    parts = [f"nn.BatchNorm2d({out})", draw.one(MODULES), "nn.Dropout(0.3)"]
    if draw.chance(0.2):
        draw.random.shuffle(parts)
    kept = [part for part in parts if draw.chance(0.7)]
    return Call("{m}({0})", (x,), f"nn.Sequential({', '.join([f'nn.Conv2d({arguments})', *kept])})")


@family(3)
def residual_block(draw: Draw) -> Call:
    """A convolution that keeps sizes, and the image or another one of its shape added."""
    x = image(draw, 2)
    channels = x.shape[1]
    kernel = draw.one([1, 3, 5])
    groups = draw.one([1, 1, channels])
    conv = f"nn.Conv2d({channels}, {channels}, {kernel}, padding={kernel // 2}, groups={groups})"
    other = draw.value(4, where=lambda value: value.shapes() == x.shapes())
    call = draw.one(["{m}({0}) + {1}", "{1} + {m}({0})", "F.relu({m}({0}) + {1})", "{m}({0}).sigmoid() * {1}"])
    return Call(call, (x, other), conv)


@family(2)
def conv1d(draw: Draw) -> Call:
    x = image(draw, 1)
    return Call("{m}({0})", (x,), f"nn.Conv1d({settings(draw, 1, x.shape[1])})")


@family()
def conv3d(draw: Draw) -> Call:
    x = image(draw, 3)
    return Call("{m}({0})", (x,), f"nn.Conv3d({settings(draw, 3, x.shape[1])})")


@family(2)
def conv_transpose(draw: Draw) -> Call:
    x = draw.value((3, 4, 4, 5), where=lambda value: value.fixed(1))
    axes, channels = x.rank - 2, x.shape[1]
    groups, out = grouping(draw, channels)
    stride = draw.int(1, 3)
    words = [str(channels), str(out), sizes(draw, axes, 1, 4), f"stride={stride}"]
    if draw.chance(0.5):
        words.append(f"padding={draw.int(0, 1)}")
    if stride > 1 and draw.chance(0.4):
        words.append(f"output_padding={draw.int(1, stride - 1)}")
    if groups > 1:
        words.append(f"groups={groups}")
    if draw.chance(0.2):
        words.append(f"dilation={draw.int(2, 3)}")
    if draw.chance(0.3):
        words.append("bias=False")
    return Call("{m}({0})", (x,), f"nn.ConvTranspose{axes}d({', '.join(words)})")


@family(0.5)
def conv_with_computed_weight(draw: Draw) -> Call:
    """A convolution whose kernel is itself computed."""
    x = image(draw, 2)
    kernel = draw.value((2, 3, 4), where=lambda value: all(map(value.fixed, range(value.rank))))
    count = kernel.traced.numel() // x.shape[1]
    call = f"F.conv2d({{0}}, {{1}}.reshape(-1)[:{count * x.shape[1]}].reshape({count}, {x.shape[1]}, 1, 1) / 4)"
    return Call(call, (x, kernel))
