from kuiper.engine.step import Step

class ByteSum(Step):
    def __init__(self, numbers: dict[str, float]) -> None: ...
