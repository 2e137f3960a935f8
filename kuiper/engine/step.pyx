"""The base of all steps; see step.pxd."""

import numpy as np


cdef class Step:
    """One kernel with everything resolved: ``tasks`` independent pieces of work for ``program.Program``."""

    cdef void announce(self, const float* weights, Py_ssize_t floats) noexcept:
        """The weights that the next step of the program will read: who has spare moments may fetch them."""


def rows_needed(outputs, stride, before, reach, inputs):
    """For ``RowWise.needed``, (2, outputs): a window of ``reach`` rows that begins at ``y * stride - before``, clipped.

    >>> rows_needed(outputs=3, stride=2, before=1, reach=3, inputs=5).tolist()
    [[0, 1, 3], [2, 4, 5]]
    """
    first = np.arange(outputs, dtype=np.intp) * stride - before
    return np.clip(np.stack([first, first + reach]), 0, inputs)
