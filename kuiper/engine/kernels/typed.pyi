from collections.abc import Sequence

from kuiper.engine.step import Step

TYPES: dict[str, int]
OPERATIONS: dict[str, int]

class Typed(Step):
    def __init__(
        self,
        operation: str,
        shape: Sequence[int],
        views: Sequence[tuple[int, int, int, Sequence[int]]],
        floating: bool,
    ) -> None: ...
