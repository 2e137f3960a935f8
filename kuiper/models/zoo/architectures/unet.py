"""The U-Net of Ronneberger et al., 2015, "Convolutional Networks for Biomedical Image Segmentation", figure 1.

    (b, in, h, w) -> down: two 3x3 convolutions, max pool   four times, channels doubling
                  -> up: enlarge by 2, join what was there before the pool, two 3x3 convolutions   four times
                  -> 1x1 convolution -> (b, classes, h, w)

Against the paper: the convolutions are padded, so the output has the input's size (a multiple of 16 in h and w), and
each is followed by batch normalisation. The step up is a transposed convolution or a bilinear interpolation.
"""

from __future__ import annotations

import torch
from torch import nn


class DoubleConv(nn.Sequential):
    """(3x3 convolution, batch normalisation, ReLU), twice."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )


class Up(nn.Module):
    """Enlarge ``x`` by 2, put it behind ``skip`` along the channels, convolve twice."""

    def __init__(self, in_channels: int, out_channels: int, bilinear: bool) -> None:
        super().__init__()
        self.up: nn.Module
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            enlarged = in_channels
        else:
            self.up = nn.ConvTranspose2d(in_channels, out_channels, 2, stride=2)
            enlarged = out_channels
        self.conv = DoubleConv(out_channels + enlarged, out_channels)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        return self.conv(torch.cat([skip, self.up(x)], 1))


class UNet(nn.Module):
    """A U-Net whose first level has ``base`` channels (64 in the paper), and which goes down ``depth`` times."""

    def __init__(
        self, in_channels: int = 3, num_classes: int = 2, base: int = 16, bilinear: bool = False, depth: int = 4
    ) -> None:
        super().__init__()
        widths = [base << level for level in range(depth + 1)]
        self.inc = DoubleConv(in_channels, base)
        self.pool = nn.MaxPool2d(2)
        self.downs = nn.ModuleList(DoubleConv(widths[i], widths[i + 1]) for i in range(depth))
        self.ups = nn.ModuleList(Up(widths[i + 1], widths[i], bilinear) for i in reversed(range(depth)))
        self.outc = nn.Conv2d(base, num_classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = [self.inc(x)]
        for down in self.downs:
            levels.append(down(self.pool(levels[-1])))
        x = levels.pop()
        for up in self.ups:
            x = up(x, levels.pop())
        return self.outc(x)


def unet(in_channels: int = 3, num_classes: int = 2, base: int = 16) -> UNet:
    """U-Net that enlarges by transposed convolution: 1.9 million parameters at base 16."""
    return UNet(in_channels, num_classes, base, bilinear=False)


def unet_bilinear(in_channels: int = 3, num_classes: int = 2, base: int = 16) -> UNet:
    """U-Net that enlarges by bilinear interpolation: 2.0 million parameters at base 16."""
    return UNet(in_channels, num_classes, base, bilinear=True)
