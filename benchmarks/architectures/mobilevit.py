"""MobileViT-XS of Mehta, Rastegari, 2022, "MobileViT: Light-weight, General-purpose, and Mobile-friendly Vision
Transformer", table 4.

    3x3 -> inverted residuals, halving the size four times; at 32, 16 and 8 pixels a transformer in the middle:

    local 3x3, 1x1 -> patches of 2x2 pixels: tokens of the same place in all patches attend to each other
                   -> back to an image, 1x1 -> beside the block's input -> 3x3
"""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.architectures.transformer import Block

PATCH, HEADS, EXPANSION = 2, 4, 4


def convolution(in_channels: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution that keeps the size (at stride 1), batch normalisation, SiLU."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.SiLU(),
    )


class InvertedResidual(nn.Module):
    """Narrow, wide, narrow, as in MobileNetV2."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        wide = EXPANSION * in_channels
        self.has_shortcut = stride == 1 and in_channels == out_channels
        self.layers = nn.Sequential(
            convolution(in_channels, wide, 1),
            convolution(wide, wide, 3, stride, groups=wide),
            nn.Conv2d(wide, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x) if self.has_shortcut else self.layers(x)


class MobileViTBlock(nn.Module):
    """A convolution whose kernel is a transformer: it sees the whole image (figure 1b)."""

    def __init__(self, channels: int, width: int, depth: int) -> None:
        super().__init__()
        self.local, self.widen = convolution(channels, channels, 3), nn.Conv2d(channels, width, 1, bias=False)
        self.blocks = nn.Sequential(*(Block(width, HEADS, 2 * width, nn.SiLU) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.narrow, self.join = convolution(width, channels, 1), convolution(2 * channels, channels, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        image = self.widen(self.local(x))
        batch, width, height, length = image.shape
        rows, columns = height // PATCH, length // PATCH
        tokens = image.reshape(batch * width * rows, PATCH, columns, PATCH).transpose(1, 2)
        tokens = tokens.reshape(batch, width, rows * columns, PATCH * PATCH).transpose(1, 3)
        tokens = self.norm(self.blocks(tokens.reshape(batch * PATCH * PATCH, rows * columns, width)))
        tokens = tokens.reshape(batch, PATCH * PATCH, rows * columns, width).transpose(1, 3)
        tokens = tokens.reshape(batch * width * rows, columns, PATCH, PATCH).transpose(1, 2)
        image = self.narrow(tokens.reshape(batch, width, height, length))
        return self.join(torch.cat((x, image), dim=1))


class MobileViT(nn.Module):
    """Five stages and a classifier."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.stages = nn.Sequential(
            convolution(3, 16, 3, stride=2),
            InvertedResidual(16, 32, 1),
            *(InvertedResidual(32, 48, 2), InvertedResidual(48, 48, 1), InvertedResidual(48, 48, 1)),
            *(InvertedResidual(48, 64, 2), MobileViTBlock(64, 96, depth=2)),
            *(InvertedResidual(64, 80, 2), MobileViTBlock(80, 120, depth=4)),
            *(InvertedResidual(80, 96, 2), MobileViTBlock(96, 144, depth=3)),
            convolution(96, 384, 1),
        )
        self.classifier = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(384, num_classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.stages(x))


def mobilevit_xs() -> MobileViT:
    """MobileViT-XS: 2.3 million parameters, 1 billion multiply-adds for 256 x 256 pixels."""
    return MobileViT()
