from kuiper.engine.step import Step
from kuiper.layers.layer import Array

class ByteSoftmax(Step):
    def __init__(self, numbers: dict[str, float], table: Array) -> None: ...
