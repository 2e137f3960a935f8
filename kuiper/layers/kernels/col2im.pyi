import numpy as np

def col2im(
    columns: np.ndarray,
    image: np.ndarray,
    kernel_h: int,
    kernel_w: int,
    stride_h: int,
    stride_w: int,
    pad_top: int,
    pad_left: int,
    dilation_h: int,
    dilation_w: int,
    num_threads: int,
) -> None: ...
