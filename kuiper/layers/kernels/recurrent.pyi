import numpy as np

def lstm(
    gates: np.ndarray,
    hidden: np.ndarray,
    projection: np.ndarray,
    h: np.ndarray,
    c: np.ndarray,
    cells: np.ndarray,
    outputs: np.ndarray,
    num_threads: int,
) -> None: ...
def gru(
    gates: np.ndarray,
    hidden: np.ndarray,
    bias: np.ndarray,
    h: np.ndarray,
    past: np.ndarray,
    outputs: np.ndarray,
    num_threads: int,
) -> None: ...
def rnn(
    gates: np.ndarray, hidden: np.ndarray, h: np.ndarray, outputs: np.ndarray, is_relu: bool, num_threads: int
) -> None: ...
