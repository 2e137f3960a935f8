"""The table of ONNX operators: one short function for each, from a node to operators of kuiper's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

    Result = Value | tuple[Value | None, ...]
    Translation = Callable[[Node, GraphBuilder], Result]

CONTRIB = "com.microsoft"
"""The domain of the operators that onnxruntime adds to the standard."""

_translations: dict[tuple[str, str], Translation] = {}


def operator(*types: str, domain: str = "") -> Callable[[Translation], Translation]:
    """Say which operators of a domain a function translates.

    The function gets the node and the builder of the graph, and returns the values of the node's outputs, in order.
    """

    def note(translation: Translation) -> Translation:
        for name in types:
            _translations[domain, name] = translation
        return translation

    return note


def find_translation(domain: str, kind: str) -> Translation | None:
    """The function that translates operators of this type, if there is one."""
    return _translations.get(("" if domain == "ai.onnx" else domain, kind))


def known_operators() -> list[tuple[str, str]]:
    """Domain and type of all operators in the table, sorted."""
    return sorted(_translations)
