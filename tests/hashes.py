"""SHA-256 of what kuiper computes with ``reproducible=True``: the same on every CPU with fused multiply-adds.

    python -m tests.hashes        writes hashes.json (``make hashes``): a change of it needs a reason

Cases are stored graphs, bundled models, decoders, and layers of the sizes of real networks. Inputs are stored, or fractions
that any machine makes alike. A graph of which a part is left to a layer, or to the C library, is no case: NumPy, BLAS and
the C library choose their code by the CPU.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).with_name("fixtures")
STORED = Path(__file__).with_name("hashes.json")


def fractions(*shape: int, seed: int = 0) -> np.ndarray:
    """Multiples of 1/1024 in -2..2, by integers of NumPy's generator: no function of the C library makes them."""
    return (np.random.default_rng(seed).integers(-2048, 2049, shape) / 1024).astype(np.float32)
