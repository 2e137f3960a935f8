from kuiper.engine.step import Step
from kuiper.layers.layer import Array

WIDTH: int
ROWS: int
LANES_WOVEN: int
FORMS: dict[str, int]

class IntegerConvolution(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        offset: Array,
        weights: Array,
        bias: Array,
        weight_sums: Array,
        scale: Array,
        shift: Array,
        panels: Array,
        lacking: Array,
    ) -> None: ...
