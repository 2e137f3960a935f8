"""ViT-Ti/16 of Touvron et al., 2021, "Training data-efficient image transformers", table 1 (DeiT-Ti).

(3, 224, 224) -> 14 x 14 patches of 16 x 16 pixels, 192 numbers each; a class token in front -> 12 blocks -> 1000
"""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.architectures.transformer import Block


class VisionTransformer(nn.Module):
    """An image as a sequence of patches; Dosovitskiy et al., 2021, "An Image is Worth 16x16 Words"."""

    def __init__(self, size: int, patch: int, width: int, depth: int, heads: int, num_classes: int = 1000) -> None:
        super().__init__()
        tokens = (size // patch) ** 2 + 1
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, tokens, width))
        self.blocks = nn.Sequential(*(Block(width, heads, 4 * width, nn.GELU) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.class_token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_tiny() -> VisionTransformer:
    """ViT-Ti/16: 5.7 million parameters, 1.1 billion multiply-adds for 224 x 224 pixels."""
    return VisionTransformer(size=224, patch=16, width=192, depth=12, heads=3)
