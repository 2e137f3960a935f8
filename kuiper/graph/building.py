"""How the operators of a file become operators that can run: rewritten, and each with its layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import UnsupportedOperatorError
from kuiper.graph.fallback import noting
from kuiper.graph.from_onnx import put_back_what_onnx_had
from kuiper.graph.in_place import put_parts_back

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.graph.passes import Pass
    from kuiper.graph.pnnx import Operator
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

ENDS = ("pnnx.Input", "pnnx.Output")
"""The operator types that are the graph's own ends and need no layer."""


def rewritten(
    operators: list[RuntimeOperator],
    operands: list[RuntimeOperand],
    registry: RegistryProtocol,
    rewrites: Sequence[Pass],
) -> list[RuntimeOperator]:
    """The operators after what every graph needs, and after these passes. New operands are added to ``operands``."""
    *_, operators = rewritten_in_turn(operators, operands, registry, rewrites)
    return operators


def rewritten_in_turn(
    operators: list[RuntimeOperator],
    operands: list[RuntimeOperand],
    registry: RegistryProtocol,
    rewrites: Sequence[Pass],
) -> Iterator[list[RuntimeOperator]]:
    """The operators after what every graph needs, and again after each pass, which rewires those it is given."""
    operators = put_back_what_onnx_had(operators, operands)
    operators = put_parts_back(operators, operands)
    yield operators
    for rewrite in rewrites:
        with noting(f"the pass {getattr(rewrite, '__name__', rewrite)}"):
            operators = rewrite(operators, registry)
        yield operators


def make_layers(operators: Sequence[RuntimeOperator], registry: RegistryProtocol) -> None:
    """Give each operator that has none its layer."""
    for op in operators:
        if op.type not in ENDS and op.layer is None:
            op.layer = registry.create(op)


def types_of(operators: Sequence[RuntimeOperator] | Sequence[Operator]) -> set[str]:
    """The operator types, those in bodies included."""
    types = {op.type for op in operators}
    return types.union(*(types_of(graph.operators) for op in operators for graph in op.graphs.values()))


def unsupported(operators: Sequence[RuntimeOperator], registry: RegistryProtocol) -> dict[str, list[str]]:
    """The operator types that the registry lacks, each with the names of its operators."""
    missing: dict[str, list[str]] = {}
    for op in operators:
        if op.type not in ENDS and not registry.is_supported(op.type):
            missing.setdefault(op.type, []).append(op.name)
    return missing


def refuse_unsupported(operators: Sequence[RuntimeOperator], registry: RegistryProtocol, where: str) -> None:
    """Raise one UnsupportedOperatorError that lists every operator type that the registry lacks, if there is any."""
    missing = unsupported(operators, registry)
    if not missing:
        return
    lines = []
    for type_name, names in missing.items():
        near = registry.near_matches(type_name)
        similar = f" (similar: {', '.join(near)})" if near else ""
        lines.append(f"{type_name} '{names[0]}'" + (f" and {len(names) - 1} more" if names[1:] else "") + similar)
    expected = "operator types that kuiper knows"
    raise UnsupportedOperatorError(where, expected, ", ".join(lines), hint="see docs/inside/add-a-layer.md")
