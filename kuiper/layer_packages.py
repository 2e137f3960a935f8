"""Packages above ``kuiper.layers`` that have layers of their own, by name: who imports the layers gets these, too.

The layers may import nothing from above, and ``import kuiper`` imports neither them nor what stands on them. So
``kuiper/__init__.py``, which knows all packages, writes the names down here; ``kuiper/layers/__init__.py`` reads them.
"""

from __future__ import annotations

above: list[str] = []
"""Names of packages that register layers when they are imported."""
