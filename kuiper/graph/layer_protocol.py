"""What an operator asks of the layer that runs it. It stands alone, since an operator knows nothing beyond."""

from __future__ import annotations

from typing import Any, Protocol


class LayerProtocol(Protocol):
    """What the graph asks of a layer."""

    @property
    def is_no_op(self) -> bool: ...

    @property
    def uses_state(self) -> bool: ...

    def forward(self, *inputs: Any) -> Any: ...

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int: ...
