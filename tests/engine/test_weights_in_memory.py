"""Weights lie in memory once: packed. The graph still has them on demand."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.engine import packing
from kuiper.engine.lowering import linear, projection
from kuiper.graph import pnnx
from kuiper.graph.quantized_weight import QuantizedWeight
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.random_decoder import random_decoder

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.graph import RuntimeGraph

TOKENS = [3, 1, 4, 1, 5]
MB = 1 << 20

GROWTH = """
import gc, sys
import numpy as np
import kuiper.engine.engine, kuiper.expression, kuiper.onnx.source  # all that import kuiper puts off
gc.disable()  # weights are not to wait for it
def taken():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(sys.argv[2]))
before = taken()
session = kuiper.load(sys.argv[1]).start(max_length=80)
session.read(np.arange(64) % 32)
session([1])
print(taken() - before)
"""


def decoder(bits: int, **sizes: int) -> pnnx.Graph:
    graph = random_decoder(seed=1, **sizes)
    if bits < 32:
        quantize_graph(graph, bits)
    return graph


def small(bits: int) -> pnnx.Graph:
    return decoder(bits, hidden_size=64, intermediate_size=96, head_dim=16)


def linear_weights(model: RuntimeGraph) -> dict[str, RuntimeAttribute | QuantizedWeight]:
    """Those of linear layers, by the names of the operators."""
    found: dict[str, RuntimeAttribute | QuantizedWeight] = {}
    for op in model.operators:
        attr = op.attrs.get("weight")
        if "Linear" in op.type and attr is not None:
            found[op.name] = attr if isinstance(attr, RuntimeAttribute) else attr.quantized
    return found


PEAK, AT_THE_END = "VmHWM", "VmRSS"


def growth(folder: Path, when: str) -> int:
    """By how many bytes a process grows that loads a model and reads and writes some tokens."""
    command = [sys.executable, "-c", GROWTH, str(folder / "m.pnnx.param"), when]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def weights(folder: Path) -> int:
    return (folder / "m.pnnx.bin").stat().st_size


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell a process's peak")
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_a_decoder_takes_little_more_memory_than_its_weights(tmp_path: Path, bits: int) -> None:
    sizes = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 2, "head_dim": 64}
    pnnx.save(decoder(bits, **sizes), tmp_path / "m.pnnx.param")
    assert growth(tmp_path, PEAK) < 1.3 * weights(tmp_path) + 20 * MB


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell a process's peak")
def test_a_table_that_is_looked_up_and_multiplied_with_lies_in_memory_once(tmp_path: Path) -> None:
    sizes = {"vocab_size": 40_000, "hidden_size": 512, "intermediate_size": 64, "num_hidden_layers": 1, "head_dim": 16}
    pnnx.save(decoder(32, **sizes), tmp_path / "m.pnnx.param")
    assert growth(tmp_path, AT_THE_END) < 1.3 * weights(tmp_path) + 20 * MB


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bits", [32, 8, 4])
def test_the_graph_drops_weights_that_are_packed_and_still_has_them(bits: int) -> None:
    model = kuiper.load(small(bits))
    before = {name: weight.data.copy() for name, weight in linear_weights(model).items()}
    logits = np.asarray(model.start(16)(TOKENS))
    for name, weight in linear_weights(model).items():
        assert weight.data is not weight.data  # made anew for each who asks
        assert (weight.data.dtype, weight.data.flags.c_contiguous) == (before[name].dtype, True)
        np.testing.assert_array_equal(weight.data, before[name])
    by_layers = np.asarray(model.start(16)(TOKENS, observer=lambda op, outputs, seconds: None))
    np.testing.assert_allclose(by_layers, logits, atol=1e-5 * np.abs(logits).max())


@pytest.mark.parametrize("bits", [32, 8, 4])
def test_copies_of_a_model_whose_weights_are_packed_answer_the_same(bits: int) -> None:
    model = kuiper.load(small(bits))
    expected = np.asarray(model.start(16)(TOKENS))
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(np.asarray(other.start(16)(TOKENS)), expected)
    shared = copy.copy(model)
    del model
    np.testing.assert_array_equal(np.asarray(shared.start(16)(TOKENS)), expected)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 16, 40])
def test_plans_of_sessions_share_packed_weights(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    pack = packing.pack
    for module in (linear, projection):
        monkeypatch.setattr(module, "pack", lambda *weights: made.append(1) or pack(*weights))
    model = kuiper.load(small(32))
    model.start(64)([1])
    before = len(made)
    got = np.asarray(model.start(64)(np.arange(rows) % 7))
    assert len(made) == before > 0
    expected = np.asarray(model.start(64)(np.arange(rows) % 7, observer=lambda op, outputs, seconds: None))
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(got, np.asarray(kuiper.load(small(32)).start(64)(np.arange(rows) % 7)))


@pytest.mark.parametrize("bits", [8, 4])
def test_nobody_unpacks_weights_that_the_engine_takes_as_they_are(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(weight: QuantizedWeight) -> np.ndarray:
        raise AssertionError(f"unpacked: {weight.shape}")

    monkeypatch.setattr(QuantizedWeight, "dequantized", refuse)
    session = kuiper.load(small(bits)).start(16)
    session.read(TOKENS)
    assert np.isfinite(np.asarray(session([2]))).all()
