"""Concatenations that cost nothing, since their parts are written to their places at once.

    lowered  conv a -> A        A | B moved to C        made     C: |  a  |  b  |
             conv b -> B                                              ^conv a writes here

When a concatenation is lowered, its parts have places of their own. Steps that are ``relocatable`` ask for offsets and
strides only when they are made, so whatever they write or read can still move: all values of a part's buffer become
views of the whole. A part cannot move, and is copied, if a step counts on the layout that it has, if its buffer holds
more than the part, or if its kernel, which writes whole vectors, would reach into its neighbour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from numpy.lib.stride_tricks import as_strided

from kuiper.engine.arrangement import merged
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.values import Value, has_vector_capacity, is_image

if TYPE_CHECKING:
    from kuiper.engine.arrangement import Axis
    from kuiper.layers.layer import Array

_MAX_NDIM = 6


class Moved(NamedTuple):
    """Where a value will lie in another buffer: its first element and its strides, in floats."""

    start: int
    strides: tuple[int, ...]

    def view(self, memory: Array, shape: tuple[int, ...]) -> Array:
        """The value as a view of that buffer."""
        steps = [4 * stride for stride in self.strides]
        return as_strided(memory[self.start :], shape, steps, subok=False, writeable=False)


def move(part: Value, place: Value, axis: int, is_last: bool) -> bool:
    """Move ``part``, and all that lies in its buffer, to a ``place`` of its shape; False, and nothing moves, if not.

    ``place`` is a piece along an axis of a whole, and ``is_last`` says that none follows.
    """
    old = part.buffer
    if old.fixed or old.contents is not None or old is place.buffer or not _holds(old.exact, place, axis, is_last):
        return False
    steps = zip(part.strides, place.strides, strict=True)
    found: list[Axis] = [(size, pair) for size, pair in zip(part.shape, steps, strict=True) if size > 1]
    axes = merged(sorted(found or [(1, (1, 1))], key=lambda each: -each[1][0]))
    if any(one <= 0 or one == 1 != other for _, (one, other) in axes):
        return False  # numbers that are side by side remain so
    values = [value for value in (each() for each in old.values) if value is not None]
    moves = [_moved(value, part.start, place.start, axes) for value in values]
    places = [each for each in moves if each is not None]
    if len(places) < len(moves):
        return False
    views = [each.view(place.buffer.placeholder, value.shape) for value, each in zip(values, places, strict=True)]
    if any(is_image(value) > is_image(Value(place.buffer, view)) for value, view in zip(values, views, strict=True)):
        return False
    for value, view in zip(values, views, strict=True):
        value.buffer, value.view = place.buffer, view
    place.buffer.values += old.values
    return True


def _holds(exact: bool, place: Value, axis: int, is_last: bool) -> bool:
    """Whether what a kernel writes to ``place`` stays there, which is for sure where it is ``exact``."""
    fills_vectors = place.strides[axis] != 1 or (
        place.start % LANES == 0 and (place.shape[axis] % LANES == 0 or is_last)
    )
    return exact or (fills_vectors and has_vector_capacity(place))


def _moved(value: Value, start: int, new_start: int, axes: list[Axis]) -> Moved | None:
    """Where a value goes if the ``axes`` of its buffer, from ``start`` on, get other strides: (size, (old, new)).

    None if it has numbers that no axis reaches, or steps from the end of one axis to the next.
    """
    if value.view.ndim > _MAX_NDIM or not value.is_float or value.start < start:
        return None
    place = _digits(value.start - start, axes)
    if place is None:
        return None
    low, high = list(place), list(place)
    strides = []
    for size, stride in zip(value.shape, value.strides, strict=True):
        digits = _digits(abs(stride), axes)
        if digits is None and size > 1:
            return None
        steps = [digit if stride > 0 else -digit for digit in digits or [0] * len(axes)]
        for each, step in enumerate(steps):
            reach = step * (size - 1)
            low[each] += min(reach, 0)
            high[each] += max(reach, 0)
        strides.append(_dot(steps, axes))
    if any(first < 0 or last >= size for first, last, (size, _) in zip(low, high, axes, strict=True)):
        return None
    return Moved(new_start + _dot(place, axes), tuple(strides))


def _digits(number: int, axes: list[Axis]) -> list[int] | None:
    """A distance in floats as this many steps along each axis; None if something is left."""
    digits = []
    for _, (step, _) in axes:
        digit, number = divmod(number, step)
        digits.append(digit)
    return None if number else digits


def _dot(steps: list[int], axes: list[Axis]) -> int:
    return sum(count * new for count, (_, (_, new)) in zip(steps, axes, strict=True))
