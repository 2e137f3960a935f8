from collections.abc import Sequence

from kuiper.engine.step import Step

MAX_OPERANDS: int
MAX_INSTRUCTIONS: int
MAX_PLACES: int

class Elementwise(Step):
    def __init__(
        self,
        shape: Sequence[int],
        views: Sequence[tuple[int, int, Sequence[int]]],
        program: Sequence[tuple[str, float, float]],
        whole_vectors: bool = ...,
    ) -> None: ...
