from kuiper.engine.step import Step

class ByteRange(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...

class ToBytes(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...
