"""A decoder-only transformer of the Llama kind (Touvron et al., 2023), small enough to be trained on a CPU.

    tokens -> embedding -> n blocks -> RMSNorm -> the embedding again, as a matrix: one score for each token
    a block: x + attention(RMSNorm(x)), then x + SwiGLU(RMSNorm(x))

Positions enter by rotary embedding (Su et al., 2021), several query heads share one key and value head (Ainslie et al.,
2023), and the scores come from the embedding's own matrix where ``tie_word_embeddings`` says so. Parameters have the
names of Hugging Face's Llama, and the configuration has the fields of its ``config.json``: one reader serves both.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class LlamaConfig:
    """The fields of ``config.json`` that say how large each part is."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    tie_word_embeddings: bool = True

    def clocks(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine (length, head_dim) of the angle by which each pair of numbers turns at each position.

        Number i and number i + head_dim / 2 of a head are one pair, as in Hugging Face's weights; the paper, and the
        first Llama's own code, pair the numbers 2i and 2i + 1.
        """
        half = torch.arange(0, self.head_dim, 2, dtype=torch.float32) / self.head_dim
        angles = torch.outer(torch.arange(length, dtype=torch.float32), self.rope_theta**-half)
        both = torch.cat((angles, angles), dim=-1)
        return both.cos(), both.sin()


def turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Heads (b, heads, t, head_dim), each pair of numbers turned by the angle of its position."""
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps), times a weight for each channel (Zhang and Sennrich, 2019)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


class Attention(nn.Module):
    """Causal attention in which groups of query heads share a key head and a value head."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        heads, shared, self.head_dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        self.group = heads // shared
        self.q_proj = nn.Linear(config.hidden_size, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, shared * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, shared * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        b, t, _ = x.shape
        q, k, v = (
            projection(x).view(b, t, -1, self.head_dim).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = turned(q, cosine, sine), turned(k, cosine, sine)
        k, v = k.repeat_interleave(self.group, dim=1), v.repeat_interleave(self.group, dim=1)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(b, t, -1))


class MLP(nn.Module):
    """SwiGLU (Shazeer, 2020): one projection, through SiLU, gates another."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    """Attention and SwiGLU, each beside a shortcut and behind its own normalisation."""

    def __init__(self, config: LlamaConfig, dropout: float) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = MLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.self_attn(self.input_layernorm(x), cosine, sine))
        return x + self.dropout(self.mlp(self.post_attention_layernorm(x)))


class LlamaModel(nn.Module):
    """From tokens (b, t) to features (b, t, hidden_size)."""

    def __init__(self, config: LlamaConfig, dropout: float) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config, dropout) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.dropout = nn.Dropout(dropout)
        cosine, sine = config.clocks(config.max_position_embeddings)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.embed_tokens(tokens))
        cosine, sine = self.cosine[: tokens.shape[1]], self.sine[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, cosine, sine)
        return self.norm(x)


class LlamaForCausalLM(nn.Module):
    """From tokens (b, t) to scores (b, t, vocab_size) for the token behind each of them.

    ``dropout`` acts on the embedding and on what each branch adds; the released Llamas are trained without any.
    """

    def __init__(self, config: LlamaConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.model = LlamaModel(config, dropout)
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                depth = 2 * config.num_hidden_layers if name.endswith(("o_proj.weight", "down_proj.weight")) else 1
                nn.init.normal_(parameter, std=0.02 if "embed" in name else (2 * parameter.shape[1] * depth) ** -0.5)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        matrix = self.model.embed_tokens.weight if self.config.tie_word_embeddings else self.lm_head.weight
        return functional.linear(self.model(tokens), matrix)
