"""A sum in one order, whatever the length of vectors: sixteen running sums, halved in the end.

    x     0  1  2 ... 15 | 16 17 18 ... 31 | 32 33 ...          sum i adds up x[i], x[i + 16], x[i + 32], ...
         '-----16 sums----'                                     in the end 8 + 8, 4 + 4, 2 + 2 and 1 + 1 of them

A build with 16 lanes has one vector of sums, with 8 lanes two (PARTS), with 4 lanes four: the additions are the same, and so
are the bits. Sum i of part v is lane i - v * LANES of ``part[v]``.
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/simd/sums.h":
    enum:
        PARTS "KUIPER_PARTS"

    ctypedef struct Sums "kuiper_sums":
        vec part[16]

    # x sixteen times
    Sums sums_of "kuiper_sums_of"(float x) noexcept nogil
    # their sum
    float total "kuiper_total"(Sums s) noexcept nogil
    # the largest of them; NaN may be passed over
    float largest "kuiper_largest"(Sums s) noexcept nogil
