import numpy as np

from kuiper.engine.step import Step

class Upsample(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        row_indices: np.ndarray,
        row_weights: np.ndarray,
        column_indices: np.ndarray,
        column_weights: np.ndarray,
    ) -> None: ...
