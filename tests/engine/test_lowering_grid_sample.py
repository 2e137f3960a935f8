"""grid_sample in a plan."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from kuiper.layers.reference.grid_sample import naive_grid_sample
from tests.engine.lowered import steps_of
from tests.engine.models import assert_close, both, numbers
from tests.graph.pass_graphs import OUTPUT


def line(mode: str = "bilinear", padding: str = "zeros", align: bool = False) -> str:
    return f"F.grid_sample s 2 1 x0 x1 y mode={mode} padding_mode={padding} align_corners={align}"


def points(*shape: int, reach: float = 1.6) -> np.ndarray:
    """A grid whose points lie on the image and around it."""
    return np.random.default_rng(1).uniform(-reach, reach, (*shape, 2)).astype(np.float32)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("channels", [1, 3, 4, 5, 16, 17, 40])
def test_grid_sample_is_one_step(mode: str, padding: str, align: bool, channels: int) -> None:
    steps = steps_of(line(mode, padding, align), inputs=[numbers(2, channels, 7, 6), points(2, 9, 15)])
    assert steps == [mode]


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (6, 1)])
@pytest.mark.parametrize("count", [1, 63, 64, 65, 600])
def test_grid_sample_on_single_rows_and_blocks_of_points(size: tuple[int, int], count: int) -> None:
    for padding, align in product(("zeros", "border", "reflection"), (True, False)):
        x, grid = numbers(1, 3, *size), points(1, 1, count, reach=3.3)
        assert steps_of(line("bilinear", padding, align), inputs=[x, grid]) == ["bilinear"]
        model, _ = both(
            f"pnnx.Input a 0 1 x0 #x0=(1,3,{size[0]},{size[1]})f32", f"pnnx.Input b 0 1 x1 #x1=(1,1,{count},2)f32",
            line("bilinear", padding, align), OUTPUT,
        )  # fmt: skip
        expected = naive_grid_sample(x, grid, "bilinear", padding, align)  # in float64
        assert_close(model(x, grid), expected.astype(np.float32))


@pytest.mark.parametrize("channels", [3, 20])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample_with_places_that_are_no_numbers(channels: int, padding: str) -> None:
    grid = np.zeros((1, 2, 3, 2), np.float32)
    grid[0, 0, :, 0] = np.nan, np.inf, -np.inf
    for mode in ("bilinear", "nearest"):
        steps_of_model, plain = both(
            f"pnnx.Input a 0 1 x0 #x0=(1,{channels},4,5)f32", "pnnx.Input b 0 1 x1 #x1=(1,2,3,2)f32",
            line(mode, padding), OUTPUT,
        )  # fmt: skip
        x = numbers(1, channels, 4, 5)
        np.testing.assert_allclose(np.asarray(steps_of_model(x, grid)), np.asarray(plain(x, grid)), atol=1e-6)


@pytest.mark.parametrize("channels", [3, 20])
def test_grid_sample_leaves_out_infinities_beside_the_point(channels: int) -> None:
    x = numbers(1, channels, 3, 3)
    x[:, :, 2, 2] = np.inf
    model, plain = both(
        f"pnnx.Input a 0 1 x0 #x0=(1,{channels},3,3)f32", "pnnx.Input b 0 1 x1 #x1=(1,1,2,2)f32", line(), OUTPUT
    )
    grid = np.float32([[[[-1.2, -1.2], [0.1, -0.1]]]])
    np.testing.assert_allclose(np.asarray(model(x, grid)), np.asarray(plain(x, grid)), rtol=1e-5)


def test_grid_sample_reads_what_a_convolution_has_made() -> None:
    conv = (
        "nn.Conv2d c 1 1 x0 m bias=False dilation=(1,1) groups=1 in_channels=3 kernel_size=(3,3) out_channels=3 "
        "padding=(1,1) padding_mode=zeros stride=(1,1) @weight=(3,3,3,3)f32"
    )
    sample = "F.grid_sample s 2 1 m x1 y mode=bilinear padding_mode=zeros align_corners=True"
    assert steps_of(conv, sample, inputs=[numbers(1, 3, 8, 9), points(1, 4, 5)]) == ["direct", "bilinear"]


def test_cubic_sampling_is_left_to_the_layer() -> None:
    assert "layer" in steps_of(line("bicubic"), inputs=[numbers(1, 3, 5, 5), points(1, 2, 2)])


def test_grid_sample_counts_the_pixels_of_both_axes() -> None:
    for size in ((1, 2100), (2100, 1)):
        assert steps_of(line(), inputs=[numbers(1, 1, *size), points(1, 2, 2)]) == ["bilinear"]
    assert "layer" in steps_of(line(), inputs=[np.zeros((1, 1, 2048, 2048), np.float32), points(1, 2, 2)])
