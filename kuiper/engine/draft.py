"""A plan in the making: the steps so far, and the memory that they read and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.engine import values
from kuiper.engine.planned_step import LayerStep, NativeStep, StepCard
from kuiper.engine.values import HostValue, Storage, Value
from kuiper.layers.operators.flatten import Flatten
from kuiper.layers.operators.reshape import Reshape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kuiper.engine.concatenation import Slice
    from kuiper.engine.step import Step
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine


class Remembered(NamedTuple):
    """An array of a session's state: where a plan's table of host values is to have it, and what the state calls it."""

    slot: int
    key: str
    shape: tuple[int, ...]


@dataclass(eq=False)
class Draft:
    """Steps, and memory for what they compute, for one operator of a graph after the other; ``op`` is the current one.

    ``packed`` keeps weights in kernel order, for all plans of one model. ``shapes`` are those of operands, by index, as
    far as they are known, and ``slices`` says which operands are to be parts of a concatenation. ``max_length`` is that
    of the sessions that the plan is for; ``remembered`` and ``position`` are what steps read and write of their state.
    What may change a bit of a result is chosen by ``choices`` alone. How steps are cut into tasks, blocks and panels
    suits ``machine``, which has the vectors of the kernels.
    """

    choices: Machine
    machine: Machine
    packed: dict[Any, Any]
    shapes: Mapping[int, tuple[int, ...]]
    slices: Mapping[int, Slice]
    steps: list[NativeStep | LayerStep] = field(default_factory=list)
    storages: list[Storage] = field(default_factory=list)
    slots: int = 0
    externals: int = 0
    op: RuntimeOperator | None = None
    fault: Storage | None = None
    max_length: int = 0
    position: HostValue | None = None
    remembered: list[Remembered] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._wholes: dict[int, Value] = {}
        self._zeros = self.zeroed(1).storage

    def host_value(self, example: Any, constant: bool = False) -> HostValue:
        """A new place in the table of values that are not on the arena."""
        self.slots += 1
        return HostValue(self.slots - 1, example, constant)

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
        externals: Sequence[tuple[int, HostValue]] = (),
        window: tuple[int, int] | None = None,
        in_library: bool = False,
    ) -> None:
        """Add a compiled step for the current operator.

        ``more_bytes`` counts weights and memory outside; what it reads and writes on the arena is added. Where
        algorithms were weighed, ``expected`` are the cycles of this one, and ``rejected`` the others with theirs. A
        step that can run by rows says by its ``window``, (stride, reach), how: output row y needs ``reach`` rows of its
        first input from ``stride * y`` on, give or take a padding. ``in_library``: it calls the C library.
        """
        assert self.op is not None
        moved = more_bytes + sum(value.view.nbytes for value in (*reads, *writes))
        card = StepCard(self.op, algorithm, flops, moved, expected, tuple(rejected), in_library)
        self.steps.append(NativeStep(card, make, tuple(reads), tuple(writes), tuple(externals), window))

    def image(self, shape: tuple[int, ...], output: int | None = 0, exact: bool = False) -> Value:
        """Memory for an image (n, c, h, w): the current operator's output, perhaps a slice of a concatenation.

        ``exact`` says that the kernel writes no further than to the last channel.
        """
        value = self._place(shape, output, exact, by_rows=False)
        if value is not None and values.is_image(value):
            return value
        return self._own(values.new_image(*shape))

    def rows(self, shape: tuple[int, ...], output: int | None = 0, padded: bool = True, exact: bool = False) -> Value:
        """Memory for a tensor in C order, its last axis in whole vectors if ``padded``."""
        value = self._place(shape, output, exact, by_rows=True)
        if value is not None and (value.strides[-1:] == (1,) or exact):
            return value
        return self._own(values.new_rows(shape, padded))

    def scratch(self, floats: int) -> Value:
        """Memory that is needed between two steps of one operator."""
        return self._own(values.new_rows((floats,)))

    def constant(self, array: Array) -> Value:
        """A float32 tensor that stays on the arena from the start."""
        value = self._own(values.new_rows(array.shape, padded=False))
        value.storage.contents = np.ascontiguousarray(array, np.float32)
        return value

    def zeros(self, channels: int) -> Storage:
        """A run of zeros in the place of a pixel, for the taps that fall outside of an image."""
        if self._zeros.floats < channels:
            self._zeros = self.zeroed(channels).storage
        return self._zeros

    def zeroed(self, floats: int) -> Value:
        """Memory that is zero from the start, for the border of an image whose inside is written by every run."""
        return self.constant(np.zeros(floats, np.float32))

    def typed(self, shape: tuple[int, ...], dtype: np.dtype) -> Value:
        """Memory for a tensor of whole numbers or bools, in C order."""
        return self._own(values.new_typed(shape, dtype))

    def typed_constant(self, array: Array) -> Value:
        """A tensor of whole numbers or bools that stays on the arena from the start."""
        value = self.typed(array.shape, array.dtype)
        numbers = np.zeros(value.storage.floats, np.float32)
        numbers.view(np.uint8)[: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        value.storage.contents = numbers
        return value

    def fault_flag(self) -> Storage:
        """A number that a step sets where it meets what only a layer can answer: an index that lies outside."""
        if self.fault is None:
            self.fault = self.zeroed(1).storage
        return self.fault

    def external(self, value: HostValue) -> tuple[int, HostValue]:
        """The number under which a program finds the memory of a host value, and the value."""
        self.externals += 1
        return self.externals - 1, value

    def session_array(self, part: str, shape: tuple[int, ...]) -> tuple[int, HostValue]:
        """An array of the current operator that lives from call to call, as an external of a step."""
        assert self.op is not None
        value = self.host_value(None)
        self.remembered.append(Remembered(value.slot, f"{self.op.name}.{part}", shape))
        return self.external(value)

    def session_position(self) -> tuple[int, HostValue]:
        """The number of positions filled before the call, an int64, as an external of a step."""
        if self.position is None:
            self.position = self.host_value(None)
        return self.external(self.position)

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
        """For how many rows a weight matrix is packed that meets so many in this plan; None: for any number of them.

        A session has many rows when it reads and one when it writes, and their plans are to share the weights.
        """
        return None if self.max_length else rows

    def concatenated(self, op: RuntimeOperator, by_rows: bool) -> Value:
        """The output of a concatenation, made when its first part is: of four axes by rows, or as an image."""
        (operand,) = op.outputs
        if operand.index not in self._wholes:
            current, self.op = self.op, op
            shape = self.shapes[operand.index]
            as_image = len(shape) == 4 and not by_rows
            self._wholes[operand.index] = self.image(shape) if as_image else self.rows(shape)
            self.op = current
        return self._wholes[operand.index]

    def _own(self, value: Value) -> Value:
        value.storage.made_for = self.op
        self.storages.append(value.storage)
        return value

    def _place(self, shape: tuple[int, ...], output: int | None, exact: bool, by_rows: bool) -> Value | None:
        """The slice of a concatenation that the current operator's output is to be, if it is to be one."""
        if output is None or self.op is None:
            return None
        return self._slice(self.op.outputs[output], shape, exact, by_rows)

    def _slice(self, operand: RuntimeOperand, shape: tuple[int, ...], exact: bool, by_rows: bool) -> Value | None:
        """Where an operand of this shape belongs; if it is only reshaped, where the reshaped one belongs."""
        if self.shapes.get(operand.index) != shape:
            return None
        place = self.slices.get(operand.index)
        if place is not None and self.shapes.get(place.op.outputs[0].index):
            return place.part(self.concatenated(place.op, by_rows), exact)
        if len(operand.consumers) != 1 or type(operand.consumers[0].layer) not in (Reshape, Flatten):
            return None
        (reshaped,) = operand.consumers[0].outputs
        part = self._slice(reshaped, self.shapes.get(reshaped.index, ()), exact, by_rows)
        if part is None:
            return None
        value = Value(part.storage, part.view.reshape(shape))
        if not np.may_share_memory(value.view, part.storage.stand_in) or not (exact or values.has_room(value)):
            return None
        return value
