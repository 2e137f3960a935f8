/* See integer_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_INTEGER_FINISH_H
#define KUIPER_ENGINE_INTEGER_FINISH_H

#include "kuiper/engine/byte_rounding.h"

/* What sums become where they are still in registers: floats, times a factor, plus a shift, kept within low and high. Rows have
   room for whole vectors: a call that copies a part of one would drive the sums of the other rows out of their registers. */
typedef struct {
    const float *factor, *shift; /* [vectors * LANES] */
    float low, high;
    float *lows, *highs; /* [LANES], the range of what there was so far; NULL: nobody asks */
    float *const *out;   /* [rows] */
} kuiper_integer_finish;

/* Some rows, the ``first`` of which is not always the first of ``out``. */
KUIPER_INLINE void kuiper_finish_sums(const int rows, const int vectors, const int first, kuiper_ints s[][INTEGER_VECTORS],
                                      const kuiper_integer_finish *finish) {
    const float low = finish->low, high = finish->high;
    kuiper_vec least = kuiper_splat(0), greatest = least;
    if (finish->lows) {
        least = kuiper_load(finish->lows);
        greatest = kuiper_load(finish->highs);
    }
    KUIPER_EACH (v, vectors) {
        const kuiper_vec factor = kuiper_load(finish->factor + v * LANES), shift = kuiper_load(finish->shift + v * LANES);
        KUIPER_EACH (i, rows) {
            const kuiper_vec x = kuiper_of_integers(s[i][v]) * factor;
            const kuiper_vec y = x + shift; /* two roundings, as the two operators of the file have */
            const kuiper_vec kept = kuiper_clamped(y, low, high);
            kuiper_store(finish->out[first + i] + v * LANES, kept);
            if (finish->lows) {
                least = kuiper_at_most(kept, least); /* it may lose a NaN: the greatest keeps it, and one is enough */
                greatest = kuiper_larger(kept, greatest);
            }
        }
    }
    if (finish->lows) {
        kuiper_store(finish->lows, least);
        kuiper_store(finish->highs, greatest);
    }
}

/* Sums as they are, INTEGER_WIDTH for each row; or what is made of them, if ``finish`` is not NULL. */
KUIPER_INLINE void kuiper_hand_over(const int rows, const int vectors, const int first, kuiper_ints s[][INTEGER_VECTORS],
                                    int *out, const kuiper_integer_finish *finish) {
    if (finish) {
        kuiper_finish_sums(rows, vectors, first, s, finish);
        return;
    }
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) memcpy(out + (first + i) * INTEGER_WIDTH + v * LANES, &s[i][v], sizeof s[i][v]);
}

#endif
