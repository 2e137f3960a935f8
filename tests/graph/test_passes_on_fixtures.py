"""Each pass against torch: every exported operator, and every small network of cases/fusion.py, before and after it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.layers import registry
from tests.fixtures.operator_files import case_names, graph_file
from tests.graph.pass_graphs import assert_wired
from tests.layers.test_operators_against_torch import assert_same, stored_runs

if TYPE_CHECKING:
    import numpy as np

CHANGES = {
    "eliminate_common_subexpressions": {"fuse_shared_conv"},
    "eliminate_dead_code": {"fuse_constants"},
    "multiply_in_bytes": set(),  # no such model: tests/graph/test_passes_multiply_in_bytes.py
    "fold_affine_into_weights": set(),  # as ONNX writes it: tests/graph/test_passes_for_onnx.py
    "fold_batch_norm_into_conv": {
        "fuse_conv1d",
        "fuse_conv2d_groups",
        "fuse_conv2d_reflect",
        "fuse_conv_transpose1d",
        "fuse_conv_transpose2d_groups",
        "fuse_residual",
    },
    "fold_batch_norm_into_linear": {"fuse_linear"},
    "fold_constants": {"fuse_constants"},
    "fuse_activation_into_conv": {"fuse_all_activations", "fuse_conv1d", "fuse_old_silu", "fuse_residual"},
    "fuse_activation_into_expression": {"fuse_expression"},
    "fuse_activation_into_linear": {"fuse_linear", "fuse_perceptron"},
    "fuse_add_into_conv": {"fuse_residual"},
    "fuse_add_into_linear": {"fuse_perceptron"},
    "fuse_caches_into_attention": set(),  # no exporter writes caches: test_passes_fuse_caches_into_attention.py
    "fuse_expressions": set(),
    "fuse_scales_into_integer_products": set(),  # test_passes_fuse_scales_into_integer_products.py
    "hoist_activation_above_views": {"fuse_head"},
    "recognise_attention": {"attention_by_hand"},  # as ONNX writes it: tests/onnx/test_attention.py
    "recognise_gelu": set(),
    "recognise_layer_norm": set(),
    "recognise_silu": {"fuse_old_silu"},
    "tabulate_functions_of_bytes": set(),  # test_passes_tabulate_functions_of_bytes.py
    "take_in_stored_weights": set(),  # test_passes_take_in_stored_weights.py
    "remove_no_ops": {"fuse_conv1d", "nn_dropout2d_optlevel0"},
}
"""Graphs that a pass has to change if all the default passes in front of it have run."""


@cache
def stored(name: str) -> tuple[pnnx.Graph, list[tuple[list[np.ndarray], list[np.ndarray]]]]:
    """A stored graph, and the inputs and torch's outputs of each of its runs."""
    return pnnx.load(graph_file(name)), stored_runs(name, ("", "dynamic_", "unseen_"))


def assert_equals_torch(name: str, graph: RuntimeGraph) -> None:
    """Wired well, and on every stored input what torch gave."""
    assert_wired(graph)
    for inputs, expected in stored(name)[1]:
        assert_same(graph(*inputs), expected)


def built(name: str, passes: tuple[object, ...]) -> RuntimeGraph:
    graph = RuntimeGraph(stored(name)[0])
    graph.build(registry, passes=passes)  # type: ignore[arg-type]
    return graph


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(DEFAULT_PASSES)), ids=[f.__name__ for f in DEFAULT_PASSES])
def test_pass_keeps_the_numbers_of_every_fixture(number: int) -> None:
    """Alone, and behind the default passes in front of it. What a pass leaves as it is need not run again."""
    rewrite = DEFAULT_PASSES[number]
    changed = set()
    for name in case_names():
        for before in {(), DEFAULT_PASSES[:number]}:
            graph = RuntimeGraph(stored(name)[0])
            graph.init()
            operators = graph.operators
            for earlier in before:
                operators = earlier(operators, registry)
            if rewrite(operators, registry) != operators:
                changed.add(name)
                assert_equals_torch(name, built(name, (*before, rewrite)))
    assert changed >= CHANGES[rewrite.__name__]


@pytest.mark.thorough
@pytest.mark.parametrize("reverse", [False, True], ids=["in order", "in reverse"])
def test_all_passes_keep_the_numbers_of_every_fixture(reverse: bool) -> None:
    for name in case_names():
        assert_equals_torch(name, built(name, DEFAULT_PASSES[:: -1 if reverse else 1]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fuse_conv1d", ["kuiper.FusedConv1d '0+bn+leakyrelu'"]),
        ("fuse_conv2d_groups", ["kuiper.FusedConv2d '0+bn+hardswish'"]),
        ("fuse_conv_transpose1d", ["kuiper.FusedConvTranspose1d '0+bn+tanh'"]),
        ("fuse_conv_transpose2d_groups", ["kuiper.FusedConvTranspose2d '0+bn+relu6'"]),
        ("fuse_linear", ["kuiper.FusedLinear '0+bn+gelu'"]),
        ("fuse_linear_sequence", ["nn.Linear '0'", "nn.BatchNorm1d '2'", "nn.SiLU '3'"]),
        ("fuse_perceptron", ["kuiper.FusedLinear 'up+gelu'", "kuiper.FusedLinear 'down+add'"]),
        (
            "fuse_residual",
            [
                "kuiper.FusedConv2d 'first.0+bn+relu'",
                "nn.Conv2d 'shortcut.0+bn'",
                "kuiper.FusedConv2d 'second.0+bn+add+relu'",
            ],
        ),
        ("fuse_constants", ["pnnx.Attribute 'torch.t_2'", "pnnx.Expression 'pnnx_expr_0'"]),
        ("fuse_old_silu", ["kuiper.FusedConv2d 'conv+silu'"]),
    ],
)
def test_default_passes_fuse_everything_that_they_can(name: str, expected: list[str]) -> None:
    order = built(name, DEFAULT_PASSES).order
    assert [f"{op.type} '{op.name}'" for op in order if op.layer is not None] == expected
