from collections.abc import Sequence

from kuiper.engine.step import Step

class Pick(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        shape: Sequence[int],
        views: Sequence[tuple[int, int, int, Sequence[int]]],
    ) -> None: ...
