"""What kind of operator a type is: a page gives each family a colour."""

from __future__ import annotations

# The first family one of whose words stands in the type's name, in small letters.
_FAMILIES = (
    ("input", ("pnnx.input",)),
    ("output", ("pnnx.output",)),
    ("constant", ("pnnx.attribute", "prim::constant", "full", "zeros", "ones", "arange", "linspace", "empty")),
    ("attention", ("attention", "cache", "rotary", "positions")),
    ("convolution", ("conv",)),
    ("linear", ("linear", "matmul", "bmm", "addmm", "torch.mm", "torch.mv", "einsum", "lstm", "gru", "rnn")),
    ("norm", ("norm",)),
    ("pooling", ("pool",)),
    ("shape", (
        "reshape", "view", "flatten", "permute", "transpose", "squeeze", "expand", "repeat", "flip", "roll", "cat",
        "stack", "split", "chunk", "unbind", "narrow", "select", "slice", "pad", "shuffle", "upsample", "interpolate",
        "fold", "gather", "index", "embedding", "size", "shape", "tuple", "clone", "contiguous", "focus",
    )),
    ("activation", (
        "relu", "elu", "sigmoid", "tanh", "silu", "mish", "gelu", "hardswish", "hardtanh", "hardsigmoid", "softmax",
        "softmin", "softplus", "softsign", "shrink", "glu", "celu", "threshold", "dropout", "clamp",
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
    small = type_name.lower()
    return next((family for family, words in _FAMILIES if any(word in small for word in words)), "other")
