"""Exercise 3.6."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window


def array(*numbers):
    return np.array(numbers, np.float32)


# With eps = 1 the roots are 2, 3 and 1.
MEAN, VAR, GAMMA, BETA = array(1, -4, 10), array(3, 8, 0), array(10, -6, 3), array(7, 100, -5)


def test_batch_norm(impl):
    x = array([[[1, 3, 5]], [[-4, -1, 2]], [[10, 11, 9]]])
    expected = array([[[7, 17, 27]], [[100, 94, 88]], [[-5, -2, -8]]])
    calling(impl.batch_norm, x, MEAN, VAR, GAMMA, BETA, 1).gives(expected)


def test_batch_norm_of_several_images(impl):
    x = array([[[1], [3]], [[-4], [2]]], [[[5], [7]], [[8], [-10]]])
    expected = array([[[7], [17]], [[100], [88]]], [[[27], [37]], [[76], [112]]])
    calling(impl.batch_norm, x, MEAN[:2], VAR[:2], GAMMA[:2], BETA[:2], 1).gives(expected)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3, 3), (3, 3, 3, 3), (1, 3, 2, 1, 2)])
def test_batch_norm_of_rank(impl, shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected = np.empty_like(x)
    for c, (mean, root, gamma, beta) in enumerate([(1, 2, 10, 7), (-4, 3, -6, 100), (10, 1, 3, -5)]):
        expected[:, c] = (x[:, c] - mean) * (gamma / root) + beta
    calling(impl.batch_norm, x, MEAN, VAR, GAMMA, BETA, 1).gives(expected, tolerance=1e-6)


def test_batch_norm_without_gamma_or_beta(impl):
    x = array([[[1, 3]], [[-4, 2]]])
    calling(impl.batch_norm, x, MEAN[:2], VAR[:2], eps=1).gives(array([[[0, 1]], [[0, 2]]]))
    calling(impl.batch_norm, x, MEAN[:2], VAR[:2], GAMMA[:2], eps=1).gives(array([[[0, 10]], [[0, -12]]]))
    calling(impl.batch_norm, x, MEAN[:2], VAR[:2], beta=BETA[:2], eps=1).gives(array([[[7, 8]], [[100, 102]]]))


def test_batch_norm_with_its_usual_eps(impl):
    calling(impl.batch_norm, array([5, 6]), array(4, 7), array(0, 0)).gives(
        array([316.22777, -316.22777]), tolerance=1e-6
    )
    calling(impl.batch_norm, array([5, 6]), array(4, 7), array(0, 3e-5)).gives(
        array([316.22777, -158.11388]), tolerance=1e-6
    )


def test_fold(impl):
    expected = (array([[[15]]]), array(27))
    calling(impl.fold_batch_norm, array([[[3]]]), array(5), array(1), array(3), array(10), array(7), 1).gives(expected)


def test_fold_each_kernel_by_its_own_number(impl):
    weight = array([[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]], [[[-1, -2]], [[-3, 0]]])  # (3, 2, 1, 2)
    expected = array([[[5, 10]], [[15, 20]]], [[[-10, -12]], [[-14, -16]]], [[[-3, -6]], [[-9, 0]]])
    new_bias = array(2, 92, -35)
    calling(impl.fold_batch_norm, weight, array(0, 0, 0), MEAN, VAR, GAMMA, BETA, 1).gives((expected, new_bias))


def test_fold_where_all_axes_have_one_length(impl):
    weight = array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[-1, -2], [-3, -4]], [[-5, -6], [-7, -8]]])
    expected = array([[[5, 10], [15, 20]], [[25, 30], [35, 40]]], [[[2, 4], [6, 8]], [[10, 12], [14, 16]]])
    got = calling(impl.fold_batch_norm, weight, array(2, 3), MEAN[:2], VAR[:2], GAMMA[:2], BETA[:2], 1)
    got.gives((expected, array(12, 86)))


def test_fold_bias(impl):
    weight = array([[[1]]], [[[1]]], [[[1]]])
    expected = (array([[[5]]], [[[-2]]], [[[3]]]), array(27, 88, -29))
    calling(impl.fold_batch_norm, weight, array(5, 2, 2), MEAN, VAR, GAMMA, BETA, 1).gives(expected)


def test_fold_without_bias(impl):
    weight = array([[[1]]], [[[2]]])
    expected = (array([[[5]]], [[[-4]]]), array(2, 92))
    calling(impl.fold_batch_norm, weight, None, MEAN[:2], VAR[:2], GAMMA[:2], BETA[:2], 1).gives(expected)


def test_fold_without_gamma_or_beta(impl):
    weight, bias, mean, var = array([[[6]]], [[[12]]]), array(9, 2), MEAN[:2], VAR[:2]
    fold = impl.fold_batch_norm
    calling(fold, weight, bias, mean, var, eps=1).gives((array([[[3]]], [[[4]]]), array(4, 2)))
    calling(fold, weight, bias, mean, var, GAMMA[:2], eps=1).gives((array([[[30]]], [[[-24]]]), array(40, -12)))
    calling(fold, weight, bias, mean, var, beta=BETA[:2], eps=1).gives((array([[[3]]], [[[4]]]), array(11, 102)))


def test_fold_into_a_linear_layer(impl):
    expected = (array([5, 10], [-6, -8]), array(2, 92))
    calling(impl.fold_batch_norm, array([1, 2], [3, 4]), None, MEAN[:2], VAR[:2], GAMMA[:2], BETA[:2], 1).gives(
        expected
    )


def test_fold_into_other_convolutions(impl):
    weight = array([[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]])  # depthwise and of one dimension: (3, 1, 3)
    expected = (array([[5, 10, 15]], [[-8, -10, -12]], [[21, 24, 27]]), array(2, 92, -35))
    calling(impl.fold_batch_norm, weight, None, MEAN, VAR, GAMMA, BETA, 1).gives(expected)
    calling(impl.fold_batch_norm, weight[..., None, None], None, MEAN, VAR, GAMMA, BETA, 1).gives(
        (expected[0][..., None, None], expected[1])
    )


def test_fold_with_its_usual_eps(impl):
    expected = (array([[[632.45553]]], [[[474.3416]]]), array(-948.6833, 316.22777))
    calling(impl.fold_batch_norm, array([[[2]]], [[[3]]]), None, array(3, -2), array(0, 3e-5)).gives(
        expected, tolerance=1e-6
    )


def test_fold_fractions(impl):
    expected = (array([[[0.25, 0.125]]]), array(-0.625))
    calling(
        impl.fold_batch_norm, array([[[0.5, 0.25]]]), None, array(1.5), array(0.75), array(0.5), array(0.125), 0.25
    ).gives(expected)


@pytest.mark.parametrize("name", ["bias", "mean", "var", "gamma", "beta"])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_fold_error(impl, name, length):
    settings = {key: array(1, 2, 3) for key in ("bias", "mean", "var", "gamma", "beta")}
    settings[name] = np.ones(length, np.float32)
    calling(impl.fold_batch_norm, np.ones((3, 2, 4, 4), np.float32), **settings).raises(ValueError, name)


@pytest.mark.parametrize("name", ["bias", "mean", "var", "gamma", "beta"])
def test_fold_error_of_rank(impl, name):
    settings = {key: array(1, 2, 3) for key in ("bias", "mean", "var", "gamma", "beta")}
    settings[name] = np.ones((3, 1), np.float32)
    calling(impl.fold_batch_norm, np.ones((3, 2, 4, 4), np.float32), **settings).raises(ValueError, name)


def test_batch_norm_of_no_images(impl):
    calling(impl.batch_norm, np.zeros((0, 3, 2), np.float32), MEAN, VAR, GAMMA, BETA).gives(
        np.zeros((0, 3, 2), np.float32)
    )


def test_batch_norm_channels_know_nothing_of_each_other(impl):
    x = array([[np.nan, np.inf], [1, 2]])
    calling(impl.batch_norm, x, array(0, 0), array(3, 3), eps=1).gives(array([[np.nan, np.inf], [0.5, 1]]))


def test_gamma_of_zero(impl):
    calling(impl.fold_batch_norm, array([[[3]]]), array(5), array(1), array(3), array(0), array(7), 1).gives(
        (array([[[0]]]), array(7))
    )
    calling(impl.batch_norm, array([3, 4]), array(1, 1), array(3, 3), array(0, 2), array(7, 0), 1).gives(array([7, 3]))


def test_batch_norm_of_views(impl):
    x = np.arange(24, dtype=np.float32).reshape(4, 3, 2)[::2, ::-1]
    expected = np.empty((2, 3, 2), np.float32)
    for c, (mean, root, gamma, beta) in enumerate([(1, 2, 10, 7), (-4, 3, -6, 100), (10, 1, 3, -5)]):
        expected[:, c] = (x[:, c] - mean) * (gamma / root) + beta
    calling(impl.batch_norm, x, MEAN, VAR, GAMMA, BETA, 1).gives(expected, tolerance=1e-6)


def arguments_after_writing_to_the_results(impl, weight, bias):
    """A batch norm that changes nothing could give its arguments back."""
    zero, one = np.zeros(2, np.float32), np.ones(2, np.float32)
    for result in (*impl.fold_batch_norm(weight, bias, zero, one, eps=0), impl.batch_norm(weight, zero, one, eps=0)):
        result[...] = -1
    return weight, bias


def test_results_are_new_arrays(impl):
    weight, bias = array([[[3]], [[4]]], [[[5]], [[6]]]), array(1, 2)
    calling(arguments_after_writing_to_the_results, impl, weight, bias).gives((weight, bias))


@given(data=st.data())
def test_conv_and_batch_norm_as_one(impl, data):
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    groups = data.draw(st.integers(1, 2), label="groups")

    def draw(*shape):
        return random.normal(size=shape).astype(np.float32)

    x, weight, bias = draw(2, 2 * groups, 4, 5), draw(3 * groups, 2, 2, 3), draw(3 * groups)
    mean, gamma, beta = draw(3 * groups), draw(3 * groups), draw(3 * groups)
    var, eps = draw(3 * groups) ** 2 + np.float32(0.25), data.draw(st.sampled_from([1e-5, 1e-3, 0.5]), label="eps")
    window = Window((2, 3), (1, 2), (0, 1), (0, 1), (1, 1))
    before = reference.conv2d(x, weight, bias, window, groups).astype(np.float64)
    shape = (1, -1, 1, 1)
    root = np.sqrt(var.astype(np.float64) + eps).reshape(shape)
    expected = (before - mean.reshape(shape)) / root * gamma.reshape(shape) + beta.reshape(shape)
    calling(convolved, impl, x, weight, bias, (mean, var, gamma, beta, eps), groups).gives(expected, tolerance=1e-5)


def convolved(impl, x, weight, bias, settings, groups):
    """The engine's plain convolution with your weight and bias."""
    from kuiper.layers.reference import conv2d as reference
    from kuiper.layers.window import Window

    weight, bias = impl.fold_batch_norm(weight, bias, *settings)
    window = Window((2, 3), (1, 2), (0, 1), (0, 1), (1, 1))
    return np.asarray(reference.conv2d(x, weight, bias, window, groups), np.float64)
