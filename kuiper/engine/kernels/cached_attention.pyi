from kuiper.engine.step import Step

Place = tuple[int, int, int, int]

class Append(Step):
    def __init__(self, caches: dict[str, int], key: Place, value: Place) -> None: ...

class Attend(Step):
    def __init__(
        self,
        caches: dict[str, int],
        query: Place,
        out: Place,
        shared: int,
        scale: float,
        appending: Append | None = None,
    ) -> None: ...

def is_one_task(count: int, shared: int) -> bool: ...
