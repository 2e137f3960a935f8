/* See depthwise_block.pxd, which explains it. */
#ifndef KUIPER_ENGINE_KERNELS_DEPTHWISE_BLOCK_H
#define KUIPER_ENGINE_KERNELS_DEPTHWISE_BLOCK_H

#include "kuiper/simd/vector.h"

#include <string.h>
enum { MAX_PIXELS = 8, MAX_WIDTH = 7 }; /* 8 sums, 7 weights and a column: 16 registers */

typedef struct {
    Py_ssize_t vectors;                       /* of channels */
    Py_ssize_t rows, width, stride, dilation; /* of the kernel; rows only that lie on the image */
    Py_ssize_t first, last;                   /* the columns that lie on the image */
    Py_ssize_t in_row, in_pixel, out_pixel, residual_pixel;
    Py_ssize_t channels;   /* from weight to weight */
    Py_ssize_t own;        /* inputs of each group */
    const int *first_lane; /* of each lane's group */
    int clips;             /* whether some columns do not */
    int clamps;
    float low, high;
} kuiper_depthwise_row;

/* width 0: any width, stride and dilation, see ``row``; groups: of several channels */
KUIPER_INLINE void kuiper_depthwise_of(const int pixels, const int width, const int stride, const int clips, const int groups,
                                       const kuiper_depthwise_row *row, const float *source, const float *weights,
                                       const float *bias, const float *residual, float *out) {
    const Py_ssize_t in_pixel = row->in_pixel, out_pixel = row->out_pixel, channels = row->channels;
    const int own = groups ? (int)row->own : 1;
    kuiper_ints first_lane;
    memcpy(&first_lane, row->first_lane, sizeof first_lane);
    for (Py_ssize_t c = 0; c < row->vectors * LANES; c += LANES) {
        kuiper_vec s[MAX_PIXELS];
        const float *x = source + c, *w = weights + c;
        KUIPER_EACH (i, pixels) s[i] = kuiper_load(bias + c);
        for (Py_ssize_t ky = 0; ky < row->rows; ky++, x += row->in_row)
            for (int d = 0; d < own; d++, w += row->width * channels) {
                const kuiper_ints which = first_lane + d;
                if (width) {
                    kuiper_vec tap[MAX_WIDTH];
                    KUIPER_EACH (k, width) tap[k] = kuiper_load(w + k * channels);
                    KUIPER_EACH (j, (pixels - 1) * stride + width) {
                        if (clips && (j < row->first || j >= row->last)) continue;
                        kuiper_vec column = kuiper_load(x + j * in_pixel);
                        if (groups) column = kuiper_permuted(column, which);
                        KUIPER_EACH (i, pixels)
                            if (j >= i * stride && j < i * stride + width) s[i] = kuiper_fma(column, tap[j - i * stride], s[i]);
                    }
                } else {
                    for (Py_ssize_t k = 0; k < row->width; k++) {
                        const kuiper_vec tap = kuiper_load(w + k * channels);
                        KUIPER_EACH (i, pixels) {
                            const Py_ssize_t j = i * row->stride + k * row->dilation;
                            if (clips && (j < row->first || j >= row->last)) continue;
                            kuiper_vec column = kuiper_load(x + j * in_pixel);
                            if (groups) column = kuiper_permuted(column, which);
                            s[i] = kuiper_fma(column, tap, s[i]);
                        }
                    }
                }
            }
        if (residual)
            KUIPER_EACH (i, pixels) s[i] += kuiper_load(residual + c + i * row->residual_pixel);
        if (row->clamps)
            KUIPER_EACH (i, pixels)
                s[i] = kuiper_at_most(kuiper_at_least(s[i], kuiper_splat(row->low)), kuiper_splat(row->high));
        KUIPER_EACH (i, pixels) kuiper_store(out + c + i * out_pixel, s[i]);
    }
}

/* clang-format off */
/* Rows of two or three pixels are rare: they come one pixel at a time. Kernels of any width always ask where the image ends. */
#define KUIPER_CASE(P, W, S, G) \
    case P: \
        if (row->clips || W == 0) kuiper_depthwise_of(P, W, S, 1, G, row, source, weights, bias, residual, out); \
        else kuiper_depthwise_of(P, W, S, 0, G, row, source, weights, bias, residual, out); \
        break;
#define KUIPER_DEPTHWISE(W, S, G) \
    static void kuiper_depthwise_##W##_##S##_##G(int pixels, const kuiper_depthwise_row *row, const float *source, \
                                                 const float *weights, const float *bias, const float *residual, float *out) { \
        switch (pixels) { \
            KUIPER_CASE(1, W, S, G) KUIPER_CASE(4, W, S, G) KUIPER_CASE(5, W, S, G) \
            KUIPER_CASE(6, W, S, G) KUIPER_CASE(7, W, S, G) KUIPER_CASE(8, W, S, G) \
        } \
    }
/* clang-format on */
KUIPER_DEPTHWISE(3, 1, 0)
KUIPER_DEPTHWISE(3, 2, 0)
KUIPER_DEPTHWISE(5, 1, 0)
KUIPER_DEPTHWISE(5, 2, 0)
KUIPER_DEPTHWISE(7, 1, 0)
KUIPER_DEPTHWISE(0, 0, 0)
KUIPER_DEPTHWISE(3, 1, 1)
KUIPER_DEPTHWISE(3, 2, 1)
KUIPER_DEPTHWISE(0, 0, 1)

typedef void (*kuiper_depthwise_block)(int pixels, const kuiper_depthwise_row *row, const float *source, const float *weights,
                                       const float *bias, const float *residual, float *out);
static kuiper_depthwise_block kuiper_depthwise_for(Py_ssize_t width, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t own) {
    const int groups = own > 1, known = dilation == 1 && stride <= 2;
    if (known && width == 3 && groups) return stride == 1 ? kuiper_depthwise_3_1_1 : kuiper_depthwise_3_2_1;
    if (known && width == 3) return stride == 1 ? kuiper_depthwise_3_1_0 : kuiper_depthwise_3_2_0;
    if (known && width == 5 && !groups) return stride == 1 ? kuiper_depthwise_5_1_0 : kuiper_depthwise_5_2_0;
    if (dilation == 1 && stride == 1 && width == 7 && !groups) return kuiper_depthwise_7_1_0;
    return groups ? kuiper_depthwise_0_0_1 : kuiper_depthwise_0_0_0;
}

#endif
