"""How the operators that onnxruntime adds are spelled: as one of the standard's, or as a layer with named inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.onnx.table import find_translation

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value
    from kuiper.onnx.table import Result

NEWEST = 26
"""The operator set whose operators stand for those of onnxruntime."""


def as_standard(
    node: Node, build: GraphBuilder, kind: str, *inputs: Value | None, opset: int = NEWEST, **attributes: Any
) -> Result:
    """The translation of an operator of the standard, with these inputs, or the node's own, and these settings.

    Raises
    ------
    UnsupportedOperatorError
        If the table has no such operator.
    """
    translation = find_translation("", kind)
    if translation is None:
        raise UnsupportedOperatorError(node.where, "an operator that kuiper knows", kind)
    given = list(inputs) if inputs else node.inputs
    return translation(replace(node, type=kind, domain="", opset=opset, inputs=given, attributes=attributes), build)


def one(result: Result) -> Value:
    """The first output of a translation."""
    first = result[0] if isinstance(result, tuple) else result
    assert first is not None
    return first


def by_name(
    node: Node,
    build: GraphBuilder,
    names: str,
    required: int,
    *,
    kept: Collection[str] = (),
    outputs: int = 1,
    kind: str = "",
    type: int | None = None,  # noqa: A002 (the file's word)
    params: Mapping[str, Any] | None = None,
) -> tuple[Value, ...]:
    """An operator with its own layer, whose inputs have names, those that the file leaves out apart.

    Parameters
    ----------
    node, build : what is translated, and where to
    names : of all inputs, in order
    required : how many of them, from the first, must be there unless their name ends with ``_zero_point``
    kept : names of inputs that become weights of the layer where they are constants
    outputs, kind, type, params : as for ``build.ops``; the layer's type is the node's

    Raises
    ------
    ModelFormatError
        If a required input is missing, or there are more than names.
    """
    words = names.split()
    if len(node.inputs) > len(words):
        raise ModelFormatError(node.where, f"at most {len(words)} inputs", len(node.inputs))
    for place, word in enumerate(words[:required]):
        if not word.endswith("_zero_point"):
            node.value(place)
    given = {word: value for word, value in zip(words, node.inputs, strict=False) if value is not None}
    constants = {word: value.constant for word, value in given.items() if word in kept}
    attrs = {word: array for word, array in constants.items() if array is not None}
    values = {word: value for word, value in given.items() if word not in attrs}
    code = node.value(0).type if type is None else type
    settings = {key: value for key, value in (params or {}).items() if value is not None}
    return build.ops(
        kind or node.type,
        *values.values(),
        outputs=outputs,
        names=list(values),
        params=settings,
        attrs=attrs,
        type=code,
    )
