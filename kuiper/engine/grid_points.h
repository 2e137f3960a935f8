/* See grid_points.pxd, which explains it. */
#ifndef KUIPER_ENGINE_GRID_POINTS_H
#define KUIPER_ENGINE_GRID_POINTS_H

#include "kuiper/simd/vector.h"

#include <string.h>
enum { SAMPLES = 64 }; /* points of a block */
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
#if defined(KUIPER_VECTORS)
typedef kuiper_ints kuiper_wholes;
/* From 2**23 on a float has no fraction; beyond that the integer would not fit, either. */
KUIPER_INLINE kuiper_vec kuiper_floor(kuiper_vec x) {
    const kuiper_vec near = __builtin_convertvector(__builtin_convertvector(x, kuiper_ints), kuiper_vec);
    const kuiper_vec most = kuiper_splat(8388608), down = KUIPER_CHOOSE(near > x, near - kuiper_splat(1), near);
    return KUIPER_CHOOSE((x < most) & (x > -most), down, x);
}
KUIPER_INLINE kuiper_wholes kuiper_to_wholes(kuiper_vec x) { return __builtin_convertvector(x, kuiper_ints); }
#define KUIPER_WHOLE_OR(mask, x, y) (((mask) & (x)) | (~(mask) & (y)))
#else
typedef int kuiper_wholes;
KUIPER_INLINE kuiper_vec kuiper_floor(kuiper_vec x) { return floorf(x); }
KUIPER_INLINE kuiper_wholes kuiper_to_wholes(kuiper_vec x) { return x > -1e9f && x < 1e9f ? (int)x : -1; }
#define KUIPER_WHOLE_OR(mask, x, y) ((mask) ? (x) : (y))
#endif
typedef struct {
    float scale, shift;       /* place = (coordinate + 1) * scale - shift */
    float low, span, highest; /* of the reflection; the last pixel */
    int padding, size;
} kuiper_axis;

KUIPER_INLINE kuiper_vec kuiper_inside(kuiper_vec x, const kuiper_axis *axis) {
    if (axis->padding == PAD_ZEROS) return x;
    const kuiper_vec zero = kuiper_splat(0), highest = kuiper_splat(axis->highest);
    if (axis->padding == PAD_REFLECTION) {
        const kuiper_vec low = kuiper_splat(axis->low), span = kuiper_splat(axis->span);
        kuiper_vec away = x - low;
        away = KUIPER_CHOOSE(away < zero, -away, away);
        const kuiper_vec flips = kuiper_floor(away / span), half = kuiper_splat(0.5f);
        const kuiper_vec rest = kuiper_fnma(flips, span, away);
        const kuiper_vec even = kuiper_floor(flips * half) * kuiper_splat(2);
        x = KUIPER_CHOOSE(even == flips, rest, span - rest) + low;
    }
    x = KUIPER_CHOOSE(x > zero, x, zero); /* NaN, too */
    return KUIPER_CHOOSE(x < highest, x, highest);
}

/* Places on an axis of a block of points. */
static void kuiper_places(const float *grid, int points, const kuiper_axis *axis, float *x) {
    for (int p = 0; p < points; p++) x[p] = grid[2 * p] + 1.0f;
    for (int p = points; p < (points + LANES - 1) / LANES * LANES; p++) x[p] = 0;
    for (int p = 0; p < points; p += LANES) {
        const kuiper_vec scaled = kuiper_load(x + p) * kuiper_splat(axis->scale); /* rounded here, as the layer does */
        kuiper_store(x + p, kuiper_inside(scaled - kuiper_splat(axis->shift), axis));
    }
}

#define KUIPER_EXISTS(pixel, size) (((pixel) >= kuiper_splat(0)) & ((pixel) < kuiper_splat((float)(size))))

/* indices [4][SAMPLES] and weights [4][SAMPLES] of the pixels around the places x, y. */
static void kuiper_taps(const float *x, const float *y, int points, const kuiper_axis *columns, const kuiper_axis *rows,
                        int *indices, float *weights) {
    const kuiper_vec one = kuiper_splat(1);
    for (int p = 0; p < points; p += LANES) {
        const kuiper_vec at_x = kuiper_load(x + p), at_y = kuiper_load(y + p);
        const kuiper_vec left = kuiper_floor(at_x), top = kuiper_floor(at_y);
        const kuiper_vec right = left + one, bottom = top + one;
        const kuiper_vec of_right = at_x - left, of_left = right - at_x, of_bottom = at_y - top, of_top = bottom - at_y;
        const kuiper_wholes column = kuiper_to_wholes(left), row = kuiper_to_wholes(top);
        const kuiper_wholes first = row * columns->size + column, none = first * 0 - 1;
        const kuiper_wholes has_left = KUIPER_EXISTS(left, columns->size), has_top = KUIPER_EXISTS(top, rows->size);
        const kuiper_wholes has_right = KUIPER_EXISTS(right, columns->size);
        const kuiper_wholes has_bottom = KUIPER_EXISTS(bottom, rows->size);
        const kuiper_wholes found[4] = {
            KUIPER_WHOLE_OR(has_top & has_left, first, none),
            KUIPER_WHOLE_OR(has_top & has_right, first + 1, none),
            KUIPER_WHOLE_OR(has_bottom & has_left, first + columns->size, none),
            KUIPER_WHOLE_OR(has_bottom & has_right, first + columns->size + 1, none),
        };
        for (int tap = 0; tap < 4; tap++) memcpy(indices + tap * SAMPLES + p, &found[tap], sizeof found[tap]);
        kuiper_store(weights + p, of_left * of_top);
        kuiper_store(weights + SAMPLES + p, of_right * of_top);
        kuiper_store(weights + 2 * SAMPLES + p, of_left * of_bottom);
        kuiper_store(weights + 3 * SAMPLES + p, of_right * of_bottom);
    }
}

/* The same for the nearest pixel: indices [SAMPLES]. */
static void kuiper_nearest(const float *x, const float *y, int points, const kuiper_axis *columns, const kuiper_axis *rows,
                           int *indices) {
    const kuiper_vec shift = kuiper_splat(12582912); /* a sum with it has no fraction: it is rounded to even */
    for (int p = 0; p < points; p += LANES) {
        const kuiper_vec column = (kuiper_load(x + p) + shift) - shift, row = (kuiper_load(y + p) + shift) - shift;
        const kuiper_wholes exists = KUIPER_EXISTS(column, columns->size) & KUIPER_EXISTS(row, rows->size);
        const kuiper_wholes index = kuiper_to_wholes(row) * columns->size + kuiper_to_wholes(column);
        const kuiper_wholes found = KUIPER_WHOLE_OR(exists, index, index * 0 - 1);
        memcpy(indices + p, &found, sizeof found);
    }
}

/* Where the pixels lie, in floats from the first one; those outside at ``zeros``. Without a branch: nobody could foresee
   it. */
static void kuiper_offsets(const int *indices, int points, Py_ssize_t pixel, Py_ssize_t zeros, Py_ssize_t *offsets) {
    for (int p = 0; p < points; p++) {
        const Py_ssize_t outside = -(Py_ssize_t)(indices[p] < 0);
        offsets[p] = (zeros & outside) | ((indices[p] * pixel) & ~outside);
    }
}

/* Sums of up to four channels, [points][4]. */
static void kuiper_sum_quads(const float *source, const Py_ssize_t *offsets, const float *weights, int taps, int points,
                             float *restrict out) {
    for (int p = 0; p < points; p++) {
        kuiper_four sum = kuiper_load_four(source + offsets[p]);
        if (taps > 1) {
            sum = kuiper_scaled_four(sum, weights[p]);
            for (int tap = 1; tap < 4; tap++)
                sum = kuiper_fma_four(weights[tap * SAMPLES + p], kuiper_load_four(source + offsets[tap * SAMPLES + p]), sum);
        }
        kuiper_store_four(out + 4 * p, sum);
    }
}
static void kuiper_by_planes(const float *restrict sums, int points, Py_ssize_t channels, float *restrict out,
                             Py_ssize_t plane) {
    for (Py_ssize_t c = 0; c < channels; c++, out += plane)
        for (int p = 0; p < points; p++) out[p] = sums[4 * p + c];
}

#endif
