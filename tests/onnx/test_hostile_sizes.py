"""Files of ONNX that ask for much: memory and time stay in proportion to the file."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import kuiper
from kuiper.errors import KuiperError
from kuiper.onnx.reader import read_onnx
from tests.onnx.little_models import model, tensor

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


@pytest.mark.parametrize("sizes", [[2**40], [2**31, 2**31], [-1], [2**62, 2**62]])
def test_constants_of_any_size_are_not_made(sizes: list[int]) -> None:
    nodes = [helper.make_node("ConstantOfShape", ["w"], ["y"])]
    made = model(nodes, [], [tensor("y", *[None] * len(sizes))], {"w": np.array(sizes, np.int64)})
    with pytest.raises(KuiperError):
        kuiper.load(lambda: read_onnx(made))()


@pytest.mark.parametrize("count", [3000])
def test_many_nodes_of_one_name_take_no_time(count: int) -> None:
    nodes = [helper.make_node("Neg", [f"v{i}"], [f"v{i + 1}"], name="neg") for i in range(count)]
    made = model(nodes, [tensor("v0", 3)], [tensor(f"v{count}", 3)])
    graph = read_onnx(made)
    assert len({op.name for op in graph.operators}) == count + 2


MEASURE = """
import resource, sys
from kuiper.onnx.reader import read_onnx
import onnx.inliner, onnx.numpy_helper, onnx.shape_inference, onnx.version_converter
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
graph = read_onnx(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in KiB on Linux")
@pytest.mark.parametrize("place", ["initializers", "constants", "files"])
def test_reading_takes_at_most_twice_the_memory_of_the_file(place: str, tmp_path: Path) -> None:
    count, side = 6, 1200  # 35 MB
    array: npt.NDArray[np.float32] = np.random.default_rng(0).standard_normal((side, side)).astype(np.float32)
    weights = {f"w{i}": array + np.float32(i) for i in range(count)}
    nodes = [helper.make_node("Add", ["x" if i == 0 else f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(count)]
    if place == "constants":
        stored = [numpy_helper.from_array(one) for one in weights.values()]
        nodes = [*(helper.make_node("Constant", [], [f"w{i}"], value=one) for i, one in enumerate(stored)), *nodes]
    made = model(nodes, [tensor("x", side)], [tensor(f"v{count}", side, side)], {} if place == "constants" else weights)
    onnx.save(made, tmp_path / "net.onnx", save_as_external_data=place == "files", location="net.data")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "net.onnx")], capture_output=True, text=True, check=True
    )
    grown = int(re.findall(r"\d+", done.stdout)[0]) * 1024
    assert grown <= 2.2 * count * array.nbytes + (16 << 20)
