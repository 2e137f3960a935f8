from collections.abc import Sequence

import numpy as np

from kuiper.engine.step import Step

class LayerNorm(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        weight: np.ndarray,
        bias: np.ndarray,
        shape: Sequence[int],
        source_strides: Sequence[int],
        target_strides: Sequence[int],
    ) -> None: ...
