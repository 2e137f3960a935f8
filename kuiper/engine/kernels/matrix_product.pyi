from collections.abc import Sequence

from kuiper.engine.step import Step

class MatrixProduct(Step):
    def __init__(
        self,
        numbers: dict[str, float],
        shape: Sequence[int] = ...,
        out_strides: Sequence[int] = ...,
        a_strides: Sequence[int] = ...,
        b_strides: Sequence[int] = ...,
    ) -> None: ...
