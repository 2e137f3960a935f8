"""Whole networks as their authors wrote them, at full depth but on few channels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import nn

if TYPE_CHECKING:
    Tensors = tuple[torch.Tensor, ...]


def conv(i: int, o: int, kernel: int = 3, stride: int = 1, groups: int = 1, last: nn.Module | None = None) -> nn.Module:
    """Convolution, batch norm, activation."""
    layers = [nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(o)]
    return nn.Sequential(*layers, nn.ReLU(inplace=True) if last is None else last)


class Shuffle(nn.Module):
    """ShuffleNetV2's unit, with the channels dealt as FastestDet does."""

    def __init__(self, i: int, o: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        half = i if stride == 2 else i // 2
        self.main = nn.Sequential(
            conv(half, o // 2, 1), conv(o // 2, o // 2, 3, stride, o // 2, nn.Identity()), conv(o // 2, o - half, 1)
        )
        self.shortcut = nn.Sequential(conv(i, i, 3, 2, i, nn.Identity()), conv(i, i, 1)) if stride == 2 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.shortcut is not None:
            return torch.cat((self.shortcut(x), self.main(x)), 1)
        b, c, h, w = x.size()
        x = x.reshape(b * c // 2, 2, h * w).permute(1, 0, 2).reshape(2, -1, c // 2, h, w)
        return torch.cat((x[0], self.main(x[1])), 1)


class FastestDet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, 2), nn.MaxPool2d(3, 2, 1))
        sizes = (8, 16, 32, 64)
        self.stages = nn.ModuleList(nn.Sequential(Shuffle(i, o, 2), Shuffle(o, o, 1)) for i, o in pairwise(sizes))
        self.shrink, self.enlarge = nn.AvgPool2d(3, 2, 1), nn.Upsample(scale_factor=2, mode="nearest")
        self.join = conv(112, 32, 1)
        self.spp = nn.ModuleList(nn.Sequential(*(conv(32, 32, 5, 1, 32) for _ in range(n))) for n in (1, 2, 3))
        self.out = conv(96, 32, 1, last=nn.Identity())
        self.heads = nn.ModuleList(nn.Sequential(conv(32, 32, 5, 1, 32), nn.Conv2d(32, o, 1)) for o in (1, 4, 9))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        p1 = self.stages[0](self.stem(x))
        p2 = self.stages[1](p1)
        p3 = self.stages[2](p2)
        x = self.join(torch.cat((self.shrink(p1), p2, self.enlarge(p3)), dim=1))
        x = F.relu(x + self.out(torch.cat([branch(x) for branch in self.spp], dim=1)))
        objects, boxes, classes = (head(x) for head in self.heads)
        return torch.cat((torch.sigmoid(objects), boxes, torch.softmax(classes, dim=1)), dim=1)


class RFB(nn.Module):
    """The receptive-field block of the Ultra-Light face detector."""

    def __init__(self, c: int) -> None:
        super().__init__()
        q = c // 8
        self.branches = nn.ModuleList(
            nn.Sequential(
                conv(c, q, 1, last=nn.Identity()), conv(q, 2 * q),
                nn.Conv2d(2 * q, 2 * q, 3, padding=d, dilation=d, bias=False), nn.BatchNorm2d(2 * q),
            )
            for d in (2, 3, 5)
        )  # fmt: skip
        self.join, self.shortcut = conv(6 * q, c, 1, last=nn.Identity()), conv(c, c, 1, last=nn.Identity())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        joined = self.join(torch.cat([branch(x) for branch in self.branches], 1))
        return F.relu(joined * 0.1 + self.shortcut(x))


class UltraLight(nn.Module):
    """Scores and boxes of two levels, decoded with priors that lie in a plain tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Sequential(conv(3, 16, 3, 2), conv(16, 16, 3, 2, 16), conv(16, 32, 1, 2), RFB(32))
        self.extra = nn.Sequential(conv(32, 32, 3, 2, 32), conv(32, 64, 1))
        self.scores = nn.ModuleList(self.separable(c, 2 * 2) for c in (32, 64))
        self.boxes = nn.ModuleList(self.separable(c, 2 * 4) for c in (32, 64))
        places = [(x, y, s, s) for n in (6, 3) for y in range(n) for x in range(n) for s in (0.2, 0.4)]
        self.priors = torch.tensor(places).clamp(0, 1)

    @staticmethod
    def separable(i: int, o: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(i, i, 3, padding=1, groups=i), nn.ReLU(), nn.Conv2d(i, o, 1))

    def forward(self, x: torch.Tensor) -> Tensors:
        fine = self.base(x)
        levels = [fine, self.extra(fine)]
        heads = []
        for head, columns in ((self.scores, 2), (self.boxes, 4)):
            found = [conv(level).permute(0, 2, 3, 1).contiguous() for conv, level in zip(head, levels, strict=True)]
            heads.append(torch.cat([rows.view(rows.size(0), -1, columns) for rows in found], 1))
        scores, offsets = heads
        priors = self.priors.unsqueeze(0)
        centres = offsets[..., :2] * 0.1 * priors[..., 2:] + priors[..., :2]
        sizes = torch.exp(offsets[..., 2:] * 0.2) * priors[..., 2:]
        corners = torch.cat([centres - sizes / 2, centres + sizes / 2], offsets.dim() - 1)
        return F.softmax(scores, dim=2), corners


class C2f(nn.Module):
    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.first, self.last = conv(i, o, 1, last=nn.SiLU()), conv(3 * o // 2, o, 1, last=nn.SiLU())
        self.inner = nn.Sequential(conv(o // 2, o // 2, last=nn.SiLU()), conv(o // 2, o // 2, last=nn.SiLU()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = list(self.first(x).chunk(2, 1))
        parts.append(parts[-1] + self.inner(parts[-1]))
        return self.last(torch.cat(parts, 1))


class YOLOv8(nn.Module):
    """Two levels, and the head that makes its anchors anew for each size."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(conv(3, 8, 3, 2, last=nn.SiLU()), conv(8, 16, 3, 2, last=nn.SiLU()), C2f(16, 16))
        self.coarse = nn.Sequential(conv(16, 32, 3, 2, last=nn.SiLU()), C2f(32, 32))
        self.reduce, self.pool = conv(32, 16, 1, last=nn.SiLU()), nn.MaxPool2d(5, 1, 2)
        self.spread, self.merge = conv(64, 32, 1, last=nn.SiLU()), C2f(48, 16)
        self.boxes = nn.ModuleList(nn.Conv2d(c, 4 * 8, 1) for c in (16, 32))
        self.classes = nn.ModuleList(nn.Conv2d(c, 5, 1) for c in (16, 32))
        self.bins = nn.Conv2d(8, 1, 1, bias=False).requires_grad_(False)
        self.bins.weight.data[:] = torch.arange(8, dtype=torch.float).view(1, 8, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fine = self.fine(x)
        pooled = [self.reduce(self.coarse(fine))]
        for _ in range(3):
            pooled.append(self.pool(pooled[-1]))
        coarse = self.spread(torch.cat(pooled, 1))
        fine = self.merge(torch.cat([F.interpolate(coarse, scale_factor=2, mode="nearest"), fine], 1))
        return self.detect((fine, coarse))

    def detect(self, levels: Tensors) -> torch.Tensor:
        heads = zip(self.boxes, self.classes, levels, strict=True)
        found = [torch.cat((box(level), score(level)), 1) for box, score, level in heads]
        anchors, strides = (made.transpose(0, 1) for made in self.anchors(found))
        joined = torch.cat([rows.view(levels[0].shape[0], 37, -1) for rows in found], 2)
        bins, scores = joined.split((32, 5), 1)
        b, _, n = bins.shape
        distances = self.bins(bins.view(b, 4, 8, n).transpose(2, 1).softmax(1)).view(b, 4, n)
        before, after = distances.chunk(2, 1)
        first, last = anchors.unsqueeze(0) - before, anchors.unsqueeze(0) + after
        return torch.cat((torch.cat(((first + last) / 2, last - first), 1) * strides, scores.sigmoid()), 1)

    def anchors(self, levels: list[torch.Tensor]) -> Tensors:
        points, strides = [], []
        for level, stride in zip(levels, (4, 8), strict=True):
            h, w = level.shape[2:]
            rows, columns = torch.arange(end=h, dtype=level.dtype) + 0.5, torch.arange(end=w, dtype=level.dtype) + 0.5
            y, x = torch.meshgrid(rows, columns, indexing="ij")
            points.append(torch.stack((x, y), -1).view(-1, 2))
            strides.append(torch.full((h * w, 1), stride, dtype=level.dtype))
        return torch.cat(points), torch.cat(strides)


class FCOS(nn.Module):
    """One head for all levels, whose boxes each level scales by a number of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList([nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2)), conv(16, 16, 3, 2)])
        self.tower = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU())
        self.classes, self.boxes = nn.Conv2d(16, 5, 3, padding=1), nn.Conv2d(16, 4, 3, padding=1)
        self.scales = nn.ParameterList(nn.Parameter(torch.tensor([1.0 + i])) for i in range(2))

    def forward(self, x: torch.Tensor) -> Tensors:
        found = []
        for scale, level in zip(self.scales, self.levels, strict=True):
            x = level(x)
            seen = self.tower(x)
            boxes = F.relu(self.boxes(seen) * scale)
            rows = torch.cat((boxes, self.classes(seen)), 1)
            n, _, h, w = rows.shape
            found.append(rows.view(n, -1, 9, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, 9))
        rows = torch.cat(found, 1)
        scores, labels = rows[..., 4:].sigmoid().max(-1)
        return rows, scores, labels


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.qkv, self.proj = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, n, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.einsum("bhid,bhjd->bhij", q, k) * (c // 4) ** -0.5
        return x + self.proj((weights.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c))


class ViT(nn.Module):
    def __init__(self, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, width, 8, 8), nn.Linear(width, 10)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.blocks = nn.ModuleList(Attention(width) for _ in range(depth))
        perceptron = (nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.perceptrons = nn.ModuleList(nn.Sequential(*perceptron) for _ in range(depth))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        for attention, perceptron in zip(self.blocks, self.perceptrons, strict=True):
            x = attention(x)
            x = x + perceptron(x)
        return self.head(x[:, 0])
