from collections.abc import Sequence

from kuiper.engine.step import Step
from kuiper.layers.layer import Array

class ByteTable(Step):
    def __init__(
        self,
        shape: Sequence[int],
        x: tuple[int, Sequence[int]],
        out: tuple[int, Sequence[int]],
        table: Array,
    ) -> None: ...
