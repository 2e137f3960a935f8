"""The innermost block of the depthwise convolution: some pixels of a row, some vectors of channels; see depthwise.pyx.

Number of pixels, kernel width and stride are constants wherever ``kuiper_depthwise_of`` is expanded, so that its loops unroll
and its sums are registers.
"""

from kuiper.engine.vector cimport vec

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define KUIPER_EACH(i, count) _Pragma("GCC unroll 24") for (int i = 0; i < (count); i++)
    #else
    #define KUIPER_EACH(i, count) for (int i = 0; i < (count); i++)
    #endif
    enum { MOST_PIXELS = 8, MOST_WIDTH = 7 };  /* 8 sums, 7 weights and a column: 16 registers */

    typedef struct {
        Py_ssize_t vectors;                                     /* of channels */
        Py_ssize_t rows, width, stride, dilation;               /* of the kernel; rows only that lie on the image */
        Py_ssize_t first, last;                                 /* the columns that lie on the image */
        Py_ssize_t in_row, in_pixel, out_pixel, residual_pixel;
        Py_ssize_t channels;                                    /* from weight to weight */
        int clips;                                              /* whether some columns do not */
        int clamps;
        float low, high;
    } kuiper_depthwise_row;

    /* width 0: any width, stride and dilation, see ``row`` */
    KUIPER_INLINE void kuiper_depthwise_of(
        const int pixels, const int width, const int stride, const int clips, const kuiper_depthwise_row *row,
        const float *source, const float *weights, const float *bias, const float *residual, float *out
    ) {
        const Py_ssize_t in_pixel = row->in_pixel, out_pixel = row->out_pixel, channels = row->channels;
        for (Py_ssize_t c = 0; c < row->vectors * LANES; c += LANES) {
            kuiper_vec s[MOST_PIXELS];
            const float *x = source + c, *w = weights + c;
            KUIPER_EACH(i, pixels) s[i] = kuiper_load(bias + c);
            for (Py_ssize_t ky = 0; ky < row->rows; ky++, x += row->in_row, w += row->width * channels) {
                if (width) {
                    kuiper_vec tap[MOST_WIDTH];
                    KUIPER_EACH(k, width) tap[k] = kuiper_load(w + k * channels);
                    KUIPER_EACH(j, (pixels - 1) * stride + width) {
                        if (clips && (j < row->first || j >= row->last)) continue;
                        const kuiper_vec column = kuiper_load(x + j * in_pixel);
                        KUIPER_EACH(i, pixels)
                            if (j >= i * stride && j < i * stride + width) s[i] += column * tap[j - i * stride];
                    }
                } else {
                    for (Py_ssize_t k = 0; k < row->width; k++) {
                        const kuiper_vec tap = kuiper_load(w + k * channels);
                        KUIPER_EACH(i, pixels) {
                            const Py_ssize_t j = i * row->stride + k * row->dilation;
                            if (clips && (j < row->first || j >= row->last)) continue;
                            s[i] += kuiper_load(x + j * in_pixel) * tap;
                        }
                    }
                }
            }
            if (residual)
                KUIPER_EACH(i, pixels) s[i] += kuiper_load(residual + c + i * row->residual_pixel);
            if (row->clamps)
                KUIPER_EACH(i, pixels)
                    s[i] = kuiper_at_most(kuiper_at_least(s[i], kuiper_splat(row->low)), kuiper_splat(row->high));
            KUIPER_EACH(i, pixels) kuiper_store(out + c + i * out_pixel, s[i]);
        }
    }

    #define KUIPER_CASE(P, W, S) \\
        case P: \\
            if (row->clips) kuiper_depthwise_of(P, W, S, 1, row, source, weights, bias, residual, out); \\
            else kuiper_depthwise_of(P, W, S, 0, row, source, weights, bias, residual, out); \\
            break;
    #define KUIPER_DEPTHWISE(W, S) \\
        static void kuiper_depthwise_##W##_##S( \\
            int pixels, const kuiper_depthwise_row *row, const float *source, const float *weights, \\
            const float *bias, const float *residual, float *out) { \\
            switch (pixels) { \\
                KUIPER_CASE(1, W, S) KUIPER_CASE(2, W, S) KUIPER_CASE(3, W, S) KUIPER_CASE(4, W, S) \\
                KUIPER_CASE(5, W, S) KUIPER_CASE(6, W, S) KUIPER_CASE(7, W, S) KUIPER_CASE(8, W, S) \\
            } \\
        }
    KUIPER_DEPTHWISE(3, 1) KUIPER_DEPTHWISE(3, 2) KUIPER_DEPTHWISE(5, 1) KUIPER_DEPTHWISE(5, 2)
    KUIPER_DEPTHWISE(7, 1) KUIPER_DEPTHWISE(0, 0)

    typedef void (*kuiper_depthwise_block)(
        int pixels, const kuiper_depthwise_row *row, const float *source, const float *weights, const float *bias,
        const float *residual, float *out);
    static kuiper_depthwise_block kuiper_depthwise_for(Py_ssize_t width, Py_ssize_t stride, Py_ssize_t dilation) {
        if (dilation != 1) return kuiper_depthwise_0_0;
        if (width == 3 && stride <= 2) return stride == 1 ? kuiper_depthwise_3_1 : kuiper_depthwise_3_2;
        if (width == 5 && stride <= 2) return stride == 1 ? kuiper_depthwise_5_1 : kuiper_depthwise_5_2;
        if (width == 7 && stride == 1) return kuiper_depthwise_7_1;
        return kuiper_depthwise_0_0;
    }
    """
    enum:
        MOST_PIXELS

    ctypedef struct Row "kuiper_depthwise_row":
        Py_ssize_t vectors, rows, width, stride, dilation, first, last
        Py_ssize_t in_row, in_pixel, out_pixel, residual_pixel, channels
        bint clips, clamps
        float low, high

    # Fill some vectors of channels of ``pixels`` neighbours in a row; ``source`` is under the first tap of the first.
    ctypedef void (*Block "kuiper_depthwise_block")(
        int pixels, const Row* row, const float* source, const float* weights, const float* bias, const float* residual,
        float* out
    ) noexcept nogil
    Block block_for "kuiper_depthwise_for"(Py_ssize_t width, Py_ssize_t stride, Py_ssize_t dilation) noexcept nogil
