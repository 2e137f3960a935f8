from collections.abc import Sequence

from kuiper.engine.step import Step

class ByteArithmetic(Step):
    def __init__(
        self, numbers: dict[str, float], shape: Sequence[int], places: Sequence[tuple[int, Sequence[int]]]
    ) -> None: ...

class ByteSum(ByteArithmetic): ...
class ByteProduct(ByteArithmetic): ...
