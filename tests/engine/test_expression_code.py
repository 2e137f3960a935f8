"""Programs made from layers, run as steps, against the layers themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.engine.expression_code import Code, code_of, code_of_expression
from kuiper.engine.functions import CODES, arguments_of, cost_of
from kuiper.engine.kernels.elementwise import Elementwise
from kuiper.expression.evaluation import compile_expression
from kuiper.layers import Layer
from tests.engine.one_step import run_step
from tests.layers.one_operator import layer


def numbers(*shape: int) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal(shape, np.float32) * np.float32(4)
    x.flat[:4] = 0, np.inf, -np.inf, np.nan
    return x


def run(code: Code, *inputs: np.ndarray) -> np.ndarray:
    """The value of a program for C-ordered inputs of one shape, with its weights behind them in the arena."""
    shape = inputs[0].shape
    operands = [inputs[k] for k in code.inputs] + [np.broadcast_to(w, shape) for w in code.weights]
    strides = tuple(stride // 4 for stride in np.ascontiguousarray(inputs[0]).strides)
    size = inputs[0].size
    views = [(-1, k * size, strides) for k in range(len(operands) + 1)]
    step = Elementwise(shape, views, code.instructions)
    arena = np.concatenate([np.zeros(size), *(x.ravel() for x in operands), np.zeros(64)]).astype(np.float32)
    return run_step(step, arena)[:size].reshape(shape)


def test_code_of_expression_keeps_only_the_inputs_it_reads() -> None:
    x = numbers(2, 5)
    code = code_of_expression(compile_expression("mul(add(@2,size(@0,1)),@1)", 3), [x, x, x])
    assert code is not None
    assert code.inputs == (1, 2)
    assert [name for name, _, _ in code.instructions] == ["load", "constant", "add", "load", "mul"]
    assert code.instructions[0] == ("load", 1, 0)
    np.testing.assert_array_equal(run(code, x, x, x), (x + 5) * x)


def test_code_of_expression_takes_numbers_among_the_inputs() -> None:
    x = numbers(3, 4)
    code = code_of_expression(compile_expression("div(mul(@0,@1),sqrt(@2))", 3), [x, 3, 4.0])
    assert code is not None
    np.testing.assert_array_equal(run(code, x), x * 3 / np.float32(2))


@pytest.mark.parametrize(
    "text",
    [
        "and(@0,1)", "floor_divide(@0,2)", "remainder(@0,2)", "logaddexp(@0,@1)", "torch.int(@0)", "torch.double(@0)",
        "[@0,@1]", "size(@0,1)", "1.5", "add(@0,1e+00+2e+00j)", "add(@0,size(mul(@0,@1),0))", "size(@0)",
    ],
)  # fmt: skip
def test_code_of_expression_leaves_to_the_layer_what_is_not_float32(text: str) -> None:
    assert code_of_expression(compile_expression(text, 2), [numbers(3, 4), numbers(3, 4)]) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.int32, np.bool_, np.complex64])
def test_code_of_expression_leaves_other_element_types_to_the_layer(dtype: type[np.generic]) -> None:
    assert code_of_expression(compile_expression("add(@0,@1)", 2), [numbers(3), np.zeros(3, dtype)]) is None
    assert code_of_expression(compile_expression("add(@0,size(@1,0))", 2), [numbers(3), np.zeros(3, dtype)]) is not None


def test_code_of_expression_leaves_what_is_too_long_to_the_layer() -> None:
    deep = "@0"
    for _ in range(20):
        deep = f"add(@0,{deep})"
    long = "@0"
    for _ in range(40):
        long = f"add({long},1)"
    wide = compile_expression("add(@0," * 8 + "@8" + ")" * 8, 9)
    assert code_of_expression(compile_expression(deep, 1), [numbers(3)]) is None
    assert code_of_expression(compile_expression(long, 1), [numbers(3)]) is None
    assert code_of_expression(wide, [numbers(3)] * 9) is not None
    nine = "@0"
    for k in range(1, 9):
        nine = f"add({nine},@{k})"
    assert code_of_expression(compile_expression(nine, 9), [numbers(3)] * 9) is None


def test_code_of_expression_casts_to_float32_are_nothing() -> None:
    code = code_of_expression(compile_expression("neg(torch.float(@0))", 1), [numbers(3)])
    assert code is not None
    assert [name for name, _, _ in code.instructions] == ["load", "neg"]


@pytest.mark.parametrize(
    ("type_name", "settings"),
    [
        ("nn.ReLU", {}), ("nn.ReLU6", {}), ("F.hardtanh", {"min_val": -0.5, "max_val": 2}), ("nn.RReLU", {}),
        ("nn.LeakyReLU", {"negative_slope": 0.2}), ("nn.ELU", {"alpha": 1.5}), ("nn.CELU", {"alpha": 0.7}),
        ("nn.SELU", {}), ("nn.Sigmoid", {}), ("nn.LogSigmoid", {}), ("nn.Tanh", {}), ("nn.SiLU", {}),
        ("nn.Hardswish", {}), ("nn.Hardsigmoid", {}), ("nn.GELU", {}), ("nn.GELU", {"approximate": "tanh"}),
        ("nn.Mish", {}), ("nn.Softplus", {"beta": 2.0, "threshold": 5.0}), ("nn.Softsign", {}),
        ("nn.Tanhshrink", {}), ("nn.Hardshrink", {"lambd": 0.3}), ("nn.Softshrink", {"lambd": 0.3}),
        ("nn.Threshold", {"threshold": 0.1, "value": -7.0}), ("torch.clamp", {"min": -1, "max": 1.5}),
        ("torch.clamp", {"min": 0.25}), ("torch.clamp", {"max": 0}), ("torch.clamp", {"min": 2, "max": 1}),
    ],
)  # fmt: skip
def test_code_of_layer_computes_what_the_layer_does(type_name: str, settings: dict[str, Any]) -> None:
    x = numbers(3, 47)
    it = layer(type_name, **settings)
    code = code_of(it, [x])
    assert code is not None
    # in its tail gelu is x times the difference of two numbers that are nearly 1/2
    np.testing.assert_allclose(run(code, x), it.forward(x), rtol=1e-6, atol=1e-6 if type_name == "nn.GELU" else 1e-7)


@pytest.mark.parametrize("slopes", [1, 5])
def test_code_of_prelu_has_the_slopes_as_an_operand(slopes: int) -> None:
    x = numbers(2, 5, 3)
    it = layer("nn.PReLU", {"weight": np.linspace(0.1, 0.9, slopes)}, num_parameters=slopes)
    code = code_of(it, [x])
    assert code is not None
    np.testing.assert_array_equal(run(code, x), it.forward(x))
    assert (code_of(it, [x[:, :4]]) is None) == (slopes == 5)


@pytest.mark.parametrize("affine", [True, False])
def test_code_of_batch_norm_is_a_product_and_a_sum(affine: bool) -> None:
    x = numbers(2, 5, 3, 4)
    weights = {
        name: np.linspace(0.5, 2, 5) + k for k, name in enumerate(("running_mean", "running_var", "weight", "bias"))
    }
    it = layer("nn.BatchNorm2d", weights, num_features=5, eps=1e-3, affine=affine)
    code = code_of(it, [x])
    assert code is not None
    np.testing.assert_allclose(run(code, x), it.forward(x), rtol=2e-6, atol=1e-5)
    assert code_of(it, [x[:, :4]]) is None
    assert code_of(layer("F.batch_norm"), [x]) is None


def test_code_of_fused_expression_ends_with_the_activation() -> None:
    x = numbers(4, 9)
    for name, alpha, beta in (("relu", 0, 0), ("clip", 0, 6), ("silu", 0, 0), ("leaky_relu", 0.1, 0), ("none", 0, 0)):
        it = layer(
            "kuiper.FusedExpression", expr="mul(@0,3)", activation=name, activation_alpha=alpha, activation_beta=beta
        )
        code = code_of(it, [x])
        assert code is not None
        np.testing.assert_allclose(run(code, x), it.forward(x), rtol=1e-6)


def test_code_of_leaves_other_layers_alone() -> None:
    class Own(Layer):
        pass

    relu = layer("nn.ReLU")
    assert code_of(Own(relu.op), [numbers(3)]) is None
    assert code_of(relu, [np.arange(3)]) is None
    assert code_of(layer("torch.clamp", min=0.0), [numbers(3), numbers(3)]) is None
    assert code_of(layer("torch.clamp", min="nan"), [numbers(3)]) is None


def test_every_function_has_a_cost_and_takes_one_or_two_numbers() -> None:
    assert arguments_of(CODES["load"]) == arguments_of(CODES["constant"]) == 0
    assert all(arguments_of(CODES[name]) == 2 for name in ("add", "atan2", "prelu"))
    assert all(arguments_of(CODES[name]) == 1 for name in ("clip", "mish", "neg", "atanh"))
    assert cost_of(CODES["add"]) == cost_of(CODES["clip"]) < cost_of(CODES["silu"]) < cost_of(CODES["sin"])
    assert len(set(CODES.values())) == len(CODES)
