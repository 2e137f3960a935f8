import numpy as np

from kuiper.engine.step import Step

class Depthwise(Step):
    def __init__(self, numbers: dict[str, float], weights: np.ndarray, bias: np.ndarray) -> None: ...
