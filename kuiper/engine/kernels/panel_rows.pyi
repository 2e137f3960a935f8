import numpy as np
import numpy.typing as npt

from kuiper.engine.step import Step

class PanelRows(Step):
    def __init__(
        self, numbers: dict[str, int], weights: npt.NDArray[np.float32], panels: npt.NDArray[np.intp]
    ) -> None: ...
