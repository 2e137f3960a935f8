import numpy as np

CODES: dict[str, int]
"""The code of each activation, by which kernels know it."""

COSTS: dict[str, int]
"""What each costs for one number, in additions."""

FUSED: tuple[str, ...]
"""Those that a kernel can apply to what it has computed; with "none"."""

def apply(name: str, x: np.ndarray, y: np.ndarray, a: float, b: float, num_threads: int) -> None: ...
