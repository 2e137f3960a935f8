"""One vector of cells of an LSTM, GRU or RNN, from its gates, which are side by side.

Sources: the formulas of torch.nn.LSTM, torch.nn.GRU and torch.nn.RNN.
"""

from kuiper.simd.functions cimport sigmoid, tanh
from kuiper.simd.vector cimport LANES, at_least, fma, load, splat, store, vec


cdef inline void lstm_cells(const float* gates, float* c, float* h) noexcept nogil:
    """c = f c + i g and h = o tanh(c), for gates i, f, g, o."""
    cdef vec taken = sigmoid(load(gates)) * tanh(load(gates + 2 * LANES))
    cdef vec kept = fma(sigmoid(load(gates + LANES)), load(c), taken)
    store(c, kept)
    store(h, sigmoid(load(gates + 3 * LANES)) * tanh(kept))


cdef inline void gru_cells(const float* gates, const float* given, const float* past, float* h) noexcept nogil:
    """h = (1 - z) g + z h with g = tanh(g of x + r (g of h)), for gates r, z, g of h, and what x gave to them."""
    cdef vec r = sigmoid(load(gates) + load(given))
    cdef vec z = sigmoid(load(gates + LANES) + load(given + LANES))
    cdef vec new = tanh(fma(r, load(gates + 2 * LANES), load(given + 2 * LANES)))
    store(h, fma(z, load(past) - new, new))


cdef inline void rnn_cells(const float* gates, Py_ssize_t vectors, bint is_relu, float* h) noexcept nogil:
    """h = relu(gates) or tanh(gates); a NaN stays one."""
    cdef Py_ssize_t i
    cdef vec zero = splat(0)
    for i in range(vectors):
        if is_relu:
            store(h + i * LANES, at_least(load(gates + i * LANES), zero))
        else:
            store(h + i * LANES, tanh(load(gates + i * LANES)))
