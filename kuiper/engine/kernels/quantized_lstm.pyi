from collections.abc import Sequence

from kuiper.engine.step import Step
from kuiper.layers.layer import Array

MAX_SEQUENCES: int

class QuantizedLstm(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        states: Sequence[dict[str, int]],
        weights: Array,
        sums: Array,
        zeros: Array,
        scale: Array,
        bias: Array,
        peepholes: Array,
    ) -> None: ...
