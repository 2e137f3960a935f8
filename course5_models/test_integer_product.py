"""Exercise 5.15. Sums are compared with exact integers; onnxruntime's answers stand in data/quantization.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

STORED = json.loads(Path(__file__).parent.joinpath("data", "quantization.json").read_text(encoding="utf-8"))


def array(*numbers):
    return np.array(numbers, np.float32)


def whole(*numbers):
    return np.array(numbers, np.int8)


def exact(x, zero_point, weight):
    """The sums in 64 bits."""
    return ((x.astype(np.int64) - zero_point) @ weight.astype(np.int64).T).astype(np.int32)


def room(m, n):
    """Old numbers: none of them may be left, or be added to."""
    return np.full((m, n), 99, np.int32)


def test_calibrate(impl):
    calling(impl.calibrate, [array(-2, 3, 1)]).gives((-2.0, 3.0))


def test_calibrate_several_samples(impl):
    """The smallest number is in the first of them, the largest in the last."""
    calling(impl.calibrate, [array(-5, 1), array(2, 3), array([7], [-1])]).gives((-5.0, 7.0))


def test_calibrate_only_positive_numbers(impl):
    calling(impl.calibrate, [array(3, 9)]).gives((0.0, 9.0))


def test_calibrate_only_negative_numbers(impl):
    calling(impl.calibrate, [array(-3, -9)]).gives((-9.0, 0.0))


def test_calibrate_percent(impl):
    """101 numbers from -40 to 60: 5 of them go on each side."""
    calling(impl.calibrate, [np.arange(-40, 61, dtype=np.float32)], 90.0).gives((-35.0, 55.0), tolerance=1e-6)


def test_calibrate_percent_of_all_samples_together(impl):
    """Ten numbers below and 191 above: the percentile of each alone would be another."""
    samples = [np.arange(-100, -90, dtype=np.float32), np.arange(-90, 101, dtype=np.float32).reshape(1, -1)]
    calling(impl.calibrate, samples, 50.0).gives((-50.0, 50.0), tolerance=1e-6)


def test_calibrate_percent_leaves_one_far_number_out(impl):
    numbers = np.concatenate([np.arange(-50, 50, dtype=np.float32), array(10000)])
    calling(impl.calibrate, [numbers], 98.0).gives((-49.0, 49.0), tolerance=1e-6)


def test_calibrate_percent_between_two_numbers(impl):
    """Of 0, 1, 2, 3 the percentile 12.5 lies between 0 and 1, at 0.375."""
    calling(impl.calibrate, [array(-1, 0, 1, 2)], 75.0).gives((-0.625, 1.625), tolerance=1e-6)


def test_calibrate_percent_includes_zero(impl):
    calling(impl.calibrate, [np.arange(10, 111, dtype=np.float32)], 90.0).gives((0.0, 105.0), tolerance=1e-6)


def test_calibrate_zeros(impl):
    calling(impl.calibrate, [array(0, 0)]).gives((0.0, 0.0))


def test_scale_and_zero_point(impl):
    calling(impl.scale_and_zero_point, -128.0, 127.0).gives((1.0, 0))


def test_scale_and_zero_point_behind_a_relu(impl):
    calling(impl.scale_and_zero_point, 0.0, 510.0).gives((2.0, -128))


def test_scale_and_zero_point_of_negative_numbers(impl):
    calling(impl.scale_and_zero_point, -25.5, 0.0).gives((0.1, 127), tolerance=1e-6)


def test_scale_and_zero_point_lopsided(impl):
    calling(impl.scale_and_zero_point, -20.0, 490.0).gives((2.0, -118))


def test_scale_and_zero_point_is_rounded(impl):
    """0.0 would lie at -128 + 102.4, -128 + 102.6, and in the middle, at -25.5 and -26.5."""
    calling(impl.scale_and_zero_point, -102.4, 152.6).gives((1.0, -26), tolerance=1e-9)
    calling(impl.scale_and_zero_point, -102.6, 152.4).gives((1.0, -25), tolerance=1e-9)
    calling(impl.scale_and_zero_point, -102.5, 152.5).gives((1.0, -26))
    calling(impl.scale_and_zero_point, -101.5, 153.5).gives((1.0, -26))


def test_scale_and_zero_point_of_nothing_but_zero(impl):
    calling(impl.scale_and_zero_point, 0.0, 0.0).gives((1.0, 0))


def test_quantize(impl):
    calling(impl.quantize, array(0, 1, -3), 1.0, 0).gives(whole(0, 1, -3))


def test_quantize_with_scale(impl):
    calling(impl.quantize, array([0, 1], [-3, 0.5]), 0.5, 0).gives(whole([0, 2], [-6, 1]))


def test_quantize_with_zero_point(impl):
    calling(impl.quantize, array(0, 1, -3), 0.5, -20).gives(whole(-20, -18, -26))


def test_quantize_rounds_to_the_nearest(impl):
    calling(impl.quantize, array(2.75, 2.25, -2.75, -2.25), 1.0, 3).gives(whole(6, 5, 0, 1))


def test_quantize_rounds_before_the_zero_point_is_added(impl):
    """Halves go to the even number: 0.5 to 0, 1.5 to 2, 2.5 to 2. With 1 they are 1, 3, 3."""
    calling(impl.quantize, array(0.5, 1.5, 2.5, -0.5, -1.5), 1.0, 1).gives(whole(1, 3, 3, 1, -1))


def test_quantize_keeps_what_is_too_large(impl):
    calling(impl.quantize, array(127, 128, 1e6, -128, -129, -1e6), 1.0, 0).gives(whole(127, 127, 127, -128, -128, -128))


def test_quantize_keeps_the_sum_with_the_zero_point(impl):
    calling(impl.quantize, array(100, 127, -50, -127), 1.0, 50).gives(whole(127, 127, 0, -77))
    calling(impl.quantize, array(100, 127, -50, 300), 1.0, -100).gives(whole(0, 27, -128, 127))


@pytest.mark.parametrize("name", STORED["quantize"])
def test_quantize_as_in_onnxruntime(impl, name):
    case = STORED["quantize"][name]
    calling(impl.quantize, np.float32(case["x"]), case["scale"], case["zero_point"]).gives(np.int8(case["q"]))


def test_integer_product(impl):
    out = room(1, 1)
    calling(impl.integer_product, whole([1, 2, 3]), 0, whole([10, 1, -1]), out).fills(out, [[9]])


def test_integer_product_of_rows_and_columns(impl):
    out = room(2, 3)
    calling(impl.integer_product, whole([1, 2], [3, 4]), 0, whole([1, 1], [10, 1], [0, -5]), out).fills(
        out, [[3, 12, -10], [7, 34, -20]]
    )


def test_integer_product_with_zero_point(impl):
    """Every number of x is less by 10."""
    out = room(2, 2)
    calling(impl.integer_product, whole([11, 12], [13, 10]), 10, whole([1, 1], [10, 1]), out).fills(
        out, [[3, 12], [3, 30]]
    )


def test_integer_product_with_negative_zero_point(impl):
    out = room(1, 2)
    calling(impl.integer_product, whole([-128, -126, -125]), -128, whole([1, 2, 3], [-5, 1, 0]), out).fills(
        out, [[13, 2]]
    )


def test_integer_product_of_the_largest_numbers(impl):
    """Neither 8 nor 16 bits are enough."""
    out = room(2, 2)
    x, weight = whole([127] * 9, [-128] * 9), whole([127] * 9, [-127] * 9)
    calling(impl.integer_product, x, -128, weight, out).fills(out, [[291465, -291465], [0, 0]])
    out = room(2, 2)
    calling(impl.integer_product, x, 127, weight, out).fills(out, [[0, 0], [-291465, 291465]])


def test_integer_product_is_exact_beyond_float32(impl):
    """The sum has 9 digits, and a float32 has 7."""
    x, weight, out = np.full((1, 5000), 127, np.int8), np.full((1, 5000), 127, np.int8), room(1, 1)
    x[0, 0] = 126
    calling(impl.integer_product, x, -128, weight, out).fills(out, [[161924873]])


def test_integer_product_without_numbers(impl):
    out = room(2, 3)
    calling(impl.integer_product, np.empty((2, 0), np.int8), 7, np.empty((3, 0), np.int8), out).fills(
        out, np.zeros((2, 3), np.int32)
    )


def test_integer_product_without_rows(impl):
    out = room(0, 2)
    calling(impl.integer_product, np.empty((0, 3), np.int8), 7, whole([1, 2, 3], [4, 5, 6]), out).fills(out, room(0, 2))


@given(
    m=st.integers(1, 5), n=st.integers(1, 5), k=st.integers(1, 70), zero_point=st.integers(-128, 127),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_integer_product_is_exact(impl, m, n, k, zero_point, seed):
    numbers = np.random.default_rng(seed)
    x, weight = (numbers.integers(-128, 128, (rows, k)).astype(np.int8) for rows in (m, n))
    out = room(m, n)
    calling(impl.integer_product, x, zero_point, weight, out).fills(out, exact(x, zero_point, weight))


def test_linear(impl):
    calling(impl.linear, array([1, 2]), 1.0, 0, whole([1, 1], [10, 1]), array(1, 1)).gives(array([3, 12]))


def test_linear_with_scale_of_the_activations(impl):
    """x becomes 2, 4 and -1."""
    calling(impl.linear, array([1, 2, -0.5]), 0.5, 0, whole([1, 1, 2]), array(1)).gives(array([2]))


def test_linear_with_scales_of_the_weights(impl):
    calling(impl.linear, array([1, 2], [3, 0]), 1.0, 0, whole([1, 1], [10, 1]), array(0.5, 4)).gives(
        array([1.5, 48], [1.5, 120])
    )


def test_linear_with_zero_point(impl):
    """The zero point changes nothing where all numbers fit."""
    calling(impl.linear, array([1, 2], [-3, 0]), 0.5, -100, whole([1, 1], [10, 1]), array(0.5, 4)).gives(
        array([1.5, 48], [-1.5, -120])
    )


def test_linear_with_bias(impl):
    calling(impl.linear, array([1, 2], [0, 0]), 0.5, 5, whole([1, 1], [10, 1]), array(0.5, 4), array(-1, 100)).gives(
        array([0.5, 148], [-1, 100])
    )


def test_linear_rounds_the_activations(impl):
    """0.26 becomes 0.5, and 0.2 becomes 0."""
    calling(impl.linear, array([0.26, 0.2]), 0.5, 0, whole([1, 100]), array(2)).gives(array([1]))


def test_linear_cuts_off_what_is_out_of_range(impl):
    """With a zero point of 100 the largest integer stands for 27."""
    calling(impl.linear, array([1000, 1], [-300, 0]), 1.0, 100, whole([1, 1]), array(2)).gives(array([56], [-456]))


def calibrated(impl, x, weight, weight_scales, samples, percent):
    low, high = impl.calibrate(samples, percent)
    return impl.linear(x, *impl.scale_and_zero_point(low, high), weight, weight_scales)


def test_linear_of_calibrated_activations_is_nearly_exact(impl):
    """Each activation is wrong by half a scale at most, 1 part in 510 of the range."""
    numbers = np.random.default_rng(3)
    x, weight = numbers.uniform(0, 4, (5, 200)).astype(np.float32), numbers.integers(-127, 128, (6, 200))
    scales = np.linspace(0.01, 0.02, 6, dtype=np.float32)
    wanted = (x.astype(np.float64) @ (weight * scales[:, None].astype(np.float64)).T).astype(np.float32)
    calling(calibrated, impl, x, weight.astype(np.int8), scales, [x[:2], x[2:]], 100.0).gives(wanted, tolerance=0.01)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x, weight = np.full((16, 1024), 3, np.int8), np.full((64, 1024), -5, np.int8)
    out = np.empty((16, 64), np.int32)
    return best_seconds(lambda: impl.integer_product(x, 7, weight, out)), out.size * 1024, "products"
