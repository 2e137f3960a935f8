"""How well a language model predicts a text: its perplexity.

    perplexity = e ** (mean over the tokens of -ln p(token | those before it))

A model that always hesitates between 8 equally likely tokens has a perplexity of 8. The text is cut into windows of the
model's context; the first token of each is given, all others are predicted.

Source: F. Jelinek et al., "Perplexity, a measure of the difficulty of speech recognition tasks", 1977.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.models.text.protocols import LanguageModel

_WINDOW = 1024
"""Tokens of a window, where the context is longer: enough for what is far away to matter little."""


def perplexity(model: LanguageModel, tokens: Sequence[int]) -> float:
    """The perplexity of a text under a model.

    Parameters
    ----------
    model : the model
    tokens : the text, as ``model.vocabulary.encode`` gives it

    Returns
    -------
    At least 1; the number of tokens among which the model hesitates, on average.

    Raises
    ------
    ParameterError
        If there are fewer than two tokens.

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.language_model import load
    >>> model = load(bundled("shakespeare"))
    >>> text = "First Citizen:\\nBefore we proceed any further, hear me speak."
    >>> perplexity(model, model.vocabulary.encode(text)) < 8
    True
    """
    if len(tokens) < 2:
        raise ParameterError("perplexity", "a text of at least two tokens", len(tokens))
    window = min(_WINDOW, model.context)
    session = model.start(window)
    total = 0.0
    for first in range(0, len(tokens) - 1, window - 1):
        part = np.array(tokens[first : first + window], np.int64)
        session.rewind(0)
        total += _surprise(np.asarray(session(part[:-1])), part[1:])
    return math.exp(total / (len(tokens) - 1))


def _surprise(scores: np.ndarray, tokens: np.ndarray) -> float:
    """The sum of -ln p over tokens (n,) and the scores (n, vocabulary) that they were expected with."""
    shifted = scores.astype(np.float64) - scores.max(axis=-1, keepdims=True)
    chosen = shifted[np.arange(len(tokens)), tokens]
    return float(np.sum(np.log(np.exp(shifted).sum(axis=-1)) - chosen))
