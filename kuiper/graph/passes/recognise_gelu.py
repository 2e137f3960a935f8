"""Make one operator of an expression that spells GELU out.

    before   x -> mul(mul(@0,add(erf(div(@0,1.4142135)),1)),0.5) -> y
    after    x -> F.gelu -> y

That is how exporters to ONNX write GELU before opset 20, once fuse_expressions has put its five operators together. A
linear layer that makes x can then take the GELU in.

Left alone: any other expression, be it equal to GELU, and one of float64, which F.gelu does not take.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.pnnx.ir import DataType

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

    Tree = str | tuple["Tree", ...]

_WORD = re.compile(r"[^(),]+|[(),]")
_CLOSE = 1e-6


def recognise_gelu(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with F.gelu in the place of each expression that is one."""
    return [_as_gelu(op) if _is_gelu(op, registry) else op for op in operators]


def _as_gelu(op: RuntimeOperator) -> RuntimeOperator:
    gelu = replace(op, type="F.gelu", input_names=["input"], params={}, layer=None, grown_from=op.where)
    op.inputs[0].consumers = [gelu if reader is op else reader for reader in op.inputs[0].consumers]
    op.outputs[0].producer = gelu
    return gelu


def _is_gelu(op: RuntimeOperator, registry: RegistryProtocol) -> bool:
    """Whether the expression is x / 2 (1 + erf(x / sqrt(2))), in any order of its factors."""
    if op.type != "pnnx.Expression" or len(op.inputs) != 1 or op.str_param("expr").count("erf(") != 1:
        return False
    if not all(map(registry.is_built_in, (op.type, "F.gelu"))) or op.inputs[0].type is DataType.F64:
        return False
    constant, factors = _factors(_tree(op.str_param("expr").replace(" ", "")))
    sums = [factor for factor in factors if isinstance(factor, tuple)]
    if abs(constant - 0.5) > _CLOSE or len(factors) != 2 or len(sums) != 1 or sums[0][0] != "add":
        return False
    ones, curves = _split(sums[0][1:])
    if ones != [1.0] or len(curves) != 1 or curves[0][0] != "erf":
        return False
    inner_constant, inner_factors = _factors(curves[0][1])
    return inner_factors == ["@0"] and abs(inner_constant - math.sqrt(0.5)) < _CLOSE


def _tree(text: str) -> Tree:
    """``mul(@0,2)`` as ("mul", "@0", "2")."""
    words = _WORD.findall(text)
    stack: list[list[Tree]] = [[]]
    for word in words:
        if word == "(":
            stack.append([stack[-1].pop()])
        elif word == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        elif word != ",":
            stack[-1].append(word)
    return stack[0][0]


def _factors(tree: Tree) -> tuple[float, list[Tree]]:
    """A product as its constant and its other factors."""
    number = _number(tree)
    if number is not None:
        return number, []
    if isinstance(tree, tuple) and tree[0] == "mul":
        pairs = [_factors(one) for one in tree[1:]]
        return math.prod(constant for constant, _ in pairs), [one for _, factors in pairs for one in factors]
    if isinstance(tree, tuple) and tree[0] in ("div", "onnx_div") and (divisor := _number(tree[2])):
        constant, factors = _factors(tree[1])
        return constant / divisor, factors
    return 1.0, [tree]


def _split(trees: tuple[Tree, ...]) -> tuple[list[float], list[Tree]]:
    """The numbers among the terms of a sum, and the other terms."""
    numbers = [number for one in trees if (number := _number(one)) is not None]
    return numbers, [one for one in trees if _number(one) is None]


def _number(tree: Tree) -> float | None:
    try:
        return float(tree) if isinstance(tree, str) else None
    except ValueError:
        return None
