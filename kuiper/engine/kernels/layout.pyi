from collections.abc import Iterable

from kuiper.engine.step import Step

class Copy(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        shape: Iterable[int],
        source_strides: Iterable[int],
        target_strides: Iterable[int],
    ) -> None: ...
