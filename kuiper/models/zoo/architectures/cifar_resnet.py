"""The CIFAR residual networks of He et al., 2015, "Deep Residual Learning", section 4.2.

    32x32x3 -> 3x3 conv, 16 -> n blocks of 16 -> n blocks of 32 (stride 2) -> n blocks of 64 (stride 2)
            -> global average -> linear, 10          (6n + 2 layers; n = 3 gives ResNet-20)

The shortcut of a block that changes shape is a 1x1 convolution (option B of the paper), so that the exported
graph holds nothing but convolutions, additions and ReLU.
"""

from __future__ import annotations

import torch
from torch import nn


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample: nn.Module | None = None
        if stride != 1 or in_channels != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(in_channels, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + shortcut)


class CifarResNet(nn.Module):
    """A residual network of 6n + 2 layers for (b, 3, 32, 32) images."""

    def __init__(self, blocks_per_stage: int = 3, num_classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.layer1 = self._stage(16, 16, blocks_per_stage, stride=1)
        self.layer2 = self._stage(16, 32, blocks_per_stage, stride=2)
        self.layer3 = self._stage(32, 64, blocks_per_stage, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, num_classes)

    @staticmethod
    def _stage(in_channels: int, channels: int, blocks: int, stride: int) -> nn.Sequential:
        first = BasicBlock(in_channels, channels, stride)
        return nn.Sequential(first, *(BasicBlock(channels, channels, 1) for _ in range(blocks - 1)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def cifar_resnet20() -> CifarResNet:
    """ResNet-20: 0.27 million parameters, 41 million multiply-adds."""
    return CifarResNet(blocks_per_stage=3)
