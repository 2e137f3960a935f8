import numpy as np

MAX_NDIM: int

class Step:
    tasks: int
    scratch_floats: int
    keeps: object

def rows_needed(images: int, outputs: int, stride: int, before: int, reach: int, inputs: int) -> np.ndarray: ...
def of_all_images(images: int, needed: np.ndarray, inputs: int) -> np.ndarray: ...
