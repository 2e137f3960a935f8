import numpy as np
import numpy.typing as npt

from kuiper.engine.step import Step

WIDTH: int
RUNS: bool

def words_of_row(groups: int, fours: int) -> int: ...

class SplitInt8(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...

class SplitInt8Product(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        slices: tuple[int, int],
        weights: npt.NDArray[np.uint8],
        scales: npt.NDArray[np.uint8],
        bias: npt.NDArray[np.float32],
        in_groups: bool,
    ) -> None: ...

class SplitInt8Rows(Step):
    def __init__(
        self, numbers: dict[str, int], weights: npt.NDArray[np.uint8], scales: npt.NDArray[np.uint8], in_groups: bool
    ) -> None: ...
