"""Weights in float16: what is rounded, what is left, and that a graph runs on what was rounded."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.graph import pnnx
from kuiper.graph.pnnx import Attribute, DataType, Graph, Operator
from kuiper.models import bundled
from zoo.half_weights import halve, main

if TYPE_CHECKING:
    from pathlib import Path


def graph_with(**attrs: np.ndarray) -> Graph:
    """One operator with these weights of float32; ``__`` in a name stands for a dot."""
    weights = {key.replace("__", "."): Attribute(DataType.F32, x.shape, x) for key, x in attrs.items()}
    return Graph([Operator("any", "one", attrs=weights)])


def test_halve_rounds_matrices_and_leaves_the_rest() -> None:
    matrix, vector = np.float32([[0.1, 2049]]), np.float32([0.1])
    graph = graph_with(weight=matrix, m__0__weight=matrix, bias=vector, data=matrix)
    graph.operators.append(Operator("norm", "two", attrs={"weight": Attribute(DataType.F32, (1,), vector)}))
    assert halve(graph) == 8
    first, second = (op.attrs for op in graph.operators)
    for key in ("weight", "m.0.weight"):
        assert (first[key].type, first[key].shape) == (DataType.F16, (1, 2))
        assert np.asarray(first[key].data).tolist() == [[0.0999755859375, 2048]]
    for left, value in ((first["bias"], vector), (first["data"], matrix), (second["weight"], vector)):
        assert left.type is DataType.F32
        assert left.data is value
    assert halve(graph) == 0


@pytest.mark.parametrize("value", [65536, -65536, np.inf, np.nan])
def test_halve_refuses_what_float16_cannot_hold(value: float) -> None:
    with pytest.raises(SystemExit, match=r"^one: expected weights up to 65,504, got "):
        halve(graph_with(weight=np.float32([[value]])))


def test_main_replaces_the_files_and_the_model_runs_on_rounded_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".param", ".bin"):
        shutil.copy(bundled("cifar_resnet20").with_suffix(suffix), tmp_path)
    param = tmp_path / bundled("cifar_resnet20").name
    before = param.with_suffix(".bin").stat().st_size
    graph, least = pnnx.load(param), 0
    for op in graph.operators:
        attr = op.attrs.get("weight")
        if attr is not None and len(attr.shape) > 1:
            attr.data = np.asarray(attr.data).astype(np.float16).astype(np.float32)
            least += attr.data.nbytes // 2
    pnnx.save(graph, tmp_path / "rounded.pnnx.param")
    main([str(param)])
    assert capsys.readouterr().out == f"{param}: {least:,} bytes less\n"
    assert before - param.with_suffix(".bin").stat().st_size >= least
    x = np.random.default_rng(0).standard_normal((2, 3, 32, 32), dtype=np.float32)
    for optimize in (False, True):
        got = np.asarray(kuiper.load(param, optimize=optimize)(x))
        expected = np.asarray(kuiper.load(tmp_path / "rounded.pnnx.param", optimize=optimize)(x))
        assert np.array_equal(got, expected)
