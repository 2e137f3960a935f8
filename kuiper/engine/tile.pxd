"""The tile: the innermost loop of every product in the engine, for convolutions, matrix products and Winograd alike.

A product of ``rows`` numbers (one from each of so many pixels) with ``vectors`` registers of weights needs rows + vectors
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

from kuiper.engine.vector cimport LANES, vec

cdef extern from *:
    """
    /* Vector registers of the build. */
    #if defined(__AVX512F__) || defined(__aarch64__)
    enum { REGISTERS = 32 };
    #else
    enum { REGISTERS = 16 };
    #endif
    enum { MAX_ROWS = 12, MAX_VECTORS = 4 };
    enum { LINE_BYTES = 64 };  /* of a cache line */

    /* The most rows for 1, 2, 3 and 4 vectors. Beside the sums a register for each vector of weights is needed, one for
       the number, and one to spare: without it, gcc reads the weights again for each row. On ARM each row has a register
       for four of its numbers instead, see below. More than MAX_ROWS pointers do not fit the other registers. */
    #if defined(__aarch64__)
    #define KUIPER_FITTING(V) ((REGISTERS - (V)) / ((V) + 1))
    #else
    #define KUIPER_FITTING(V) ((REGISTERS - 2 - (V)) / (V))
    #endif
    #define KUIPER_ROWS(V) (KUIPER_FITTING(V) < MAX_ROWS ? KUIPER_FITTING(V) : MAX_ROWS)
    enum { ROWS_1 = KUIPER_ROWS(1), ROWS_2 = KUIPER_ROWS(2), ROWS_3 = KUIPER_ROWS(3), ROWS_4 = KUIPER_ROWS(4) };

    typedef struct {
        Py_ssize_t taps, depth;      /* how many positions, and how many numbers under each */
        const float *weights;        /* [taps][depth][vectors * LANES] */
        const float *bias;           /* [vectors * LANES] */
        Py_ssize_t in_channel, out_channel;  /* where in a pixel its numbers begin */
        const void *ahead;           /* what will be read next */
        Py_ssize_t ahead_bytes;      /* of it, what each step asks for: as share_of has it, or less */
        int clamps;
        float low, high;             /* if it clamps */
    } kuiper_tile_work;

    /* gcc for ARM (for x86 it does not) moves loads ahead before it hands out registers, until the sums no longer fit. */
    #if defined(__ARM_NEON) && defined(__GNUC__) && !defined(__clang__)
    #define KUIPER_TILE static __attribute__((optimize("no-schedule-insns")))
    #else
    #define KUIPER_TILE static
    #endif

    KUIPER_INLINE void kuiper_tile_of(
        const int rows, const int vectors, const kuiper_tile_work *work,
        const float *const *pointers, const float *const *residual, float *const *out
    ) {
        kuiper_vec s[MAX_ROWS][MAX_VECTORS];
        const float *w = work->weights;
        const char *ahead = (const char *)work->ahead;
        const Py_ssize_t ahead_bytes = work->ahead_bytes;
        KUIPER_UNROLL for (int i = 0; i < rows; i++)
            KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                s[i][v] = kuiper_load(work->bias + v * LANES);
        for (Py_ssize_t tap = 0; tap < work->taps; tap++, pointers += rows) {
            const float *x[MAX_ROWS];
            KUIPER_UNROLL for (int i = 0; i < rows; i++) x[i] = pointers[i] + work->in_channel;
            Py_ssize_t c = 0;
            #if defined(KUIPER_VECTORS) && defined(__ARM_NEON)
            /* A multiply-add may take one of its factors from any lane of a register: one load for four numbers of a row. */
            for (; c + LANES <= work->depth; c += LANES, ahead += LANES * ahead_bytes) {
                KUIPER_UNROLL for (int v = 0; v < vectors; v++) KUIPER_PREFETCH(ahead + LINE_BYTES * v); /* or more than asked */
                kuiper_vec a[MAX_ROWS];
                KUIPER_UNROLL for (int i = 0; i < rows; i++) a[i] = kuiper_load(x[i] + c);
                KUIPER_UNROLL for (int lane = 0; lane < LANES; lane++, w += vectors * LANES) {
                    kuiper_vec b[MAX_VECTORS];
                    KUIPER_UNROLL for (int v = 0; v < vectors; v++) b[v] = kuiper_load(w + v * LANES);
                    KUIPER_UNROLL for (int i = 0; i < rows; i++)
                        KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                            s[i][v] = kuiper_fma(kuiper_splat(a[i][lane]), b[v], s[i][v]);
                }
            }
            #endif
            for (; c < work->depth; c++, w += vectors * LANES, ahead += ahead_bytes) {
                KUIPER_PREFETCH(ahead);
                if (vectors > 2) /* with fewer vectors there are more rows, whose pointers need this loop's registers */
                    for (Py_ssize_t line = LINE_BYTES; line < ahead_bytes; line += LINE_BYTES)
                        KUIPER_PREFETCH(ahead + line);
                kuiper_vec b[MAX_VECTORS];
                KUIPER_UNROLL for (int v = 0; v < vectors; v++) b[v] = kuiper_load(w + v * LANES);
                KUIPER_UNROLL for (int i = 0; i < rows; i++)
                    KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                        s[i][v] = kuiper_fma(kuiper_splat(x[i][c]), b[v], s[i][v]);
            }
        }
        if (residual)
            KUIPER_UNROLL for (int i = 0; i < rows; i++)
                KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                    s[i][v] += kuiper_load(residual[i] + work->out_channel + v * LANES);
        if (work->clamps) {
            const kuiper_vec low = kuiper_splat(work->low), high = kuiper_splat(work->high);
            KUIPER_UNROLL for (int i = 0; i < rows; i++)
                KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                    s[i][v] = kuiper_at_most(kuiper_at_least(s[i][v], low), high);
        }
        KUIPER_UNROLL for (int i = 0; i < rows; i++)
            KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                kuiper_store(out[i] + work->out_channel + v * LANES, s[i][v]);
    }

    #define KUIPER_CASE(R, V) \\
        case R: if (R <= ROWS_##V) kuiper_tile_of(R, V, work, pointers, residual, out); break;
    #define KUIPER_TILES(V) \\
        KUIPER_TILE void kuiper_tile_##V( \\
            int rows, const kuiper_tile_work *work, const float *const *pointers, const float *const *residual, \\
            float *const *out) { \\
            switch (rows) { \\
                KUIPER_CASE(1, V) KUIPER_CASE(2, V) KUIPER_CASE(3, V) KUIPER_CASE(4, V) KUIPER_CASE(5, V) \\
                KUIPER_CASE(6, V) KUIPER_CASE(7, V) KUIPER_CASE(8, V) KUIPER_CASE(9, V) KUIPER_CASE(10, V) \\
                KUIPER_CASE(11, V) KUIPER_CASE(12, V) \\
            } \\
        }
    KUIPER_TILES(1) KUIPER_TILES(2) KUIPER_TILES(3) KUIPER_TILES(4)

    static inline void kuiper_tile(int rows, int vectors, const kuiper_tile_work *work, const float *const *pointers,
                                   const float *const *residual, float *const *out) {
        switch (vectors) {
            case 1: kuiper_tile_1(rows, work, pointers, residual, out); break;
            case 2: kuiper_tile_2(rows, work, pointers, residual, out); break;
            case 3: kuiper_tile_3(rows, work, pointers, residual, out); break;
            case 4: kuiper_tile_4(rows, work, pointers, residual, out); break;
        }
    }
    """
    enum:
        REGISTERS
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
    # residual: [rows], or NULL if there is none.
    void tile "kuiper_tile"(
        int rows, int vectors, const TileWork* work, const float** pointers, const float** residual, float** out
    ) noexcept nogil


cdef inline Py_ssize_t share_of(int vectors, Py_ssize_t tiles) noexcept nogil:
    """``ahead_bytes`` for so many tiles, which together ask for as many weights as each of them reads.

    A tile of one or two vectors asks for a cache line in each step, at most. To ask for some lines and to leave out others
    between them is worse than not to ask at all: the CPU's own prefetchers do not see through it.
    """
    cdef Py_ssize_t share = (vectors * LANES * <Py_ssize_t> sizeof(float) - 1) // tiles + 1
    return share if vectors > 2 else min(share, <Py_ssize_t> LINE_BYTES)


cdef inline int rows_for(int vectors) noexcept nogil:
    """The most rows that a tile of so many vectors may have."""
    return ROWS_1 if vectors == 1 else ROWS_2 if vectors == 2 else ROWS_3 if vectors == 3 else ROWS_4
