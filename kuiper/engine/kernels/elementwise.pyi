from collections.abc import Sequence

from kuiper.engine.step import Step

MOST_OPERANDS: int
MOST_INSTRUCTIONS: int
MOST_PLACES: int

class Elementwise(Step):
    def __init__(
        self,
        shape: Sequence[int],
        views: Sequence[tuple[int, int, Sequence[int]]],
        program: Sequence[tuple[str, float, float]],
        whole_vectors: bool = ...,
    ) -> None: ...
