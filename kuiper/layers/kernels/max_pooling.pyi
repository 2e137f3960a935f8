import numpy as np

def max_pool(
    x: np.ndarray,
    lines: np.ndarray,
    out: np.ndarray,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    padding_h: int,
    padding_w: int,
    dilation_h: int,
    dilation_w: int,
    num_threads: int,
) -> None: ...
def max_with_indices(
    x: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    step_h: int,
    step_w: int,
    out: np.ndarray,
    indices: np.ndarray,
    num_threads: int,
) -> None: ...
