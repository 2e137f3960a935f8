from collections.abc import Iterable, Sequence

from kuiper.engine.step import Step

_Axis = tuple[int, int, int]

def as_copied(axes: Iterable[_Axis]) -> list[_Axis]: ...
def arranged(axes: Sequence[_Axis]) -> tuple[int, list[_Axis]]: ...
def cut(axes: Sequence[_Axis], in_arena: int) -> tuple[int, int]: ...

class Copy(Step):
    def __init__(
        self,
        numbers: dict[str, int],
        shape: Iterable[int],
        source_strides: Iterable[int],
        target_strides: Iterable[int],
    ) -> None: ...
