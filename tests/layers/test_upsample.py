import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.upsample import interpolate
from kuiper.layers.reference import resample
from kuiper.layers.resampled_axis import Axis, cubic_table, linear_table, nearest_table
from tests.layers.one_operator import layer, run

X = np.float32([[[[1, 2, 4], [8, 6, 5]]]])


def test_upsample_nearest_repeats_pixels() -> None:
    out = run("nn.Upsample", X, scale_factor=[2.0, 1.0], mode="nearest")
    np.testing.assert_array_equal(out, [[[[1, 2, 4], [1, 2, 4], [8, 6, 5], [8, 6, 5]]]])


def test_upsample_nearest_goes_down_too() -> None:
    np.testing.assert_array_equal(run("F.upsample", X, size=[1, 2], scale_factor=None), [[[[1, 2]]]])
    np.testing.assert_array_equal(run("F.interpolate", X, size=[1, 2], mode="nearest-exact"), [[[[8, 5]]]])


def test_upsample_nearest_uses_the_given_scale() -> None:
    x = np.arange(50, dtype=np.float32).reshape(1, 1, 1, 50)
    by_scale = run("F.interpolate", x, scale_factor=[1.0, 2.55])  # 127 pixels, 1 / 2.55 apart
    by_ratio = run("F.interpolate", x, scale_factor=[1.0, 2.55], recompute_scale_factor=True)
    np.testing.assert_array_equal(by_scale[0, 0, 0], np.floor(np.arange(127) / 2.55))
    np.testing.assert_array_equal(by_ratio[0, 0, 0], np.floor(np.arange(127) * 50 / 127))
    assert not np.array_equal(by_scale, by_ratio)


def test_upsample_bilinear_with_and_without_aligned_corners() -> None:
    out = run("nn.Upsample", X, size=[2, 5], mode="bilinear", align_corners=True)
    np.testing.assert_array_equal(out, [[[[1, 1.5, 2, 3, 4], [8, 7, 6, 5.5, 5]]]])
    out = run("nn.Upsample", X, size=[4, 3], mode="bilinear", align_corners=False)
    np.testing.assert_array_equal(out, [[[[1, 2, 4], [2.75, 3, 4.25], [6.25, 5, 4.75], [8, 6, 5]]]])


def test_upsampling_modules_know_their_mode() -> None:
    corners = run("nn.Upsample", X, scale_factor=2, mode="bilinear", align_corners=True)
    np.testing.assert_array_equal(run("nn.UpsamplingBilinear2d", X, scale_factor=2), corners)
    np.testing.assert_array_equal(run("F.upsample_bilinear", X, scale_factor=2), corners)
    np.testing.assert_array_equal(
        run("nn.UpsamplingNearest2d", X, size=None, scale_factor=2), run("F.upsample", X, size=[4, 6])
    )


def test_upsample_bicubic_overshoots() -> None:
    x = np.float32([[[[0, 0, 1, 1]]]])
    out = run("nn.Upsample", x, size=[1, 7], mode="bicubic", align_corners=True)
    np.testing.assert_allclose(out[0, 0, 0], [0, -0.09375, 0, 0.5, 1, 1.09375, 1], atol=1e-6)


def test_upsample_of_sequences() -> None:
    x = np.float32([[[1, 3]], [[5, 4]]])
    np.testing.assert_array_equal(
        run("nn.Upsample", x, scale_factor=2, mode="nearest"), [[[1, 1, 3, 3]], [[5, 5, 4, 4]]]
    )
    out = run("F.interpolate", x, size=3, mode="linear", align_corners=True)
    np.testing.assert_array_equal(out, [[[1, 2, 3]], [[5, 4.5, 4]]])


def test_upsample_area_is_adaptive_average() -> None:
    np.testing.assert_array_equal(run("F.interpolate", X, size=[1, 1], mode="area"), np.float32([[[[26 / 6]]]]))


def test_upsample_of_a_volume_goes_along_the_depth_too() -> None:
    x = np.float32([1, 3]).reshape(1, 1, 2, 1, 1)
    out = run("nn.Upsample", x, size=[3, 1, 2], mode="trilinear", align_corners=True)
    np.testing.assert_array_equal(out[0, 0, :, 0], [[1, 1], [2, 2], [3, 3]])
    np.testing.assert_array_equal(run("nn.Upsample", x, scale_factor=[2.0, 1.0, 1.0]).ravel(), [1, 1, 3, 3])


def test_upsample_a_rounded_third_is_a_third() -> None:
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 1, 9)
    np.testing.assert_array_equal(run("nn.Upsample", x, scale_factor=[1, 3.333333e-1]), [[[[0, 3, 6]]]])


def test_upsample_passes_nan_on() -> None:
    x = np.float32([[[[1, np.nan, 3]]]])
    out = run("nn.Upsample", x, size=[1, 5], mode="bilinear", align_corners=True)
    np.testing.assert_array_equal(
        out, [[[[np.nan, np.nan, np.nan, np.nan, 3]]]]
    )  # weight 0 times NaN is NaN, as in torch


def test_upsample_of_an_empty_batch_is_empty() -> None:
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        assert run("nn.Upsample", np.zeros((0, 3, 5, 4), np.float32), size=[2, 7], mode=mode).shape == (0, 3, 2, 7)


def test_upsample_does_not_care_for_memory_order() -> None:
    x = np.random.default_rng(0).standard_normal((2, 5, 7, 3), np.float32).transpose(0, 3, 1, 2)
    for mode in ("nearest", "bilinear"):
        np.testing.assert_array_equal(
            run("nn.Upsample", x, size=9, mode=mode), run("nn.Upsample", x.copy(), size=9, mode=mode)
        )


@pytest.mark.parametrize("size", [(1, 1), (2, 8), (7, 13), (16, 17)])
@pytest.mark.parametrize("target", [(1, 1), (3, 2), (8, 13), (17, 33)])
def test_interpolate_kernels_equal_their_references(size: tuple[int, int], target: tuple[int, int]) -> None:
    x = np.random.default_rng(size[1]).standard_normal((2, 3, *size), np.float32)
    planes = x.reshape(6, *size)
    for corners in (False, True):
        axes = [Axis(size[i], target[i], None, corners) for i in (0, 1)]
        for mode, table in (("bilinear", linear_table), ("bicubic", cubic_table)):
            expected = resample.blend(planes, table(axes[0]), table(axes[1]))
            np.testing.assert_allclose(interpolate(x, *axes, mode).reshape(expected.shape), expected, rtol=0, atol=3e-6)
    expected = resample.take_nearest(planes, *(nearest_table(axis) for axis in axes))
    np.testing.assert_array_equal(interpolate(x, *axes, "nearest").reshape(expected.shape), expected)


def test_upsample_flops_count_the_neighbours() -> None:
    shapes = [(1, 2, 3, 4)], [(1, 2, 6, 8)]
    assert layer("nn.Upsample", scale_factor=2).flops(*shapes) == 0
    assert layer("nn.Upsample", scale_factor=2, mode="bilinear").flops(*shapes) == 96 * 8
    assert layer("nn.Upsample", scale_factor=2, mode="bicubic").flops(*shapes) == 96 * 32
    assert layer("nn.Upsample", scale_factor=2, mode="area").flops(*shapes) == 24


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "either size or scale_factor, got size=(), scale_factor=()"),
        ({"size": 3, "scale_factor": 2}, "either size or scale_factor, got size=(3,), scale_factor=(2.0,)"),
        ({"scale_factor": [2, 0]}, "scale_factor above 0, got (2.0, 0.0)"),
        ({"scale_factor": "inf"}, "scale_factor above 0, got (inf,)"),
        ({"size": 3, "align_corners": True}, "align_corners=None for mode nearest, got True"),
    ],
)
def test_upsample_checks_its_parameters(params: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        layer("nn.Upsample", **params)
    assert str(caught.value) == f"nn.Upsample 'it': expected {message}"


def test_upsample_names_the_modes_that_it_lacks() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"expected mode nearest, .*, got lanczos$"):
        layer("nn.Upsample", size=3, mode="lanczos")
    with pytest.raises(UnsupportedOperatorError, match=r"^F.interpolate 'it': expected antialias=False, got True$"):
        layer("F.interpolate", size=3, mode="bilinear", antialias=True)


def test_upsample_checks_its_input() -> None:
    with pytest.raises(ShapeError, match=r"^nn.Upsample 'it': expected input \(n, c, h, w\), got \(2, 3, 4\)$"):
        run("nn.Upsample", np.zeros((2, 3, 4), np.float32), size=3, mode="bilinear")
    with pytest.raises(ShapeError, match=r"expected input \(n, c, w\) or .* or \(n, c, d, h, w\), got \(3, 4\)$"):
        run("nn.Upsample", np.zeros((3, 4), np.float32), size=3)
    with pytest.raises(ShapeError, match=r"expected input with 2 axes behind \(n, c\), got \(4,\)$"):
        run("nn.Upsample", np.zeros((2, 3, 4), np.float32), size=[3, 3])
    with pytest.raises(ShapeError, match=r"expected input that makes an output of at least one pixel, got \(2, 3\)$"):
        run("nn.Upsample", X, scale_factor=0.4)


def test_upsample_takes_the_sizes_of_all_axes_as_onnx_has_them() -> None:
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    expected = run("F.interpolate", x, size=[4, 6], mode="nearest")
    np.testing.assert_array_equal(run("F.interpolate", x, size=[1, 1, 4, 6], mode="nearest"), expected)
