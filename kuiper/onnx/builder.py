"""The graph that is being made of an ONNX file: operators are added to it, and constants are computed at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import KuiperError, ModelFormatError
from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType, Operand, Operator
from kuiper.graph.pnnx.ir import BOUNDARY
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter
from kuiper.layers import registry
from kuiper.onnx.element_types import ELEMENT_TYPES, INT64
from kuiper.onnx.node import Value
from kuiper.onnx.words import attribute, literal, one_word, parameter, type_code, unused, widened
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kuiper.graph.pnnx import ParameterValue
    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.onnx.node import Node

MAX_FOLDED = 4 << 20
"""Bytes that a computed constant may have in any case; a larger one is kept if it is not larger than its inputs."""

OUTPUT = "_output"
"""What the name of a pnnx.Output has behind the name of the output in the file."""

ALWAYS_FOLDED = ("DequantizeLinear",)
"""What makes weights of constants: they are needed whole, and known only as constants do they reach fast kernels."""

MAX_STEP = 64 << 20
"""Bytes of one array that is made on the way to a computed constant, beside four times those of its inputs."""

_PLACE = re.compile(r"@([0-9]+)")
_PNNX_INPUT = re.compile(r"in[0-9]+")


class GraphBuilder:
    """A graph under construction, and the values that its names stand for.

    ``parent`` is the builder of the graph whose node has this one as its body; ``captured`` are the parent's values
    that the body reads: they follow its own inputs.
    """

    def __init__(self, where: str, opsets: Mapping[str, int], parent: GraphBuilder | None = None) -> None:
        self.where = where
        self.opsets = opsets
        self.parent = parent
        self.graph = pnnx.Graph()
        self.scope: dict[str, Value] = {}
        self.captured: list[Value] = []
        self.node: Node | None = None
        self._arranged: dict[tuple[int, str], tuple[np.ndarray, np.ndarray]] = parent._arranged if parent else {}
        self._names: dict[str, int] = {}
        self._operand_names: dict[str, int] = {}

    # --- names -------------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Value:
        """The value of a name; one of the parent's becomes an input of this body, unless it is a constant.

        Raises
        ------
        ModelFormatError
            If nothing has this name.
        """
        if name in self.scope:
            return self.scope[name]
        if self.parent is None:
            raise ModelFormatError(self.where, f"a node, an input or an initializer '{name}'", "none")
        return self.capture(name, self.parent.find(name))

    def capture(self, name: str, outer: Value) -> Value:
        """What a body calls a value of the parent's by this name: an input of the body, unless it is a constant."""
        if outer.constant is not None:
            inner = Value(name, outer.type, outer.shape, outer.constant)
        else:
            inner = self.input(name, outer.type, outer.shape)
            self.captured.append(outer)
        self.scope[name] = inner
        return inner

    # --- operators ---------------------------------------------------------------------------------------------------

    def input(self, name: str, kind: int, shape: tuple[Dimension, ...] | None) -> Value:
        """Add an input."""
        operator_name = one_word(name)
        if _PNNX_INPUT.fullmatch(operator_name):  # graphs whose inputs are called so are taken for pnnx's own
            operator_name += "_"
        value = Value(name, kind, shape)
        op = Operator("pnnx.Input", self._unique(operator_name))
        self._give_outputs(op, [value])
        self.graph.operators.append(op)
        return value

    def output(self, name: str, value: Value) -> None:
        """Add an output."""
        op = Operator("pnnx.Output", self._unique(one_word(name) + OUTPUT), [self._read(value)], input_names=[""])
        op.inputs[0].consumers.append(op)
        self.graph.operators.append(op)

    def op(self, kind: str, *inputs: Value, **settings: Any) -> Value:
        """Add an operator with one output; the arguments are those of ``ops``."""
        return self.ops(kind, *inputs, outputs=1, **settings)[0]

    def ops(
        self,
        kind: str,
        *inputs: Value,
        outputs: int,
        names: Sequence[str] = (),
        params: Mapping[str, ParameterValue] | None = None,
        attrs: Mapping[str, np.ndarray] | None = None,
        graphs: Mapping[str, pnnx.Graph] | None = None,
        type: int | None = None,  # noqa: A002 (the file's word)
        shape: tuple[Dimension, ...] | None = None,
    ) -> tuple[Value, ...]:
        """Add an operator; one that only has constants is computed at once.

        Parameters
        ----------
        kind : type of the operator, as in a PNNX file
        inputs : what it reads
        outputs : how many it has
        names : what the inputs are called, where the layer asks for it: a setting that the graph computes
        params, attrs : settings and weights
        graphs : bodies
        type, shape : of the first output; by default the type of the first input, and a shape that is not known

        Returns
        -------
        The values of the outputs.
        """
        first = inputs[0].type if inputs else 0
        results = tuple(Value("", first if type is None else type) for _ in range(outputs))
        results[0].shape = shape
        op = Operator(kind, "", input_names=[*names, *[""] * (len(inputs) - len(names))])
        op.params = {key: parameter(value) for key, value in (params or {}).items()}
        op.attrs = {key: attribute(data) for key, data in (attrs or {}).items()}
        op.graphs = dict(graphs or {})
        if not graphs and all(value.constant is not None for value in inputs):
            numbers = self._computed(op, inputs, outputs)
            if numbers is not None:
                for value, array in zip(results, numbers, strict=True):
                    value.constant, value.shape = array, array.shape
                return results
        op.name = self._unique(self.node.name if self.node else kind)
        op.inputs = [self._read(value) for value in inputs]
        for operand in dict.fromkeys(op.inputs):
            operand.consumers.append(op)
        self._give_outputs(op, results)
        self.graph.operators.append(op)
        return results

    def expression(self, text: str, *inputs: Value, type: int | None = None) -> Value:  # noqa: A002
        """Add a pnnx.Expression, ``add(@0,mul(@1,2))``; constants that are one number are written into its text."""
        computed = [value for value in inputs if value.constant is None]
        keeps_axes = any(value.rank for value in computed)
        literals = {
            place: word
            for place, value in enumerate(inputs)
            if computed and (word := literal(value.constant, keeps_axes))
        }
        kept = [place for place in range(len(inputs)) if place not in literals]
        words = literals | {place: f"@{position}" for position, place in enumerate(kept)}
        text = _PLACE.sub(lambda match: words[int(match[1])], text)
        first = inputs[0].type if inputs and type is None else type
        return self.op("pnnx.Expression", *(inputs[place] for place in kept), params={"expr": text}, type=first)

    def constant(self, array: Any, type: int | None = None, name: str = "") -> Value:  # noqa: A002
        """A value that is the same in every run."""
        numbers = np.asarray(array)
        code = type if type is not None else type_code(numbers.dtype)
        return Value(name, code, numbers.shape, numbers)

    def sizes(self, *numbers: int) -> Value:
        """A constant vector of int64."""
        return self.constant(np.array(numbers, np.int64), INT64)

    def arranged(self, array: np.ndarray, order: str, arrange: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A constant in another order, made once for all operators that want it so: they share the result.

        Parameters
        ----------
        array : the constant
        order : what tells this order from others
        arrange : what makes it
        """
        key = (id(array), order)
        if key not in self._arranged:
            self._arranged[key] = (array, arrange(array))
        return self._arranged[key][1]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _computed(self, op: Operator, inputs: Sequence[Value], outputs: int) -> list[np.ndarray] | None:
        """What an operator makes of constants; None if its layer refuses them, or if that is too large to keep."""
        arrays = [widened(value.constant) for value in inputs if value.constant is not None]
        runtime = RuntimeOperator(
            op.type,
            op.name or (self.node.name if self.node else ""),
            [RuntimeOperand(value.name, i, value.shape, DataType.NULL) for i, value in enumerate(inputs)],
            [RuntimeOperand("", len(inputs) + i, None, DataType.NULL) for i in range(outputs)],
            op.input_names,
            {key: RuntimeParameter(one.type, one.value) for key, one in op.params.items()},
            {
                key: RuntimeAttribute(one.type, one.shape, one.data)
                for key, one in op.attrs.items()
                if one.data is not None
            },
        )
        try:
            with np.errstate(all="ignore"), Limited(MAX_STEP + 4 * sum(array.nbytes for array in arrays)):
                result = registry.create(runtime).forward(*arrays)
        except (KuiperError, MemoryError):  # the graph reports it when it runs
            return None
        results = [result] if outputs == 1 else list(result)
        if len(results) != outputs or any(isinstance(one, (list, tuple)) for one in results):
            return None
        made = [np.asarray(one) for one in results]
        most = max(MAX_FOLDED, sum(array.nbytes for array in arrays))
        return made if op.type in ALWAYS_FOLDED or sum(array.nbytes for array in made) <= most else None

    def _read(self, value: Value) -> Operand:
        """The operand of a value; a constant that has none yet becomes a pnnx.Attribute."""
        if value.operand is None:
            assert value.constant is not None
            op = Operator("pnnx.Attribute", self._unique(one_word(value.name) or "constant"))
            op.attrs["data"] = attribute(widened(value.constant))
            self._give_outputs(op, [value])
            self.graph.operators.append(op)
        assert value.operand is not None
        return value.operand

    def _give_outputs(self, op: Operator, values: Sequence[Value]) -> None:
        for value in values:
            value.operand = Operand("", op)
            op.outputs.append(value.operand)
            self.graph.operands.append(value.operand)

    def finish(self) -> pnnx.Graph:
        """The graph, without what no output needs; its operands now have names."""
        needed: set[Operator] = set()
        waiting = [op for op in self.graph.operators if op.type in BOUNDARY]
        while waiting:
            op = waiting.pop()
            if op not in needed:
                needed.add(op)
                waiting += [operand.producer for operand in op.inputs if operand.producer is not None]
        self.graph.operators = [op for op in self.graph.operators if op in needed]
        self.graph.operands = [one for one in self.graph.operands if one.producer in needed]
        for operand in self.graph.operands:
            operand.consumers = [op for op in operand.consumers if op in needed]
        for number, operand in enumerate(self.graph.operands):
            operand.name = operand.name or self._unique_operand(str(number))
        return self.graph

    def describe(self, name: str, value: Value) -> None:
        """Let the operand of a value say what the file says of it."""
        operand = value.operand
        if operand is None or operand.producer not in (None, *self.graph.operators[-64:]):
            return
        if not operand.name:
            operand.name = self._unique_operand(one_word(name))
        if value.type in ELEMENT_TYPES:
            operand.type = ELEMENT_TYPES[value.type].declared
            operand.shape = value.shape

    def _unique(self, name: str) -> str:
        return unused(one_word(name) or "operator", self._names)

    def _unique_operand(self, name: str) -> str:
        return unused(name or "operand", self._operand_names)
