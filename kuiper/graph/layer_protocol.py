"""What a graph asks of the layers that run its operators. It stands alone, since an operator knows nothing beyond."""

from __future__ import annotations

from typing import Any, Protocol


class ActivationProtocol(Protocol):
    """What passes ask of a function of one number: its name, its settings, and whether a fused operator can have it."""

    @property
    def name(self) -> str: ...

    @property
    def alpha(self) -> float: ...

    @property
    def beta(self) -> float: ...

    @property
    def is_fusable(self) -> bool: ...


class FactsProtocol(Protocol):
    """What is true of all operators of a type; ``kuiper.layers.layer.Layer`` explains each."""

    @property
    def is_view(self) -> bool: ...

    @property
    def keeps_order(self) -> bool: ...

    @property
    def is_copy(self) -> bool: ...

    @property
    def is_part(self) -> bool: ...

    @property
    def is_activation(self) -> bool: ...


class LayerProtocol(Protocol):
    """What the graph asks of a layer."""

    @property
    def function(self) -> ActivationProtocol | None: ...

    @property
    def is_no_op(self) -> bool: ...

    @property
    def uses_state(self) -> bool: ...

    def forward(self, *inputs: Any) -> Any: ...

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int: ...
