from kuiper.engine.step import Step
from kuiper.layers.layer import Array

class BytePooling(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...

class ByteMean(Step):
    def __init__(self, numbers: dict[str, float], images: int, scale: Array) -> None: ...
