from kuiper.engine.step import Step

Place = tuple[int, int, int, int]

class AppendToPages(Step):
    def __init__(self, pages: dict[str, int], key: Place, value: Place) -> None: ...

class AttendToPages(Step):
    def __init__(self, pages: dict[str, int], query: Place, out: Place, shared: int, scale: float) -> None: ...
