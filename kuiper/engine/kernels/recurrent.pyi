from collections.abc import Sequence

import numpy as np

from kuiper.engine.step import Step

KINDS: dict[str, int]

class Recurrent(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        states: Sequence[dict[str, int]],
        weights: np.ndarray,
        bias: np.ndarray,
    ) -> None: ...
