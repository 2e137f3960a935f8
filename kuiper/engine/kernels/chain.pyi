from collections.abc import Sequence

from kuiper.engine.step import Step

MAX_STEPS: int

class Chain(Step):
    def __init__(self, steps: Sequence[Step], rows: Sequence[int], band: int, tasks: int) -> None: ...
