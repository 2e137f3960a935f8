"""Exercise 5.15: a product of integers, with the scales of activations and their calibration.

In 5.14 only the weights were integers; each was turned into a float32 before it was multiplied. Here both sides are
integers of 8 bits. Their products and sums are integers, too, and a processor makes many of those in one
instruction. The sums need 32 bits: 127 * 127 is 16129 already.

The weights are known when the model is made: each row gets its scale from its own largest number, as in 5.14. The
activations (the numbers between the layers) are known only when the model runs. So some samples are run before, and what
they show decides which numbers the 256 integers stand for. This is calibration:

    low, high      the range that is kept, for example the smallest and the largest number that was seen
    scale          the length of the range / 255: how far two neighbours are apart
    zero_point     the integer that stands for 0.0

    number      integer = round(number / scale) + zero_point             (kept between -128 and 127)
    back        (integer - zero_point) * scale

    behind a ReLU: low = 0, high = 5.1        scale 0.02        zero_point -128

        0.0 -> -128        0.02 -> -127        1.0 -> -78        5.1 -> 127        9.9 -> 127: cut off

The product then needs a correction for the zero point. With integers q for the activations, w for the weights:

    sum of (q - zero_point) * w   =   sum of q * w   -   zero_point * sum of w
                                      one loop           the sum of a row of weights: known when the model is made

    out = that * (scale of the activations) * (scale of the row of weights)
"""

import numpy as np


def calibrate(samples, percent=100.0):
    """The range (low, high) of activations that is kept, two Python floats.

    With ``percent`` 100 it reaches from the smallest to the largest number of all samples. A single number far away from
    the others makes the range wide, and all others get few integers. So one can keep the middle ``percent`` of the
    numbers: as many are cut off below as above, half of the rest each. ``np.percentile`` knows where these numbers lie.

    The range always includes 0, or 0 would not have an integer of its own; and zeros are everywhere (padding, ReLU).

    Parameters
    ----------
    samples : a list of one or more float32 arrays of any shapes
    percent : above 0, and at most 100

    >>> calibrate([np.float32([1, 3]), np.float32([[-2], [0]])])
    (-2.0, 3.0)
    >>> calibrate([np.float32([1, 3, 5])])
    (0.0, 5.0)
    >>> calibrate([np.arange(-10, 91, dtype=np.float32)], percent=80)
    (0.0, 80.0)
    """
    # BEGIN SOLUTION
    numbers = np.concatenate([sample.ravel() for sample in samples])
    rest = (100 - percent) / 2
    low, high = np.percentile(numbers, [rest, 100 - rest])
    return min(float(low), 0.0), max(float(high), 0.0)
    # END SOLUTION


def scale_and_zero_point(low, high):
    """The scale, a Python float, and the zero point, an int from -128 to 127, for a range that includes 0.

    The integers -128 to 127 are spread over the range: -128 stands for ``low``, and 127 for ``high``. The zero point
    is rounded to the nearest integer, so that 0.0 has one exactly; of two that are equally near the even one, as
    Python's ``round`` does. If the range is only 0, the scale is 1.0 and the zero point 0.

    >>> scale, zero_point = scale_and_zero_point(0.0, 5.1)
    >>> round(scale, 6), zero_point
    (0.02, -128)
    >>> scale_and_zero_point(-64.0, 63.5)
    (0.5, 0)
    """
    # BEGIN SOLUTION
    if low == high:
        return 1.0, 0
    scale = (high - low) / 255
    return scale, round(-128 - low / scale)
    # END SOLUTION


def quantize(x, scale, zero_point):
    """The integers, int8, of ``x`` (float32, any shape).

    A number is divided by the scale, rounded to the nearest integer (halves to the even one, as NumPy's ``rint``
    does), and the zero point is added. What does not fit into -128 to 127 becomes the nearest of these two.

    >>> quantize(np.float32([0, 0.5, -1, 1000]), 0.5, 10)
    array([ 10,  11,   8, 127], dtype=int8)
    """
    # BEGIN SOLUTION
    return np.clip(np.rint(x / np.float32(scale)) + zero_point, -128, 127).astype(np.int8)
    # END SOLUTION


def integer_product(const signed char[:, ::1] x, int zero_point, const signed char[:, ::1] weight, int[:, ::1] out):
    """Fill ``out`` (m, n), int32, with the sums of (x[row, i] - zero_point) * weight[column, i] over all i.

    ``x`` is (m, k) and ``weight`` (n, k): both have their k numbers side by side in memory. ``out`` holds old numbers. All
    is exact: no float is needed. k is small enough for 32 bits.

    The zero point need not be taken away from every number: see the top of the file. Sum up ``weights`` beside ``total``,
    or in a loop of its own before the rows of x.

    >>> x, weight = np.int8([[1, 2], [10, -128]]), np.int8([[1, 1], [0, 100], [-3, 2]])
    >>> out = np.zeros((2, 3), np.int32)
    >>> integer_product(x, 1, weight, out)
    >>> out.tolist()
    [[1, 100, 2], [-120, -12900, -285]]
    """
    cdef Py_ssize_t row, column, i
    cdef int total, weights
    # BEGIN SOLUTION
    for column in range(weight.shape[0]):
        weights = 0
        for i in range(weight.shape[1]):
            weights += weight[column, i]
        for row in range(x.shape[0]):
            total = 0
            for i in range(weight.shape[1]):
                total += x[row, i] * weight[column, i]
            out[row, column] = total - zero_point * weights
    # END SOLUTION


def linear(x, scale, zero_point, weight, weight_scales, bias=None):
    """A linear layer on integers: ``x`` (m, k), float32, times the transposed weight: (m, n), float32, plus ``bias``.

    ``scale`` and ``zero_point`` come from a calibration. ``weight`` (n, k), int8, has one of ``weight_scales`` (n,) for
    each row, and no zero point. ``bias`` (n,) is float32, or None. ``x`` becomes integers; these are multiplied; and
    the sums become float32 by the two scales that they were made with.

    >>> weight, scales = np.int8([[1, 1], [2, -1]]), np.float32([1, 10])
    >>> linear(np.float32([[1, 2.1]]), 0.5, 0, weight, scales, np.float32([0, 100])).tolist()
    [[3.0, 100.0]]
    """
    # BEGIN SOLUTION
    sums = np.empty((len(x), len(weight)), np.int32)
    integer_product(quantize(x, scale, zero_point), zero_point, weight, sums)
    out = sums * (np.float32(scale) * weight_scales)
    return (out if bias is None else out + bias).astype(np.float32)
    # END SOLUTION
