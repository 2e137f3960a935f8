import numpy as np

def depthwise(
    image: np.ndarray,
    weight: np.ndarray,
    out: np.ndarray,
    stride_h: int,
    stride_w: int,
    pad_top: int,
    pad_left: int,
    dilation_h: int,
    dilation_w: int,
    num_threads: int,
) -> None: ...
