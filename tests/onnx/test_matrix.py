"""Matrix products: constant matrices are linear layers, integers and float64 stay exact."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from tests.onnx.beside_evaluator import check, model, operator_types

RNG = np.random.default_rng(0)
node = helper.make_node


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("c", [None, (5,), (1, 5), (3, 1), (3, 5), ()])
def test_gemm(turned: int, c: tuple[int, ...] | None) -> None:
    a, b = (numbers(4, 3), numbers(5, 4)) if turned else (numbers(3, 4), numbers(4, 5))
    weights = {"b": b} if c is None else {"b": b, "c": numbers(*c)}
    gemm = node("Gemm", ["a", *weights], ["y"], transA=turned, transB=turned, alpha=0.5, beta=2.0)
    check(model([gemm], {"a": a}, ["y"], weights), {"a": a}, exact=False)
    check(model([gemm], {"a": a} | weights, ["y"]), {"a": a} | weights, exact=False)


def test_a_product_and_a_bias_are_one_linear_layer() -> None:
    x, wide = ({"x": numbers(n, 3, 4)} for n in (2, 5))
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Add", ["b", "p"], ["y"])]
    proto = model(nodes, x, ["y"], {"w": numbers(4, 6), "b": numbers(6)}, shapes={"x": ["n", "l", 4]})
    check(proto, x, wide, exact=False)
    assert operator_types(proto) == ["nn.Linear"]
    both = model(nodes, x, ["y", "p"], {"w": numbers(4, 6), "b": numbers(6)})
    check(both, x, exact=False)


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float64])
def test_matmul_of_other_types(dtype: type[np.generic]) -> None:
    a, b = (np.arange(n, dtype=dtype).reshape(shape) for n, shape in ((24, (2, 3, 4)), (20, (4, 5))))
    product = node("MatMul", ["a", "b"], ["y"])
    check(model([product], {"a": a, "b": b}, ["y"]), {"a": a, "b": b})
    check(model([product], {"a": a}, ["y"], {"b": b}), {"a": a})


def test_einsum_and_determinant() -> None:
    given = {"a": numbers(2, 3, 4), "b": numbers(2, 4, 3)}
    nodes = [node("Einsum", ["a", "b"], ["p"], equation="bij, bjk -> bik"), node("Det", ["p"], ["y"])]
    check(model(nodes, given, ["p", "y"], opset=22), given, exact=False)
