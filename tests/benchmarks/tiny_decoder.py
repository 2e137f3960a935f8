"""A tiny language model for the benchmark of text."""

from __future__ import annotations

from benchmarks.text_files import SMOLLM2_135M

TINY = {
    **SMOLLM2_135M, "vocab_size": 320, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512,
}  # fmt: skip
