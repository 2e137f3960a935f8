"""Models in 8 and 4 bits: what is quantised, what stays, and that pictures are still told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType
from kuiper.models import bundled, bundled_photo
from kuiper.models.quantization import quantize_graph
from kuiper.models.tasks.classification import Classifier

if TYPE_CHECKING:
    from pathlib import Path


def test_a_quantised_classifier_is_a_quarter_as_large_and_knows_the_cat(tmp_path: Path) -> None:
    graph = pnnx.load(bundled("cifar_resnet20"))
    savings = quantize_graph(graph, bits=8)
    assert savings.after < 0.28 * savings.before
    param = tmp_path / "small.pnnx.param"
    pnnx.save(graph, param)
    (tmp_path / "small.json").write_bytes(bundled("cifar_resnet20").with_name("cifar_resnet20.json").read_bytes())
    assert Classifier(param)(bundled_photo("cat"))[0][0] == "cat"
    x = np.random.default_rng(0).standard_normal((2, 3, 32, 32)).astype(np.float32)
    engine, layers = (np.asarray(kuiper.load(param, optimize=optimize)(x)) for optimize in (True, False))
    np.testing.assert_allclose(engine, layers, atol=1e-5 * np.abs(layers).max())


def test_what_cannot_be_quantised_stays_as_it_is() -> None:
    graph = pnnx.load(bundled("cifar_resnet20"))
    before = {op.name: op.attrs["weight"].data for op in graph.operators if "weight" in op.attrs}
    quantize_graph(graph, bits=4)
    changed = {op.name for op in graph.operators if op.name in before and op.attrs["weight"].type is DataType.U8}
    assert changed == {"fc"}
    others = [op for op in graph.operators if op.name in before and op.name != "fc"]
    assert all(op.attrs["weight"].data is before[op.name] for op in others)


def test_groups_leave_convolutions_as_they_are() -> None:
    graph = pnnx.load(bundled("cifar_resnet20"))
    assert quantize_graph(graph, bits=8, group=32).weights == 1
    (linear,) = (op for op in graph.operators if op.type == "nn.Linear")
    scales = linear.attrs["weight_scales"]
    assert (linear.attrs["weight"].type, scales.type, scales.shape) == (DataType.I8, DataType.F16, (10, 2))


def test_a_group_of_another_size_is_an_error() -> None:
    with pytest.raises(ParameterError, match="quantize: expected groups of 32 numbers, or None, got 64"):
        quantize_graph(pnnx.load(bundled("cifar_resnet20")), bits=8, group=64)


def test_a_model_with_nothing_to_quantise_says_so() -> None:
    with pytest.raises(ParameterError, match="expected a model with weights that 8 bits can hold, got none"):
        quantize_graph(pnnx.Graph(), bits=8)
    with pytest.raises(ParameterError, match="expected a model with weights that 8 bits in groups can hold, got none"):
        quantize_graph(pnnx.Graph(), bits=8, group=32)
