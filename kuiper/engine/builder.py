"""The plan that is being built: what a lowering asks for memory, for values as its kernel reads them, and for steps.

A value from outside is imported at most once in each form. What a lowering has asked for before it
declines is taken back (``Builder.attempt``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.engine import values
from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.planned_step import LayerStep, NativeStep, StepInfo, StepKind
from kuiper.engine.transfers import copy_into, import_typed, import_value
from kuiper.engine.values import AnyValue, Buffer, PythonValue, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from kuiper.engine.step import Step
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import Paging
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

    Outputs = Sequence[AnyValue]


class StateArray(NamedTuple):
    """An array of a session's state: its place in a plan's table of Python values, and what the state calls it."""

    slot: int
    key: str
    shape: tuple[int, ...]
    axis: int | None
    dtype: DTypeLike


@dataclass(eq=False)
class Builder:
    """Steps, and memory for what they compute, for one operator of a graph after the other; ``op`` is the current one.

    ``packed`` keeps weights in kernel order, for all plans of one model. ``max_length`` is that of the sessions that
    the plan is for, whose texts share pages as ``paging`` says, if they do; ``state_arrays`` and ``state_integers`` are
    what steps read and write of their state. ``written`` are the arrays outside of the arena that steps fill, made anew
    for each call. What may change a bit of a result is chosen by ``choices`` alone. How steps are cut into tasks,
    blocks and panels suits ``machine``, which has the vectors of the kernels.
    """

    choices: Machine
    machine: Machine
    packed: dict[Any, Any]
    max_length: int = 0
    paging: Paging | None = None
    op: RuntimeOperator | None = None
    steps: list[NativeStep | LayerStep] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    slots: int = 0
    bindings: int = 0
    state_arrays: list[StateArray] = field(default_factory=list)
    state_integers: dict[str, PythonValue] = field(default_factory=dict)
    written: list[PythonValue] = field(default_factory=list)
    error_flag: Buffer | None = None

    def __post_init__(self) -> None:
        self._forms: dict[tuple[int | Value, Any], Value] = {}
        self._zeros = self.zeroed(1).buffer

    def attempt(self, lowering: Callable[[], Outputs]) -> Outputs | None:
        """What a lowering gives; if it declines, None, and all that it has asked for is taken back."""
        lists: tuple[list[Any], ...] = (self.steps, self.buffers, self.state_arrays, self.written)
        lengths, forms = [len(each) for each in lists], len(self._forms)
        integers = dict(self.state_integers)
        others = self.slots, self.bindings, self.error_flag, self._zeros
        try:
            return lowering()
        except Declined:
            for each, length in zip(lists, lengths, strict=True):
                del each[length:]
            while len(self._forms) > forms:
                self._forms.popitem()
            self.state_integers = integers
            self.slots, self.bindings, self.error_flag, self._zeros = others
            return None

    def python_value(self, example: Any, constant: bool = False) -> PythonValue:
        """A new place in the table of values that are not on the arena."""
        self.slots += 1
        return PythonValue(self.slots - 1, example, constant)

    def emit(
        self,
        algorithm: str,
        make: Callable[[], Step],
        reads: Sequence[Value] = (),
        writes: Sequence[Value] = (),
        flops: int = 0,
        more_bytes: int = 0,
        expected: float = 0.0,
        rejected: Sequence[tuple[str, float]] = (),
        bindings: Sequence[tuple[int, PythonValue]] = (),
        window: tuple[int, int] | None = None,
        in_library: bool = False,
        relocatable: bool = False,
        kind: StepKind = StepKind.COMPUTE,
    ) -> None:
        """Add a compiled step for the current operator.

        ``more_bytes`` counts weights and memory outside; what it reads and writes on the arena is added. Where
        algorithms were weighed, ``expected`` are the cycles of this one, and ``rejected`` the others with theirs. A
        step that can run by rows says by its ``window``, (stride, reach), how: output row y needs ``reach`` rows of its
        first input from ``stride * y`` on, give or take a padding. ``in_library``: it calls the C library. A
        ``relocatable`` step learns all offsets and strides in ``make``: until then, its values may move (see
        ``concatenation.py``).
        """
        assert self.op is not None
        touched = (*reads, *writes)
        if not relocatable:
            for value in touched:
                value.buffer.fixed = True
        moved = more_bytes + sum(value.view.nbytes for value in touched)
        info = StepInfo(self.op, algorithm, flops, moved, expected, tuple(rejected), in_library, kind)
        self.steps.append(NativeStep(info, make, tuple(reads), tuple(writes), tuple(bindings), window))

    def image(self, shape: tuple[int, ...], fixed: bool = False, exact: bool = False) -> Value:
        """Memory for an image (n, c, h, w).

        ``fixed`` memory keeps its layout; other may become a part of a concatenation. ``exact`` says that the kernel
        writes no further than to the last channel.
        """
        return self._own(values.new_image(*shape), fixed, exact)

    def rows(self, shape: tuple[int, ...], fixed: bool = False, padded: bool = True, exact: bool = False) -> Value:
        """Memory for a tensor in C order, its last axis in whole vectors if ``padded``."""
        return self._own(values.new_rows(shape, padded), fixed, exact)

    def scratch(self, floats: int) -> Value:
        """Memory that is needed between two steps of one operator."""
        return self._own(values.new_rows((floats,)), fixed=True)

    def constant(self, array: Array) -> Value:
        """A float32 tensor that stays on the arena from the start."""
        value = self._own(values.new_rows(array.shape, padded=False))
        value.buffer.contents = np.ascontiguousarray(array, np.float32)
        return value

    def zeros(self, channels: int) -> Buffer:
        """A run of zeros in the place of a pixel, for the taps that fall outside of an image."""
        if self._zeros.floats < channels:
            self._zeros = self.zeroed(channels).buffer
        return self._zeros

    def zeroed(self, floats: int) -> Value:
        """Memory that is zero from the start, for the border of an image whose inside is written by every run."""
        return self.constant(np.zeros(floats, np.float32))

    def typed(self, shape: tuple[int, ...], dtype: np.dtype) -> Value:
        """Memory for a tensor of integers or bools, in C order."""
        return self._own(values.new_typed(shape, dtype))

    def typed_constant(self, array: Array) -> Value:
        """A tensor of integers or bools that stays on the arena from the start."""
        value = self.typed(array.shape, array.dtype)
        numbers = np.zeros(value.buffer.floats, np.float32)
        numbers.view(np.uint8)[: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        value.buffer.contents = numbers
        return value

    def shared_error_flag(self) -> Buffer:
        """A number that a step sets where it meets what only a layer can answer: an index that lies outside."""
        if self.error_flag is None:
            self.error_flag = self.zeroed(1).buffer
        return self.error_flag

    def bind(self, value: PythonValue) -> tuple[int, PythonValue]:
        """The number under which a program finds the memory of a Python value, and the value."""
        self.bindings += 1
        return self.bindings - 1, value

    def outside(self, shape: tuple[int, ...]) -> PythonValue:
        """A float32 tensor outside of the arena that a step of the current operator fills as one of its bindings."""
        self.written.append(self.python_value(np.zeros(shape, np.float32)))
        return self.written[-1]

    def session_array(
        self, part: str, shape: tuple[int, ...], axis: int | None = None, dtype: DTypeLike = np.float32
    ) -> tuple[int, PythonValue]:
        """An array of the current operator that lives from call to call (``State.array``), as a binding of a step."""
        assert self.op is not None
        value = self.python_value(None)
        self.state_arrays.append(StateArray(value.slot, f"{self.op.name}.{part}", shape, axis, dtype))
        return self.bind(value)

    def session_integers(self, name: str) -> tuple[int, PythonValue]:
        """An array of int64 of the state, by its name there, as a binding of a step."""
        if name not in self.state_integers:
            self.state_integers[name] = self.python_value(None)
        return self.bind(self.state_integers[name])

    def pack(self, key: Any, make: Callable[[], Any], owner: Any = None) -> Any:
        """What ``make`` gives for the weights of ``owner``; kept for later plans of this model.

        The owner is what several operators share; by default the current operator's weights, which another operator of
        the same settings may share, or its layer if it has none.
        """
        assert self.op is not None
        if owner is None and self.op.attrs:
            settings = tuple((name, repr(param.value)) for name, param in self.op.params.items())
            key = (self.op.type, settings, tuple(map(id, self.op.attrs.values())), key)
        else:
            key = (id(self.op.layer if owner is None else owner), key)
        if key not in self.packed:
            self.packed[key] = make()
        return self.packed[key]

    def rows_of_weights(self, rows: int) -> int | None:
        """For how many rows a weight matrix is packed that meets this many in this plan; None: for any number of them.

        A session has many rows when it reads and one when it writes, and their plans are to share the weights.
        """
        return None if self.max_length else rows

    def on_arena(self, value: AnyValue) -> Value:
        """The value on the arena, imported if need be (once); declines if it is no float32 tensor."""
        decline_if(not (value.is_float if isinstance(value, Value) else self.is_float_tensor(value)))
        if isinstance(value, Value):
            return value
        return self.in_form(value, "plain", lambda: import_value(self, value))

    def is_float_tensor(self, value: PythonValue) -> bool:
        """Whether it can be imported: a float32 tensor that is not empty."""
        example = value.example
        return isinstance(example, np.ndarray) and example.dtype == np.float32 and example.size > 0

    def has_imported(self, value: PythonValue) -> bool:
        """Whether it is on the arena already, as ``on_arena`` gives it."""
        return (value.slot, "plain") in self._forms

    def tensor(self, value: AnyValue) -> Value:
        """The value on the arena, of float32, int64, int32, int8, uint8 or bool; declines if it is no such tensor."""
        if isinstance(value, Value) or self.is_float_tensor(value):
            return value if isinstance(value, Value) else self.on_arena(value)
        example = value.example
        decline_if(not isinstance(example, np.ndarray) or example.dtype.name not in TYPES or example.size == 0)
        return self.in_form(value, "plain", lambda: import_typed(self, value))

    def image_of(self, value: AnyValue) -> Value:
        """The value on the arena as an image, copied if it lies in another way; declines if it is none."""
        x = self.on_arena(value)
        decline_if(len(x.shape) != 4)
        if values.is_image(x):
            return x

        def copied() -> Value:
            image = self.image(x.shape, fixed=True)
            copy_into(self, x, image)
            return image

        return self.in_form(x, "image", copied)

    def in_form(self, value: AnyValue, form: Any, make: Callable[[], Value]) -> Value:
        """What lies on the arena, or comes onto it from outside, in this other form: made on first use."""
        key = (value.slot if isinstance(value, PythonValue) else value, form)
        if key not in self._forms:
            self._forms[key] = make()
        return self._forms[key]

    def _own(self, value: Value, fixed: bool = False, exact: bool = False) -> Value:
        buffer = value.buffer
        buffer.made_for, buffer.fixed, buffer.exact = self.op, fixed, exact
        self.buffers.append(buffer)
        return value
