"""MobileNetV3, small and large, of Howard et al., 2019, "Searching for MobileNetV3", tables 1 and 2.

    1x1 up -> depthwise -> [squeeze and excite] -> 1x1 down, beside a shortcut

    squeeze and excite:  x * hardsigmoid(fc2(relu(fc1(mean of x over h and w))))

The activation is ReLU in the early blocks (RE in the tables) and Hardswish in the later ones (HS). Parameters have
torchvision's names and batch normalisation its constants (eps 0.001, momentum 0.01), so its weights load.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn


class Block(NamedTuple):
    """One row of the tables: kernel size, expansion size, output channels, SE?, HS?, stride."""

    kernel: int
    wide: int
    out_channels: int
    has_se: bool
    has_hardswish: bool
    stride: int


SMALL = (
    Block(3, 16, 16, True, False, 2),
    Block(3, 72, 24, False, False, 2),
    Block(3, 88, 24, False, False, 1),
    Block(5, 96, 40, True, True, 2),
    Block(5, 240, 40, True, True, 1),
    Block(5, 240, 40, True, True, 1),
    Block(5, 120, 48, True, True, 1),
    Block(5, 144, 48, True, True, 1),
    Block(5, 288, 96, True, True, 2),
    Block(5, 576, 96, True, True, 1),
    Block(5, 576, 96, True, True, 1),
)
LARGE = (
    Block(3, 16, 16, False, False, 1),
    Block(3, 64, 24, False, False, 2),
    Block(3, 72, 24, False, False, 1),
    Block(5, 72, 40, True, False, 2),
    Block(5, 120, 40, True, False, 1),
    Block(5, 120, 40, True, False, 1),
    Block(3, 240, 80, False, True, 2),
    Block(3, 200, 80, False, True, 1),
    Block(3, 184, 80, False, True, 1),
    Block(3, 184, 80, False, True, 1),
    Block(3, 480, 112, True, True, 1),
    Block(3, 672, 112, True, True, 1),
    Block(5, 672, 160, True, True, 2),
    Block(5, 960, 160, True, True, 1),
    Block(5, 960, 160, True, True, 1),
)


def multiple_of_8(channels: float) -> int:
    """The nearest multiple of 8 that is not more than 10 % below ``channels``."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * channels else nearest + 8


def convolution(
    in_channels: int,
    out_channels: int,
    kernel: int,
    activation: type[nn.Module] | None,
    stride: int = 1,
    groups: int = 1,
) -> nn.Sequential:
    """Convolution that keeps the size (at stride 1), batch normalisation, activation."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels, eps=0.001, momentum=0.01),
        *([activation()] if activation else []),
    )


class SqueezeExcite(nn.Module):
    """Scale each channel by a factor computed from the means of all channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = multiple_of_8(channels / 4)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.relu = nn.ReLU()
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.scale_activation = nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale_activation(self.fc2(self.relu(self.fc1(self.avgpool(x))))) * x


class InvertedResidual(nn.Module):
    """Narrow, wide, narrow; the shortcut joins the narrow ends where their shapes agree (figure 4)."""

    def __init__(self, in_channels: int, row: Block) -> None:
        super().__init__()
        activation = nn.Hardswish if row.has_hardswish else nn.ReLU
        self.has_shortcut = row.stride == 1 and in_channels == row.out_channels
        parts: list[nn.Module] = []
        if row.wide != in_channels:
            parts.append(convolution(in_channels, row.wide, 1, activation))
        parts.append(convolution(row.wide, row.wide, row.kernel, activation, row.stride, groups=row.wide))
        if row.has_se:
            parts.append(SqueezeExcite(row.wide))
        parts.append(convolution(row.wide, row.out_channels, 1, None))
        self.block = nn.Sequential(*parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.block(x) if self.has_shortcut else self.block(x)


class MobileNetV3(nn.Module):
    """MobileNetV3 for (b, 3, h, w) images; ``hidden`` is the width of the layer before the last."""

    def __init__(self, rows: tuple[Block, ...], hidden: int, num_classes: int = 1000) -> None:
        super().__init__()
        channels = 16
        blocks: list[nn.Module] = [convolution(3, channels, 3, nn.Hardswish, stride=2)]
        for row in rows:
            blocks.append(InvertedResidual(channels, row))
            channels = row.out_channels
        self.features = nn.Sequential(*blocks, convolution(channels, 6 * channels, 1, nn.Hardswish))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * channels, hidden), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(hidden, num_classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def mobilenet_v3_small(num_classes: int = 1000) -> MobileNetV3:
    """MobileNetV3-small: 2.5 million parameters, 0.06 billion multiply-adds."""
    return MobileNetV3(SMALL, 1024, num_classes)


def mobilenet_v3_large(num_classes: int = 1000) -> MobileNetV3:
    """MobileNetV3-large: 5.5 million parameters, 0.2 billion multiply-adds."""
    return MobileNetV3(LARGE, 1280, num_classes)
