"""What networks return: tensors in tuples, lists and dicts, put one within the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def flat(value: Any) -> Iterator[Any]:
    """The leaves of nested tuples, lists and dicts in order.

    >>> list(flat((1, [2, (3,)], {"a": 4})))
    [1, 2, 3, 4]
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value
