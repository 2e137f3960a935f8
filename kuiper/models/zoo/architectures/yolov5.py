"""YOLOv5, release 6 and 7, in its sizes n and s (Ultralytics, 2022): a one-stage detector with three scales.

    backbone   0-9    convolutions that halve the size five times, C3 blocks between them, SPPF at the end
    neck      10-23   twice up, joining the backbone's maps (FPN), then twice down, joining the neck's own (PAN)
    head         24   Detect: a 1x1 convolution for each of the maps at stride 8, 16, 32, then the boxes

Submodules stand in one list, ``model``, whose numbers are those above, and have the names of the released
checkpoints (``model.0.conv.weight``, ``model.24.m.0.bias``), so that those weights load.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Sequence

STRIDES = (8, 16, 32)
# Width and height, in pixels, of the three boxes each cell starts from; a row for each stride.
ANCHORS = ((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119), (116, 90, 156, 198, 373, 326))
# The Concat at the key joins the running map with the output of the module at the value.
JOINS = {12: 6, 16: 4, 19: 14, 22: 10}


class Conv(nn.Module):
    """Convolution, batch normalisation, SiLU."""

    def __init__(self, in_channels: int, out_channels: int, kernel: int = 1, stride: int = 1, padding: int = -1):
        super().__init__()
        padding = kernel // 2 if padding < 0 else padding
        self.conv = nn.Conv2d(in_channels, out_channels, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001, momentum=0.03)
        self.act = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    """1x1 then 3x3, with or without a shortcut."""

    def __init__(self, channels: int, has_shortcut: bool) -> None:
        super().__init__()
        self.cv1 = Conv(channels, channels, 1)
        self.cv2 = Conv(channels, channels, 3)
        self.has_shortcut = has_shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.cv2(self.cv1(x))
        return x + y if self.has_shortcut else y


class C3(nn.Module):
    """Half of the channels through ``depth`` bottlenecks, half past them (a cross-stage partial block)."""

    def __init__(self, in_channels: int, out_channels: int, depth: int, has_shortcut: bool = True) -> None:
        super().__init__()
        half = out_channels // 2
        self.cv1 = Conv(in_channels, half)
        self.cv2 = Conv(in_channels, half)
        self.cv3 = Conv(2 * half, out_channels)
        self.m = nn.Sequential(*(Bottleneck(half, has_shortcut) for _ in range(depth)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class SPPF(nn.Module):
    """Spatial pyramid: the map beside itself pooled once, twice and three times by 5x5."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.cv1 = Conv(channels, half)
        self.cv2 = Conv(4 * half, channels)
        self.m = nn.MaxPool2d(5, 1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pyramid = [self.cv1(x)]
        for _ in range(3):
            pyramid.append(self.m(pyramid[-1]))
        return self.cv2(torch.cat(pyramid, 1))


class Concat(nn.Module):
    """Two maps, one behind the other along the channels."""

    def forward(self, x: torch.Tensor, earlier: torch.Tensor) -> torch.Tensor:
        return torch.cat((x, earlier), 1)


class Detect(nn.Module):
    """Three maps to boxes: (b, cells of all scales x 3 anchors, 5 + classes), each row x, y, w, h, objectness, classes.

    With ``s`` the sigmoid of what the 1x1 convolution says about a cell and an anchor::

        xy = (2 s + cell - 0.5) * stride         wh = (2 s)^2 * anchor          in pixels of the input image
    """

    # pnnx keeps a module whole (its option moduleop) by the class's full name; in graphs exported from the original
    # repository, and so for the layer that runs it, that name is models.yolo.Detect.
    __module__ = "models.yolo"

    def __init__(self, num_classes: int, channels: Sequence[int]) -> None:
        super().__init__()
        self.no = num_classes + 5
        anchors = torch.tensor(ANCHORS, dtype=torch.float32).view(3, 3, 2)
        # As in the checkpoints: in units of the cell.
        self.register_buffer("anchors", anchors / torch.tensor(STRIDES).view(3, 1, 1))
        self.anchors: torch.Tensor
        self.m = nn.ModuleList(nn.Conv2d(width, 3 * self.no, 1) for width in channels)
        self.stride = torch.tensor(STRIDES, dtype=torch.float32)
        self.grid: list[torch.Tensor] = [torch.empty(0)] * 3
        self.anchor_grid: list[torch.Tensor] = [torch.empty(0)] * 3

    def forward(self, maps: list[torch.Tensor]) -> torch.Tensor:
        boxes = []
        for i, convolution in enumerate(self.m):
            x = convolution(maps[i])
            b, _, h, w = x.shape
            if not isinstance(h, torch.Tensor):  # as it is in a trace, which keeps what the last call prepared
                self._prepare(i, h, w)
            x = x.view(b, 3, self.no, h, w).permute(0, 1, 3, 4, 2).contiguous()
            xy, wh, scores = x.sigmoid().split((2, 2, self.no - 4), 4)
            xy = (xy * 2 + self.grid[i]) * self.stride[i]
            wh = (wh * 2) ** 2 * self.anchor_grid[i]
            boxes.append(torch.cat((xy, wh, scores), 4).view(b, 3 * h * w, self.no))
        return torch.cat(boxes, 1)

    def _prepare(self, i: int, height: int, width: int) -> None:
        """Each cell's offset and each anchor's size in pixels for a map of this height and width."""
        shape = (1, 3, height, width, 2)
        y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        self.grid[i] = (torch.stack((x, y), 2).float() - 0.5).expand(shape)
        self.anchor_grid[i] = (self.anchors[i] * self.stride[i]).view(1, 3, 1, 1, 2).expand(shape)


class YoloV5(nn.Module):
    """The detector for (b, 3, h, w) images with h and w multiples of 32; scaled by depth and width."""

    def __init__(self, depth: float, width: float, num_classes: int = 80) -> None:
        super().__init__()
        c64, c128, c256, c512, c1024 = (math.ceil(c * width / 8) * 8 for c in (64, 128, 256, 512, 1024))
        n3, n6, n9 = (max(round(n * depth), 1) for n in (3, 6, 9))
        self.model = nn.ModuleList(
            [
                Conv(3, c64, 6, 2, 2),
                Conv(c64, c128, 3, 2),
                C3(c128, c128, n3),
                Conv(c128, c256, 3, 2),
                C3(c256, c256, n6),
                Conv(c256, c512, 3, 2),
                C3(c512, c512, n9),
                Conv(c512, c1024, 3, 2),
                C3(c1024, c1024, n3),
                SPPF(c1024),
                Conv(c1024, c512),
                nn.Upsample(scale_factor=2, mode="nearest"),
                Concat(),
                C3(c1024, c512, n3, has_shortcut=False),
                Conv(c512, c256),
                nn.Upsample(scale_factor=2, mode="nearest"),
                Concat(),
                C3(c512, c256, n3, has_shortcut=False),
                Conv(c256, c256, 3, 2),
                Concat(),
                C3(c512, c512, n3, has_shortcut=False),
                Conv(c512, c512, 3, 2),
                Concat(),
                C3(c1024, c1024, n3, has_shortcut=False),
                Detect(num_classes, (c256, c512, c1024)),
            ]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs: list[torch.Tensor] = []
        for i, module in enumerate(self.model[:24]):
            x = module(x, outputs[JOINS[i]]) if i in JOINS else module(x)
            outputs.append(x)
        return self.model[24]([outputs[17], outputs[20], outputs[23]])


def yolov5n(num_classes: int = 80) -> YoloV5:
    """YOLOv5n: 1.9 million parameters."""
    return YoloV5(1 / 3, 1 / 4, num_classes)


def yolov5s(num_classes: int = 80) -> YoloV5:
    """YOLOv5s: 7.2 million parameters."""
    return YoloV5(1 / 3, 1 / 2, num_classes)
