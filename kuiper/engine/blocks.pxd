"""Blocks of strided values: rows x columns numbers anywhere in memory, and one behind the other in a buffer.

A value of up to six axes is a pointer and a stride for each axis, in floats; a stride of 0 repeats. The last two axes
are the rows and columns of a block:

    memory   [a b c . . . . .]      row_stride 8        buffer   [a b c d e f]     copy_in, copy_out
             [d e f . . . . .]      column_stride 1

What is read may be read up to a whole vector past its end if it lies in the arena, and a buffer has room for that;
what is written outside of the scratch is written exactly.
"""

from libc.string cimport memcpy

from kuiper.engine.step cimport MAX_NDIM
from kuiper.simd.vector cimport LANES, load, splat, store, vec

# Where the numbers of a value lie: in the arena, or in an array from outside.
cdef struct View:
    Py_ssize_t binding, offset  # -1 for the arena
    Py_ssize_t stride[MAX_NDIM]


cdef inline bint dense(const View* view, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Whether a block of it lies in memory number by number."""
    return (columns == 1 or view.stride[MAX_NDIM - 1] == 1) and (rows == 1 or view.stride[MAX_NDIM - 2] == columns)


cdef inline void fill(float* out, float x, Py_ssize_t vectors) noexcept nogil:
    """x in every lane of this many vectors."""
    cdef vec every = splat(x)
    cdef Py_ssize_t i
    for i in range(vectors):
        store(out + i * LANES, every)


cdef inline void copy_vectors(const float* x, Py_ssize_t step, float* out, Py_ssize_t vectors) noexcept nogil:
    """Whole vectors; a step of 0 repeats the first."""
    cdef Py_ssize_t i
    for i in range(vectors):
        store(out + i * LANES, load(x + i * step))


cdef inline void copy_exactly(const float* x, float* out, Py_ssize_t count) noexcept nogil:
    """``count`` numbers and not one more: the last vector overlaps the one before, and so do two halves or quarters."""
    if count >= LANES:
        copy_vectors(x, LANES, out, count // LANES)
        store(out + count - LANES, load(x + count - LANES))
    elif count >= 8:
        copy_both_ends(x, out, count, 8)
    elif count >= 4:
        copy_both_ends(x, out, count, 4)
    elif count >= 2:
        copy_both_ends(x, out, count, 2)
    elif count == 1:
        out[0] = x[0]


cdef inline void copy_both_ends(const float* x, float* out, Py_ssize_t count, Py_ssize_t part) noexcept nogil:
    """``part`` to twice ``part`` numbers, the first and the last of them; where ``part`` is a constant, two moves each."""
    memcpy(out, x, 4 * part)
    memcpy(out + count - part, x + count - part, 4 * part)


cdef inline void copy_singles(
    const float* x, Py_ssize_t x_stride, float* out, Py_ssize_t out_stride, Py_ssize_t count
) noexcept nogil:
    """Number by number."""
    cdef Py_ssize_t i
    for i in range(count):
        out[i * out_stride] = x[i * x_stride]


cdef inline void copy_runs(
    const float* x, Py_ssize_t x_stride, float* out, Py_ssize_t out_stride, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Rows of two or more numbers that lie side by side, exactly.

    Short rows have loops of their own: a row is then one or two moves, and the processor fetches many rows at a time.
    """
    cdef Py_ssize_t row
    if columns == 2:
        for row in range(rows):
            memcpy(out + row * out_stride, x + row * x_stride, 8)
    elif columns == 3:
        for row in range(rows):
            copy_both_ends(x + row * x_stride, out + row * out_stride, 3, 2)
    elif columns == 4:
        for row in range(rows):
            memcpy(out + row * out_stride, x + row * x_stride, 16)
    elif columns <= 8:
        for row in range(rows):
            copy_both_ends(x + row * x_stride, out + row * out_stride, columns, 4)
    else:
        for row in range(rows):
            copy_exactly(x + row * x_stride, out + row * out_stride, columns)


cdef inline void copy_block(
    const float* x, Py_ssize_t x_row, Py_ssize_t x_column, float* out, Py_ssize_t out_row, Py_ssize_t out_column,
    Py_ssize_t rows, Py_ssize_t columns,
) noexcept nogil:
    """Rows and columns between any strides, exactly.

    The inner loop is the longer one; but where rows lie side by side in ``x``, each of its cache lines is read in one go.
    """
    cdef Py_ssize_t i
    if x_column == out_column == 1 and columns > 1:
        copy_runs(x, x_row, out, out_row, rows, columns)
        return
    if rows <= columns and x_row != 1:
        x_row, x_column = x_column, x_row
        out_row, out_column = out_column, out_row
        rows, columns = columns, rows
    for i in range(columns):
        copy_singles(x + i * x_column, x_row, out + i * out_column, out_row, rows)


cdef inline void copy_in(
    const float* x, Py_ssize_t row_stride, Py_ssize_t column_stride, Py_ssize_t rows, Py_ssize_t columns, float* buffer,
    bint exactly,
) noexcept nogil:
    """The numbers of a block, one behind the other; ``buffer`` has room for a vector more."""
    cdef Py_ssize_t row, vectors = (columns + LANES - 1) // LANES
    if column_stride == 1 and columns > 8 and not exactly:
        for row in range(rows):
            copy_vectors(x + row * row_stride, LANES, buffer + row * columns, vectors)
    elif column_stride == 0 and columns <= 4 <= LANES:
        for row in range(rows):
            repeat_four(x[row * row_stride], buffer + row * columns)
    elif column_stride == 0:
        for row in range(rows):
            fill(buffer + row * columns, x[row * row_stride], vectors)
    else:
        copy_block(x, row_stride, column_stride, buffer, columns, 1, rows, columns)


cdef inline void repeat_four(float x, float* out) noexcept nogil:
    """One short store, where a whole vector for each row would mostly write what the next row writes again."""
    cdef float[4] four
    four[0] = four[1] = four[2] = four[3] = x
    memcpy(out, four, 16)


cdef inline void copy_out(
    const float* buffer, float* out, Py_ssize_t row_stride, Py_ssize_t column_stride, Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    """The numbers of a buffer to where the block lies, exactly."""
    copy_block(buffer, columns, 1, out, row_stride, column_stride, rows, columns)


# Equally many stretches of numbers in two values, to be done one by one: the rows of a matrix, all axes but the last.
cdef struct Lines:
    Py_ssize_t count
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t source[MAX_NDIM]
    Py_ssize_t target[MAX_NDIM]


cdef inline void find_line(const Lines* lines, Py_ssize_t index, Py_ssize_t* source, Py_ssize_t* target) noexcept nogil:
    """Add the place of a line, in floats, to where the two values begin."""
    cdef Py_ssize_t axis = MAX_NDIM, at
    while index > 0:
        axis -= 1
        at = index % lines.shape[axis]
        index = index // lines.shape[axis]
        source[0] += at * lines.source[axis]
        target[0] += at * lines.target[axis]
