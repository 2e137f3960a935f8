"""The encoder of a text, in the size of MiniLM-L6-H384 (Wang et al., 2020), a usual model for sentence embeddings.

Devlin et al., 2019, "BERT: Pre-training of Deep Bidirectional Transformers". The layer norms stand behind the
shortcuts, and queries, keys and values come from three layers, as in the original.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

VOCABULARY, TOKENS = 30522, 128


class SelfAttention(nn.Module):
    """Attention of several heads, with the shortcut around it and the norm behind that."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output, self.norm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, width) as (batch, heads, tokens, width / heads)."""
        batch, tokens, width = x.shape
        return x.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries, keys, values = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = scaled_dot_product_attention(queries, keys, values)
        return self.norm(self.output(mixed.transpose(1, 2).reshape(x.shape)) + x)


class Encoder(nn.Module):
    """One layer: attention, then a perceptron for each token."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.perceptron = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.attention(x)
        return self.norm(self.perceptron(x) + x)


class Bert(nn.Module):
    """Token ids (batch, 128) to vectors (batch, 128, width)."""

    def __init__(self, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, width), nn.Parameter(torch.zeros(1, TOKENS, width))
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.Sequential(*(Encoder(width, heads) for _ in range(depth)))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.layers(self.norm(self.words(ids) + self.positions))


def bert_minilm() -> Bert:
    """6 layers of 384 with 12 heads: 22 million parameters, 1.4 billion multiply-adds for 128 tokens."""
    return Bert(width=384, depth=6, heads=12)
