"""A weight that several operators share, written once: PNNX gives each operator weights of its own.

    before   nn.Linear fc1 1 1 x y @weight=(512,512)f32
             nn.Linear fc2 1 1 y z @weight=(512,512)f32

    after    pnnx.Attribute fc1_weight 0 1 w @data=(512,512)f32
             F.linear fc1 2 1 x w y $input=x $weight=w
             F.linear fc2 2 1 y w z $input=y $weight=w

So PNNX itself writes functions whose weights are tensors of the module. An unrolled recurrent network has one matrix in
eighty products, a detector one head on five maps.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kuiper.graph.pnnx import DataType, Operand, Operator, Parameter, ParameterType

if TYPE_CHECKING:
    from kuiper.graph import pnnx

_FUNCTIONS = {"nn.Linear": "F.linear", "nn.Conv1d": "F.conv1d", "nn.Conv2d": "F.conv2d"}
_KEPT = ("stride", "padding", "dilation", "groups")


def share_weights(graph: pnnx.Graph) -> None:
    """Make functions of the operators whose weight others have, too, in place; arrays are shared if they are one."""
    counts = Counter(id(op.attrs["weight"].data) for op in graph.operators if _can_share(op))
    shared = {op for op in graph.operators if _can_share(op) and counts[id(op.attrs["weight"].data)] > 1}
    names = {op.name for op in graph.operators} | {operand.name for operand in graph.operands}
    stored: dict[int, Operand] = {}
    operators: list[Operator] = []
    for op in graph.operators:
        for key in ("weight", "bias") if op in shared else ():
            if key not in op.attrs:
                continue
            place = id(op.attrs[key].data)
            if place not in stored:
                stored[place] = _stored(op, key, names)
                producer = stored[place].producer
                assert producer is not None
                operators.append(producer)
            _read(op, key, stored[place])
        if op in shared:
            _as_function(op)
        operators.append(op)
    graph.operators = operators
    graph.operands = [operand for op in operators for operand in op.outputs]


def _can_share(op: Operator) -> bool:
    """Whether there is a function that takes all weights of this operator as operands."""
    if op.type not in _FUNCTIONS or "weight" not in op.attrs or len(op.inputs) != 1:
        return False
    mode = op.params.get("padding_mode")
    plain = all(attr.type is DataType.F32 and attr.data is not None for attr in op.attrs.values())
    return plain and set(op.attrs) <= {"weight", "bias"} and (mode is None or mode.value == "zeros")


def _stored(op: Operator, key: str, names: set[str]) -> Operand:
    """The output of a new pnnx.Attribute with a weight of this operator."""
    name, number = f"{op.name}_{key}", 1
    while name in names:
        name, number = f"{op.name}_{key}_{number}", number + 1
    names.add(name)
    attr = op.attrs[key]
    constant = Operator("pnnx.Attribute", name, attrs={"data": attr})
    constant.outputs.append(Operand(name, constant, [], attr.type, attr.shape))
    return constant.outputs[0]


def _read(op: Operator, key: str, weight: Operand) -> None:
    """Let an operator read one of its weights."""
    op.inputs.append(weight)
    op.input_names = [name or "input" for name in op.input_names] + [key]
    weight.consumers.append(op)


def _as_function(op: Operator) -> None:
    """Give an operator that reads its weights the name and the settings of a function."""
    bare = {} if "bias" in op.attrs else {"bias": Parameter(ParameterType.NULL, None)}
    op.type, op.attrs = _FUNCTIONS[op.type], {}
    op.params = bare | {key: param for key, param in op.params.items() if key in _KEPT}
