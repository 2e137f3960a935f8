from kuiper.engine.step import Step
from kuiper.layers.layer import Array

class BytePooling(Step):
    def __init__(self, numbers: dict[str, float]) -> None: ...

class ByteWindowMean(BytePooling):
    def __init__(self, numbers: dict[str, float], count_y: Array, count_x: Array) -> None: ...

class ByteMean(Step):
    def __init__(self, numbers: dict[str, float], images: int, scale: Array) -> None: ...
