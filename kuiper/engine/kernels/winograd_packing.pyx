"""The weights of Winograd's convolution: transformed once, and laid down in the order in which the kernel reads them.

    (out_c, in_c, 3, 3)   --  U = G g G' of every 3 x 3  -->   [panel][slots * slots][in_c][vectors * LANES]

A panel is up to 4 vectors of output channels: the columns of one tile of tile.pxd. All arithmetic is in double
precision, and a weight is rounded once. The innermost loops run over the output channels of a panel: one input channel
is a block of 9 x columns numbers, which becomes slots * slots x columns: slots = size + 2 rows of G differ. With stride 1
each belongs to one position, with stride 2 the last one serves ``size`` positions along a side.
"""

from kuiper.engine.memory import for_weights
from kuiper.simd.vector cimport LANES as LANES_OF_BUILD
from kuiper.engine.winograd_matrices import winograd_matrices

cdef enum:
    MAX_COLUMNS = 64  # vectors * LANES of any build
    MAX_SLOTS = 6


def pack_winograd(const float[:, :, :, ::1] weight, int size, int stride, int panels):
    """The packed weights for ``Winograd`` with the same ``size``, ``stride`` and ``panels``.

    Parameters
    ----------
    weight : (out_c, in_c, 3, 3)
    size : 2 for F(2, 3), 4 for F(4, 3)
    stride : 1 or 2
    panels : parts of the output channels; at most ``tile.pxd``'s 4 vectors each, and at least one

    Returns
    -------
    array : float32, one-dimensional, from the beginning of a cache line on; the output channels that fill up the last
        vector have weights 0
    """
    cdef Py_ssize_t out_c = weight.shape[0], in_c = weight.shape[1], slots = size + 2, panel, start, end, c
    cdef Py_ssize_t vectors = (out_c + LANES_OF_BUILD - 1) // LANES_OF_BUILD
    cdef const double[:, ::1] g = winograd_matrices(size, stride)[2]
    packed = for_weights(vectors * LANES_OF_BUILD * in_c * slots * slots)
    cdef float[::1] out = packed
    with nogil:
        for panel in range(panels):
            start = panel * vectors // panels * LANES_OF_BUILD
            end = (panel + 1) * vectors // panels * LANES_OF_BUILD
            for c in range(in_c):
                transform(
                    &weight[start, c, 0, 0], in_c * 9, min(end, out_c) - start, end - start, &g[0, 0], slots,
                    &out[(start * slots * slots * in_c) + c * (end - start)], in_c * (end - start),
                )
    return packed


cdef void transform(
    const float* weight, Py_ssize_t kernel, Py_ssize_t count, Py_ssize_t columns, const double* g, Py_ssize_t slots,
    float* out, Py_ssize_t position,
) noexcept nogil:
    """One input channel of a panel: ``count`` kernels, ``kernel`` floats apart, to slots * slots rows of ``columns``."""
    cdef double taps[9][MAX_COLUMNS]
    cdef double rows[MAX_SLOTS][3][MAX_COLUMNS]
    cdef Py_ssize_t i, j, k, o
    for o in range(columns):
        for k in range(9):
            taps[k][o] = weight[o * kernel + k] if o < count else 0
    for i in range(slots):
        for j in range(3):
            for o in range(columns):
                rows[i][j][o] = g[3 * i] * taps[j][o] + g[3 * i + 1] * taps[3 + j][o] + g[3 * i + 2] * taps[6 + j][o]
    for i in range(slots):
        for j in range(slots):
            for o in range(columns):
                out[o] = <float> (
                    g[3 * j] * rows[i][0][o] + g[3 * j + 1] * rows[i][1][o] + g[3 * j + 2] * rows[i][2][o]
                )
            out += position
