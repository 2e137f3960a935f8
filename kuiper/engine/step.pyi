import numpy as np

class Step:
    tasks: int
    scratch_floats: int
    keeps: object

def rows_needed(outputs: int, stride: int, before: int, reach: int, inputs: int) -> np.ndarray: ...
