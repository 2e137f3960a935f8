from collections.abc import Sequence

from kuiper.engine.step import Step

class Softmax(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        shape: Sequence[int],
        source_strides: Sequence[int],
        target_strides: Sequence[int],
    ) -> None: ...
