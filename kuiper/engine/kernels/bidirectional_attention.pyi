from kuiper.engine.step import Step

Place = tuple[int, int, int, int]

class AttendInTexts(Step):
    def __init__(
        self,
        geometry: dict[str, int],
        query: Place,
        key: Place,
        value: Place,
        out: Place,
        scale: float,
        panels: tuple[int, int],
    ) -> None: ...
