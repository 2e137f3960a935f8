import numpy as np

def average_pool(
    x: np.ndarray,
    lines: np.ndarray,
    divisor_h: np.ndarray,
    divisor_w: np.ndarray,
    out: np.ndarray,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    padding_h: int,
    padding_w: int,
    num_threads: int,
) -> None: ...
