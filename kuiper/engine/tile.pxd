"""The tile: the innermost loop of every product in the engine, for convolutions, matrix products and Winograd alike.

A product of ``rows`` numbers (one from each of this many pixels) with ``vectors`` registers of weights needs rows + vectors
loads for rows * vectors multiply-adds. The rows x vectors sums stay in registers while taps and channels run, so memory
hardly matters:

                            weights: [taps][channels][vectors * LANES], read once from front to end
                            +--------+--------+--------+
                            | b[0]   | b[1]   | b[2]   |
    pointers[tap][row]      +--------+--------+--------+
    row 0  ->  x[c]         |s[0][0] |s[0][1] |s[0][2] |        s[row][v] += pointers[tap][row][c] * b[v]
    row 1  ->  x[c]         |s[1][0] |s[1][1] |        |
    ...                     |        |        |        |        9 x 3 sums + 3 weights + 1 number: 31 of 32 registers
    row 8  ->  x[c]         |        |        |s[8][2] |

A row is an output pixel, a tap one position of the kernel on the image, and ``pointers`` says where the pixel under that tap
begins: at its first channel, or at a row of zeros outside of the image. So stride, dilation and padding cost nothing here,
there is no im2col, and a 1x1 convolution, a linear layer and a matrix product are the same loop with one tap.

What is left of the work on an output is done before it leaves the registers: bias, residual, and a clamp (ReLU, ReLU6).

Weights that do not fit the second-level cache would have to be waited for. So each step asks for a part of what comes next,
while there are multiplications to do: ``ahead`` is where that begins (any address does no harm), and each step asks for
``ahead_bytes`` of it. Where memory takes nearly as long as the multiplications, all tiles that read the same weights should ask
for equal parts of the next ones (``share_of``), so that it delivers all the time:

    tile        0    1    2                        0    1    2
    memory   [=======]              rather than [==============]     the first tile waits: it asks for more than arrives while
    sums       [---][--][--]                    [--][--][--]         it runs, the others ask for nothing, and memory rests

The numbers of rows and vectors are constants wherever ``kuiper_tile_of`` is expanded, so its loops unroll and its sums are
registers; ``tile`` picks the expansion. As plain loops the same code depends on the optimiser's mood: between 6 and 131
GFLOP/s were seen for one tile on AVX2.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 2008; M. Dukhan, "The Indirect
Convolution Algorithm", 2019 (the pointers).
"""

from kuiper.simd.vector cimport LANES, REGISTERS

cdef extern from "kuiper/engine/tile.h":
    enum:
        ROWS_1
        ROWS_2
        ROWS_3
        ROWS_4
        MAX_ROWS
        MAX_VECTORS
        LINE_BYTES

    ctypedef struct TileWork "kuiper_tile_work":
        Py_ssize_t taps, depth
        const float* weights
        const float* bias
        Py_ssize_t in_channel, out_channel
        const void* ahead
        Py_ssize_t ahead_bytes
        bint clamps
        float low, high

    # Fill ``out[row]`` from its out_channel on (vectors * LANES floats each). pointers: [taps][rows];
    # residual: [rows], or NULL if there is none. There are ``max_rows`` at most.
    void tile "kuiper_tile"(
        int rows, int vectors, const TileWork* work, const float** pointers, const float** residual, float** out
    ) noexcept nogil


cdef inline Py_ssize_t share_of(int vectors, Py_ssize_t tiles) noexcept nogil:
    """``ahead_bytes`` for this many tiles, which together ask for as many weights as each of them reads.

    A tile of one or two vectors asks for a cache line in each step, at most. To ask for some lines and to leave out others
    between them is worse than not to ask at all: the CPU's own prefetchers do not see through it.
    """
    cdef Py_ssize_t share = (vectors * LANES * <Py_ssize_t> sizeof(float) - 1) // tiles + 1
    return share if vectors > 2 else min(share, <Py_ssize_t> LINE_BYTES)


cdef inline int max_rows(int vectors, Py_ssize_t rows) noexcept nogil:
    """The most rows of a tile where there are this many in all: many take a panel of four vectors by halves."""
    return ROWS_2 if vectors == 4 and rows > ROWS_4 and REGISTERS == 16 else rows_for(vectors)


cdef inline int rows_for(int vectors) noexcept nogil:
    """The most rows that a tile of this many vectors may have."""
    return ROWS_1 if vectors == 1 else ROWS_2 if vectors == 2 else ROWS_3 if vectors == 3 else ROWS_4
