"""The softmax of rows of bytes, as bytes: QLinearSoftmax.

    out[i] = round(p[i] * steps / sum of p) + zero        p[i] = table[255 - the largest byte of the row + x[i]]

The table has exponentials, and their sum is made one after the other, as onnxruntime makes it; some rows are added up side by
side, so that none waits for itself. Numbers of a row are neighbours.
"""

from kuiper.engine.step cimport Memory, Step

cdef enum:
    GROUP = 8  # rows side by side
    TASK = 8192  # numbers

cdef struct Numbers:
    Py_ssize_t x, x_row, out, out_row  # bytes
    Py_ssize_t rows, size
    float steps, low, high  # the bounds are those of a byte, less the zero point
    int zero
    int flip  # 128 for int8, whose sign it turns into the offset that uint8 has

cdef struct Work:
    Numbers numbers
    Py_ssize_t tasks
    const float* table


cdef class ByteSoftmax(Step):
    """See the head of this file. ``numbers`` names the fields of Numbers; ``table`` is float32 (256)."""

    cdef Work work

    def __init__(self, dict numbers, const float[::1] table):
        cdef Work* w = &self.work
        w.numbers = numbers
        w.table = &table[0]
        self.keeps = table
        self.tasks = w.tasks = max(1, min(w.numbers.rows, w.numbers.rows * w.numbers.size // TASK))
        self.numbers, self.run = w, rows_of
        self.scratch_floats = GROUP * w.numbers.size


cdef void rows_of(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows, a group at a time."""
    cdef const Work* w = <const Work*> numbers
    cdef Py_ssize_t first = task * w.numbers.rows // w.tasks, end = (task + 1) * w.numbers.rows // w.tasks
    while first < end:
        group_of(w, first, min(<Py_ssize_t> GROUP, end - first), memory)
        first += GROUP


cdef inline void group_of(const Work* w, Py_ssize_t first, Py_ssize_t count, const Memory* memory) noexcept nogil:
    """A few rows: their powers into the scratch, the sums, and the quotients."""
    cdef const Numbers* n = &w.numbers
    cdef float* powers = memory.scratch
    cdef float sums[GROUP]
    cdef Py_ssize_t row, i, size = n.size
    for row in range(count):
        look_up(w, <const unsigned char*> memory.arena + n.x + (first + row) * n.x_row, powers + row * size)
    for row in range(count):
        sums[row] = 0
    for i in range(size):
        for row in range(count):
            sums[row] += powers[row * size + i]
    for row in range(count):
        to_bytes(n, powers + row * size, sums[row], <unsigned char*> memory.arena + n.out + (first + row) * n.out_row)


cdef inline void look_up(const Work* w, const unsigned char* x, float* powers) noexcept nogil:
    """The powers of a row, whose largest number stands at the table's end."""
    cdef unsigned char flip = w.numbers.flip, most = 0, number
    cdef Py_ssize_t i, size = w.numbers.size
    cdef const float* table
    for i in range(size):
        number = x[i] ^ flip
        most = number if number > most else most
    table = w.table + (255 - most)
    for i in range(size):
        powers[i] = table[x[i] ^ flip]


cdef inline void to_bytes(const Numbers* n, const float* powers, float total, unsigned char* out) noexcept nogil:
    """The shares of a row in its sum."""
    cdef float steps = n.steps, low = n.low, high = n.high, share
    cdef float unit = 12582912  # 1.5 * 2**23: beside it a float has no room for a fraction
    cdef int zero = n.zero
    cdef Py_ssize_t i
    for i in range(n.size):
        share = powers[i] * steps
        share = share / total
        share = share if share > low else low
        share = share if share < high else high
        out[i] = <unsigned char> (<int> (share + unit - unit) + zero)
