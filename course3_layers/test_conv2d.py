"""Exercise 3.5."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window


def array(numbers):
    return np.array(numbers, np.float32)


def counting(*shape, start=1):
    """start, start + 1, ... in this shape."""
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


IMAGE = array([[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]]])
KERNEL = array([[[[1, 10], [100, 1000]]]])  # the sum shows in its digits which pixel met which weight


def test_kernel_of_one_row(impl):
    calling(impl.conv2d, array([[[[1, 2, 3], [4, 5, 6]]]]), array([[[[10, 1]]]])).gives(array([[[[12, 23], [45, 56]]]]))


def test_kernel_of_two_rows(impl):
    x = array([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]])
    calling(impl.conv2d, x, KERNEL).gives(array([[[[5421, 6532], [8754, 9865]]]]))


def test_kernel_as_large_as_the_image(impl):
    x = array([[[[1, 2, 3], [4, 5, 6]]]])
    calling(impl.conv2d, x, array([[[[1, 0, -1], [2, 0, 3]]]])).gives(array([[[[24]]]]))


def test_channels_are_added(impl):
    x = array([[[[1, 2]], [[3, 4]], [[5, 6]]]])
    calling(impl.conv2d, x, array([[[[1]], [[10]], [[100]]]])).gives(array([[[[531, 642]]]]))


def test_kernels_one_after_the_other(impl):
    x = array([[[[1, 2]], [[3, 4]]]])
    weight = array([[[[1]], [[0]]], [[[0]], [[1]]], [[[2]], [[-1]]]])
    calling(impl.conv2d, x, weight).gives(array([[[[1, 2]], [[3, 4]], [[-1, 0]]]]))


def test_images(impl):
    x = array([[[[1, 2, 3]]], [[[4, 5, 7]]], [[[-1, 0, 1]]]])
    calling(impl.conv2d, x, array([[[[10, 1]]]])).gives(array([[[[12, 23]]], [[[45, 57]]], [[[-10, 1]]]]))


def test_bias(impl):
    x = array([[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]])
    weight, bias = array([[[[1]]], [[[10]]]]), array([100, -200])
    expected = [
        [[[101, 102], [103, 104]], [[-190, -180], [-170, -160]]],
        [[[105, 106], [107, 108]], [[-150, -140], [-130, -120]]],
    ]
    calling(impl.conv2d, x, weight, bias).gives(array(expected))


def test_stride(impl):
    x = counting(1, 1, 3, 5)
    weight = array([[[[1, 100]]]])
    calling(impl.conv2d, x, weight, stride=(1, 2)).gives(array([[[[201, 403], [706, 908], [1211, 1413]]]]))
    calling(impl.conv2d, x, weight, stride=(2, 1)).gives(array([[[[201, 302, 403, 504], [1211, 1312, 1413, 1514]]]]))


def test_stride_that_leaves_a_rest(impl):
    calling(impl.conv2d, counting(1, 1, 4, 6), KERNEL, stride=(3, 4)).gives(array([[[[8721, 13165]]]]))


def test_padding(impl):
    x = array([[[[1, 2], [3, 4]]]])
    weight = array([[[[1, 10, 100]]]])
    calling(impl.conv2d, x, weight, padding=(0, 1)).gives(array([[[[210, 21], [430, 43]]]]))
    calling(impl.conv2d, x, weight, padding=(1, 1)).gives(array([[[[0, 0], [210, 21], [430, 43], [0, 0]]]]))


def test_padding_down(impl):
    calling(impl.conv2d, array([[[[1, 2], [3, 4]]]]), array([[[[1], [10]]]]), padding=(1, 0)).gives(
        array([[[[10, 20], [31, 42], [3, 4]]]])
    )


def test_padding_and_bias(impl):
    calling(impl.conv2d, array([[[[5]]]]), array([[[[2]]]]), array([7]), padding=(0, 1)).gives(array([[[[7, 17, 7]]]]))


def test_dilation(impl):
    x = counting(1, 1, 3, 4)
    calling(impl.conv2d, x, KERNEL, dilation=(1, 3)).gives(array([[[[8541], [12985]]]]))
    calling(impl.conv2d, x, KERNEL, dilation=(2, 1)).gives(array([[[[10921, 12032, 13143]]]]))


def test_dilation_with_stride_and_padding(impl):
    expected = array([[[[6000, 700], [60, 7]]]])
    calling(impl.conv2d, IMAGE, KERNEL, stride=(2, 3), padding=(1, 1), dilation=(2, 2)).gives(expected)


def test_groups(impl):
    x = array([[[[1, 2]], [[3, 4]], [[5, 6]], [[7, 8]]]])
    weight = array([[[[1]], [[10]]], [[[100]], [[1000]]]])
    calling(impl.conv2d, x, weight, groups=2).gives(array([[[[31, 42]], [[7500, 8600]]]]))


def test_groups_with_several_kernels_each(impl):
    x = array([[[[1, 2]], [[3, 4]]]])
    weight = array([[[[1]]], [[[10]]], [[[100]]], [[[-1]]], [[[-10]]], [[[-100]]]])
    expected = [[[[1, 2]], [[10, 20]], [[100, 200]], [[-3, -4]], [[-30, -40]], [[-300, -400]]]]
    calling(impl.conv2d, x, weight, groups=2).gives(array(expected))


def test_three_groups(impl):
    x = counting(1, 6, 1, 1)
    weight = array([[[[1]], [[10]]], [[[1]], [[10]]], [[[1]], [[10]]]])
    calling(impl.conv2d, x, weight, groups=3).gives(array([[[[21]], [[43]], [[65]]]]))


def test_groups_with_bias(impl):
    x = array([[[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]]])
    weight, bias = array([[[[1]]], [[[10]]]]), array([100, 200])
    expected = [[[[101, 102]], [[230, 240]]], [[[105, 106]], [[270, 280]]]]
    calling(impl.conv2d, x, weight, bias, groups=2).gives(array(expected))


def test_depthwise(impl):
    x = array([[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]])
    weight = array([[[[1, 10]]], [[[2, 20]]], [[[-1, 0]]]])
    calling(impl.conv2d, x, weight, groups=3).gives(array([[[[21, 32]], [[108, 130]], [[-7, -8]]]]))


def test_one_number_for_each_setting(impl):
    """Everything at once, each setting other than all the others: computed by the definition, in seven loops."""
    x, weight, bias = counting(2, 4, 7, 9, start=-200), counting(6, 2, 2, 3, start=-30), counting(6, start=-2)
    expected = reference.conv2d(x, weight, bias, Window((2, 3), (3, 2), (1, 4), (1, 4), (4, 3)), 2)
    calling(impl.conv2d, x, weight, bias, (3, 2), (1, 4), (4, 3), 2).gives(expected)


def test_fractions(impl):
    x, weight, bias = array([[[[0.5, 0.25]]]]), array([[[[0.5, -2]]]]), array([0.125])
    calling(impl.conv2d, x, weight, bias).gives(array([[[[-0.125]]]]))


def test_groups_know_nothing_of_each_other(impl):
    x = array([[[[np.inf, np.nan]], [[1, 2]], [[3, 4]]]])
    weight = array([[[[1]]], [[[10]]], [[[100]]]])
    calling(impl.conv2d, x, weight, groups=3).gives(array([[[[np.inf, np.nan]], [[10, 20]], [[300, 400]]]]))


def test_images_know_nothing_of_each_other(impl):
    x = array([[[[np.nan, np.inf]]], [[[1, 2]]]])
    calling(impl.conv2d, x, array([[[[10]]]]), array([3])).gives(array([[[[np.nan, np.inf]]], [[[13, 23]]]]))


def test_no_images(impl):
    calling(impl.conv2d, np.zeros((0, 2, 3, 4), np.float32), counting(3, 2, 2, 2)).gives(
        np.zeros((0, 3, 2, 3), np.float32)
    )


def test_kernel_of_one_pixel_has_no_dilation(impl):
    calling(impl.conv2d, array([[[[1, 2], [3, 4]]]]), array([[[[10]]]]), dilation=(9, 7)).gives(
        array([[[[10, 20], [30, 40]]]])
    )


def test_many_channels(impl):
    x, weight = counting(1, 40, 2, 3, start=-100), counting(30, 20, 1, 2, start=-500)
    bias = counting(30, start=-9)
    expected = reference.conv2d(x, weight, bias, Window((1, 2), (1, 1), (0, 0), (0, 0), (1, 1)), 2)
    calling(impl.conv2d, x, weight, bias, groups=2).gives(expected)


def mirrored(impl, x, weight):
    """Views that run backwards through memory are arrays like all others."""
    return impl.conv2d(x[:, :, ::-1, ::-1], weight[:, :, ::-1, ::-1])


def test_column_major_arrays(impl):
    x, weight = counting(2, 4, 3, 4, start=-30), counting(4, 2, 2, 3, start=-9)
    expected = reference.conv2d(x, weight, np.zeros(4, np.float32), Window((2, 3), (1, 1), (0, 0), (0, 0), (1, 1)), 2)
    calling(impl.conv2d, np.asfortranarray(x), np.asfortranarray(weight), groups=2).gives(expected)


def test_views(impl):
    x = array([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]])
    calling(mirrored, impl, x, KERNEL).gives(array([[[[9865, 8754], [6532, 5421]]]]))


def called_twice(impl, x, weight, bias):
    """A second call must neither see nor change what the first one gave."""
    first = impl.conv2d(x, weight, bias)
    second = impl.conv2d(2 * x, weight, bias)
    return first, second


def test_two_calls(impl):
    answers = array([[[[13, 23]]]]), array([[[[23, 43]]]])
    calling(called_twice, impl, array([[[[1, 2]]]]), array([[[[10]]]]), array([3])).gives(answers)


def test_wrong_channels(impl):
    calling(impl.conv2d, counting(1, 3, 2, 2), counting(2, 2, 1, 1)).raises(ValueError, "channels")


def test_wrong_channels_for_the_groups(impl):
    calling(impl.conv2d, counting(1, 2, 2, 2), counting(2, 2, 1, 1), groups=2).raises(ValueError, "channels")


def test_kernels_that_groups_cannot_share(impl):
    calling(impl.conv2d, counting(1, 4, 2, 2), counting(3, 2, 1, 1), groups=2).raises(ValueError, "groups")


@pytest.mark.parametrize("shape", [(1,), (3,), (0,), (2, 1), (1, 2), (1, 2, 1, 1), ()])
def test_wrong_bias(impl, shape):
    calling(impl.conv2d, counting(1, 1, 2, 2), counting(2, 1, 1, 1), counting(*shape)).raises(ValueError, "bias")


@pytest.mark.parametrize(
    ("kernel", "padding", "dilation"),
    [((3, 1), (0, 0), (1, 1)), ((1, 4), (0, 0), (1, 1)), ((1, 2), (1, 0), (1, 3)), ((2, 1), (0, 1), (2, 1))],
)
def test_kernel_larger_than_the_image(impl, kernel, padding, dilation):
    x, weight = counting(1, 1, 2, 3), counting(1, 1, *kernel)
    calling(impl.conv2d, x, weight, padding=padding, dilation=dilation).raises(ValueError, "kernel")


@given(data=st.data())
def test_as_the_definition(impl, data):
    pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
    kernel, stride, dilation = (data.draw(pairs, label=name) for name in ("kernel", "stride", "dilation"))
    padding = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)), label="padding")
    groups, depth, part, n = (data.draw(st.integers(1, 3), label=name) for name in ("groups", "depth", "part", "n"))
    spare = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)), label="spare")
    window = Window(kernel, stride, padding, padding, dilation)
    h, w = (max(1, window.span[axis] - 2 * padding[axis]) + spare[axis] for axis in (0, 1))
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    x = random.integers(-9, 9, (n, groups * depth, h, w)).astype(np.float32)
    weight = random.integers(-9, 9, (groups * part, depth, *kernel)).astype(np.float32)
    bias = random.integers(-9, 9, groups * part).astype(np.float32) if data.draw(st.booleans(), label="bias") else None
    expected = reference.conv2d(x, weight, bias, window, groups)
    calling(impl.conv2d, x, weight, bias, stride, padding, dilation, groups).gives(expected)
