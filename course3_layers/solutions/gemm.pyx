"""Exercise 3.8: a matrix product in tiles that fit the processor's registers.

The plain product takes two numbers from memory for every multiplication:

    c[row, column] = sum over i of a[row, i] * b[i, column]              a (m, k)   b (k, n)   c (m, n)

Computing is fast, fetching is slow. So compute a tile of ROWS x COLUMNS numbers of c at once. In each step i it takes
ROWS numbers of a, and one row of COLUMNS numbers of b, and these serve ROWS * COLUMNS multiplications. All the sums wait
in vector registers: a register holds LANES numbers, and a row of the tile needs VECTORS of them. In this picture
ROWS is 4, LANES is 4 and VECTORS is 2, so that COLUMNS is 8:

                    8 numbers of b              a_panel (k, 4)        b_panel (k, 8)
                 +---------+---------+
    4       +--+ | . . . . | . . . . |          step 0:   4 numbers   8 numbers      all 32 products
    numbers |  | | . . . . | . . . . |          step 1:   4 numbers   8 numbers      are added
    of a    |  | | . . . . | . . . . |          ...                                  to the 32 sums,
            |  | | . . . . | . . . . |          step k - 1                           in 8 registers
            +--+ +---------+---------+

Before that, a and b are packed: copied into panels, so that the numbers of one step lie side by side in memory, and the
steps one after the other. Where the matrix ends within a panel, it is filled up with 0. (With ROWS = 4 a product with
m = 6 rows needs two panels of a: rows 0 to 3, and rows 4, 5 with two rows of zeros.) Zeros that are multiplied do no
harm, as long as what they make is not stored. Again with 4 rows and 8 columns:

    a (3, 2)        one panel of a (2, 4)         b (2, 9)                            two panels of b (2, 8)

    1 2             1  3  5  0                     1  2  3  4  5  6  7  8  9           1  2  3  4  5  6  7  8
    3 4             2  4  6  0                    11 12 13 14 15 16 17 18 19          11 12 13 14 15 16 17 18
    5 6
                                                                                       9  0  0  0  0  0  0  0
                                                                                      19  0  0  0  0  0  0  0

The caller has made all arrays, and their shapes fit. The arrays that you fill hold old numbers: write every place.
``::1`` promises that neighbours along the last axis touch.

A ``vec`` is a vector register as a type (lecture 3c, "A vector register as a type"). ``x * y`` and ``x + y`` of two of
them compute LANES numbers at once, and there are four functions:

    load(&row[s])        a vec of the LANES numbers row[s], row[s + 1], ...
    splat(number)        a vec of LANES times this number
    store(&row[s], x)    writes the LANES numbers of x to row[s], row[s + 1], ...
    fma(x, y, z)         x * y + z, rounded once: one instruction
"""

from kuiper.simd.vector cimport LANES, vec, fma, load, splat, store

cdef extern from *:
    """
    /* The tile that fits the machine. ROWS * VECTORS registers hold sums; some must be left for the numbers of a and b. */
    #if !defined(KUIPER_VECTORS)        /* the compiler has no vector type: a vec is one number, LANES is 1 */
    enum { ROWS = 4, VECTORS = 8 };
    #elif defined(__AVX512F__)          /* 32 registers of 16 numbers */
    enum { ROWS = 6, VECTORS = 4 };
    #elif defined(__AVX__)              /* 16 registers of 8 numbers */
    enum { ROWS = 6, VECTORS = 2 };
    #elif defined(__ARM_NEON)           /* 32 registers of 4 numbers */
    enum { ROWS = 8, VECTORS = 3 };
    #else                               /* 16 registers of 4 numbers */
    enum { ROWS = 4, VECTORS = 2 };
    #endif
    enum { COLUMNS = VECTORS * LANES };
    """
    enum:
        ROWS
        VECTORS
        COLUMNS

TILE_SIZE = ROWS, COLUMNS  # the tests ask for it, and fit any tile of 4 x 8 or more: try others when yours works


def pack_a(const float[:, :] a, float[:, :, ::1] panels):
    """Fill ``panels`` (panels, k, ROWS) from ``a`` (m, k); there are as many panels as m rows need.

    Row ROWS * p + r of ``a`` becomes column r of panel p. What lies beyond the last row of ``a`` becomes 0.

    >>> import numpy as np
    >>> a, panels = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.full((1, 2, TILE_SIZE[0]), -1, np.float32)
    >>> pack_a(a, panels)
    >>> panels[0, :, :4].astype(int).tolist()
    [[1, 3, 5, 0], [2, 4, 6, 0]]
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
    """Fill ``panels`` (panels, k, COLUMNS) from ``b`` (k, n); there are as many panels as n columns need.

    Column COLUMNS * p + s of ``b`` becomes column s of panel p. What lies beyond the last column of ``b`` becomes 0.

    >>> import numpy as np
    >>> b, panels = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.full((1, 2, TILE_SIZE[1]), -1, np.float32)
    >>> pack_b(b, panels)
    >>> panels[0, :, :8].astype(int).tolist()
    [[1, 2, 3, 0, 0, 0, 0, 0], [4, 5, 6, 0, 0, 0, 0, 0]]
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
    """Fill ``c``, a tile of at most ROWS x COLUMNS: ``a_panel`` (k, ROWS), transposed, times ``b_panel`` (k, COLUMNS).

    Number (r, s) of the tile is the sum over all steps i of a_panel[i, r] times b_panel[i, s]. At the edges of the
    whole matrix ``c`` has fewer rows or columns: only those are stored. All sums are computed nevertheless: loops over
    ROWS and VECTORS, whose lengths the compiler knows, vanish, and each ``sums[r][v]`` becomes a register.

    Registers have no index, though, and c takes single numbers. So write all of ``sums`` to ``numbers``, and copy from
    there what c has room for.

    (Loops over single numbers, without any vec, pass the tests as well. They may be as fast, or twenty times slower.)

    >>> import numpy as np
    >>> a_panel, b_panel = np.zeros((2, TILE_SIZE[0]), np.float32), np.zeros((2, TILE_SIZE[1]), np.float32)
    >>> a_panel[:, :3], b_panel[:, :2] = [[1, 3, 5], [2, 4, 6]], [[10, 1], [100, -1]]
    >>> c = np.zeros((3, 2), np.float32)
    >>> tile(a_panel, b_panel, c)
    >>> c.astype(int).tolist()
    [[210, -1], [430, -1], [650, -1]]
    """
    cdef vec[ROWS][VECTORS] sums
    cdef float[ROWS][COLUMNS] numbers
    cdef Py_ssize_t i, r, v, s
    # BEGIN SOLUTION
    for r in range(ROWS):
        for v in range(VECTORS):
            sums[r][v] = splat(0)
    for i in range(a_panel.shape[0]):
        for r in range(ROWS):
            for v in range(VECTORS):
                sums[r][v] = fma(splat(a_panel[i, r]), load(&b_panel[i, v * LANES]), sums[r][v])
    for r in range(ROWS):
        for v in range(VECTORS):
            store(&numbers[r][v * LANES], sums[r][v])
    for r in range(c.shape[0]):
        for s in range(c.shape[1]):
            c[r, s] = numbers[r][s]
    # END SOLUTION


def gemm(
    const float[:, :] a, const float[:, :] b, float[:, :] c, float[:, :, ::1] a_panels, float[:, :, ::1] b_panels
):
    """Fill ``c`` (m, n) with the product of ``a`` (m, k) and ``b`` (k, n), tile by tile.

    First ``a_panels`` and ``b_panels`` are packed; then every tile of ``c`` is filled from a panel of each. A part of a
    memoryview is cut out with a slice, as in NumPy, and costs no copy; a slice that goes beyond the end stops there.

    >>> import numpy as np
    >>> a, b = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[10, 1], [100, -1]], np.float32)
    >>> rows, columns = TILE_SIZE
    >>> c, a_panels, b_panels = (np.zeros(shape, np.float32) for shape in ((3, 2), (1, 2, rows), (1, 2, columns)))
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
