from kuiper.engine.step import Step

OTHER_NUMBERS_FLAG: int

Place = tuple[int, int, int, int]

class JoinPast(Step):
    def __init__(self, geometry: dict[str, int], key: Place, value: Place) -> None: ...

class AttendPast(Step):
    def __init__(
        self, geometry: dict[str, int], query: Place, out: Place, scale: float, panels: tuple[int, int]
    ) -> None: ...
