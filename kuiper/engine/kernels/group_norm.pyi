import numpy as np

from kuiper.engine.step import Step

class GroupNorm(Step):
    def __init__(self, numbers: dict[str, float], weight: np.ndarray, bias: np.ndarray) -> None: ...
