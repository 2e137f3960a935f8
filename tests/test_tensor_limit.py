from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper import tensor_limit
from kuiper.errors import ParameterError, ShapeError
from kuiper.layers import Layer, override
from kuiper.tensor_limit import Limited, check_size, get_tensor_limit, set_tensor_limit
from tests.engine.models import both

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
X = np.zeros((1, 3, 64, 64), np.float32)


@pytest.fixture(autouse=True)
def one_megabyte() -> Iterator[None]:
    before = get_tensor_limit()
    set_tensor_limit(1 << 20)
    yield
    set_tensor_limit(before)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.empty(1 << 20),
        lambda: np.zeros(1 << 20),
        lambda: np.arange(1 << 20),
        lambda: np.broadcast_to(np.float32(1), (1 << 10, 1 << 10)) * 2,
        lambda: np.ones(100_000).repeat(2),
        lambda: np.concatenate([np.ones(100_000)] * 2),
    ],
)
def test_limited_refuses_whatever_numpy_allocates(make: Callable[[], np.ndarray]) -> None:
    with Limited(), pytest.raises(MemoryError):
        make()
    assert make().nbytes > 1 << 20  # outside nothing is limited


def test_limited_leaves_alone_what_is_small_and_may_be_nested() -> None:
    with Limited():
        with Limited():
            inner = np.ones(1000)
        with pytest.raises(MemoryError):
            np.empty(1 << 20)
    assert (inner + np.ones(1000)).sum() == 2000
    assert np.empty(1 << 20).size == 1 << 20


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "1", 2**63])
def test_set_tensor_limit_refuses_what_is_no_number_of_bytes(value: Any) -> None:
    with pytest.raises(ParameterError, match="set_tensor_limit: expected an integer of bytes from 1 to 2"):
        kuiper.set_tensor_limit(value)
    assert get_tensor_limit() == 1 << 20


def test_check_size_counts_in_whole_numbers_of_any_size() -> None:
    check_size((2**62, 0))
    check_size((512, 512))
    for shape in ((513, 512), (2**62, 2**62), (2**32, 2**32)):
        with pytest.raises(ShapeError, match=r"doc: expected a tensor of at most 1\.0 MiB, got"):
            check_size(shape, where="doc")


@pytest.mark.parametrize(
    "line",
    [
        "nn.Upsample it 1 1 x y mode=nearest scale_factor=(8.0,8.0)",
        "Tensor.expand it 1 1 x y sizes=(100,3,64,64)",
        "F.pad it 1 1 x y mode=constant pad=(300,300,300,300)",
        "torch.cat it 32 1 " + "x " * 32 + "y dim=1",
        "nn.Softmax it 1 1 x y dim=1\ntorch.tile tile 1 1 y z dims=(30)",
    ],
)
def test_an_operator_that_needs_more_is_named_on_both_paths(line: str) -> None:
    lines = line.split("\n")
    models = both(
        "pnnx.Input in 0 1 x #x=(1,3,64,64)f32", *lines, f"pnnx.Output out 1 0 {'z' if len(lines) > 1 else 'y'}"
    )
    texts = []
    for model in models:
        with pytest.raises(ShapeError) as error:
            model(X)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    name = lines[-1].split()[:2]
    assert texts[0].startswith(f"{name[0]} '{name[1]}': expected a tensor of at most 1.0 MiB, got")
    assert "kuiper.set_tensor_limit(bytes) or KUIPER_TENSOR_LIMIT allow more; inputs: " in texts[0]


def test_the_limit_holds_while_operators_are_timed() -> None:
    class Wasteful(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return x + np.zeros(1 << 19, np.float32)[0]

    with override("nn.ReLU", Wasteful):
        models = both("pnnx.Input in 0 1 x", "nn.ReLU it 1 1 x y", "pnnx.Output out 1 0 y")
    for model in models:
        for run in (model, model.time_operators):
            with pytest.raises(ShapeError, match="'it': expected a tensor of at most"):
                run(X)


def test_a_higher_limit_lets_the_same_model_run() -> None:
    for model in both(
        "pnnx.Input in 0 1 x", "nn.Upsample up 1 1 x y mode=nearest scale_factor=(8.0,8.0)", "pnnx.Output o 1 0 y"
    ):
        with pytest.raises(ShapeError):
            model(X)
        set_tensor_limit(1 << 24)
        assert model(X).shape == (1, 3, 512, 512)
        set_tensor_limit(1 << 20)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "expected"), [("1048576", "1048576"), ("1e6", "KUIPER_TENSOR_LIMIT: expected"), ("0", "")]
)
def test_the_environment_gives_the_first_limit(text: str, expected: str) -> None:
    code = "from kuiper.tensor_limit import get_tensor_limit; print(get_tensor_limit())"
    environment = {**os.environ, tensor_limit.VARIABLE: text}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert expected in (done.stdout if done.returncode == 0 else done.stderr)
    assert (done.returncode == 0) == (text == "1048576")


def test_the_first_limit_is_half_of_the_memory() -> None:
    assert 1 << 28 <= 2 * tensor_limit._limit_at_first() <= 1 << 50
