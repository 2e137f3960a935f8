"""What tests of many texts in one step share: little models, made-up prompts, and reading one at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import kuiper
from kuiper.graph.batch import Batch, Piece, Text
from kuiper.models.text.random_decoder import random_config, random_decoder

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph


def tokens_of(seed: int, count: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, random_config().vocabulary, count)]


def model_of(**entries: int) -> RuntimeGraph:
    return kuiper.load(random_decoder(seed=1, **entries))


def read(batch: Batch, text: Text, tokens: list[int]) -> np.ndarray:
    """The scores behind the last of these tokens, read at once."""
    return batch.step([Piece(text, tokens)])[0]
