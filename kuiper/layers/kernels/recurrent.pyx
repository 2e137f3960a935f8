"""The steps of LSTM, GRU and RNN: what has to wait for the step before.

What the inputs give to the gates is there already, one matrix product for the whole sequence. Left for each step are the
product with the last output h and the functions of the cell:

    gates   [ x W + b ] += h U          one row: the gates of all cells beside each other
    h, c    = cell(gates, c)

The product is one of a vector and a matrix. U lies transposed, (outputs, gates * cells), so that a number of h meets a row
of it, and the loop runs over neighbours:

    gates += h[k] U[k] + h[k+1] U[k+1] + h[k+2] U[k+2] + h[k+3] U[k+3]      four rows for each time that gates pass by

Those four rows stay in the first-level cache while all sequences of a thread use them. Sequences do not depend on each
other: each thread runs some of them from the first step to the last, and the result is the same for any number of threads.

Sources: the formulas of torch.nn.LSTM, torch.nn.GRU and torch.nn.RNN.
"""

from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from kuiper.simd.scalar cimport sigmoid, tanh
from kuiper.simd.vector cimport fma_of_one


def lstm(
    float[:, :, ::1] gates,
    const float[:, ::1] hidden,
    const float[:, ::1] projection,
    float[:, ::1] h,
    float[:, ::1] c,
    float[:, ::1] cells,
    float[:, :, ::1] outputs,
    int num_threads,
):
    """gates (l, n, 4 * cells) with all biases (IN, then scratch); hidden (outputs, 4 * cells), projection (cells,
    outputs) or empty (IN); h (n, outputs), c (n, cells) (IN and OUT); cells (n, cells) (scratch); outputs (OUT)."""
    cdef Py_ssize_t n = h.shape[0]
    cdef int thread
    for thread in prange(num_threads, nogil=True, schedule="static", num_threads=num_threads):
        lstm_rows(
            gates, hidden, projection, h, c, cells, outputs, thread * n // num_threads, (thread + 1) * n // num_threads
        )


cdef void lstm_rows(
    float[:, :, ::1] gates, const float[:, ::1] hidden, const float[:, ::1] projection, float[:, ::1] h,
    float[:, ::1] c, float[:, ::1] cells, float[:, :, ::1] outputs, Py_ssize_t first, Py_ssize_t end,
) noexcept nogil:
    """All steps of the sequences ``first`` to ``end``."""
    cdef Py_ssize_t step, row, width = h.shape[1], size = c.shape[1]
    cdef bint projects = projection.shape[0] > 0
    for step in range(gates.shape[0]):
        add_product(h, hidden, gates[step], first, end)
        for row in range(first, end):
            lstm_cells(&gates[step, row, 0], &c[row, 0], &cells[row, 0] if projects else &h[row, 0], size)
        if projects:
            for row in range(first, end):
                memset(&h[row, 0], 0, width * sizeof(float))
            add_product(cells, projection, h, first, end)
        for row in range(first, end):
            memcpy(&outputs[step, row, 0], &h[row, 0], width * sizeof(float))


cdef void lstm_cells(const float* gates, float* c, float* h, Py_ssize_t size) noexcept nogil:
    """c = f c + i g and h = o tanh(c), for gates i, f, g, o."""
    cdef Py_ssize_t k
    for k in range(size):
        c[k] = sigmoid(gates[size + k]) * c[k] + sigmoid(gates[k]) * tanh(gates[2 * size + k])
        h[k] = sigmoid(gates[3 * size + k]) * tanh(c[k])


def gru(
    const float[:, :, ::1] gates,
    const float[:, ::1] hidden,
    const float[::1] bias,
    float[:, ::1] h,
    float[:, ::1] past,
    float[:, :, ::1] outputs,
    int num_threads,
):
    """gates (l, n, 3 * cells) with the input's bias, hidden (cells, 3 * cells), bias (3 * cells) (IN); h (n, cells)
    (IN and OUT); past (n, 3 * cells) (scratch); outputs (l, n, cells) (OUT)."""
    cdef Py_ssize_t n = h.shape[0]
    cdef int thread
    for thread in prange(num_threads, nogil=True, schedule="static", num_threads=num_threads):
        gru_rows(gates, hidden, bias, h, past, outputs, thread * n // num_threads, (thread + 1) * n // num_threads)


cdef void gru_rows(
    const float[:, :, ::1] gates, const float[:, ::1] hidden, const float[::1] bias, float[:, ::1] h,
    float[:, ::1] past, float[:, :, ::1] outputs, Py_ssize_t first, Py_ssize_t end,
) noexcept nogil:
    """All steps of the sequences ``first`` to ``end``."""
    cdef Py_ssize_t step, row, size = h.shape[1]
    for step in range(gates.shape[0]):
        for row in range(first, end):
            memcpy(&past[row, 0], &bias[0], 3 * size * sizeof(float))
        add_product(h, hidden, past, first, end)
        for row in range(first, end):
            gru_cells(&gates[step, row, 0], &past[row, 0], &h[row, 0], size)
            memcpy(&outputs[step, row, 0], &h[row, 0], size * sizeof(float))


cdef void gru_cells(const float* gates, const float* past, float* h, Py_ssize_t size) noexcept nogil:
    """h = (1 - z) g + z h with g = tanh(g of x + r (g of h)), for gates r, z, g."""
    cdef Py_ssize_t k
    cdef float g
    for k in range(size):
        g = tanh(gates[2 * size + k] + sigmoid(gates[k] + past[k]) * past[2 * size + k])
        h[k] = g + sigmoid(gates[size + k] + past[size + k]) * (h[k] - g)


def rnn(
    float[:, :, ::1] gates,
    const float[:, ::1] hidden,
    float[:, ::1] h,
    float[:, :, ::1] outputs,
    bint is_relu,
    int num_threads,
):
    """gates (l, n, cells) with all biases (IN, then scratch); hidden (cells, cells) (IN); h (n, cells) (IN and OUT);
    outputs (l, n, cells) (OUT); the function is relu or tanh."""
    cdef Py_ssize_t n = h.shape[0]
    cdef int thread
    for thread in prange(num_threads, nogil=True, schedule="static", num_threads=num_threads):
        rnn_rows(gates, hidden, h, outputs, is_relu, thread * n // num_threads, (thread + 1) * n // num_threads)


cdef void rnn_rows(
    float[:, :, ::1] gates, const float[:, ::1] hidden, float[:, ::1] h, float[:, :, ::1] outputs, bint is_relu,
    Py_ssize_t first, Py_ssize_t end,
) noexcept nogil:
    """All steps of the sequences ``first`` to ``end``."""
    cdef Py_ssize_t step, row, size = h.shape[1]
    for step in range(gates.shape[0]):
        add_product(h, hidden, gates[step], first, end)
        for row in range(first, end):
            rnn_cells(&gates[step, row, 0], &h[row, 0], is_relu, size)
            memcpy(&outputs[step, row, 0], &h[row, 0], size * sizeof(float))


cdef void rnn_cells(const float* gates, float* h, bint is_relu, Py_ssize_t size) noexcept nogil:
    """h = relu(gates) or tanh(gates); a NaN stays one."""
    cdef Py_ssize_t k
    cdef float zero = 0
    if is_relu:
        for k in range(size):
            h[k] = zero if gates[k] < zero else gates[k]
    else:
        for k in range(size):
            h[k] = tanh(gates[k])


cdef void add_product(
    const float[:, ::1] x, const float[:, ::1] matrix, float[:, ::1] y, Py_ssize_t first, Py_ssize_t end
) noexcept nogil:
    """y (n, columns) += x (n, steps) matrix (steps, columns), for the rows ``first`` to ``end``."""
    cdef Py_ssize_t row, k = 0, steps = matrix.shape[0], columns = matrix.shape[1]
    while k + 4 <= steps:
        for row in range(first, end):
            add_four_rows(&x[row, k], &matrix[k, 0], &y[row, 0], columns)
        k += 4
    while k < steps:
        for row in range(first, end):
            add_row(x[row, k], &matrix[k, 0], &y[row, 0], columns)
        k += 1


cdef void add_four_rows(const float* x, const float* matrix, float* y, Py_ssize_t columns) noexcept nogil:
    cdef const float* second = matrix + columns
    cdef const float* third = second + columns
    cdef const float* fourth = third + columns
    cdef float a = x[0], b = x[1], c = x[2], d = x[3]
    cdef Py_ssize_t j
    for j in range(columns):
        y[j] = fma_of_one(d, fourth[j], fma_of_one(c, third[j], fma_of_one(b, second[j], fma_of_one(a, matrix[j], y[j]))))


cdef void add_row(float x, const float* matrix, float* y, Py_ssize_t columns) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(columns):
        y[j] = fma_of_one(x, matrix[j], y[j])
