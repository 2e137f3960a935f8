from kuiper.engine.step import Step

class Ranking(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...
