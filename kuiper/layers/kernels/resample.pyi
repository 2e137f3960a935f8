import numpy as np

def take_nearest(
    x: np.ndarray, row_indices: np.ndarray, column_indices: np.ndarray, out: np.ndarray, num_threads: int
) -> None: ...
def blend(
    x: np.ndarray,
    lines: np.ndarray,
    row_indices: np.ndarray,
    row_weights: np.ndarray,
    column_indices: np.ndarray,
    column_weights: np.ndarray,
    out: np.ndarray,
    num_threads: int,
) -> None: ...
