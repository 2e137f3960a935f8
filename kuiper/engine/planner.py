"""What a lowering asks: memory and steps, as a draft has them, and values in the form that its kernel reads.

A value from outside is imported at most once in each form, whoever asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine import values
from kuiper.engine.draft import Draft
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.transfers import copy_into, import_typed, import_value
from kuiper.engine.values import AnyValue, HostValue, Value

if TYPE_CHECKING:
    from collections.abc import Callable


class Planner(Draft):
    """A draft that brings values onto the arena. ``graph_walk.py`` hands it to each operator's lowering."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._forms: dict[tuple[int | Value, Any], Value] = {}

    def on_arena(self, value: AnyValue) -> Value | None:
        """The value on the arena, imported if need be (once); None if it is no float32 tensor."""
        if isinstance(value, Value):
            return value if value.is_float else None
        if not self.is_float_tensor(value):
            return None
        return self.imported_as(value, "plain", lambda: import_value(self, value))

    def is_float_tensor(self, value: HostValue) -> bool:
        """Whether it can be imported: a float32 tensor that is not empty."""
        example = value.example
        return isinstance(example, np.ndarray) and example.dtype == np.float32 and example.size > 0

    def has_imported(self, value: HostValue) -> bool:
        """Whether it is on the arena already, as ``on_arena`` gives it."""
        return (value.slot, "plain") in self._forms

    def tensor(self, value: AnyValue) -> Value | None:
        """The value on the arena, of float32, int64, int32, int8, uint8 or bool; None if it is no such tensor."""
        if isinstance(value, Value) or self.is_float_tensor(value):
            return value if isinstance(value, Value) else self.on_arena(value)
        example = value.example
        if not isinstance(example, np.ndarray) or example.dtype.name not in TYPES or example.size == 0:
            return None
        return self.imported_as(value, "plain", lambda: import_typed(self, value))

    def image_of(self, value: AnyValue) -> Value | None:
        """The value on the arena as an image, copied if it lies in another way; None if it is none."""
        x = self.on_arena(value)
        if x is None or len(x.shape) != 4 or values.is_image(x):
            return x if x is not None and len(x.shape) == 4 else None

        def copied() -> Value:
            image = self.image(x.shape, output=None)
            copy_into(self, x, image)
            return image

        return self.in_form(x, "image", copied)

    def imported_as(self, value: HostValue, form: Any, make: Callable[[], Value]) -> Value:
        """The value on the arena in this form, made on first use."""
        return self._made_once((value.slot, form), make)

    def in_form(self, value: Value, form: Any, make: Callable[[], Value]) -> Value:
        """What lies on the arena in this other form, made on first use."""
        return self._made_once((value, form), make)

    def _made_once(self, key: tuple[int | Value, Any], make: Callable[[], Value]) -> Value:
        if key not in self._forms:
            self._forms[key] = make()
        return self._forms[key]
