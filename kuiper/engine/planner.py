"""From a graph and the shapes of its inputs to a plan: which kernel runs when, on what memory.

Every operator takes one of three ways, in this order:

    view       running the layer on stand-ins gives a view of its input (reshape, permute, split ...): nothing to run
    lowering   a function registered for the layer's class turns it into steps for the compiled program
    layer      the readable layer runs in Python, between two stretches of compiled steps

so a plan exists for every graph, and the more operators have a lowering the fewer stops it makes. What depends on
shapes only (``size``, ``[size(@0,0),-1]``) is computed here, once: a plan belongs to one set of input shapes.

The graph is walked twice. The first walk finds all shapes; the second knows them, so that an operator whose output is
to be a slice of a concatenation can write it there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine import values
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering import find_lowering
from kuiper.engine.lowering.concat import slices_of_concatenations
from kuiper.engine.lowering.layout import copy_into, export_value, import_value
from kuiper.engine.lowering.typed_numbers import export_typed, import_typed
from kuiper.engine.planned_step import LayerStep, NativeStep, StepCard
from kuiper.engine.values import AnyValue, HostValue, Storage, Value
from kuiper.expression.expression_layer import Expression
from kuiper.graph.schedule import depth_first_order
from kuiper.layers.operators.flatten import Flatten
from kuiper.layers.operators.reshape import Reshape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.step import Step
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.layers.layer import Array

# Operators whose output depends on the shape of their input, not on what is in it.
_SHAPE_ONLY = frozenset({"Tensor.size", "aten::size", "Tensor.shape", "Shape"})


class CannotPlanError(Exception):
    """No plan for these shapes; the readable layers will run the graph, and raise what there is to raise."""


@dataclass(eq=False)
class Planner:
    """Plans one graph for inputs of given shapes and types.

    ``packed`` keeps weights in kernel order, for all plans of one model. ``shapes`` are those of a first walk.
    """

    graph: RuntimeGraph
    packed: dict[Any, Any]
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    steps: list[NativeStep | LayerStep] = field(default_factory=list)
    storages: list[Storage] = field(default_factory=list)
    exported: list[HostValue] = field(default_factory=list)
    export_slots: set[int] = field(default_factory=set)
    constant_slots: dict[int, Any] = field(default_factory=dict)
    slots: int = 0

    def __post_init__(self) -> None:
        self.values: dict[int, AnyValue] = {}
        self.slices = slices_of_concatenations(self.graph.order) if self.shapes else {}
        self.externals = 0
        self._images: dict[tuple[int | Value, Any], Value] = {}
        self.op: RuntimeOperator | None = None
        self._zeros = self.zeroed(1).storage
        self.fault: Storage | None = None

    def walk(self, examples: Sequence[Array]) -> None:
        """Plan all operators for inputs like these (only shapes and types matter).

        Raises
        ------
        CannotPlanError
            If a layer refuses these shapes, or an axis is empty.
        """
        for op, example in zip(self.graph.input_operators, examples, strict=True):
            if example.size == 0:
                raise CannotPlanError
            (operand,) = op.outputs
            self.values[operand.index] = self.host_value(example)
        for op in depth_first_order(self.graph.operators):
            if op.layer is not None:
                self._plan_operator(op)
        for op in self.graph.output_operators:
            self.op = op
            for operand in op.inputs:
                self.exported.append(self._export(self.values[operand.index]))

    def _plan_operator(self, op: RuntimeOperator) -> None:
        """One operator: a view, steps of its lowering, or its layer in Python."""
        self.op = op
        inputs = [self.values[operand.index] for operand in op.inputs]
        lowerable = not all(map(values.is_known, inputs)) and not any(map(values.is_unknown_number, inputs))
        lowering = find_lowering(op.layer) if lowerable else None
        outputs = lowering(op.layer, inputs, self) if lowering else None
        if outputs is None:
            outputs = self._run_on_examples(op, inputs)
        for operand, value in zip(op.outputs, outputs, strict=True):
            if isinstance(value, Value) and value.view.size == 0:
                raise CannotPlanError
            self.values[operand.index] = value

    def _run_on_examples(self, op: RuntimeOperator, inputs: list[AnyValue]) -> Sequence[AnyValue]:
        """Views, constants, or a step in Python, by what the layer makes of the stand-ins."""
        examples = [value.view if isinstance(value, Value) else value.example for value in inputs]
        assert op.layer is not None
        try:
            results = op.layer.forward(*examples)
        except Exception as error:  # whatever it is, the readable path will raise it with the user's own data
            raise CannotPlanError from error
        results = (results,) if len(op.outputs) == 1 else tuple(results)
        if len(results) != len(op.outputs):
            raise CannotPlanError
        sources = [value for value in inputs if isinstance(value, Value)]
        views = [values.view_of(result, sources) for result in results]
        if all(view is not None for view in views) and not _may_be_indexed(inputs):
            return [view for view in views if view is not None]
        constant = _depends_on_shapes_only(op, inputs)
        outputs = tuple(self.host_value(result, constant) for result in results)
        if not constant:
            self.steps.append(LayerStep(op, tuple(inputs), outputs))
        return outputs

    # What lowerings call.

    def host_value(self, example: Any, constant: bool = False) -> HostValue:
        """A new place in the table of values that are not on the arena."""
        self.slots += 1
        if constant:
            self.constant_slots[self.slots - 1] = example
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
        externals: Sequence[tuple[int, HostValue]] = (),
        window: tuple[int, int] | None = None,
    ) -> None:
        """Add a compiled step for the current operator.

        ``more_bytes`` counts weights and memory outside; what it reads and writes on the arena is added. A step that
        can run by rows says by its ``window``, (stride, reach), how: output row y needs ``reach`` rows of its first
        input from ``stride * y`` on, give or take a padding.
        """
        assert self.op is not None
        moved = more_bytes + sum(value.view.nbytes for value in (*reads, *writes))
        card = StepCard(self.op, algorithm, flops, moved, expected)
        self.steps.append(NativeStep(card, make, tuple(reads), tuple(writes), tuple(externals), window))

    def image(self, shape: tuple[int, ...], output: int | None = 0, exact: bool = False) -> Value:
        """Memory for an image (n, c, h, w): the current operator's output, perhaps a slice of a concatenation.

        ``exact`` says that the kernel writes no further than to the last channel.
        """
        value = self._place(shape, output, exact)
        if value is not None and values.is_image(value):
            return value
        return self._own(values.new_image(*shape))

    def rows(self, shape: tuple[int, ...], output: int | None = 0, padded: bool = True, exact: bool = False) -> Value:
        """Memory for a tensor in C order, its last axis in whole vectors if ``padded``."""
        value = self._place(shape, output, exact)
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
        return (value.slot, "plain") in self._images

    def tensor(self, value: AnyValue) -> Value | None:
        """The value on the arena, of float32, int64, int32 or bool; None if it is no such tensor."""
        if isinstance(value, Value) or self.is_float_tensor(value):
            return value if isinstance(value, Value) else self.on_arena(value)
        example = value.example
        if not isinstance(example, np.ndarray) or example.dtype.name not in TYPES or example.size == 0:
            return None
        return self.imported_as(value, "plain", lambda: import_typed(self, value))

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

    def image_of(self, value: AnyValue) -> Value | None:
        """The value on the arena as an image, copied if it lies in another way; None if it is none."""
        x = self.on_arena(value)
        if x is None or len(x.shape) != 4 or values.is_image(x):
            return x if x is not None and len(x.shape) == 4 else None
        key = (x, "image")
        if key not in self._images:
            self._images[key] = self.image(x.shape, output=None)
            copy_into(self, x, self._images[key])
        return self._images[key]

    def imported_as(self, value: HostValue, form: Any, make: Callable[[], Value]) -> Value:
        """The value on the arena in this form, made on first use."""
        key = (value.slot, form)
        if key not in self._images:
            self._images[key] = make()
        return self._images[key]

    def external(self, value: HostValue) -> tuple[int, HostValue]:
        """The number under which a program finds the memory of a host value, and the value."""
        self.externals += 1
        return self.externals - 1, value

    def pack(self, key: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` gives for the current operator's weights; kept for later plans of this model."""
        assert self.op is not None
        key = (id(self.op.layer), key)
        if key not in self.packed:
            self.packed[key] = make()
        return self.packed[key]

    def _own(self, value: Value) -> Value:
        self.storages.append(value.storage)
        return value

    def _place(self, shape: tuple[int, ...], output: int | None, exact: bool) -> Value | None:
        """The slice of a concatenation that the current operator's output is to be, if it is to be one."""
        if output is None or self.op is None:
            return None
        return self._slice(self.op.outputs[output], shape, exact)

    def _slice(self, operand: RuntimeOperand, shape: tuple[int, ...], exact: bool) -> Value | None:
        """Where an operand of this shape belongs; if it is only reshaped, where the reshaped one belongs."""
        if self.shapes.get(operand.index) != shape:
            return None
        place = self.slices.get(operand.index)
        if place is not None and self.shapes.get(place.op.outputs[0].index):
            return place.part(self.concatenated(place.op), self.shapes, exact)
        if len(operand.consumers) != 1 or type(operand.consumers[0].layer) not in (Reshape, Flatten):
            return None
        (reshaped,) = operand.consumers[0].outputs
        part = self._slice(reshaped, self.shapes.get(reshaped.index, ()), exact)
        if part is None:
            return None
        value = Value(part.storage, part.view.reshape(shape))
        if not np.may_share_memory(value.view, part.storage.stand_in) or not (exact or values.has_room(value)):
            return None
        return value

    def concatenated(self, op: RuntimeOperator) -> Value:
        """The output of a concatenation, made when its first part is."""
        (operand,) = op.outputs
        key = (operand.index, "concatenated")
        if key not in self._images:
            current, self.op = self.op, op
            shape = self.shapes[operand.index]
            self._images[key] = self.image(shape) if len(shape) == 4 else self.rows(shape)
            self.op = current
        return self._images[key]

    def _export(self, value: AnyValue) -> HostValue:
        if isinstance(value, HostValue):
            return value
        exported = export_value(self, value) if value.is_float else export_typed(self, value)
        self.export_slots.add(exported.slot)
        return exported

    def found_shapes(self) -> dict[int, tuple[int, ...]]:
        """The shape of every operand, by its index."""
        return {index: value.shape for index, value in self.values.items()}


def _may_be_indexed(inputs: list[AnyValue]) -> bool:
    """Whether what the layer made of stand-ins may be another view in another call; an only input is no index."""
    return len(inputs) > 1 and any(map(values.may_be_index, inputs))


def _depends_on_shapes_only(op: RuntimeOperator, inputs: list[AnyValue]) -> bool:
    if all(map(values.is_known, inputs)):
        return True
    if op.type in _SHAPE_ONLY:
        return True
    if not isinstance(op.layer, Expression):
        return False
    return all(values.is_known(inputs[k]) for k in op.layer.program.inputs_read())
