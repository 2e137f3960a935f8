"""Does a session compute what the model computes that is called with its own caches?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import kuiper
from kuiper.models.conversion.comparison import TOLERANCE, Comparison, compared

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kuiper.models.conversion.caches.decoder_inputs import DecoderInputs
    from kuiper.models.conversion.caches.state import Stateful
    from kuiper.models.conversion.verification import Model

PROMPT = 12
"""So many tokens of the text go in with the first call of the session."""


def verify_session(
    param: str | Path,
    model: Model,
    roles: DecoderInputs,
    state: Stateful,
    inputs: Sequence[np.ndarray],
    tokens: np.ndarray,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Compare the logits for a text (b, n): the model token by token, sessions with a prompt first.

    Raises
    ------
    KuiperError
        If the model does not run on empty caches, or kuiper cannot run the graph.
    """
    expected = own_caches(model, roles, state, inputs, tokens)
    answers = []
    for optimize in (False, True):
        session = kuiper.load(param, optimize=optimize).start(max_length=tokens.shape[1])
        pieces = [tokens[:, :PROMPT], *np.split(tokens[:, PROMPT:], max(tokens.shape[1] - PROMPT, 0), axis=1)]
        answers.append(np.concatenate([np.asarray(session(piece)) for piece in pieces if piece.size], axis=1))
    plain, optimized = answers
    row = compared(f"{tokens.shape[1]} tokens in a session", 0, expected, plain, optimized, tolerance)
    return Comparison(model.framework, tolerance, (row,))


def own_caches(
    model: Model, roles: DecoderInputs, state: Stateful, inputs: Sequence[np.ndarray], tokens: np.ndarray
) -> np.ndarray:
    """The logits of a text (b, n) by the model alone, token by token, from empty caches on."""
    caches = [inputs[i][:, :, :0] for i in roles.caches]
    logits = []
    for i in range(tokens.shape[1]):
        answers = model.answers(roles.call(inputs, tokens[:, i : i + 1], caches))
        logits.append(answers[state.logits])
        caches = [answers[present] for present in state.presents]
    return np.concatenate(logits, axis=1)
