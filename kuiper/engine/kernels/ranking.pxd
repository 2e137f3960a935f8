"""The largest numbers of a row, and where they are: what topk, max and argmax are made of.

Floats are compared as integers of the same order, their ranks. NaN has the highest of all, and -0 that of 0:

    float    -inf  ...  -1  ...  -0 = 0  ...  1  ...  inf  NaN
    rank      -x   ...  -y  ...    0     ...  y  ...  x   INT_MAX         the bits, and their negative for the sign

For the smallest numbers ranks change their sign: NaN, larger than every number, comes last. But argmin finds a NaN first.

The k best so far stand in a heap whose root is the worst of them. A number that is worse than the root, as nearly all are,
costs one comparison, and these are made STRIDE at a time, as vectors. Rank and index together are one number of 64 bits, so
that of equals the one with the lower index is the better one.

Source: D. Knuth, "The Art of Computer Programming", volume 3, 5.2.3 (heaps).
"""

cdef extern from *:
    """
    #ifndef KUIPER_RANKING
    #define KUIPER_RANKING
    #include <limits.h>
    #include <string.h>
    #include <stdint.h>
    enum { RANKING_STRIDE = 32 };

    /* Without choices: a loop over them becomes vector code. ``turned`` is 0, or -1 for the order of the smallest. */
    static inline int32_t kuiper_ranked(float x, int32_t turned) {
        int32_t bits;
        memcpy(&bits, &x, sizeof bits);
        const int32_t size = bits & INT_MAX, sign = (bits >> 31) ^ turned, is_nan = (0x7f800000 - size) >> 31;
        return (((size ^ sign) - sign) & ~is_nan) | (INT_MAX & is_nan);
    }
    static inline int32_t kuiper_rank(float x) { return kuiper_ranked(x, 0); }
    static inline int32_t kuiper_rank_of_small(float x) { return -kuiper_rank(x); }
    /* For argmin NaN keeps the highest rank. */
    static inline int32_t kuiper_rank_before_small(float x) { return kuiper_ranked(x, -1); }
    #define KUIPER_HIGHEST(NAME, RANK) \\
        static int32_t NAME(const float *x, Py_ssize_t count) { \\
            int32_t highest = INT_MIN; \\
            for (Py_ssize_t i = 0; i < count; i++) { \\
                const int32_t rank = RANK(x[i]); \\
                highest = rank > highest ? rank : highest; \\
            } \\
            return highest; \\
        }
    KUIPER_HIGHEST(kuiper_highest, kuiper_rank)
    KUIPER_HIGHEST(kuiper_highest_of_small, kuiper_rank_of_small)

    KUIPER_HIGHEST(kuiper_highest_before_small, kuiper_rank_before_small)

    static Py_ssize_t kuiper_extreme(const float *x, Py_ssize_t count, int largest) {
        const int32_t highest = largest ? kuiper_highest(x, count) : kuiper_highest_before_small(x, count);
        Py_ssize_t i = 0;
        if (largest) while (kuiper_rank(x[i]) != highest) i++;
        else while (kuiper_rank_before_small(x[i]) != highest) i++;
        return i;
    }

    static inline long long kuiper_entry(int32_t rank, Py_ssize_t index) {
        return (long long)(((uint64_t)(uint32_t)rank << 32) | (uint32_t)~(uint32_t)index);
    }
    /* Put ``entry`` in the place of the root and let it sink to where both below it are better. */
    static inline void kuiper_sink(long long *heap, Py_ssize_t size, Py_ssize_t place, long long entry) {
        for (Py_ssize_t below = 2 * place + 1; below < size; below = 2 * place + 1) {
            if (below + 1 < size && heap[below + 1] < heap[below]) below++;
            if (heap[below] >= entry) break;
            heap[place] = heap[below];
            place = below;
        }
        heap[place] = entry;
    }
    static void kuiper_top(const float *x, Py_ssize_t count, Py_ssize_t k, int largest, long long *heap) {
        Py_ssize_t i;
        for (i = 0; i < k; i++)
            heap[i] = kuiper_entry(largest ? kuiper_rank(x[i]) : kuiper_rank_of_small(x[i]), i);
        for (Py_ssize_t place = k / 2 - 1; place >= 0; place--) kuiper_sink(heap, k, place, heap[place]);
        while (i < count) {
            const Py_ssize_t end = count - i < RANKING_STRIDE ? count : i + RANKING_STRIDE;
            const int32_t highest = largest ? kuiper_highest(x + i, end - i) : kuiper_highest_of_small(x + i, end - i);
            if (highest <= (int32_t)(heap[0] >> 32)) {
                i = end;
                continue;
            }
            for (; i < end; i++) {
                const long long entry = kuiper_entry(largest ? kuiper_rank(x[i]) : kuiper_rank_of_small(x[i]), i);
                if (entry > heap[0]) kuiper_sink(heap, k, 0, entry);
            }
        }
        for (Py_ssize_t size = k - 1; size > 0; size--) {  /* the worst goes to the end */
            const long long worst = heap[0], last = heap[size];
            kuiper_sink(heap, size, 0, last);
            heap[size] = worst;
        }
        for (i = 0; i < k; i++) heap[i] = (long long)(uint32_t)~(uint32_t)heap[i];
    }
    #endif
    """
    # where the first of the largest (else: smallest) numbers is; a NaN beats every number
    Py_ssize_t extreme "kuiper_extreme"(const float* x, Py_ssize_t count, bint largest) noexcept nogil
    # indices of the k largest (else: smallest) of up to 2**32 numbers, in order; NaN is the largest of all. 0 < k <= count
    void top "kuiper_top"(const float* x, Py_ssize_t count, Py_ssize_t k, bint largest, long long* indices) noexcept nogil
