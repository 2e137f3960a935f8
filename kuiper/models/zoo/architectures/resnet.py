"""ResNet-18, 34 and 50 of He et al., 2015, "Deep Residual Learning for Image Recognition", table 1.

    224x224x3 -> 7x7 conv, 64, stride 2 -> 3x3 max pool, stride 2
              -> stages of 64, 128, 256, 512 channels, the last three halving the size -> global average -> linear

Parameters have torchvision's names, so its weights load. As there, ResNet-50 puts the stride on the 3x3
convolution of a bottleneck ("v1.5"), not on the first 1x1.
"""

from __future__ import annotations

import torch
from torch import nn


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut (figure 5, left)."""

    expansion = 1

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = projection(in_channels, channels, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + shortcut)


class Bottleneck(nn.Module):
    """1x1 down, 3x3, 1x1 up to four times the channels, beside a shortcut (figure 5, right)."""

    expansion = 4

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        out_channels = channels * self.expansion
        self.conv1 = nn.Conv2d(in_channels, channels, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, out_channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()
        self.downsample = projection(in_channels, out_channels, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + shortcut)


def projection(in_channels: int, out_channels: int, stride: int) -> nn.Sequential | None:
    """The shortcut of a block that changes the shape: a 1x1 convolution; None where the shape stays."""
    if stride == 1 and in_channels == out_channels:
        return None
    return nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels))


class ResNet(nn.Module):
    """A residual network for (b, 3, h, w) images; ``depths`` are the blocks of the four stages."""

    def __init__(
        self, block: type[BasicBlock | Bottleneck], depths: tuple[int, int, int, int], num_classes: int = 1000
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = [64 * block.expansion * factor for factor in (1, 2, 4, 8)]
        self.layer1 = self._stage(block, 64, 64, depths[0], stride=1)
        self.layer2 = self._stage(block, widths[0], 128, depths[1], stride=2)
        self.layer3 = self._stage(block, widths[1], 256, depths[2], stride=2)
        self.layer4 = self._stage(block, widths[2], 512, depths[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(widths[3], num_classes)

    @staticmethod
    def _stage(
        block: type[BasicBlock | Bottleneck], in_channels: int, channels: int, depth: int, stride: int
    ) -> nn.Sequential:
        first = block(in_channels, channels, stride)
        return nn.Sequential(first, *(block(channels * block.expansion, channels, 1) for _ in range(depth - 1)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet18(num_classes: int = 1000) -> ResNet:
    """ResNet-18: 11.7 million parameters."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes)


def resnet34(num_classes: int = 1000) -> ResNet:
    """ResNet-34: 21.8 million parameters."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes)


def resnet50(num_classes: int = 1000) -> ResNet:
    """ResNet-50: 25.6 million parameters."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes)
