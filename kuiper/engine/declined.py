"""What many lowerings ask, and decline without: the operator's layer runs instead (``Builder.attempt``).

The layer does what the lowering does not know, or says what is wrong with its inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, PythonValue
from kuiper.errors import KuiperError
from kuiper.graph.declined import Declined, decline_if

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Declined", "answer_of", "axis_of", "common_shape", "decline_if", "known_examples"]


def answer_of(layer: Any, *examples: Any) -> Any:
    """What a layer makes of placeholders and constants; declines if it refuses them, and so says what is wrong."""
    try:
        return layer.forward(*examples)
    except KuiperError as error:
        raise Declined from error


def known_examples(values: Sequence[AnyValue]) -> list[Any]:
    """What these are in every run: constants, and what follows from shapes."""
    examples = [value.example for value in values if isinstance(value, PythonValue) and value.constant]
    decline_if(len(examples) < len(values))
    return examples


def axis_of(dim: int, rank: int) -> int:
    """``dim`` counted from the front.

    >>> axis_of(-1, 3)
    2
    """
    decline_if(not -rank <= dim < rank)
    return dim % rank


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """What these broadcast to, in at most as many axes as a kernel walks over.

    >>> common_shape((3, 1), (2,))
    (3, 2)
    """
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise Declined from error
    decline_if(len(shape) > MAX_NDIM)
    return shape
