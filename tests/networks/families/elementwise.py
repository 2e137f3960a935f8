"""Arithmetic: what pnnx gathers into expressions, comparisons, choices and other element types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.draw import BOOLS, FLOATS, WHOLE
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw

OF_ONE = (
    "torch.abs(X)", "-X", "X.square()", "torch.exp(X.clamp(-3, 3))", "torch.log(X.abs() + 0.5)",
    "torch.sqrt(X.abs() + 0.1)", "torch.rsqrt(X.square() + 0.3)", "torch.sin(X)", "torch.cos(X)", "torch.tanh(X)",
    "torch.erf(X)", "torch.atan(X)", "torch.reciprocal(X.abs() + 0.7)", "torch.log1p(X.abs())",
    "torch.expm1(X.clamp(-2, 2))", "torch.sinh(X.clamp(-2, 2))", "torch.asinh(X)", "X ** 2", "X ** 3",
    "(X.abs() + 0.2) ** 0.5", "torch.floor(X * 3)", "torch.ceil(X * 2)", "torch.round(X * 2)", "torch.sign(X)",
    "torch.sigmoid(X)", "2 - X", "1 / (X.abs() + 1)", "X / 3", "X * 0.5 + 1", "torch.trunc(X * 2)",
    "torch.asin(X.clamp(-0.9, 0.9))", "torch.cosh(X.clamp(-2, 2))", "torch.tan(X.clamp(-1, 1))",
    "torch.log2(X.abs() + 0.4)", "torch.log10(X.abs() + 0.3)", "torch.acos(X.clamp(-0.9, 0.9))",
    "torch.acosh(X.abs() + 1.2)", "torch.atanh(X.clamp(-0.8, 0.8))", "torch.exp2(X.clamp(-3, 3))",
)  # fmt: skip

OF_TWO = (
    "X + Y", "X + Y", "X - Y", "X * Y", "X * Y", "X / (Y.abs() + 0.5)", "torch.maximum(X, Y)", "torch.minimum(X, Y)",
    "torch.atan2(X, Y.abs() + 0.1)", "(X.abs() + 0.5) ** Y.clamp(-2, 2)", "torch.fmod(X, Y.abs() + 0.6)",
    "torch.remainder(X, Y.abs() + 0.6)", "torch.add(X, Y, alpha=0.5)", "torch.sub(X, Y, alpha=2)",
    "torch.logaddexp(X, Y)", "torch.hypot(X, Y)",
)  # fmt: skip


def tree(draw: Draw, operands: list[str], depth: int) -> str:
    """A formula of these operands."""
    if depth == 0 or draw.chance(0.15):
        return draw.one(operands)
    if draw.chance(0.4):
        return "(" + draw.one(OF_ONE).replace("X", tree(draw, operands, depth - 1)) + ")"
    form = draw.one(OF_TWO)
    left, right = tree(draw, operands, depth - 1), tree(draw, operands, depth - 1)
    return "(" + form.replace("X", "\0").replace("Y", right).replace("\0", left) + ")"


@family(6)
def formula(draw: Draw) -> Call:
    first = draw.value()
    values = [first, *(draw.beside(first) for _ in range(draw.int(0, 2)))]
    operands = [f"{{{i}}}" for i in range(len(values))]
    call = tree(draw, operands, draw.int(1, 3))
    missing = [operand for operand in operands if operand not in call]
    return Call(" + ".join([call, *missing]), tuple(values))


@family(5)
def add_or_multiply(draw: Draw) -> Call:
    x = draw.value()
    return Call(draw.one(["{0} + {1}", "{0} * {1}", "{1} - {0}", "{0} + {1} * 0.5"]), (x, draw.beside(x)))


@family()
def scale_by_parameter(draw: Draw) -> Call:
    """A weight of the model in plain arithmetic."""
    x = draw.value((2, 3, 4), where=lambda value: value.fixed(-1))
    return Call("{0} * {m}.weight + {m}.bias", (x,), f"nn.LayerNorm({x.shape[-1]})")


@family(2)
def choice(draw: Draw) -> Call:
    x = draw.value()
    y = draw.beside(x)
    calls = [
        "torch.where({0} > 0.2, {0}, {1})", "torch.where({0} < {1}, {1}, {0} * 0.1)",
        "{0}.masked_fill({1} > 0.3, -2.0)",
        "torch.where({0} >= 0, 1.0, -0.5) * {1}", "({0} > {1}).float() * {0}",
        "torch.where(({0} > 0) & ({1} > 0), {0}, {1})",
    ]  # fmt: skip
    return Call(draw.one(calls), (x, y))


@family(0.7)
def comparison(draw: Draw) -> Call:
    x = draw.value()
    return Call(f"{{0}} {draw.one(['>', '<', '>=', '<='])} {draw.one(['{1}', '0.25'])}", (x, draw.beside(x)))


@family(0.7)
def logic(draw: Draw) -> Call:
    x = draw.value(types=BOOLS)
    y = draw.beside(x, BOOLS)
    calls = ["torch.logical_and({0}, {1})", "torch.logical_or({0}, {1})", "torch.logical_xor({0}, {1})", "~{0}"]
    return Call(draw.one(calls), (x, y))


@family()
def cast_to_float(draw: Draw) -> Call:
    x = draw.value(types=(*BOOLS, *WHOLE))
    return Call(draw.one(["{0}.float()", "{0}.to(torch.float32) * 0.3", "{0}.float() + 1"]), (x,))


@family()
def whole_arithmetic(draw: Draw) -> Call:
    x = draw.value(types=WHOLE)
    y = draw.beside(x, WHOLE)
    calls = [
        "{0} + {1}", "{0} * 2 - {1}", "{0} * {1}", "-{0}", "torch.maximum({0}, {1})", "{0} % 5", "{0}.abs()",
        "{0}.clamp(0, 6)", "{0} // 3", "{0} * 1.5",
    ]  # fmt: skip
    return Call(draw.one(calls), (x, y))


@family()
def whole_and_float(draw: Draw) -> Call:
    x = draw.value(types=FLOATS)
    return Call(draw.one(["{0} + {1} * 0.1", "{0} * ({1} > 2)", "{0} / ({1}.abs() + 1)"]), (x, draw.beside(x, WHOLE)))
