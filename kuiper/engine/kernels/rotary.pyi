from kuiper.engine.step import Step

class RotaryAngles(Step):
    def __init__(self, numbers: dict[str, float]) -> None: ...

class Rotary(Step):
    def __init__(self, numbers: dict[str, int]) -> None: ...
