"""Exercise 3.12: bilinear resampling, and its two conventions.

A picture gets another size. Each new pixel falls on a place between four old ones and becomes their mixture: the nearer a
pixel is, the more it counts. Along one axis:

    old pixels       0         1         2             the place 1.25 lies between the pixels 1 and 2:
                     10        20        60            before = 1, after = 2, fraction = 0.25
                                 ^
                                 place 1.25            20 + (60 - 20) * 0.25 = 30

Which place belongs to new pixel i, if n pixels become m? There are two conventions. PyTorch and ONNX have both, and call
the choice ``align_corners``. A network must be run with the one that it was trained with.

    align_corners = True     A pixel is a point. The first and the last new pixel lie on the first and the last old one,
                             and the others are spread evenly between them:

                                 place = i * (n - 1) / (m - 1)                  one new pixel alone lies at 0

    align_corners = False    A pixel is a little square, whose middle is half a pixel from its edge ("half-pixel"). The
                             edges of the picture stay where they are:

                                 place = (i + 0.5) * n / m - 0.5                but not before 0

    3 pixels become 6        new pixel       0       1       2       3       4       5
                             True            0       0.4     0.8     1.2     1.6     2
                             False           0       0.25    0.75    1.25    1.75    2.25

The place 2.25 lies behind the last pixel. There is no pixel behind it, so the last one counts twice: after is 2, too.

Places are the same in every row of a picture, and in all its channels. So they are computed once for each axis and kept in
tables. The loop over the pixels only reads the tables and mixes: first the two rows, or first the two columns, as you like.
"""

import numpy as np


def places(
    Py_ssize_t length, bint align_corners, Py_ssize_t[::1] before, Py_ssize_t[::1] after, float[::1] fraction
):
    """Fill the tables for one axis: ``length`` old pixels become ``before.shape[0]`` new ones.

    For new pixel i, ``before[i]`` is the old pixel at the place or the last one before it, ``after[i]`` is the pixel behind
    that (where there is none: the last pixel), and ``fraction[i]`` is the place minus before[i], from 0 to less than 1.
    Compute places as double, multiply before you divide, and mind that integers divide without a rest here. There is at
    least one old pixel.

    >>> before, after, fraction = np.empty(6, np.intp), np.empty(6, np.intp), np.empty(6, np.float32)
    >>> places(3, False, before, after, fraction)
    >>> before.tolist(), after.tolist(), fraction.tolist()
    ([0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 2], [0.0, 0.25, 0.75, 0.25, 0.75, 0.25])
    >>> places(3, True, before, after, fraction)
    >>> before.tolist(), after.tolist(), fraction.round(3).tolist()
    ([0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 2], [0.0, 0.4000000059604645, 0.800000011920929, 0.20000000298023224, 0.6000000238418579, 0.0])
    """
    cdef Py_ssize_t new_length = before.shape[0], i
    cdef double place
    # BEGIN SOLUTION
    for i in range(new_length):
        if not align_corners:
            place = (i + 0.5) * length / new_length - 0.5
            if place < 0:
                place = 0
        elif new_length > 1:
            place = <double> i * (length - 1) / (new_length - 1)
        else:
            place = 0
        before[i] = <Py_ssize_t> place
        after[i] = min(before[i] + 1, length - 1)
        fraction[i] = <float> (place - before[i])
    # END SOLUTION


def resample(const float[:, :, :, :] x, float[:, :, :, :] out, bint align_corners):
    """Fill ``out`` (n, c, new_h, new_w) with the images ``x`` (n, c, h, w) at its size.

    ``before[0]``, ``after[0]`` and ``fraction[0]`` of the skeleton are tables for the rows, those with [1] for the columns.
    Fill them first. In the loops use the memoryviews ``top``, ``bottom``, ``left``, ``right`` and ``down``, ``across``: an
    access to a Python list would run Python for each pixel.

    >>> x = np.array([[[[0, 10], [100, 150]]]], np.float32)
    >>> out = np.zeros((1, 1, 3, 3), np.float32)
    >>> resample(x, out, True)
    >>> out[0, 0].tolist()
    [[0.0, 5.0, 10.0], [50.0, 65.0, 80.0], [100.0, 125.0, 150.0]]
    """
    before = [np.empty(size, np.intp) for size in (out.shape[2], out.shape[3])]
    after = [np.empty(size, np.intp) for size in (out.shape[2], out.shape[3])]
    fraction = [np.empty(size, np.float32) for size in (out.shape[2], out.shape[3])]
    cdef Py_ssize_t[::1] top = before[0], bottom = after[0], left = before[1], right = after[1]
    cdef float[::1] down = fraction[0], across = fraction[1]
    cdef Py_ssize_t i, channel, row, column
    cdef float upper, lower
    # BEGIN SOLUTION
    places(x.shape[2], align_corners, top, bottom, down)
    places(x.shape[3], align_corners, left, right, across)
    for i in range(out.shape[0]):
        for channel in range(out.shape[1]):
            for row in range(out.shape[2]):
                for column in range(out.shape[3]):
                    upper = x[i, channel, top[row], left[column]]
                    upper += (x[i, channel, top[row], right[column]] - upper) * across[column]
                    lower = x[i, channel, bottom[row], left[column]]
                    lower += (x[i, channel, bottom[row], right[column]] - lower) * across[column]
                    out[i, channel, row, column] = upper + (lower - upper) * down[row]
    # END SOLUTION
