"""Blocks of strided values: rows x columns numbers anywhere in memory, and one behind the other in a buffer.

A value of up to six axes is a pointer and a stride for each axis, in floats; a stride of 0 repeats. The last two axes
are the rows and columns of a block:

    memory   [a b c . . . . .]      row_stride 8        buffer   [a b c d e f]     copy_in, copy_out
             [d e f . . . . .]      column_stride 1

What is read may be read up to a whole vector past its end if it lies in the arena, and a buffer has room for that;
what is written outside of the scratch is written exactly.
"""

from libc.string cimport memcpy

from kuiper.engine.vector cimport LANES, load, splat, store, vec

cdef enum:
    AXES = 6

# Where the numbers of a value lie: in the arena, or in an array from outside.
cdef struct View:
    Py_ssize_t external, offset  # -1 for the arena
    Py_ssize_t stride[AXES]


cdef inline bint dense(const View* view, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Whether a block of it lies in memory number by number."""
    return (columns == 1 or view.stride[AXES - 1] == 1) and (rows == 1 or view.stride[AXES - 2] == columns)


cdef inline void fill(float* out, float x, Py_ssize_t vectors) noexcept nogil:
    """x in every lane of so many vectors."""
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
    """``count`` numbers and not one more: the last vector overlaps the one before; less than one goes by halves."""
    cdef Py_ssize_t i = 0
    if count >= LANES:
        copy_vectors(x, LANES, out, count // LANES)
        store(out + count - LANES, load(x + count - LANES))
        return
    if count & 8:
        memcpy(out, x, 32)
        i = 8
    if count & 4:
        memcpy(out + i, x + i, 16)
        i += 4
    if count & 2:
        memcpy(out + i, x + i, 8)
        i += 2
    if count & 1:
        out[i] = x[i]


cdef inline void copy_in(
    const float* x, Py_ssize_t row_stride, Py_ssize_t column_stride, Py_ssize_t rows, Py_ssize_t columns, float* buffer,
    bint exactly,
) noexcept nogil:
    """The numbers of a block, one behind the other; ``buffer`` has room for a vector more."""
    cdef Py_ssize_t row, column, vectors = (columns + LANES - 1) // LANES
    if column_stride == 1 and columns > 1:
        for row in range(rows):
            if exactly:
                copy_exactly(x + row * row_stride, buffer + row * columns, columns)
            else:
                copy_vectors(x + row * row_stride, LANES, buffer + row * columns, vectors)
    elif column_stride == 0:
        for row in range(rows):
            fill(buffer + row * columns, x[row * row_stride], vectors)
    else:
        for column in range(columns):
            for row in range(rows):
                buffer[row * columns + column] = x[row * row_stride + column * column_stride]


cdef inline void copy_out(
    const float* buffer, float* out, Py_ssize_t row_stride, Py_ssize_t column_stride, Py_ssize_t rows,
    Py_ssize_t columns,
) noexcept nogil:
    """The numbers of a buffer to where the block lies, exactly."""
    cdef Py_ssize_t row, column
    if column_stride == 1 and columns > 1:
        for row in range(rows):
            copy_exactly(buffer + row * columns, out + row * row_stride, columns)
    else:
        for column in range(columns):
            for row in range(rows):
                out[row * row_stride + column * column_stride] = buffer[row * columns + column]


# Equally many stretches of numbers in two values, to be done one by one: the rows of a matrix, all axes but the last.
cdef struct Lines:
    Py_ssize_t count
    Py_ssize_t shape[AXES]
    Py_ssize_t source[AXES]
    Py_ssize_t target[AXES]


cdef inline void find_line(const Lines* lines, Py_ssize_t index, Py_ssize_t* source, Py_ssize_t* target) noexcept nogil:
    """Add the place of a line, in floats, to where the two values begin."""
    cdef Py_ssize_t axis = AXES, at
    while index > 0:
        axis -= 1
        at = index % lines.shape[axis]
        index = index // lines.shape[axis]
        source[0] += at * lines.source[axis]
        target[0] += at * lines.target[axis]
