"""What PNNX loses on the way from ONNX, put back where declared types give it away.

kuiper reads .onnx files itself (``kuiper.onnx``), without PNNX. This is for .param files that PNNX has made of ONNX:
people have them, and so has ncnn's world. They are told by the names of their inputs.

Shape, which PNNX may leave out:

    ONNX      s = Shape(x)       n = Slice(s, -1, end)            z = ConstantOfShape(s)
    PNNX                         n = Tensor.slice(x)              z = torch.zeros(size=x)
    here      s = Shape(x)       n = Tensor.slice(s)              z = torch.zeros(size=s)

A cut or a row of floats holds floats: if x is declared as floats and n as int64, n is cut out of x's shape. A size is
a vector of integers, one for each axis of the output: whatever else stands for one means its shape. What is
compared with x has no fewer axes than x, and what is picked out of several axes is declared: if not, it was a shape. Of
a Shape from one axis to another PNNX forgets these, too; those of a row follow from its length.

Division, which PNNX writes as that of torch, though that of integers gives fractions there:

    ONNX      q = Div(i, 12)         PNNX      q = div(i, 12)         here      q = onnx_div(i, 12)

This is no pass: without it the graph computes something else, so it is done to every graph from ONNX before its layers
are made. Such graphs call their inputs in0, in1, ...; those from TorchScript pnnx_input_0, pnnx_input_1, ...
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.pnnx.ir import INPUT, DataType, ParameterType
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLOATS = (DataType.F32, DataType.F64, DataType.F16, DataType.BF16)
_WHOLE = (DataType.I64, DataType.I32)
_JOINS = ("cat", "concat")
_SAME_TYPE = ("slice", "Gather", *_JOINS)
_BROADCASTING = ("eq", "where")
_TO_A_NUMBER = ("select", "prod")
_MADE_OF_A_SIZE = ("full", "zeros", "ones", "empty")
_SIZES = ("size", "sizes", "shape")
_NAME = re.compile(r"in[0-9]+")
_ITEM = re.compile(r"(?<=[\[,])@[0-9]+(?=[,\]])")
_ARGUMENT = re.compile(r"(?<=\()@[0-9]+")
_DIVISION = re.compile(r"\bdiv\b")


def put_back_what_onnx_had(operators: list[RuntimeOperator], operands: list[RuntimeOperand]) -> list[RuntimeOperator]:
    """The operators, with a Shape in front of each input that can only be meant as one, and divisions as in ONNX.

    Operands that this takes are added to ``operands``, which has them all by index. A graph that does not come from
    ONNX is left alone.
    """
    if not any(op.type == INPUT and _NAME.fullmatch(op.name) for op in operators):
        return operators
    result: list[RuntimeOperator] = []
    for op in operators:
        result += [_shape_of(op, position, operands) for position in _meant_as_shapes(op)]
        if op.type == "pnnx.Expression":
            _divide_as_onnx(op)
        result.append(op)
    return result


def _meant_as_shapes(op: RuntimeOperator) -> Iterator[int]:
    """The positions of inputs whose shape is meant."""
    in_list, word = _numbers_in_list(op) if op.type == "pnnx.Expression" else (), _word(op)
    for position, (operand, name) in enumerate(zip(op.inputs, op.input_names, strict=True)):
        if not operand.shape or not op.outputs:
            continue
        is_float, output = operand.type in _FLOATS, op.outputs[0]
        if name in _SIZES or (op.type == "Expand" and position == 1):
            meant = is_float or (word in _MADE_OF_A_SIZE and _has_another_rank(output, operand))
        elif position in in_list:
            meant = is_float or len(operand.shape) > 1
        elif word in _TO_A_NUMBER:
            meant = output.shape is None and (len(operand.shape) > 1 or _only_ends_ranges(output))
        elif output.shape is None:
            meant = False
        else:
            fewer_axes = word in _BROADCASTING and len(operand.shape) > len(output.shape)
            meant = fewer_axes or (word in _SAME_TYPE and is_float and output.type in _WHOLE)
        if meant:
            yield position


def _word(op: RuntimeOperator) -> str:
    """``cat`` for torch.cat: some operators are functions here and methods there."""
    return op.type.rpartition(".")[2]


def _numbers_in_list(op: RuntimeOperator) -> set[int]:
    """Of an expression that lists sizes, ``[size(@0,0),@1]``, the inputs that stand there themselves."""
    text = op.str_param("expr")
    names = {name for reader in op.outputs[0].consumers for name in _names(reader, op.outputs[0])}
    if not text.startswith("[") or not names or not names <= set(_SIZES):
        return set()
    return {int(word[1:]) for word in _ITEM.findall(text)} - {int(word[1:]) for word in _ARGUMENT.findall(text)}


def _names(op: RuntimeOperator, operand: RuntimeOperand) -> list[str]:
    """What an operator calls the inputs that are this operand."""
    return [name for read, name in zip(op.inputs, op.input_names, strict=True) if read is operand]


def _only_ends_ranges(operand: RuntimeOperand) -> bool:
    """Whether nothing but ranges reads the operand: they end at a size, not at an entry."""
    return bool(operand.consumers) and all(reader.type == "torch.arange" for reader in operand.consumers)


def _has_another_rank(output: RuntimeOperand, size: RuntimeOperand) -> bool:
    """Whether ``size`` is declared as no vector, or as one of another length than the output has axes."""
    if not size.shape or output.shape is None:
        return False
    return len(size.shape) > 1 or (isinstance(size.shape[0], int) and size.shape[0] != len(output.shape))


def _shape_of(op: RuntimeOperator, position: int, operands: list[RuntimeOperand]) -> RuntimeOperator:
    """The Shape of one input, which the operator now reads in its place."""
    source, count = op.inputs[position], _sizes_wanted(op)
    made = RuntimeOperand(f"{source.name}_shape", len(operands), None, DataType.I64, consumers=[op])
    operands.append(made)
    params = {} if count is None else {"end": RuntimeParameter(ParameterType.INT, count)}
    made.producer = RuntimeOperator("Shape", f"{op.name}+shape{position}", [source], [made], [""], params)
    op.inputs[position] = made
    source.consumers = [reader for reader in source.consumers if reader is not op or source in op.inputs]
    source.consumers.append(made.producer)
    return made.producer


def _sizes_wanted(op: RuntimeOperator) -> int | None:
    """How many sizes of its one tensor a row needs for its declared length: ``(n, c)`` in front of ``(h, w)``."""
    lengths = [operand.shape for operand in (*op.inputs, op.outputs[0]) if operand.type not in _FLOATS]
    known = [shape[0] for shape in lengths if shape and isinstance(shape[0], int)]
    if _word(op) not in _JOINS or len(lengths) != len(op.inputs) or len(known) != len(lengths):
        return None
    return known[-1] - sum(known[:-1])


def _divide_as_onnx(op: RuntimeOperator) -> None:
    """Let ``div`` give integers of integers, unless the output is declared as floats."""
    if op.outputs[0].shape is None or op.outputs[0].type not in _FLOATS:
        param = op.params["expr"]
        op.params["expr"] = replace(param, value=_DIVISION.sub("onnx_div", op.str_param("expr")))
