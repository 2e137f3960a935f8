"""The table of factories: what makes the layer of each operator type.

``register`` fills it. It stands alone, since both the registry, which makes layers, and a layer, which is made again
when it is copied, look things up in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

FACTORIES: dict[str, Callable[[RuntimeOperator], Any]] = {}
"""By operator type, a class of layers, or any function that makes a layer of an operator."""
