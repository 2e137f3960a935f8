"""What made a graph's layers, its engine and its page; a copy, in this process or in another, needs it again."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kuiper.graph.protocols import ExecutorProtocol, ExplorerProtocol, RegistryProtocol, WiredGraph


@dataclass(frozen=True)
class Makers:
    """A registry whose answers do not change any more; what makes the engine and the page, if there is such a thing."""

    registry: Any = None
    engine: Callable[[WiredGraph], ExecutorProtocol] | None = None
    explorer: ExplorerProtocol | None = None

    @classmethod
    def of(
        cls,
        registry: RegistryProtocol,
        types: Iterable[str],
        engine: Callable[[WiredGraph], ExecutorProtocol] | None,
        explorer: ExplorerProtocol | None = None,
    ) -> Makers:
        """Keep these; of a registry that can give a ``snapshot``, as kuiper's can, what it makes of these types now."""
        snapshot = getattr(registry, "snapshot", None)
        return cls(snapshot(types) if snapshot else registry, engine, explorer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Makers:
        """A copied model is made by the same."""
        return self

    def expect_importable(self, where: str) -> None:
        """Raise GraphStateError if another process could not find them: pickle stores classes by their names."""
        for maker in (self.registry, self.engine, self.explorer):
            try:
                pickle.dumps(maker)
            except Exception as error:
                expected = "layers that another process can import"
                hint = "define their class at the top level of a module, or send the path of the model instead"
                raise GraphStateError(where, expected, f"{type(error).__name__}: {error}", hint) from error
