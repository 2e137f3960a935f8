"""Sums of neighbours in double precision, LANES at a time: softmax and the normalisations share them.

A single running sum would wait for each addition to end before the next begins, and the compiler may not reorder it.
LANES sums that know nothing of each other become vector code, and double keeps what float would round away:

    x  0 1 2 3 0 1 2 3 0 1 2 3 | 0 1         lane k adds every LANES-th number; the rest and the lanes are added last
"""

cdef enum:
    LANES = 16


cdef inline double sum_of(const float* x, Py_ssize_t count) noexcept nogil:
    """x_0 + x_1 + ... + x_(count - 1)."""
    cdef double lanes[LANES]
    cdef double added = 0
    cdef Py_ssize_t i, block, lane, whole = count // LANES
    for lane in range(LANES):
        lanes[lane] = 0
    for block in range(whole):
        for lane in range(LANES):
            lanes[lane] += x[block * LANES + lane]
    for i in range(whole * LANES, count):
        added += x[i]
    for lane in range(LANES):
        added += lanes[lane]
    return added


cdef inline double sum_of_squares(const float* x, double centre, Py_ssize_t count) noexcept nogil:
    """(x_0 - centre)**2 + (x_1 - centre)**2 + ...: the variance around the mean times count, or the power around 0."""
    cdef double lanes[LANES]
    cdef double added = 0
    cdef Py_ssize_t i, block, lane, whole = count // LANES
    for lane in range(LANES):
        lanes[lane] = 0
    for block in range(whole):
        for lane in range(LANES):
            lanes[lane] += (x[block * LANES + lane] - centre) * (x[block * LANES + lane] - centre)
    for i in range(whole * LANES, count):
        added += (x[i] - centre) * (x[i] - centre)
    for lane in range(LANES):
        added += lanes[lane]
    return added
