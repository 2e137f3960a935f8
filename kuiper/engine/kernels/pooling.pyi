import numpy as np

from kuiper.engine.step import Step

class Pooling(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        rows: np.ndarray,
        columns: np.ndarray,
        divisor_h: np.ndarray,
        divisor_w: np.ndarray,
    ) -> None: ...
