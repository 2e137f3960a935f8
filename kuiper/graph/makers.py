"""What made the layers and the engine of a graph; a copy, in this process or in another, needs it again."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kuiper.graph.protocols import ExecutorProtocol, RegistryProtocol, WiredGraph


@dataclass(frozen=True)
class Makers:
    """A registry whose answers do not change any more, and what makes the engine, if there is one."""

    registry: Any = None
    engine: Callable[[WiredGraph], ExecutorProtocol] | None = None

    @classmethod
    def of(
        cls,
        registry: RegistryProtocol,
        types: Iterable[str],
        engine: Callable[[WiredGraph], ExecutorProtocol] | None,
    ) -> Makers:
        """Keep these; of a registry that can give a ``snapshot``, as kuiper's can, what it makes of these types now."""
        snapshot = getattr(registry, "snapshot", None)
        return cls(snapshot(types) if snapshot else registry, engine)

    def __deepcopy__(self, memo: dict[int, Any]) -> Makers:
        """A copied model is made by the same."""
        return self

    def expect_importable(self, where: str) -> None:
        """Raise GraphStateError if another process could not find them: pickle stores classes by their names."""
        for maker in (self.registry, self.engine):
            try:
                pickle.dumps(maker)
            except Exception as error:
                expected = "layers that another process can import"
                hint = "define their class at the top level of a module, or send the path of the model instead"
                raise GraphStateError(where, expected, f"{type(error).__name__}: {error}", hint) from error
