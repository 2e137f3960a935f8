"""The steps of an LSTM on bytes, DynamicQuantizeLSTM: what has to wait for the step before.

What the inputs give to the gates is there already, as floats: one product of bytes for the whole sequence. Each step finds the
range of the last outputs h, of all sequences together, makes bytes of them, multiplies these with the weights R, and renews the
cells, vector by vector:

    h (sequences, cells) --- range, bytes ---> rows  --- tile (gate_tile.pxd) --->  sums of i, o, f, g of LANES cells
                                                             |
    c and h of these cells  <--- cell functions ---  sum * (scale of h * scale of R) + what x gave + bias

A sequence that has ended stays out of it: its cells keep what they have, its further outputs are 0, and so is what others see of
its h, unless only last states are wanted. The bytes of x are those of all steps, so the longest sequence must have as many.

All arithmetic is that of kuiper/layers/operators/onnx_contrib_lstm.py, in the same order, so that bits are the same: a last bit
could become one of a whole byte in the step after. One scale belongs to all sequences: a task has a direction.
"""

from kuiper.engine.blocks cimport copy_exactly, fill
from kuiper.engine.gate_tile cimport GATES, GATE_ROWS, gate_numbers, gate_tile, quotient_logistic, quotient_tanh
from kuiper.engine.byte_rounding cimport ByteScale, byte_scale, quantise
from kuiper.engine.byte_rows cimport spread
from kuiper.engine.number_range cimport Range, range_of_rows, scale_of, zero_of
from kuiper.engine.kernels.kept_past cimport OTHER_NUMBERS
from kuiper.engine.step cimport Memory, Step
from kuiper.engine.typed_view cimport whole_at
from kuiper.simd.functions cimport clamped
from kuiper.simd.vector cimport LANES, load, splat, store, vec

MAX_SEQUENCES = GATE_ROWS  # of a tile

cdef enum Gate:
    INPUT, OUTPUT, FORGET, CELL

cdef enum:
    SLACK = 64  # bytes behind a row that may be read

# Where a state (directions, sequences, cells) lies; cells are neighbours. An offset of -1: it is not wanted.
cdef struct State:
    Py_ssize_t offset, direction, row

cdef struct Geometry:
    Py_ssize_t directions, backwards  # the first direction that reads from the end
    Py_ssize_t steps, sequences, cells, panels
    Py_ssize_t words  # of four bytes of a row
    bint fours
    bint couples  # f is 1 - i
    bint has_zeros  # whether weights have zero points
    bint has_peepholes  # whether the gates i, o and f see the cells
    float bound  # of what goes into the functions of the gates
    Py_ssize_t gates, gates_step, gates_row  # what the inputs give: direction after direction, panel after panel
    Py_ssize_t out, out_step, out_row, out_direction
    Py_ssize_t lengths, length_bytes  # of the sequences, bytes from the beginning of the arena; -1: all are of one length
    int length_type
    bint keeps  # whether h outlives the end of its sequence
    Py_ssize_t error_flag  # offset of the flag in the arena, in floats, for lengths that the bytes of x are not made for

cdef struct Work:
    Geometry geometry
    State h, c, last_h, last_c  # rows of last_c have room for whole vectors
    const signed char* weights
    const int* sums
    const int* zeros
    const float* scale
    const float* bias
    const float* peepholes
    Py_ssize_t row_bytes  # of a row of the tile

# The last outputs of all sequences, also as bytes, in the scratch.
cdef struct Bytes:
    float* h  # (sequences, cells)
    int* lengths  # of each sequence
    unsigned char* rows
    unsigned char* raw  # of one sequence, before zero points are taken off
    int* totals  # of each sequence, the sum of its numbers less the zero point
    float scale
    int zero


cdef class QuantizedLstm(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of numbers
    states : for each of h, c, last_h, last_c a dict of the fields of State
    weights : int8 [directions][panels][words][GATES * LANES][numbers of a word]
    sums, zeros : int32 [directions][panels][GATES * LANES], of the weights of each output their sum and zero point
    scale, bias, peepholes : float32, likewise
    """

    cdef Work work

    def __init__(
        self, dict numbers, states, const signed char[::1] weights, const int[::1] sums, const int[::1] zeros,
        const float[::1] scale, const float[::1] bias, const float[::1] peepholes,
    ):
        cdef Work* w = &self.work
        w.geometry = numbers
        w.h, w.c, w.last_h, w.last_c = states
        w.weights, w.sums, w.zeros, w.scale, w.bias = &weights[0], &sums[0], &zeros[0], &scale[0], &bias[0]
        w.peepholes = &peepholes[0]
        w.row_bytes = 4 * w.geometry.words + SLACK
        self.keeps = (weights, sums, zeros, scale, bias, peepholes)
        self.numbers, self.run = w, run_direction
        self.tasks = w.geometry.directions
        # the sums of a tile, h of a vector, h of all sequences, the total and the length of each, a row of bytes, and all
        # rows as the tile has them
        self.scratch_floats = (GATE_ROWS * GATES + 2) * LANES + w.geometry.sequences * (w.geometry.cells + 2)
        self.scratch_floats += (w.geometry.cells + SLACK) // 4 + w.geometry.sequences * w.row_bytes // 4


cdef void run_direction(const void* numbers, Py_ssize_t direction, const Memory* memory) noexcept nogil:
    """All steps of all sequences in one direction."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t step, row
    cdef Bytes past
    past.h = memory.scratch + (GATE_ROWS * GATES + 1) * LANES
    past.totals = <int*> (past.h + g.sequences * g.cells + LANES)
    past.lengths = past.totals + g.sequences
    past.raw = <unsigned char*> (past.lengths + g.sequences)
    past.rows = past.raw + (g.cells + SLACK) // 4 * 4
    if not read_lengths(g, past.lengths, memory):
        memory.arena[g.error_flag] = OTHER_NUMBERS
        return
    begin_cells(w, direction, &past, memory.arena)
    for step in range(g.steps):
        to_bytes(w, &past)
        run_step(w, direction, step, &past, memory)
        for row in range(g.sequences):
            if step + 1 >= past.lengths[row]:
                end_row(w, direction, step, row, &past, memory)


cdef inline bint read_lengths(const Geometry* g, int* lengths, const Memory* memory) noexcept nogil:
    """How many steps each sequence has; whether one of them has all, and none has more."""
    cdef Py_ssize_t row
    cdef long long length, longest = 0
    for row in range(g.sequences):
        length = g.steps
        if g.lengths >= 0:
            length = whole_at(<const char*> memory.arena + g.lengths + row * g.length_bytes, g.length_type)
        if not 0 <= length <= g.steps:
            return False
        longest = max(longest, length)
        lengths[row] = <int> length
    return longest == g.steps


cdef inline void end_row(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, Py_ssize_t row, const Bytes* past, const Memory* memory
) noexcept nogil:
    """Behind the last step of a sequence: its last h is there, and outputs are 0."""
    cdef const Geometry* g = &w.geometry
    cdef float* h = past.h + row * g.cells
    cdef float* out = memory.arena + g.out + direction * g.out_direction + row * g.out_row
    if w.last_h.offset >= 0 and step + 1 == past.lengths[row]:
        copy_exactly(
            h, memory.arena + w.last_h.offset + direction * w.last_h.direction + row * w.last_h.row, g.cells
        )
    if step >= past.lengths[row]:
        put_zeros(out + step * g.out_step, g.cells)
        if not g.keeps:  # one step later than its last: the scale of that step is still of this h, too
            put_zeros(h, g.cells)


cdef inline void put_zeros(float* x, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        x[i] = 0


cdef void begin_cells(const Work* w, Py_ssize_t direction, const Bytes* past, float* arena) noexcept nogil:
    """What the cells remember before the first step, with zeros up to a whole vector, and h; of no steps, nothing."""
    cdef Py_ssize_t row, cells = w.geometry.cells
    cdef float* c
    for row in range(w.geometry.sequences):
        c = arena + w.last_c.offset + direction * w.last_c.direction + row * w.last_c.row
        fill(c + cells // LANES * LANES, 0, (cells + LANES - 1) // LANES - cells // LANES)
        copy_exactly(arena + w.h.offset + direction * w.h.direction + row * w.h.row, past.h + row * cells, cells)
        if past.lengths[row]:
            copy_exactly(arena + w.c.offset + direction * w.c.direction + row * w.c.row, c, cells)
            continue
        put_zeros(c, cells)
        if w.last_h.offset >= 0:
            put_zeros(arena + w.last_h.offset + direction * w.last_h.direction + row * w.last_h.row, cells)


cdef void to_bytes(const Work* w, Bytes* found) noexcept nogil:
    """The last outputs of all sequences as bytes with one scale."""
    cdef const Geometry* g = &w.geometry
    cdef Range limits = range_of_rows(found.h, g.cells, g.sequences, g.cells)
    cdef Py_ssize_t row, k
    cdef unsigned char* raw
    cdef int total
    cdef ByteScale to
    found.scale = scale_of(limits, True)
    found.zero = zero_of(limits, found.scale)
    to = byte_scale(found.scale, -found.zero, 255 - found.zero, found.zero)
    for row in range(g.sequences):
        raw = found.rows + row * w.row_bytes if g.fours else found.raw
        quantise(found.h + row * g.cells, g.cells, &to, raw)
        if not g.fours:
            spread(raw, False, found.zero, g.cells, False, found.rows + row * w.row_bytes)
        if g.has_zeros:
            total = 0
            for k in range(g.cells):
                total += raw[k]
            found.totals[row] = total - found.zero * <int> g.cells


cdef void run_step(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, const Bytes* found, const Memory* memory
) noexcept nogil:
    """A step of all sequences that have not ended; backwards, each begins at its own end."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t width = GATES * LANES, panel, place, row, index, stop, i, t
    cdef Py_ssize_t tiles = (g.sequences + GATE_ROWS - 1) // GATE_ROWS
    cdef Py_ssize_t panel_bytes = g.words * width * (4 if g.fours else 2)
    cdef const float* given = memory.arena + g.gates
    cdef const unsigned char* x[GATE_ROWS]
    cdef int* sums = <int*> memory.scratch
    for panel in range(g.panels):
        place = direction * g.panels + panel
        row = 0
        for index in range(tiles):
            stop = (index + 1) * g.sequences // tiles
            for i in range(stop - row):
                x[i] = found.rows + (row + i) * w.row_bytes
            gate_tile(<int> (stop - row), g.fours, g.words, w.weights + place * panel_bytes, x, sums)
            for i in range(stop - row):
                if step < found.lengths[row + i]:
                    t = step if direction < g.backwards else found.lengths[row + i] - 1 - step
                    renew(
                        w, direction, t, row + i, panel, sums + i * width,
                        given + t * g.gates_step + (row + i) * g.gates_row + place * width, found, memory,
                    )
            row = stop


cdef inline vec gate(
    const Work* w, const int* sums, const float* given, Py_ssize_t at, int kind, vec seen, int zero, int total, float scale
) noexcept nogil:
    """What goes into the function of one gate of LANES cells; ``at`` is where the numbers of the panel begin."""
    cdef Py_ssize_t k = kind * LANES
    cdef vec product = gate_numbers(
        sums + k, zero, w.sums + at + k, total, w.zeros + at + k, w.scale + at + k, scale
    )
    cdef vec whole = load(given + k) + product
    if w.geometry.has_peepholes and kind != CELL:
        seen *= load(w.peepholes + at + k)
        whole += seen  # two roundings, as the layer has
    return clamped(whole + load(w.bias + at + k), -w.geometry.bound, w.geometry.bound)


cdef inline void renew(
    const Work* w, Py_ssize_t direction, Py_ssize_t t, Py_ssize_t row, Py_ssize_t panel, const int* sums,
    const float* given, const Bytes* found, const Memory* memory,
) noexcept nogil:
    """The cells of one panel of one sequence: c = f c + i g and h = o tanh(c)."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t first = panel * LANES, count = min(<Py_ssize_t> LANES, g.cells - first)
    cdef Py_ssize_t at = (direction * g.panels + panel) * GATES * LANES
    cdef float* target = memory.arena + g.out + t * g.out_step + row * g.out_row + direction * g.out_direction + first
    cdef float* c = memory.arena + w.last_c.offset + direction * w.last_c.direction + row * w.last_c.row + first
    cdef float* h = found.h + row * g.cells + first
    cdef float* spare = memory.scratch + GATE_ROWS * GATES * LANES
    cdef int zero = found.zero if g.fours else 0, total = found.totals[row] if g.has_zeros else 0
    cdef vec one = splat(1), past = load(c), taken, kept, new
    taken = quotient_logistic(gate(w, sums, given, at, INPUT, past, zero, total, found.scale))
    if g.couples:
        kept = one - taken
    else:
        kept = quotient_logistic(gate(w, sums, given, at, FORGET, past, zero, total, found.scale))
    taken = taken * quotient_tanh(gate(w, sums, given, at, CELL, past, zero, total, found.scale))
    kept *= past
    kept += taken  # two roundings, as the layer has
    store(c, kept)
    new = quotient_logistic(gate(w, sums, given, at, OUTPUT, kept, zero, total, found.scale)) * quotient_tanh(kept)
    if count == LANES:
        store(target, new)
        store(h, new)
    else:
        store(spare, new)
        copy_exactly(spare, target, count)
        copy_exactly(spare, h, count)
