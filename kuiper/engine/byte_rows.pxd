"""Bytes as the rows of a tile have them (integer_tile.pxd), and what runs of them add up to."""

cdef extern from "kuiper/engine/byte_rows.h":
    # a run of bytes: int16 without the zero point, or bytes without a sign
    void spread "kuiper_spread"(
        const unsigned char* x, bint is_signed, int zero, Py_ssize_t count, bint fours, unsigned char* out
    ) noexcept nogil

    # pixels of two to four planes, ``plane`` bytes apart, side by side as bytes without a sign; three bytes behind them may be
    # written
    void weave_planes "kuiper_weave_planes"(
        const unsigned char* x, Py_ssize_t channels, Py_ssize_t plane, Py_ssize_t step, bint is_signed, Py_ssize_t count,
        unsigned char* out
    ) noexcept nogil

    # out[i] = what this many bytes add up to, ``count`` times one behind the other; four bytes behind them may be
    # read
    void sums_of_bytes "kuiper_sums_of_bytes"(
        const unsigned char* x, Py_ssize_t bytes, Py_ssize_t count, int* out
    ) noexcept nogil
