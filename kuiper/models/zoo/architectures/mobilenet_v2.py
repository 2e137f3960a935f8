"""MobileNetV2 of Sandler et al., 2018, "Inverted Residuals and Linear Bottlenecks", table 2.

    1x1 up, ReLU6 -> 3x3 depthwise, ReLU6 -> 1x1 down, no activation (the linear bottleneck), beside a shortcut

Parameters have torchvision's names, so its weights load.
"""

from __future__ import annotations

import torch
from torch import nn

# expansion, output channels, blocks, stride of the first block: the rows of table 2.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def convolution(in_channels: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution that keeps the size (at stride 1), batch normalisation, ReLU6."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU6(),
    )


class InvertedResidual(nn.Module):
    """Narrow, wide, narrow; the shortcut joins the narrow ends where their shapes agree (figure 3)."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = in_channels * expansion
        self.has_shortcut = stride == 1 and in_channels == out_channels
        expand = [convolution(in_channels, wide, 1)] if expansion != 1 else []
        self.conv = nn.Sequential(
            *expand,
            convolution(wide, wide, 3, stride, groups=wide),
            nn.Conv2d(wide, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.has_shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """MobileNetV2 at width 1 for (b, 3, h, w) images."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        channels = 32
        blocks: list[nn.Module] = [convolution(3, channels, 3, stride=2)]
        for expansion, out_channels, depth, first_stride in STAGES:
            for i in range(depth):
                stride = first_stride if i == 0 else 1
                blocks.append(InvertedResidual(channels, out_channels, stride, expansion))
                channels = out_channels
        self.features = nn.Sequential(*blocks, convolution(channels, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, num_classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.classifier(torch.flatten(x, 1))


def mobilenet_v2(num_classes: int = 1000) -> MobileNetV2:
    """MobileNetV2: 3.5 million parameters, 0.3 billion multiply-adds."""
    return MobileNetV2(num_classes)
