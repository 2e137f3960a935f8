"""The base of all steps; see step.pxd."""

import numpy as np


cdef class Step:
    """One kernel with everything resolved: ``tasks`` independent pieces of work for ``program.Program``."""

    cdef void announce(self, const float* weights, Py_ssize_t floats) noexcept:
        """The weights that the next step of the program will read: who has spare moments may fetch them."""


def rows_needed(images, outputs, stride, before, reach, inputs):
    """For ``RowWise.needed``: a window of ``reach`` rows that begins at ``y * stride - before``, clipped to its image.

    >>> rows_needed(images=1, outputs=3, stride=2, before=1, reach=3, inputs=5).tolist()
    [[0, 1, 3], [2, 4, 5]]
    """
    first = np.arange(outputs, dtype=np.intp) * stride - before
    return of_all_images(images, np.clip(np.stack([first, first + reach]), 0, inputs), inputs)


def of_all_images(images, needed, inputs):
    """The input rows that each output row needs, (2, outputs), for images of ``inputs`` rows, one below the other.

    >>> of_all_images(2, np.array([[0, 1, 3], [2, 4, 5]]), 5).tolist()
    [[0, 1, 3, 5, 6, 8], [2, 4, 5, 7, 9, 10]]
    """
    above = np.arange(images, dtype=np.intp)[None, :, None] * inputs
    return np.ascontiguousarray((needed[:, None] + above).reshape(2, -1))
