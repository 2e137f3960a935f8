"""SqueezeNet of Iandola et al., 2016, "AlexNet-level accuracy with 50x fewer parameters", in its release 1.1.

    fire(x) = cat(relu(expand1x1(s)), relu(expand3x3(s)))   with   s = relu(squeeze(x))

No batch normalisation and no linear layer: the classes are the channels of a last 1x1 convolution, averaged.
The max pools round their output size up (``ceil_mode``). Parameters have torchvision's names, so its weights load.
"""

from __future__ import annotations

import torch
from torch import nn


class Fire(nn.Module):
    """A 1x1 convolution to few channels, then 1x1 and 3x3 side by side (figure 1)."""

    def __init__(self, in_channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeezed, 1)
        self.squeeze_activation = nn.ReLU()
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand1x1_activation = nn.ReLU()
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)
        self.expand3x3_activation = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        beside = self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))
        return torch.cat(beside, 1)


class SqueezeNet(nn.Module):
    """SqueezeNet 1.1 for (b, 3, h, w) images."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, stride=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(64, 16, 64),
            Fire(128, 16, 64),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(128, 32, 128),
            Fire(256, 32, 128),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            Fire(512, 64, 256),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Conv2d(512, num_classes, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(self.classifier(self.features(x)), 1)


def squeezenet1_1(num_classes: int = 1000) -> SqueezeNet:
    """SqueezeNet 1.1: 1.2 million parameters."""
    return SqueezeNet(num_classes)
