from kuiper.engine.step import Step

class Positions(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...
