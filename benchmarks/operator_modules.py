"""Small PyTorch modules around operators that no convolutional network of the comparison has, and inputs for them.

Recurrent networks, sampling at any points, and what stands behind the last convolution of a detector or a recogniser:
it works with integers (topk, gather, where).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

    Tensors = tuple[torch.Tensor, ...]

SEED = 0


@dataclass(frozen=True)
class Case:
    """A module and its inputs; ``make`` gives both, seeded."""

    name: str
    make: Callable[[], tuple[nn.Module, Tensors]]


class Recurrent(nn.Module):
    """A recurrent network's outputs for a sequence, without its last state."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor = self.network(x)[0]
        return outputs


class Sampled(nn.Module):
    """An image read at the points of a grid."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode

    def forward(self, x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        return functional.grid_sample(x, grid, self.mode, align_corners=False)


class TextEmbedding(nn.Module):
    """What BERT begins with: words, places and a normalisation."""

    def __init__(self, words: int = 5000, places: int = 512, width: int = 256) -> None:
        super().__init__()
        self.words, self.places, self.norm = (
            nn.Embedding(words, width),
            nn.Embedding(places, width),
            nn.LayerNorm(width),
        )

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        normalised: torch.Tensor = self.norm(self.words(tokens) + self.places(places)[None])
        return normalised


class CenterNetDecoding(nn.Module):
    """The hundred highest peaks of a heat map, their classes, and the boxes that are predicted there."""

    def forward(self, heat: torch.Tensor, sizes: torch.Tensor, offsets: torch.Tensor) -> Tensors:
        n, classes, h, w = heat.shape
        heat = heat.sigmoid()
        peaks = heat * (functional.max_pool2d(heat, 3, 1, 1) == heat).float()
        scores, places = torch.topk(peaks.view(n, classes, h * w), 100)
        scores, best = torch.topk(scores.view(n, -1), 100)
        labels = best // 100
        places = places.view(n, -1).gather(1, best)
        x, y = (places % w).float(), (places // w).float()
        sizes, offsets = (self.picked(maps, places) for maps in (sizes, offsets))
        x, y = x + offsets[..., 0], y + offsets[..., 1]
        half = sizes / 2
        corners = (x - half[..., 0], y - half[..., 1], x + half[..., 0], y + half[..., 1])
        return torch.stack(corners, -1), scores, labels

    def picked(self, maps: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """The channels (n, k, c) of maps (n, c, h, w) at the places (n, k)."""
        n, c, h, w = maps.shape
        rows = maps.permute(0, 2, 3, 1).reshape(n, h * w, c)
        return rows.gather(1, places[..., None].expand(n, places.shape[1], c))


class YoloDecoding(nn.Module):
    """Rows of a YOLO head: the best class of each, and the hundred boxes of the highest scores."""

    def forward(self, rows: torch.Tensor) -> Tensors:
        scores, labels = (rows[..., 4:5].sigmoid() * rows[..., 5:].sigmoid()).max(-1)
        scores, best = torch.topk(scores, 100, dim=1)
        labels = labels.gather(1, best)
        centre, size = rows[..., :2], rows[..., 2:4].exp()
        boxes = torch.cat((centre - size / 2, centre + size / 2), -1)
        boxes = boxes.gather(1, best[..., None].expand(rows.shape[0], 100, 4))
        scores = torch.where(scores > 0.25, scores, torch.zeros_like(scores))
        return boxes, scores, labels


class GreedyCTC(nn.Module):
    """The best letter of each step, 0 (blank) for those that repeat the step before, and how sure the text is."""

    def forward(self, logits: torch.Tensor) -> Tensors:
        scores, letters = logits.log_softmax(-1).max(-1)
        repeats = letters[:, 1:] == letters[:, :-1]
        kept = torch.where(repeats, torch.zeros_like(letters[:, 1:]), letters[:, 1:])
        return torch.cat((letters[:, :1], kept), 1), scores.sum(1)


class SSDDecoding(nn.Module):
    """Boxes from offsets to priors, and the two hundred best of each class."""

    def __init__(self, priors: int = 8732) -> None:
        super().__init__()
        self.register_buffer("priors", torch.rand(priors, 4, generator=torch.Generator().manual_seed(SEED)) * 0.5 + 0.1)

    def forward(self, locations: torch.Tensor, logits: torch.Tensor) -> Tensors:
        scores = logits.softmax(-1)[..., 1:]
        centre = self.priors[:, :2] + locations[..., :2] * 0.1 * self.priors[:, 2:]
        size = self.priors[:, 2:] * torch.exp(locations[..., 2:] * 0.2)
        boxes = torch.cat((centre - size / 2, centre + size / 2), -1)
        scores, best = torch.topk(torch.where(scores > 0.05, scores, torch.zeros_like(scores)), 200, dim=1)
        n, k, classes = best.shape
        picked = boxes.gather(1, best.reshape(n, k * classes, 1).expand(n, k * classes, 4))
        return picked.reshape(n, k, classes, 4), scores


def recurrent(kind: type[nn.Module], batch: int, **options: object) -> tuple[nn.Module, Tensors]:
    """A network of width 64 on ``batch`` sequences of a hundred steps."""
    return Recurrent(kind(64, 64, batch_first=True, **options)), (torch.randn(batch, 100, 64),)


def sampled(channels: int, size: int, mode: str = "bilinear") -> tuple[nn.Module, Tensors]:
    """A square image read at as many points as it has pixels, some of them outside."""
    return Sampled(mode), (torch.randn(1, channels, size, size), torch.rand(1, size, size, 2) * 2.2 - 1.1)


def centernet() -> tuple[nn.Module, Tensors]:
    maps = (torch.randn(1, 80, 128, 128) - 2, torch.rand(1, 2, 128, 128) * 20, torch.rand(1, 2, 128, 128))
    return CenterNetDecoding(), maps


CASES = (
    Case("LSTM 64, 1 x 100 steps", lambda: recurrent(nn.LSTM, 1)),
    Case("LSTM 64, 8 x 100 steps", lambda: recurrent(nn.LSTM, 8)),
    Case("LSTM 64, 2 layers, both directions", lambda: recurrent(nn.LSTM, 1, num_layers=2, bidirectional=True)),
    Case("GRU 64, 1 x 100 steps", lambda: recurrent(nn.GRU, 1)),
    Case("GRU 64, 8 x 100 steps", lambda: recurrent(nn.GRU, 8)),
    Case("RNN 64, 1 x 100 steps", lambda: recurrent(nn.RNN, 1)),
    Case("grid_sample 3 x 224 x 224", lambda: sampled(3, 224)),
    Case("grid_sample 32 x 56 x 56", lambda: sampled(32, 56)),
    Case("grid_sample nearest 3 x 224 x 224", lambda: sampled(3, 224, "nearest")),
    Case("embedding of 128 words", lambda: (TextEmbedding(), (torch.randint(0, 5000, (1, 128)),))),
    Case("CenterNet's decoding", centernet),
    Case("YOLO's decoding", lambda: (YoloDecoding(), (torch.randn(1, 8400, 85),))),
    Case("CTC's decoding", lambda: (GreedyCTC(), (torch.randn(1, 128, 96),))),
    Case("SSD's decoding", lambda: (SSDDecoding(), (torch.randn(1, 8732, 4), torch.randn(1, 8732, 21)))),
)


def built(name: str) -> tuple[nn.Module, Tensors]:
    """The module of this case in eval mode, and its inputs; the same every time."""
    (case,) = (case for case in CASES if case.name == name)
    torch.manual_seed(SEED)
    module, inputs = case.make()
    return module.eval(), inputs
