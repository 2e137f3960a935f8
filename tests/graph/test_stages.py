"""A graph shows how it came to be: as it stands in the file, and after each pass."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import kuiper
from kuiper.errors import GraphStateError
from kuiper.graph import RuntimeGraph
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.layers import override, registry
from kuiper.layers.operators.relu import ReLU
from kuiper.models import bundled


class OwnReLU(ReLU):
    """Somebody else's layer, which passes leave alone."""


def test_stages_begin_with_the_file_and_end_with_the_graph() -> None:
    model = kuiper.load(bundled("digits_yolo"))
    stages = [(name, [op.name for op in operators]) for name, operators in model.stages()]
    assert [name for name, _ in stages] == ["file", *(rewrite.__name__ for rewrite in DEFAULT_PASSES)]
    assert stages[0][1] == [op.name for op in kuiper.load(bundled("digits_yolo"), optimize=False).operators]
    assert stages[-1][1] == [op.name for op in model.operators]


def test_stages_of_a_graph_without_passes_are_the_file_alone() -> None:
    model = kuiper.load(bundled("cifar_resnet20"), optimize=False)
    assert [name for name, _ in model.stages()] == ["file"]


def test_stages_leave_the_layers_of_others_alone_as_the_graph_did() -> None:
    with override("nn.ReLU", OwnReLU):
        model = kuiper.load(bundled("cifar_resnet20"))
    *_, (_, operators) = model.stages()
    assert [op.name for op in operators] == [op.name for op in model.operators]
    assert "nn.ReLU" in {op.type for op in operators}


def test_as_in_file_runs_the_same_layers_and_computes_the_same() -> None:
    with override("nn.ReLU", OwnReLU):
        model = kuiper.load(bundled("cifar_resnet20"))
    plain = model.as_in_file()
    assert {type(op.layer) for op in plain.operators if op.type == "nn.ReLU"} == {OwnReLU}
    assert plain.execution.executor is None
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), np.float32)
    np.testing.assert_allclose(np.asarray(plain(x)), np.asarray(model(x)), rtol=1e-4, atol=1e-5)


def test_stages_of_a_copy_are_an_error() -> None:
    model = copy.copy(kuiper.load(bundled("cifar_resnet20")))
    with pytest.raises(GraphStateError, match="a graph that was read from a file"):
        next(model.stages())
    with pytest.raises(GraphStateError, match="a copy"):
        model.as_in_file()


def test_execution_of_a_graph_that_is_not_built_is_an_error() -> None:
    with pytest.raises(GraphStateError, match="a built graph"):
        _ = RuntimeGraph(bundled("cifar_resnet20")).execution


def test_snapshot_answers_as_the_registry_did() -> None:
    with override("nn.ReLU", OwnReLU):
        snapshot = registry.snapshot(["nn.ReLU", "nn.Conv2d"])
    assert not snapshot.is_built_in("nn.ReLU")
    assert snapshot.is_built_in("nn.Conv2d")
    assert snapshot.is_supported("nn.ReLU")
    assert not snapshot.is_supported("nn.Relu")
    assert snapshot.near_matches("nn.Relu") == registry.near_matches("nn.Relu")
