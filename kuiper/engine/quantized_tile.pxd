"""The tile of products with weights in 8 or 4 bits: as tile.pxd, but weights become floats on their way into registers.

    panel: [depth][WIDTH] bytes          8 bits: a weight each
           [depth / 2][WIDTH] bytes      4 bits: the weights of two neighbouring inputs, the even one in the lower half

Rows share the conversion: one row is limited by the memory that the weights come from, many rows by arithmetic. The sums
of a group of inputs are multiplied by the group's scales and added to what the output has so far; 8 bits have one group.
"""

from kuiper.engine.vector cimport LANES, vec
from kuiper.engine.tile cimport REGISTERS

cdef extern from *:
    """
    /* Vectors of a panel, and the most rows: all sums in registers, beside the weights, a number of a row and one to
       spare. */
    enum { QUANTIZED_VECTORS = REGISTERS == 32 ? 4 : 2, QUANTIZED_ROWS = 6, QUANTIZED_WIDTH = QUANTIZED_VECTORS * LANES };

    typedef struct {
        Py_ssize_t groups, depth;       /* how many groups of how many inputs; in 4 bits an even number */
        const unsigned char *weights;
        const float *scales;            /* [groups][QUANTIZED_WIDTH] */
        const float *bias;              /* [QUANTIZED_WIDTH] */
    } kuiper_quantized_work;

    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
        /* A permutation looks at four bits of each index: it is a table of 16 floats. */
        const __m512 table = _mm512_set_ps(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0);
        const __m512i both = KUIPER_WIDE(p);
        *even = _mm512_permutexvar_ps(both, table);
        *odd = _mm512_permutexvar_ps(_mm512_srli_epi32(both, 4), table);
    }
    #elif defined(KUIPER_VECTORS) && defined(__AVX2__)
    KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
        const __m256i both = KUIPER_WIDE(p);
        *even = _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(both, 28), 28));
        *odd = _mm256_cvtepi32_ps(_mm256_srai_epi32(both, 4));
    }
    #elif defined(KUIPER_VECTORS) && defined(__ARM_NEON)
    KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
        const int32x4_t both = KUIPER_WIDE(p);
        *even = (kuiper_vec)vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(both, 28), 28));
        *odd = (kuiper_vec)vcvtq_f32_s32(vshrq_n_s32(both, 4));
    }
    #else
    KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
        float low[LANES], high[LANES];
        for (int i = 0; i < LANES; i++) {
            low[i] = (float)((p[i] & 15) - ((p[i] & 8) << 1));
            high[i] = (float)((p[i] >> 4) - ((p[i] & 128) >> 3));
        }
        *even = kuiper_load(low);
        *odd = kuiper_load(high);
    }
    #endif

    /* One row has few sums, each of which waits for the one before: inputs of even and of odd index get their own. With
       more rows, two inputs at a time would need registers for twice as many of their numbers. */
    KUIPER_INLINE void kuiper_quantized_of(
        const int rows, const int bits, const kuiper_quantized_work *work, const float *const *x, float *const *out
    ) {
        const int halves = rows == 1 ? 2 : 1;
        const unsigned char *q = work->weights;
        for (int i = 0; i < rows; i++)
            for (int v = 0; v < QUANTIZED_VECTORS; v++)
                kuiper_store(out[i] + v * LANES, kuiper_load(work->bias + v * LANES));
        for (Py_ssize_t group = 0; group < work->groups; group++) {
            const Py_ssize_t first = group * work->depth, end = first + work->depth;
            kuiper_vec s[2 * QUANTIZED_ROWS][QUANTIZED_VECTORS];
            KUIPER_UNROLL for (int i = 0; i < rows * halves; i++)
                KUIPER_UNROLL for (int v = 0; v < QUANTIZED_VECTORS; v++)
                    s[i][v] = kuiper_splat(0);
            Py_ssize_t c = first;
            for (; (bits == 4 || rows == 1) && c + 1 < end; c += 2, q += bits * QUANTIZED_WIDTH / 4) {
                KUIPER_PREFETCH(q + 1024);
                KUIPER_UNROLL for (int v = 0; v < QUANTIZED_VECTORS; v++) {
                    kuiper_vec even, odd;
                    if (bits == 4) {
                        kuiper_of_halves(q + v * LANES, &even, &odd);
                    } else {
                        even = kuiper_of_bytes(q + v * LANES);
                        odd = kuiper_of_bytes(q + QUANTIZED_WIDTH + v * LANES);
                    }
                    KUIPER_UNROLL for (int i = 0; i < rows; i++) {
                        s[i][v] += x[i][c] * even;
                        s[i + halves - 1][v] += x[i][c + 1] * odd;
                    }
                }
            }
            for (; bits == 8 && c < end; c++, q += QUANTIZED_WIDTH) {
                KUIPER_UNROLL for (int v = 0; v < QUANTIZED_VECTORS; v++) {
                    const kuiper_vec b = kuiper_of_bytes(q + v * LANES);
                    KUIPER_UNROLL for (int i = 0; i < rows; i++) s[i][v] += x[i][c] * b;
                }
            }
            KUIPER_UNROLL for (int i = 0; i < rows; i++)
                KUIPER_UNROLL for (int v = 0; v < QUANTIZED_VECTORS; v++) {
                    kuiper_vec sum = s[i][v];
                    if (halves == 2) sum += s[1][v];
                    const kuiper_vec scale = kuiper_load(work->scales + group * QUANTIZED_WIDTH + v * LANES);
                    kuiper_store(out[i] + v * LANES, kuiper_load(out[i] + v * LANES) + sum * scale);
                }
        }
    }

    #define KUIPER_QUANTIZED_CASE(R, B) case R: kuiper_quantized_of(R, B, work, x, out); break;
    #define KUIPER_QUANTIZED(B) \\
        KUIPER_TILE void kuiper_quantized_##B( \\
            int rows, const kuiper_quantized_work *work, const float *const *x, float *const *out) { \\
            switch (rows) { \\
                KUIPER_QUANTIZED_CASE(1, B) KUIPER_QUANTIZED_CASE(2, B) KUIPER_QUANTIZED_CASE(3, B) \\
                KUIPER_QUANTIZED_CASE(4, B) KUIPER_QUANTIZED_CASE(5, B) KUIPER_QUANTIZED_CASE(6, B) \\
            } \\
        }
    KUIPER_QUANTIZED(8) KUIPER_QUANTIZED(4)
    """
    enum:
        QUANTIZED_VECTORS
        QUANTIZED_ROWS
        QUANTIZED_WIDTH

    ctypedef struct QuantizedWork "kuiper_quantized_work":
        Py_ssize_t groups, depth
        const unsigned char* weights
        const float* scales
        const float* bias

    # out[row] (QUANTIZED_WIDTH floats) = bias + x[row] (groups * depth floats) times the panel
    void tile_8 "kuiper_quantized_8"(int rows, const QuantizedWork* work, const float** x, float** out) noexcept nogil
    void tile_4 "kuiper_quantized_4"(int rows, const QuantizedWork* work, const float** x, float** out) noexcept nogil

    # the halves of LANES bytes, as floats
    void of_halves "kuiper_of_halves"(const unsigned char* p, vec* even, vec* odd) noexcept nogil
