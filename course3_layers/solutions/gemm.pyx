"""Exercise 3.8: a matrix product in tiles that fit the processor's registers.

The plain product takes two numbers from memory for every multiplication:

    c[row, column] = sum over i of a[row, i] * b[i, column]              a (m, k)   b (k, n)   c (m, n)

Computing is fast, fetching is slow. So compute a tile of 4 x 8 numbers of c at once: one column of 4 numbers of a and
one row of 8 numbers of b are 12 numbers to fetch, and they serve 32 multiplications. The 32 sums wait in registers.

                 8 numbers of b                 a_panel (k, 4)          b_panel (k, 8)
               +-----------------+
    4     +--+ | . . . . . . . . |              step 0:   4 numbers     8 numbers      all 32 products
    of    |  | | .   32 sums   . |              step 1:   4 numbers     8 numbers      are added
    a     |  | | . . . . . . . . |              ...                                    to the 32 sums
          +--+ +-----------------+              step k - 1

Before that, a and b are packed: copied into panels, so that the numbers of one step lie side by side in memory, and the
steps one after the other. Where the matrix ends within a panel, it is filled up with 0. (A product with m = 6 rows
needs two panels of a: rows 0 to 3, and rows 4, 5 with two rows of zeros.) Zeros that are multiplied do no harm, as long
as what they make is not stored.

    a (3, 2)        one panel of a (2, 4)         b (2, 9)                            two panels of b (2, 8)

    1 2             1  3  5  0                     1  2  3  4  5  6  7  8  9           1  2  3  4  5  6  7  8
    3 4             2  4  6  0                    11 12 13 14 15 16 17 18 19          11 12 13 14 15 16 17 18
    5 6
                                                                                       9  0  0  0  0  0  0  0
                                                                                      19  0  0  0  0  0  0  0

Whoever calls has made room for everything, and the shapes fit. All room holds old numbers: write every place.
``::1`` promises that neighbours along the last axis touch; the compiler then fetches several numbers at once.
"""

cdef enum:
    ROWS = 4        # of a tile, and numbers of a in each step
    COLUMNS = 8     # of a tile, and numbers of b in each step


def pack_a(const float[:, :] a, float[:, :, ::1] panels):
    """Fill ``panels`` (panels, k, 4) from ``a`` (m, k); there are as many panels as m rows need.

    Row 4 * p + r of ``a`` becomes column r of panel p.

    >>> import numpy as np
    >>> a, panels = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.full((1, 2, 4), -1, np.float32)
    >>> pack_a(a, panels)
    >>> panels.astype(int).tolist()
    [[[1, 3, 5, 0], [2, 4, 6, 0]]]
    """
    cdef Py_ssize_t p, i, r, row
    # BEGIN SOLUTION
    for p in range(panels.shape[0]):
        for i in range(panels.shape[1]):
            for r in range(ROWS):
                row = p * ROWS + r
                panels[p, i, r] = a[row, i] if row < a.shape[0] else 0
    # END SOLUTION


def pack_b(const float[:, :] b, float[:, :, ::1] panels):
    """Fill ``panels`` (panels, k, 8) from ``b`` (k, n); there are as many panels as n columns need.

    Column 8 * p + s of ``b`` becomes column s of panel p.

    >>> import numpy as np
    >>> b, panels = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.full((1, 2, 8), -1, np.float32)
    >>> pack_b(b, panels)
    >>> panels.astype(int).tolist()
    [[[1, 2, 3, 0, 0, 0, 0, 0], [4, 5, 6, 0, 0, 0, 0, 0]]]
    """
    cdef Py_ssize_t p, i, s, column
    # BEGIN SOLUTION
    for p in range(panels.shape[0]):
        for i in range(panels.shape[1]):
            for s in range(COLUMNS):
                column = p * COLUMNS + s
                panels[p, i, s] = b[i, column] if column < b.shape[1] else 0
    # END SOLUTION


cpdef tile(float[:, ::1] a_panel, float[:, ::1] b_panel, float[:, :] c):
    """Fill ``c``, a tile of at most 4 x 8: ``a_panel`` (k, 4), turned to (4, k), times ``b_panel`` (k, 8).

    Number (r, s) of the tile is the sum over all steps i of a_panel[i, r] times b_panel[i, s]. At the edges of the
    whole matrix ``c`` has fewer rows or columns: only those are stored. All 32 sums are computed nevertheless; loops
    whose lengths are known to the compiler become a handful of instructions.

    >>> import numpy as np
    >>> a_panel, b_panel = np.array([[1, 3, 5, 0], [2, 4, 6, 0]], np.float32), np.zeros((2, 8), np.float32)
    >>> b_panel[:, :2] = [[10, 1], [100, -1]]
    >>> c = np.zeros((3, 2), np.float32)
    >>> tile(a_panel, b_panel, c)
    >>> c.astype(int).tolist()
    [[210, -1], [430, -1], [650, -1]]
    """
    cdef float[ROWS][COLUMNS] sums
    cdef Py_ssize_t i, r, s
    # BEGIN SOLUTION
    for r in range(ROWS):
        for s in range(COLUMNS):
            sums[r][s] = 0
    for i in range(a_panel.shape[0]):
        for r in range(ROWS):
            for s in range(COLUMNS):
                sums[r][s] += a_panel[i, r] * b_panel[i, s]
    for r in range(c.shape[0]):
        for s in range(c.shape[1]):
            c[r, s] = sums[r][s]
    # END SOLUTION


def gemm(
    const float[:, :] a, const float[:, :] b, float[:, :] c, float[:, :, ::1] a_panels, float[:, :, ::1] b_panels
):
    """Fill ``c`` (m, n) with the product of ``a`` (m, k) and ``b`` (k, n), tile by tile.

    First ``a_panels`` and ``b_panels`` are packed; then every tile of ``c`` is filled from a panel of each. A part of a
    memoryview is cut out with a slice, as in NumPy, and costs no copy; a slice that goes beyond the end stops there.

    >>> import numpy as np
    >>> a, b = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[10, 1], [100, -1]], np.float32)
    >>> c, a_panels, b_panels = (np.zeros(shape, np.float32) for shape in ((3, 2), (1, 2, 4), (1, 2, 8)))
    >>> gemm(a, b, c, a_panels, b_panels)
    >>> c.astype(int).tolist()
    [[210, -1], [430, -1], [650, -1]]
    """
    cdef Py_ssize_t p, q, top, left
    # BEGIN SOLUTION
    pack_a(a, a_panels)
    pack_b(b, b_panels)
    for p in range(a_panels.shape[0]):
        top = p * ROWS
        for q in range(b_panels.shape[0]):
            left = q * COLUMNS
            tile(a_panels[p], b_panels[q], c[top : top + ROWS, left : left + COLUMNS])
    # END SOLUTION
