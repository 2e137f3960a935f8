"""Sums of neighbours in double precision, CHAINS at a time: softmax, the normalisations and adaptive pooling share them.

A single running sum would wait for each addition to end before the next begins, and the compiler may not reorder it.
CHAINS sums that know nothing of each other become vector code, and double keeps what float would round away:

    x  0 1 2 3 0 1 2 3 0 1 2 3 | 0 1         chain k adds every CHAINS-th number; the rest and the chains are added last
"""

cdef enum:
    CHAINS = 16


cdef inline double sum_of(const float* x, Py_ssize_t count) noexcept nogil:
    """x_0 + x_1 + ... + x_(count - 1)."""
    cdef double chains[CHAINS]
    cdef double added = 0
    cdef Py_ssize_t i, block, chain, whole = count // CHAINS
    for i in range(whole * CHAINS, count):
        added += x[i]
    if whole == 0:  # the windows of adaptive pooling are short
        return added
    for chain in range(CHAINS):
        chains[chain] = 0
    for block in range(whole):
        for chain in range(CHAINS):
            chains[chain] += x[block * CHAINS + chain]
    for chain in range(CHAINS):
        added += chains[chain]
    return added


cdef inline double sum_of_squares(const float* x, double centre, Py_ssize_t count) noexcept nogil:
    """(x_0 - centre)**2 + (x_1 - centre)**2 + ...: the variance around the mean times count, or the power around 0."""
    cdef double chains[CHAINS]
    cdef double added = 0
    cdef Py_ssize_t i, block, chain, whole = count // CHAINS
    for chain in range(CHAINS):
        chains[chain] = 0
    for block in range(whole):
        for chain in range(CHAINS):
            chains[chain] += (x[block * CHAINS + chain] - centre) * (x[block * CHAINS + chain] - centre)
    for i in range(whole * CHAINS, count):
        added += (x[i] - centre) * (x[i] - centre)
    for chain in range(CHAINS):
        added += chains[chain]
    return added
