import numpy as np

def grid_sample(
    planes: np.ndarray,
    height: int,
    width: int,
    slices: np.ndarray,
    slice_weights: np.ndarray,
    rows: np.ndarray,
    row_weights: np.ndarray,
    columns: np.ndarray,
    column_weights: np.ndarray,
    out: np.ndarray,
    num_threads: int,
) -> None: ...
