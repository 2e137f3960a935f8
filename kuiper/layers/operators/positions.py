"""kuiper.Positions: which places of the text the tokens of a call have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, StatefulLayer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.state import OperatorState


@register("kuiper.Positions")
class Positions(StatefulLayer):
    """Tokens (b, s) -> (s,): ``length, length + 1, ...``, where ``length`` tokens came in the calls before.

    Where the rows are tokens of several texts, each has the position in its own.

    Source: the ``cache_position`` of Hugging Face's transformers.
    """

    def forward(self, tokens: Array, state: OperatorState) -> Array:
        self.expect_rank(tokens, (2,), "tokens (b, s)")
        if state.paging is not None:
            return np.array(state.integers("positions")[: tokens.shape[1]])
        return np.arange(state.length, state.length + tokens.shape[1], dtype=np.int64)
