import numpy as np

from kuiper.engine.step import Step

LANES: int
TILE_ROWS: list[int]

class Convolution(Step):
    def __init__(
        self, numbers: dict[str, float], weights: np.ndarray, bias: np.ndarray, panels: np.ndarray
    ) -> None: ...
