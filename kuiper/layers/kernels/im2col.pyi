import numpy as np

def im2col(
    image: np.ndarray,
    columns: np.ndarray,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_top: int,
    pad_left: int,
    dilation_h: int,
    dilation_w: int,
    first_row: int,
    num_threads: int,
) -> None: ...
