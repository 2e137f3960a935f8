"""What is known of vectors that are made of sizes: ``Value.sizes``, carried through the operators that exporters use.

A size is an integer, or None where only a run will tell. A vector all of whose sizes are known is a constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.onnx.element_types import ELEMENT_TYPES, INT64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Value

Sizes = tuple[int | None, ...]

_LONGEST = 64
"""More axes than any tensor has."""


def sizes_of(value: Value) -> Sizes | None:
    """The entries of a vector of integers as far as they are known; None if it is none, or its length is open.

    >>> from kuiper.onnx.node import Value
    >>> sizes_of(Value("x", INT64, (2,))), sizes_of(Value("x", INT64, (2,), sizes=(None, 3)))
    ((None, None), (None, 3))
    """
    if value.type not in ELEMENT_TYPES or ELEMENT_TYPES[value.type].inside.kind not in "iu":
        return None
    if value.constant is not None:
        is_short = value.constant.ndim == 1 and value.constant.size <= _LONGEST
        return tuple(value.constant.tolist()) if is_short else None
    if value.sizes is not None:
        return value.sizes
    length = value.shape[0] if value.rank == 1 and value.shape else None
    return (None,) * length if isinstance(length, int) and length <= _LONGEST else None


def with_sizes(build: GraphBuilder, kind: int, sizes: Sequence[int | None] | None, make: Callable[[], Value]) -> Value:
    """A vector of which so much is known: a constant if that is all of it, else what ``make`` adds to the graph.

    >>> from kuiper.onnx.builder import GraphBuilder
    >>> with_sizes(GraphBuilder("doc", {}), INT64, (2, 3), lambda: None).constant
    array([2, 3])
    """
    if sizes is not None and None not in sizes:
        known = kind if kind in ELEMENT_TYPES else INT64
        return build.constant(np.array(sizes, ELEMENT_TYPES[known].inside), known)
    value = make()
    value.sizes = None if sizes is None else tuple(sizes)
    return value
