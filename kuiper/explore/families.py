"""What kind of operator a type is: a page gives each family a colour."""

from __future__ import annotations

from kuiper.graph.pnnx.ir import INPUT, OUTPUT
from kuiper.layers import registry

# Of types whose class does not say it: the first family one of whose words stands in the type's name, in small letters.
_FAMILIES = (
    ("constant", ("pnnx.attribute", "prim::constant", "full", "zeros", "ones", "arange", "linspace", "empty")),
    ("attention", ("attention", "cache", "rotary", "positions")),
    ("convolution", ("conv",)),
    ("linear", ("linear", "matmul", "bmm", "addmm", "torch.mm", "torch.mv", "einsum", "lstm", "gru", "rnn")),
    ("norm", ("norm",)),
    ("pooling", ("pool",)),
    ("shape", (
        "expand", "repeat", "flip", "roll", "cat", "stack", "split", "chunk", "unbind", "narrow", "slice", "pad",
        "shuffle", "upsample", "interpolate", "fold", "gather", "select", "index", "embedding", "size", "shape",
        "tuple", "scatter",
    )),
    ("activation", (
        "relu", "elu", "sigmoid", "tanh", "hardswish", "mish", "softm", "softp", "softsign", "shrink", "clamp",
        "dropout",
    )),
    ("elementwise", (
        "expression", "add", "sub", "mul", "div", "exp", "log", "sqrt", "pow", "abs", "neg", "maximum", "minimum",
        "where", "gt", "lt", "eq", "mean", "sum", "prod", "amax", "amin", "max", "min", "var", "std", "erf",
        "sin", "cos",
    )),
)  # fmt: skip


def family_of(type_name: str) -> str:
    """The family of an operator's type.

    >>> family_of("nn.Conv2d"), family_of("kuiper.FusedLinear"), family_of("nn.ReLU"), family_of("models.yolo.Detect")
    ('convolution', 'linear', 'activation', 'other')
    """
    if type_name in (INPUT, OUTPUT):
        return "input" if type_name == INPUT else "output"
    facts = registry.facts(type_name)
    if facts.is_activation:
        return "activation"
    if facts.is_view or facts.is_part or facts.is_copy or facts.of_shapes:
        return "shape"
    small = type_name.lower()
    return next((family for family, words in _FAMILIES if any(word in small for word in words)), "other")
