import numpy as np
import numpy.typing as npt

from kuiper.engine.step import Step

WIDTH: int

class QuantizedProduct(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        weights: npt.NDArray[np.uint8],
        scales: npt.NDArray[np.float32],
        bias: npt.NDArray[np.float32],
    ) -> None: ...

class QuantizedRows(Step):
    def __init__(self, numbers: dict[str, int], width: int, table: int, scales: int) -> None: ...
