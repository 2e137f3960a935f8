"""The tile of few rows with several panels side by side: the queries of one token, and the caches of a session.

A multiply-add takes four cycles, and its sum has to wait so long for the next one. One to four rows times a panel of one
vector are as many sums, where eight could be under way. So panels that lie apart in memory are taken together:

    panel 0   [ w[0] ][ w[1] ] ...         three rows, four panels: twelve sums,
    panel 1   [ w[0] ][ w[1] ] ...         each of the same numbers in the same order as in tile.pxd
    ...

Caches are read from memory, and soon: while some panels are multiplied, those that come after them are asked for, line by line.
"""

cdef extern from "kuiper/engine/thin_tile.h":
    enum:
        THIN_VECTORS
        THIN_ROWS  # at most
        THIN_PANELS  # that are taken together; 1 or none: a panel is several vectors of this build, sums enough for tile.pxd

    # out[row] (THIN_PANELS * 16) = x[row] (depth) times the panels (depth, 16) from w on, ``panel`` floats apart; of each of
    # THIN_PANELS places ``ahead``, ``depth`` cache lines are asked for
    void thin_tile "kuiper_thin_tile"(
        int rows, const float* w, Py_ssize_t panel, Py_ssize_t depth, const float** ahead, const float** x, float** out
    ) noexcept nogil
