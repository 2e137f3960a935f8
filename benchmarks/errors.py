"""What a benchmark that cannot run says."""

from __future__ import annotations

from kuiper.errors import KuiperError

INSTALL = "pip install torch==2.13.0, then pip install -e '.[bench]' (or: make bench)"
"""How the peers and tools are installed; torch first, or pip takes the build for GPUs."""


class BenchmarkError(KuiperError, RuntimeError):
    """A package, a compiler or a file is missing, or a peer failed."""
