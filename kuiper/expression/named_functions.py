"""torch.add, aten::add and their kin: operators that are one function of an expression, left as they are.

pnnx gathers such functions in expressions, except where it is told to optimise nothing, and a few that it never takes
in. Their layers are expressions, so whatever runs an expression runs them, too:

    aten::add   15, 17, alpha=2      add(@0,mul(@1,2))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import UnsupportedOperatorError
from kuiper.expression.expression_layer import Expression
from kuiper.layers.operand_parameters import WithOperandParameters
from kuiper.layers.operators.clamp import number_param
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Layer

_SAME_NAME = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor"),
    *("log", "log10", "log1p", "neg", "reciprocal", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan", "trunc"),
    *("atan2", "floor_divide", "fmod", "logaddexp", "maximum", "minimum", "mul", "pow", "remainder"),
)
_TEXTS = {
    **{f"{prefix}{name}": name for name in _SAME_NAME for prefix in ("torch.", "aten::")},
    "torch.bitwise_and": "and",
    "torch.bitwise_or": "or",
    "torch.bitwise_xor": "xor",
    "torch.bitwise_left_shift": "lshift",
    "torch.bitwise_right_shift": "rshift",
    "torch.lgamma": "lgamma",
    "aten::__and__": "and",
    "aten::__or__": "or",
    "aten::__xor__": "xor",
    "aten::__lshift__": "lshift",
    "aten::__rshift__": "rshift",
    "aten::addcdiv": "add(@0,mul(@3,div(@1,@2)))",
    "aten::addcmul": "add(@0,mul(mul(@3,@1),@2))",
    "aten::copysign": "copysign",
    "aten::deg2rad": "mul(@0,0.017453292519943295)",
    "aten::erfc": "sub(1,erf(@0))",
    "aten::exp2": "exp2",
    "aten::float_power": "pow(torch.double(@0),torch.double(@1))",
    "aten::fmax": "fmax",
    "aten::fmin": "fmin",
    "aten::frac": "sub(@0,trunc(@0))",
    "aten::hypot": "hypot",
    "aten::ldexp": "mul(@0,pow(2.0,@1))",
    "aten::lerp": "add(@0,mul(@2,sub(@1,@0)))",
    "aten::log2": "log2",
    "aten::max": "max",
    "aten::min": "min",
    "aten::rad2deg": "mul(@0,57.29577951308232)",
    "aten::sgn": "sign",
    "aten::xlogy": "xlogy",
    "torch.positive": "@0",
}
"""The text of each, or the function that takes all inputs."""

_SETTINGS = {"add": "alpha", "sub": "alpha", "rsub": "alpha", "div": "rounding_mode", "round": "decimals"}
"""What an operand behind those of the function says."""


class NamedFunction:
    """Makes the layer of an operator that is one function of an expression.

    Source: torch's function of that name.
    """

    data_inputs = None

    def __call__(self, op: RuntimeOperator) -> Layer:
        name = op.type.rpartition(".")[2].rpartition("::")[2]
        setting = _SETTINGS.get(name)
        arity = 1 if name == "round" else 2
        if setting and len(op.inputs) > arity:
            return WithOperandParameters(op, _expression, {arity: setting})
        return _expression(op)


def _expression(op: RuntimeOperator) -> Layer:
    """The expression that the operator is, with its settings."""
    return Expression(op, _text(op))


def _text(op: RuntimeOperator) -> str:
    if op.type in _WITH_SETTINGS:
        return _WITH_SETTINGS[op.type](op)
    text = _TEXTS[op.type]
    return text if "@" in text else f"{text}({','.join(_arguments(op))})"


def _arguments(op: RuntimeOperator) -> list[str]:
    """The inputs, and the number that stands for one of two: ``torch.bitwise_xor ... other=3``."""
    first, second = (number_param(op, key) if key in op.params else None for key in ("input", "other"))
    inputs = [f"@{k}" for k in range(len(op.inputs))]
    return [*([] if first is None else [repr(first)]), *inputs, *([] if second is None else [repr(second)])]


def _sum(op: RuntimeOperator) -> str:
    """add, sub or rsub: one input and ``alpha`` times the other."""
    alpha = number_param(op, "alpha")
    first, second = ("@1", "@0") if op.type.endswith("rsub") else ("@0", "@1")
    function = "add" if op.type.endswith("add") else "sub"
    return f"{function}({first},{second if alpha in (None, 1) else f'mul({second},{alpha!r})'})"


def _quotient(op: RuntimeOperator) -> str:
    """div, whose result may be rounded."""
    functions = {None: "div", "floor": "floor_divide", "trunc": "trunc_divide"}
    mode = op.str_param("rounding_mode", None)
    if mode not in functions:
        raise UnsupportedOperatorError(op.where, "rounding_mode floor, trunc or none", mode)
    return f"{functions[mode]}(@0,@1)"


def _rounded(op: RuntimeOperator) -> str:
    """round, to this many decimals."""
    decimals = op.int_param("decimals", 0)
    if decimals == 0:
        return "round(@0)"
    power = repr(10.0 ** abs(decimals))
    return f"div(round(mul(@0,{power})),{power})" if decimals > 0 else f"mul(round(div(@0,{power})),{power})"


_WITH_SETTINGS: dict[str, Callable[[RuntimeOperator], str]] = {
    "torch.add": _sum,
    "aten::add": _sum,
    "torch.sub": _sum,
    "aten::sub": _sum,
    "aten::rsub": _sum,
    "torch.div": _quotient,
    "aten::div": _quotient,
    "torch.round": _rounded,
    "aten::round": _rounded,
}

register(*_TEXTS, *_WITH_SETTINGS)(NamedFunction())
