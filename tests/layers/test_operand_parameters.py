from __future__ import annotations

import numpy as np

from tests.layers.wired_operator import run_wired

X = np.zeros((2, 3, 4), np.float32)


def test_operand_parameters_may_hold_vectors_of_one_as_graphs_born_from_onnx_do() -> None:
    sizes = [2, np.array([12])]
    assert run_wired("Tensor.reshape", X, sizes, names=("input", "shape")).shape == (2, 12)
    assert run_wired("torch.unsqueeze", X, np.array([1]), names=("input", "dim")).shape == (2, 1, 3, 4)


def test_operand_parameters_make_the_layer_anew() -> None:
    names = ("input", "shape")
    assert [run_wired("Tensor.reshape", X, [size, -1], names=names).shape for size in (2, 6)] == [(2, 12), (6, 4)]
