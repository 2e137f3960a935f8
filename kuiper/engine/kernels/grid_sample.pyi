from kuiper.engine.step import Step

PADDINGS: dict[str, int]

class GridSample(Step):
    def __init__(self, numbers: dict[str, int], rows: dict[str, float], columns: dict[str, float]) -> None: ...
