import numpy as np

from kuiper.engine.step import Step

class Program:
    steps: list[Step]
    scratch_floats: int

    def __init__(self, steps: list[Step], cores: int = 1) -> None: ...
    def run(
        self,
        arena: np.ndarray,
        bindings: np.ndarray,
        scratch: np.ndarray,
        seconds: np.ndarray | None = None,
        parts: np.ndarray | None = None,
    ) -> None: ...

def workers() -> int: ...
