from collections.abc import Sequence

from kuiper.engine.step import Step

class ByteMatrixProduct(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        stack: Sequence[int],
        out_strides: Sequence[int],
        a_strides: Sequence[int],
        b_strides: Sequence[int],
    ) -> None: ...
