"""Make one operator of what spells GELU out.

    before   x -> mul(mul(@0,add(erf(div(@0,1.4142135)),1)),0.5) -> y
    after    x -> F.gelu -> y

    before   x -+-> mul(add(@0,mul(pow(@0,3),0.044715)),0.7978846) -> F.tanh -> mul(mul(@0,0.5),add(@1,1)) -> y
                '----------------------------------------------------------------------^
    after    x -> F.gelu approximate=tanh -> y

That is how exporters to ONNX write GELU before opset 20, and how models spell the second one out themselves, once
fuse_expressions has put expressions together. A linear layer that makes x can then take the GELU in. Where the last
expression multiplies by more, as gated layers do, a product stays.

Left alone: any other expression, be it equal to GELU, and one of float64, which F.gelu does not take.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import attempted, decline_if, found
from kuiper.graph.passes.activations import is_activation
from kuiper.graph.passes.rewiring import expression_of, sole_reader, substitute
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    Tree = str | tuple["Tree", ...]

_WORD = re.compile(r"[^(),]+|[(),]")
_PLACE = re.compile(r"@[0-9]+")
_CLOSE = 1e-6


def recognise_gelu(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with F.gelu in the place of whatever is one."""
    instead = {}
    for op in operators:
        if (parts := attempted(_around, op, registry)) is not None:
            instead.update(_as_tanh_gelu(*parts))
    operators = [new for op in operators for new in instead.get(op, [op])]
    return [_as_gelu(op) if _is_gelu(op, registry) else op for op in operators]


def _around(
    curve: RuntimeOperator, registry: RegistryProtocol
) -> tuple[RuntimeOperator, RuntimeOperator, RuntimeOperator, list[Tree]]:
    """The expression in front of a tanh, the tanh, the one behind it, if they are GELU, and what that multiplies by."""
    decline_if(not is_activation(curve, "tanh", registry))
    before, behind = found(curve.inputs[0].producer), found(sole_reader(curve))
    decline_if(sole_reader(before) is not curve or len(before.inputs) != 1)
    decline_if(not before.type == behind.type == "pnnx.Expression" or before.inputs[0] not in behind.inputs)
    decline_if(not all(map(registry.is_built_in, (before.type, "F.gelu"))))
    decline_if(before.inputs[0].type is not DataType.F32 or not _is_tanh_argument(_tree_of(before)))
    x, t = (f"@{behind.inputs.index(operand)}" for operand in (before.inputs[0], curve.outputs[0]))
    constant, factors = _factors(_tree_of(behind))
    one = [tree for tree in factors if tree[0] == "add" and _split(tuple(tree[1:])) == ([1.0], [t])]
    decline_if(abs(constant - 0.5) > _CLOSE or len(one) != 1 or x not in factors)
    factors.remove(one[0])
    factors.remove(x)
    read = _PLACE.findall(_text(("mul", *factors)))
    decline_if(x in read or t in read)
    return before, curve, behind, factors


def _is_tanh_argument(tree: Tree) -> bool:
    """Whether it is sqrt(2 / pi) (x + 0.044715 x^3)."""
    constant, factors = _factors(tree)
    if abs(constant - math.sqrt(2 / math.pi)) > _CLOSE or len(factors) != 1 or factors[0][0] != "add":
        return False
    terms = [_factors(term) for term in factors[0][1:]]
    cubes = [(number, cube) for number, cube in terms if cube != ["@0"] or number != 1]
    if len(terms) != 2 or len(cubes) != 1:
        return False
    ((number, cube),) = cubes
    is_power = len(cube) == 1 and cube[0][:2] == ("pow", "@0") and _number(cube[0][2]) == 3
    return abs(number - 0.044715) < _CLOSE and (is_power or cube == ["@0"] * 3)


def _as_tanh_gelu(
    before: RuntimeOperator, curve: RuntimeOperator, behind: RuntimeOperator, factors: list[Tree]
) -> dict[RuntimeOperator, list[RuntimeOperator]]:
    """What comes in the place of each of the three: GELU, and a product if there is more to multiply by."""
    approximate = parameters(approximate="tanh")
    gelu = replace(
        curve, type="F.gelu", inputs=before.inputs, input_names=["input"], params=approximate, attrs={}, layer=None,
        grown_from=before.where,
    )  # fmt: skip
    if not factors:
        gelu.outputs = behind.outputs
        substitute((before, curve, behind), gelu)
        return {before: [], curve: [gelu], behind: []}
    substitute((before, curve), gelu)
    return {before: [], curve: [gelu], behind: [_product(behind, curve.outputs[0], factors)]}


def _product(behind: RuntimeOperator, gelu: RuntimeOperand, factors: list[Tree]) -> RuntimeOperator:
    """GELU times the other factors of the expression ``behind``, in its place."""
    text = _text(("mul", f"@{behind.inputs.index(gelu)}", _joined(factors)))
    kept = [operand for i, operand in enumerate(behind.inputs) if f"@{i}" in _PLACE.findall(text)]
    text = _PLACE.sub(lambda match: f"@{kept.index(behind.inputs[int(match[0][1:])])}", text)
    product = replace(
        behind,
        inputs=kept,
        input_names=[""] * len(kept),
        params={**behind.params, **parameters(expr=text)},
        layer=None,
    )
    substitute((behind,), product)
    return product


def _joined(factors: list[Tree]) -> Tree:
    """The product of some factors."""
    first, *others = factors
    return ("mul", first, _joined(others)) if others else first


def _text(tree: Tree) -> str:
    """("mul", "@0", "2") as ``mul(@0,2)``."""
    return tree if isinstance(tree, str) else f"{tree[0]}({','.join(map(_text, tree[1:]))})"


def _tree_of(op: RuntimeOperator) -> Tree:
    return _tree(expression_of(op))


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
    constant, factors = _factors(_tree_of(op))
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
