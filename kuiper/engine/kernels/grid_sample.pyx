"""Channels-last images read at any points: each output is a weighted sum of the pixels around its point.

    grid (x, y)  --->  place on the image  --->  up to four pixels and what they count  --->  their sum, for all channels

The places of BLOCK points are found first, LANES at a time: each gets the indices of its pixels, -1 for one that lies
outside, and their weights. Then the pixels are read, a point at a time: all channels of a pixel are neighbours. One that
lies outside is read from a row of zeros.

    first = floor(x)      first     first + 1        weights  first + 1 - x,  x - first       of two axes: the four products
                            |---x------|

An image of up to four channels would fill few lanes of a vector. Its pixels are read four numbers at a time, and the output
is written by planes, as such images mostly come and go.

Places that are no number give NaN. Where a padding other than zeros is asked for, they are 0.

Source: torch.nn.functional.grid_sample.
"""

from kuiper.engine.step cimport Memory, Step
from kuiper.engine.vector cimport LANES, load, splat, store, vec

cdef extern from *:
    """
    #include <string.h>
    enum { SAMPLES = 64 };  /* points of a block */
    enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };
    #if defined(KUIPER_VECTORS)
      typedef kuiper_ints kuiper_wholes;
      /* From 2**23 on a float has no fraction; beyond that the whole number would not fit, either. */
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
    #if defined(__GNUC__)
      /* The product is rounded before something is subtracted from it, as everywhere else. */
      #define KUIPER_ROUNDED() __asm__ volatile("" ::: "memory")
    #else
      #define KUIPER_ROUNDED()
    #endif

    typedef struct {
        float scale, shift;       /* place = (coordinate + 1) * scale - shift */
        float low, span, highest;  /* of the reflection; the last pixel */
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
            const kuiper_vec rest = away - flips * span;
            const kuiper_vec even = kuiper_floor(flips * half) * kuiper_splat(2);
            x = KUIPER_CHOOSE(even == flips, rest, span - rest) + low;
        }
        x = KUIPER_CHOOSE(x > zero, x, zero);  /* NaN, too */
        return KUIPER_CHOOSE(x < highest, x, highest);
    }

    /* Places on an axis of a block of points. */
    static void kuiper_places(const float *grid, int points, const kuiper_axis *axis, float *x) {
        for (int p = 0; p < points; p++) x[p] = grid[2 * p] + 1.0f;
        for (int p = points; p < (points + LANES - 1) / LANES * LANES; p++) x[p] = 0;
        for (int p = 0; p < points; p += LANES) kuiper_store(x + p, kuiper_load(x + p) * kuiper_splat(axis->scale));
        KUIPER_ROUNDED();
        for (int p = 0; p < points; p += LANES)
            kuiper_store(x + p, kuiper_inside(kuiper_load(x + p) - kuiper_splat(axis->shift), axis));
    }

    #define KUIPER_EXISTS(pixel, size) (((pixel) >= kuiper_splat(0)) & ((pixel) < kuiper_splat((float)(size))))

    /* indices [4][SAMPLES] and weights [4][SAMPLES] of the pixels around the places x, y. */
    static void kuiper_taps(const float *x, const float *y, int points, const kuiper_axis *columns,
                            const kuiper_axis *rows, int *indices, float *weights) {
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
    static void kuiper_nearest(const float *x, const float *y, int points, const kuiper_axis *columns,
                               const kuiper_axis *rows, int *indices) {
        const kuiper_vec shift = kuiper_splat(12582912);  /* a sum with it has no fraction: it is rounded to even */
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

    #if defined(KUIPER_VECTORS)
      typedef float kuiper_quad __attribute__((vector_size(16), aligned(4), may_alias));
      #define KUIPER_QUADS 1
    #else
      typedef float kuiper_quad;
      #define KUIPER_QUADS 4
    #endif
    /* Sums of up to four channels, [points][4]. */
    static void kuiper_sum_quads(const float *source, const Py_ssize_t *offsets, const float *weights, int taps,
                                 int points, float *restrict out) {
        for (int p = 0; p < points; p++)
            for (int i = 0; i < KUIPER_QUADS; i++) {
                kuiper_quad sum = *(const kuiper_quad *)(source + offsets[p] + i);
                if (taps > 1) {
                    sum *= weights[p];
                    for (int tap = 1; tap < 4; tap++)
                        sum += weights[tap * SAMPLES + p] * *(const kuiper_quad *)(source + offsets[tap * SAMPLES + p] + i);
                }
                *(kuiper_quad *)(out + 4 * p + i) = sum;
            }
    }
    static void kuiper_by_planes(const float *restrict sums, int points, Py_ssize_t channels, float *restrict out,
                                 Py_ssize_t plane) {
        for (Py_ssize_t c = 0; c < channels; c++, out += plane)
            for (int p = 0; p < points; p++) out[p] = sums[4 * p + c];
    }
    """
    enum:
        SAMPLES
        PAD_ZEROS
        PAD_BORDER
        PAD_REFLECTION

    ctypedef struct Axis "kuiper_axis":
        float scale, shift, low, span, highest
        int padding, size

    void places "kuiper_places"(const float* grid, int points, const Axis* axis, float* x) noexcept nogil
    void taps "kuiper_taps"(
        const float* x, const float* y, int points, const Axis* columns, const Axis* rows, int* indices, float* weights
    ) noexcept nogil
    void nearest "kuiper_nearest"(
        const float* x, const float* y, int points, const Axis* columns, const Axis* rows, int* indices
    ) noexcept nogil
    void find_offsets "kuiper_offsets"(
        const int* indices, int points, Py_ssize_t pixel, Py_ssize_t zeros, Py_ssize_t* offsets
    ) noexcept nogil
    void sum_quads "kuiper_sum_quads"(
        const float* source, const Py_ssize_t* offsets, const float* weights, int taps, int points, float* out
    ) noexcept nogil
    void by_planes "kuiper_by_planes"(
        const float* sums, int points, Py_ssize_t channels, float* out, Py_ssize_t plane
    ) noexcept nogil

PADDINGS = {"zeros": PAD_ZEROS, "border": PAD_BORDER, "reflection": PAD_REFLECTION}

cdef enum:
    TASK_BLOCKS = 8  # of points: some microseconds

cdef struct Geometry:
    Py_ssize_t images, points, channels  # points: of each image
    Py_ssize_t source, in_image, in_pixel  # offsets into the arena, in floats
    Py_ssize_t grid, grid_image
    Py_ssize_t target, out_image, out_pixel, out_plane  # out_plane: 0 if channels are neighbours
    Py_ssize_t zeros
    int taps  # 1 or 4

cdef struct Work:
    Geometry geometry
    Axis rows, columns
    Py_ssize_t blocks  # tasks of each image


cdef class GridSample(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry, ``rows`` and ``columns`` those of an Axis.

    The output has its channels side by side, or, with up to four of them and an ``out_plane``, its points.
    """

    cdef Work work

    def __init__(self, dict numbers, dict rows, dict columns):
        cdef Work* w = &self.work
        w.geometry, w.rows, w.columns = numbers, rows, columns
        w.blocks = (w.geometry.points + TASK_BLOCKS * SAMPLES - 1) // (TASK_BLOCKS * SAMPLES)
        self.numbers, self.run = w, sample
        self.tasks = w.geometry.images * w.blocks
        # places on both axes, four indices, weights and numbers of each point, and its offsets
        self.scratch_floats = (2 + 4 + 4 + 4 + 4 * (sizeof(Py_ssize_t) // sizeof(float))) * SAMPLES


cdef void sample(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some points of one image."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t image = task // w.blocks, first = task % w.blocks * TASK_BLOCKS * SAMPLES
    cdef Py_ssize_t end = min(first + TASK_BLOCKS * SAMPLES, g.points), place = g.out_pixel
    if g.out_plane:
        place = 1
    while first < end:
        sample_block(
            w, memory.arena + g.source + image * g.in_image, memory.arena + g.zeros,
            memory.arena + g.grid + image * g.grid_image + 2 * first, <int> min(SAMPLES, end - first),
            memory.scratch, memory.arena + g.target + image * g.out_image + first * place,
        )
        first += SAMPLES


cdef void sample_block(
    const Work* w, const float* source, const float* zeros, const float* grid, int points, float* scratch, float* out
) noexcept nogil:
    """Up to SAMPLES points."""
    cdef const Geometry* g = &w.geometry
    cdef float* weights = scratch + 2 * SAMPLES
    cdef float* sums = weights + 4 * SAMPLES
    cdef int* indices = <int*> (sums + 4 * SAMPLES)
    cdef Py_ssize_t* offsets = <Py_ssize_t*> (indices + 4 * SAMPLES)
    cdef int tap, p
    places(grid, points, &w.columns, scratch)
    places(grid + 1, points, &w.rows, scratch + SAMPLES)
    if g.taps == 1:
        nearest(scratch, scratch + SAMPLES, points, &w.columns, &w.rows, indices)
    else:
        taps(scratch, scratch + SAMPLES, points, &w.columns, &w.rows, indices, weights)
    for tap in range(g.taps):
        find_offsets(indices + tap * SAMPLES, points, g.in_pixel, zeros - source, offsets + tap * SAMPLES)
    if g.out_plane:
        sum_quads(source, offsets, weights, g.taps, points, sums)
        by_planes(sums, points, g.channels, out, g.out_plane)
    else:
        for p in range(points):
            sum_pixels(source, offsets + p, weights + p, g.taps, (g.channels + LANES - 1) // LANES, out + p * g.out_pixel)


cdef inline void sum_pixels(
    const float* source, const Py_ssize_t* offsets, const float* weights, int count, Py_ssize_t vectors, float* out
) noexcept nogil:
    """One point: the weighted sum of its pixels, or its only one."""
    cdef const float* first = source + offsets[0]
    cdef const float* second
    cdef const float* third
    cdef const float* fourth
    cdef Py_ssize_t i
    cdef vec a, b, c, d
    if count == 1:
        for i in range(vectors):
            store(out + i * LANES, load(first + i * LANES))
        return
    second, third = source + offsets[SAMPLES], source + offsets[2 * SAMPLES]
    fourth = source + offsets[3 * SAMPLES]
    a, b, c, d = splat(weights[0]), splat(weights[SAMPLES]), splat(weights[2 * SAMPLES]), splat(weights[3 * SAMPLES])
    for i in range(vectors):
        store(
            out + i * LANES,
            a * load(first + i * LANES) + b * load(second + i * LANES)
            + c * load(third + i * LANES) + d * load(fourth + i * LANES),
        )
