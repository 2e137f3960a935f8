"""How the operators of a file become operators that can run: rewritten, and each with its layer."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError, UnsupportedOperatorError
from kuiper.graph.fallback import noting
from kuiper.graph.from_onnx import put_back_what_onnx_had
from kuiper.graph.in_place import put_parts_back
from kuiper.graph.pnnx.ir import BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kuiper.graph.passes import Pass
    from kuiper.graph.pnnx import Graph, Operator
    from kuiper.graph.protocols import BodyProtocol, MakeEngine, MakePage, RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator


class GraphState(Enum):
    """What a RuntimeGraph still needs before it can run."""

    NEED_INIT = "needs init()"
    NEED_BUILD = "needs build()"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Factories:
    """What makes a graph's layers, its engine and its page, after which passes. A copy of the graph needs it again."""

    registry: Any = None
    engine: MakeEngine | None = None
    explorer: MakePage | None = None
    where: str = "graph"
    rewrites: tuple[Pass, ...] = ()

    def fixed(self, types: Iterable[str]) -> Factories:
        """The same, with what the registry makes of these types now, if it can give a ``snapshot``, as kuiper's can."""
        snapshot = getattr(self.registry, "snapshot", None)
        return replace(self, registry=snapshot(types)) if snapshot else self

    def __deepcopy__(self, memo: dict[int, Any]) -> Factories:
        """A copied model is made by the same."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, which stores classes by their names: another process must find them. It needs no passes again."""
        for factory in (self.registry, self.engine, self.explorer):
            try:
                pickle.dumps(factory)
            except Exception as error:
                expected = "layers that another process can import"
                hint = "define their class at the top level of a module, or send the path of the model instead"
                raise GraphStateError(self.where, expected, f"{type(error).__name__}: {error}", hint) from error
        return Factories, (self.registry, self.engine, self.explorer, self.where)


def rewritten(
    operators: list[RuntimeOperator], operands: list[RuntimeOperand], factories: Factories
) -> list[RuntimeOperator]:
    """The operators after what every graph needs, and after the passes. New operands are added to ``operands``."""
    *_, operators = rewritten_in_turn(operators, operands, factories)
    return operators


def rewritten_in_turn(
    operators: list[RuntimeOperator], operands: list[RuntimeOperand], factories: Factories
) -> Iterator[list[RuntimeOperator]]:
    """The operators after what every graph needs, and again after each pass, which rewires those it is given."""
    operators = put_back_what_onnx_had(operators, operands)
    operators = put_parts_back(operators, operands, factories.registry)
    yield operators
    for rewrite in factories.rewrites:
        with noting(f"the pass {getattr(rewrite, '__name__', rewrite)}"):
            operators = rewrite(operators, factories.registry)
        yield operators


def make_layers(
    operators: Sequence[RuntimeOperator], registry: RegistryProtocol, body: Callable[[str, Graph], BodyProtocol]
) -> None:
    """Give each operator that has none its layer, and a condition or a loop what runs its bodies, made by ``body``."""
    for op in operators:
        if op.type not in BOUNDARY and op.layer is None:
            op.layer = registry.create(op)
    for op in operators:
        if op.graphs and (take_bodies := getattr(op.layer, "take_bodies", None)):
            take_bodies({name: body(f"{op.where}: {name}", graph) for name, graph in op.graphs.items()})


def types_of(operators: Sequence[RuntimeOperator] | Sequence[Operator]) -> set[str]:
    """The operator types, those in bodies included."""
    types = {op.type for op in operators}
    return types.union(*(types_of(graph.operators) for op in operators for graph in op.graphs.values()))


def unsupported(operators: Sequence[RuntimeOperator], registry: RegistryProtocol) -> dict[str, list[str]]:
    """The operator types that the registry lacks, each with the names of its operators."""
    missing: dict[str, list[str]] = {}
    for op in operators:
        if op.type not in BOUNDARY and not registry.is_supported(op.type):
            missing.setdefault(op.type, []).append(op.name)
    return missing


def refuse_unsupported(operators: Sequence[RuntimeOperator], registry: RegistryProtocol, where: str) -> None:
    """Raise one UnsupportedOperatorError that lists every operator type that the registry lacks, if there is any."""
    lines = []
    for type_name, names in unsupported(operators, registry).items():
        near = registry.near_matches(type_name)
        similar = f" (similar: {', '.join(near)})" if near else ""
        lines.append(f"{type_name} '{names[0]}'" + (f" and {len(names) - 1} more" if names[1:] else "") + similar)
    if lines:
        expected = "operator types that kuiper knows"
        raise UnsupportedOperatorError(where, expected, ", ".join(lines), hint="see docs/inside/add-a-layer.md")
