"""Activations, as modules and as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw

MODULES = (
    "nn.ReLU()", "nn.ReLU6()", "nn.LeakyReLU(0.1)", "nn.SiLU()", "nn.Hardswish()", "nn.Hardsigmoid()", "nn.Sigmoid()",
    "nn.Tanh()", "nn.GELU()", "nn.GELU('tanh')", "nn.ELU(0.7)", "nn.CELU(1.3)", "nn.SELU()", "nn.Mish()",
    "nn.Softplus()", "nn.Softplus(2.0, 3.0)", "nn.Softsign()", "nn.Softshrink(0.4)", "nn.Hardshrink(0.3)",
    "nn.Hardtanh(-0.8, 1.1)", "nn.LogSigmoid()", "nn.Tanhshrink()", "nn.Threshold(0.2, -0.7)", "nn.PReLU()",
    "nn.RReLU(0.1, 0.3)", "nn.Identity()",
)  # fmt: skip

CALLS = (
    "F.relu({0})", "F.relu6({0})", "F.leaky_relu({0}, 0.2)", "F.silu({0})", "F.hardswish({0})", "F.hardsigmoid({0})",
    "torch.sigmoid({0})", "torch.tanh({0})", "F.gelu({0})", "F.gelu({0}, approximate='tanh')", "F.elu({0}, 1.2)",
    "F.celu({0}, 0.6)", "F.selu({0})", "F.mish({0})", "F.softplus({0})", "F.softsign({0})", "F.softshrink({0})",
    "F.hardshrink({0})", "F.hardtanh({0}, -1.5, 0.5)", "F.logsigmoid({0})", "F.tanhshrink({0})",
    "F.threshold({0}, 0.1, 0.5)", "{0} * torch.sigmoid({0})", "{0} * F.hardsigmoid({0})", "{0}.clamp(-1, 2)",
    "torch.relu({0})", "{0}.clamp(min=-0.5)", "F.dropout({0}, 0.5, False)",
)  # fmt: skip


@family(3)
def activation_module(draw: Draw) -> Call:
    return Call("{m}({0})", (draw.value(),), draw.one(MODULES))


@family(3)
def activation_function(draw: Draw) -> Call:
    return Call(draw.one(CALLS), (draw.value(),))


@family()
def prelu_of_channels(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), where=lambda value: value.fixed(1))
    return Call("{m}({0})", (x,), f"nn.PReLU({x.shape[1]})")


@family()
def glu(draw: Draw) -> Call:
    x = draw.value(where=lambda value: any(size % 2 == 0 and value.fixed(i) for i, size in enumerate(value.shape)))
    dim = draw.one([i for i, size in enumerate(x.shape) if size % 2 == 0 and x.fixed(i)])
    return Call(f"F.glu({{0}}, {dim})", (x,))


@family(2)
def softmax(draw: Draw) -> Call:
    x = draw.value((1, 2, 3, 4, 5))
    dim = draw.axis(x)
    calls = ["F.softmax({0}, DIM)", "F.log_softmax({0}, DIM)", "F.softmin({0}, DIM)", "torch.softmax({0} * 3, DIM)"]
    return Call(draw.one(calls).replace("DIM", str(dim)), (x,))
