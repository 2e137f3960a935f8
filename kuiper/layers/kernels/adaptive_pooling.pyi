import numpy as np

def adaptive_average(
    x: np.ndarray, rows: np.ndarray, columns: np.ndarray, out: np.ndarray, num_threads: int
) -> None: ...
