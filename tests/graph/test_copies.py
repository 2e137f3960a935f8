"""pickle, copy and deepcopy of graphs, layers, tensors and what models are used through: the copy answers the same."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.errors import GraphStateError, KuiperError
from kuiper.graph import GraphState, RuntimeGraph, pnnx
from kuiper.layers import Layer, override, registry
from kuiper.models import bundled, bundled_photo
from kuiper.models.tasks.classification import Classifier
from kuiper.models.tasks.detection import Detector
from tests.engine.models import both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, file_graph, relu

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS: list[Callable[[Any], Any]] = [lambda it: pickle.loads(pickle.dumps(it)), copy.copy, copy.deepcopy]
EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=["pickle", "copy", "deepcopy"])


class Halves(Layer):
    """A layer of the user's, which other processes can import."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x * np.float32(0.5)


def halving(op: Any) -> Layer:
    """A factory that is a function."""
    return Halves(op)


@EACH_WAY
@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("used", [False, True])
def test_a_copied_model_answers_to_the_last_bit_the_same(way: Any, optimize: bool, used: bool) -> None:
    model, x = kuiper.load(bundled("cifar_resnet20"), optimize=optimize), numbers(3, 3, 32, 32)
    if used:
        model(x)
    other = way(model)
    assert repr(other) == repr(model)
    np.testing.assert_array_equal(np.asarray(other(x)), np.asarray(model(x)))
    assert [op.name for op in other.order] == [op.name for op in model.order]


def answer_of(model: Any, x: Any) -> bytes:
    """For another process."""
    return np.asarray(model(x)).tobytes()


def test_a_spawned_process_answers_to_the_last_bit_the_same() -> None:
    x = numbers(3, 3, 32, 32)
    models = [kuiper.load(bundled("cifar_resnet20"), optimize=optimize) for optimize in (False, True)]
    with override("nn.ReLU", halving):
        models.append(kuiper.load(bundled("cifar_resnet20")))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answers = pool.starmap(answer_of, [(model, x) for model in models])
    assert answers == [answer_of(model, x) for model in models]


def test_a_deep_copy_has_weights_of_its_own_and_a_copy_the_same() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    (weight, *_) = [attr.data for op in model.operators for attr in op.attrs.values()]
    for way, shared in ((copy.copy, True), (copy.deepcopy, False)):
        (same, *_) = [attr.data for op in way(model).operators for attr in op.attrs.values()]
        assert np.shares_memory(weight, same) == shared


@EACH_WAY
def test_a_graph_is_copied_in_each_of_its_states(way: Any) -> None:
    graph = RuntimeGraph(bundled("cifar_resnet20"))
    assert way(graph).state is GraphState.NEED_INIT
    graph.init()
    other = way(graph)
    assert other.state is GraphState.NEED_BUILD
    other.build(registry, optimize=True, engine=Engine)
    expected = kuiper.load(bundled("cifar_resnet20"))
    np.testing.assert_array_equal(np.asarray(other(numbers(1, 3, 32, 32))), expected(numbers(1, 3, 32, 32)))


@pytest.mark.thorough
@EACH_WAY
def test_a_chain_of_thousands_of_operators_is_copied(way: Any) -> None:
    chain = [relu(f"{i} {i + 1}", f"r{i}") for i in range(2000)]
    parsed = file_graph("pnnx.Input in 0 1 0", *chain, "pnnx.Output out 1 0 2000")
    assert pnnx.format_param(way(parsed), "chain") == pnnx.format_param(parsed, "chain")
    graph = RuntimeGraph(parsed)
    graph.build(registry)
    np.testing.assert_array_equal(np.asarray(way(graph)([-1.0, 2.0])), [0.0, 2.0])


@EACH_WAY
@pytest.mark.parametrize("factory", [Halves, halving])
def test_a_users_layer_is_part_of_the_copy(way: Any, factory: Any) -> None:
    with override("nn.ReLU", factory):
        fast, plain = both(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    x = numbers(2, 4, 6, 5)
    for model in (fast, plain):
        other = way(model)
        np.testing.assert_array_equal(np.asarray(other(x)), np.asarray(model(x)))
        assert any(isinstance(op.layer, Halves) for op in other.operators)


def test_an_override_at_the_time_of_copying_changes_nothing() -> None:
    model, x = kuiper.load(bundled("cifar_resnet20"), optimize=False), numbers(1, 3, 32, 32)
    with override("nn.ReLU", Halves):
        others = [way(model) for way in WAYS]
    for other in others:
        np.testing.assert_array_equal(np.asarray(other(x)), np.asarray(model(x)))


def test_pickle_of_a_layer_that_cannot_be_imported_says_what_to_do() -> None:
    class Hidden(Halves):
        pass

    with override("nn.ReLU", Hidden):
        fast, _ = both(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    with pytest.raises(GraphStateError, match="top level of a module"):
        pickle.dumps(fast)
    x = numbers(2, 4, 6, 5)
    np.testing.assert_array_equal(np.asarray(copy.deepcopy(fast)(x)), np.asarray(fast(x)))


@EACH_WAY
def test_a_layer_is_made_again_from_its_operator(way: Any) -> None:
    model = kuiper.load(bundled("digits_yolo"))
    for op in model.operators:
        if op.layer is not None:
            layer: Any = way(op.layer)
            assert type(layer) is type(op.layer)
            assert (layer.op.where, layer.op.params) == (op.where, op.params)
            assert [operand.name for operand in layer.op.inputs] == [operand.name for operand in op.inputs]
    assert type(way(Halves(model.operators[0]))) is Halves


@EACH_WAY
def test_a_tensor_is_copied(way: Any) -> None:
    for order in ("C", "F"):
        tensor = kuiper.Tensor([[1, 2, 3], [4, 5, 6]], order=order)
        assert way(tensor) == tensor


@pytest.mark.thorough
@EACH_WAY
def test_a_predictor_is_copied(way: Any) -> None:
    classifier = Classifier(bundled("cifar_resnet20"))
    assert way(classifier)(bundled_photo()) == classifier(bundled_photo())
    detector = Detector(bundled("digits_yolo"))
    assert way(detector)(bundled_photo("digits")) == detector(bundled_photo("digits"))


@EACH_WAY
def test_an_error_is_copied(way: Any) -> None:
    with pytest.raises(KuiperError) as caught:
        kuiper.load(bundled("cifar_resnet20"))(1)
    other = way(caught.value)
    assert (type(other), str(other)) == (type(caught.value), str(caught.value))


def test_a_model_of_main_is_read_by_another_process(tmp_path: Path) -> None:
    """As a job runner does it: pickled to a file by one program, read by another."""
    root = Path(__file__).parents[2]
    dump = "import kuiper, pickle, sys; from kuiper.models import bundled\n"
    dump += "pickle.dump(kuiper.load(bundled('cifar_resnet20')), open(sys.argv[1], 'wb'))"
    path = tmp_path / "model.pickle"
    subprocess.run([sys.executable, "-W", "ignore", "-c", dump, str(path)], cwd=root, check=True, timeout=60)
    model, x = pickle.loads(path.read_bytes()), numbers(1, 3, 32, 32)
    np.testing.assert_array_equal(np.asarray(model(x)), np.asarray(kuiper.load(bundled("cifar_resnet20"))(x)))
