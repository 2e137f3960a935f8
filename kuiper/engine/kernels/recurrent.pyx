"""The steps of LSTM, GRU and RNN: what has to wait for the step before.

What the inputs give to the gates is there already: one product for the whole sequence. Left for each step are the product of
the last output h with the weights U, and the functions of the cell. All gates of the same cells are computed together, so
that they meet while they are in the first-level cache:

    panel p of U    [ i of cells 0..LANES | f of the same cells | g | o ]        (cells, gates * LANES)

    h (rows, cells)  --- tile --->  gates of a few cells  --- cell functions --->  c and h of these cells
                                    + what the inputs gave

h of the step before lies in the output already, where the step before has written it, and is read there. A plain RNN has one
gate; its panels have several vectors of cells instead.

A GRU that resets the state before the product (``linear_before_reset=0`` of ONNX) goes through its panels twice: the gates r
and z of all cells come first, then the cells, whose panels meet r h.

Sequences do not depend on each other, nor do the two directions: a task has some sequences of one direction, from the first
step to the last. Sequences may end early, each after its own length; the second direction begins at that end:

    x of a sequence of 3 in 5 steps      a b c . .       steps of the first direction   0 1 2
    its outputs                          A B C 0 0       of the second                  2 1 0

A length of less than 0 or more than all steps sets ``error_flag`` and counts as 0 (index_check.pxd).

Sources: the formulas of torch.nn.LSTM, torch.nn.GRU and torch.nn.RNN.
"""

from libc.string cimport memset

from kuiper.engine.blocks cimport copy_exactly, fill
from kuiper.engine.index_check cimport checked_index
from kuiper.engine.recurrent_cells cimport gru_cells, lstm_cells, rnn_cells
from kuiper.engine.step cimport Memory, Step
from kuiper.engine.tile cimport MAX_ROWS, MAX_VECTORS, TileWork, rows_for, tile
from kuiper.engine.typed_view cimport whole_at
from kuiper.simd.functions cimport sigmoid, tanh
from kuiper.simd.vector cimport LANES, fma, load, store, vec

cdef enum:
    TASKS = 8  # of one direction, if there are this many sequences

cdef enum Kind:
    LSTM, GRU, RESET_FIRST, TANH, RELU

KINDS = {"lstm": LSTM, "gru": GRU, "reset first": RESET_FIRST, "tanh": TANH, "relu": RELU}

# Where a state (directions, sequences, cells) lies; cells are neighbours. An offset of -1: it is not wanted.
cdef struct State:
    Py_ssize_t offset, direction, row

cdef struct Geometry:
    Py_ssize_t kind, directions, steps, sequences, cells
    Py_ssize_t vectors, panels  # of the weights of one direction
    Py_ssize_t cell_vectors, cell_panels  # of those that meet r h, behind the others
    Py_ssize_t gates, gates_step, gates_row  # what the inputs give: direction after direction, panel after panel
    Py_ssize_t out, out_step, out_row  # direction after direction
    Py_ssize_t lengths, length_bytes  # of the sequences, bytes from the beginning of the arena; -1: all have all steps
    int length_type
    Py_ssize_t error_flag  # offset in the arena, in floats

cdef struct Work:
    Geometry geometry
    State h, c, last_h, last_c  # c, in and out, of an LSTM only; rows of last_c have room for whole vectors
    const float* weights
    const float* bias
    Py_ssize_t blocks  # of sequences

# What a task needs for the sequences of one tile that have this step: lists in its scratch, and where they are.
cdef struct Rows:
    Py_ssize_t row[MAX_ROWS]
    Py_ssize_t t[MAX_ROWS]
    const float** past
    const float** given
    float** gates


cdef class Recurrent(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    states : for each of h, c, last_h, last_c a dict of the fields of State
    weights : [directions][panels][cells][vectors * LANES]
    bias : [directions][panels][vectors * LANES], what is added to the product with h
    """

    cdef Work work

    def __init__(self, dict numbers, states, const float[::1] weights, const float[::1] bias):
        cdef Work* w = &self.work
        w.geometry = numbers
        w.h, w.c, w.last_h, w.last_c = states
        w.weights, w.bias = &weights[0], &bias[0]
        most = rows_of(&w.geometry)
        w.blocks = min((w.geometry.sequences + most - 1) // most, TASKS)
        self.keeps = (weights, bias)
        self.numbers, self.run = w, run_sequences
        self.tasks = w.geometry.directions * w.blocks
        # the gates of a tile, h of a panel, and three lists of pointers; z and r h of all cells
        self.scratch_floats = (MAX_ROWS + 1) * MAX_VECTORS * LANES + 3 * MAX_ROWS * (sizeof(void*) // sizeof(float))
        if w.geometry.kind == RESET_FIRST:
            self.scratch_floats += 2 * MAX_ROWS * w.geometry.panels * LANES


cdef inline int rows_of(const Geometry* g) noexcept nogil:
    """The most sequences of a tile."""
    cdef int most = rows_for(<int> g.vectors)
    return most if g.kind != RESET_FIRST else min(most, rows_for(<int> g.cell_vectors))


cdef void run_sequences(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """All steps of some sequences in one direction."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t direction = task // w.blocks, block = task % w.blocks
    cdef Py_ssize_t first = block * g.sequences // w.blocks, end = (block + 1) * g.sequences // w.blocks
    cdef Py_ssize_t step, row, length
    if g.kind == LSTM:
        begin_cells(w, direction, first, end, memory.arena)
    for step in range(g.steps):
        run_step(w, direction, step, first, end, memory)
    if w.last_h.offset >= 0:
        for row in range(first, end):
            length = length_of(g, row, memory)
            copy_exactly(
                past_of(w, direction, length, place_in(direction, length, length), row, memory.arena),
                memory.arena + w.last_h.offset + direction * w.last_h.direction + row * w.last_h.row, g.cells,
            )


cdef inline Py_ssize_t length_of(const Geometry* g, Py_ssize_t row, const Memory* memory) noexcept nogil:
    """How many steps a sequence has."""
    if g.lengths < 0:
        return g.steps
    return checked_index(
        whole_at(<const char*> memory.arena + g.lengths + row * g.length_bytes, g.length_type),
        0, g.steps + 1, g.error_flag, memory,
    )


cdef inline Py_ssize_t place_in(Py_ssize_t direction, Py_ssize_t step, Py_ssize_t length) noexcept nogil:
    """Where in a sequence a step of this direction is."""
    return step if direction == 0 else length - 1 - step


cdef inline const float* past_of(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, Py_ssize_t t, Py_ssize_t row, float* arena
) noexcept nogil:
    """h of a sequence before a step, which is at ``t``."""
    cdef const Geometry* g = &w.geometry
    if step == 0:
        return arena + w.h.offset + direction * w.h.direction + row * w.h.row
    return arena + g.out + direction * g.cells + (t - 1 if direction == 0 else t + 1) * g.out_step + row * g.out_row


cdef void begin_cells(
    const Work* w, Py_ssize_t direction, Py_ssize_t first, Py_ssize_t end, float* arena
) noexcept nogil:
    """What the cells of an LSTM remember before the first step, with zeros up to a whole vector."""
    cdef Py_ssize_t row, cells = w.geometry.cells
    cdef float* c
    for row in range(first, end):
        c = arena + w.last_c.offset + direction * w.last_c.direction + row * w.last_c.row
        fill(c + cells // LANES * LANES, 0, (cells + LANES - 1) // LANES - cells // LANES)
        copy_exactly(arena + w.c.offset + direction * w.c.direction + row * w.c.row, c, cells)


cdef void run_step(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, Py_ssize_t first, Py_ssize_t end, const Memory* memory
) noexcept nogil:
    """One step of some sequences, tile by tile."""
    cdef const Geometry* g = &w.geometry
    cdef int vectors = <int> g.vectors, most = rows_of(g), rows, i
    cdef Py_ssize_t panel, width = vectors * LANES, index, tiles = (end - first + most - 1) // most, row, stop
    cdef Rows at
    cdef TileWork work
    at.past = <const float**> (memory.scratch + (MAX_ROWS + 1) * MAX_VECTORS * LANES)
    at.given = at.past + MAX_ROWS
    at.gates = <float**> (at.given + MAX_ROWS)
    if g.kind == RESET_FIRST:
        for index in range(tiles):
            row = first + index * (end - first) // tiles
            stop = first + (index + 1) * (end - first) // tiles
            run_reset_first(w, direction, step, row, stop, &at, memory)
        return
    work.taps, work.depth, work.in_channel, work.out_channel, work.clamps = 1, g.cells, 0, 0, 0
    for panel in range(g.panels):
        index = direction * g.panels + panel
        work.weights, work.bias = w.weights + index * g.cells * width, w.bias + index * width
        work.ahead, work.ahead_bytes = work.weights, 0
        row = first
        for index in range(tiles):
            stop = first + (index + 1) * (end - first) // tiles
            rows = find_rows(w, direction, step, row, stop, &at, memory)
            for i in range(rows):
                at.given[i] = given_to(g, at.t[i], at.row[i], (direction * g.panels + panel) * width, memory)
                at.gates[i] = memory.scratch + i * width
            if rows:
                tile(rows, vectors, &work, at.past, at.given if g.kind != GRU else NULL, at.gates)
            for i in range(rows):
                renew(w, direction, at.t[i], at.row[i], panel, at.gates[i], at.given[i], at.past[i], memory)
            row = stop


cdef inline int find_rows(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, Py_ssize_t first, Py_ssize_t end, Rows* at,
    const Memory* memory,
) noexcept nogil:
    """Those of some sequences that have this step. The others put out zeros, as far from the beginning as this step is."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t row, length
    cdef int found = 0
    for row in range(first, end):
        length = length_of(g, row, memory)
        if step >= length:
            memset(
                memory.arena + g.out + direction * g.cells + step * g.out_step + row * g.out_row, 0,
                g.cells * sizeof(float),
            )
            continue
        at.row[found] = row
        at.t[found] = place_in(direction, step, length)
        at.past[found] = past_of(w, direction, step, at.t[found], row, memory.arena)
        found += 1
    return found


cdef inline const float* given_to(
    const Geometry* g, Py_ssize_t t, Py_ssize_t row, Py_ssize_t place, const Memory* memory
) noexcept nogil:
    """What the inputs of a sequence give at ``t`` to the gates that begin at a place."""
    return memory.arena + g.gates + t * g.gates_step + row * g.gates_row + place


cdef void run_reset_first(
    const Work* w, Py_ssize_t direction, Py_ssize_t step, Py_ssize_t first, Py_ssize_t end, Rows* at,
    const Memory* memory,
) noexcept nogil:
    """One step of the sequences of one tile: r and z of all cells, then the cells."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t padded = g.panels * LANES, width = 2 * LANES, panel
    cdef Py_ssize_t cell_width = g.cell_vectors * LANES, taken = g.panels * width + g.cell_panels * cell_width
    cdef Py_ssize_t given = direction * taken
    cdef const float* weights = w.weights + direction * taken * g.cells
    cdef const float* bias = w.bias + direction * taken
    cdef float* z = <float*> (at.gates + MAX_ROWS)
    cdef float* reset = z + MAX_ROWS * padded
    cdef float* spare = memory.scratch + MAX_ROWS * MAX_VECTORS * LANES
    cdef float* target
    cdef const float* h
    cdef int rows = find_rows(w, direction, step, first, end, at, memory), i
    cdef TileWork work
    if rows == 0:
        return
    work.taps, work.depth, work.in_channel, work.out_channel, work.clamps = 1, g.cells, 0, 0, 0
    work.ahead, work.ahead_bytes = weights, 0
    for i in range(rows):
        at.gates[i] = memory.scratch + i * max(width, cell_width)
    for panel in range(g.panels):
        work.weights, work.bias = weights + panel * g.cells * width, bias + panel * width
        for i in range(rows):
            at.given[i] = given_to(g, at.t[i], at.row[i], given + panel * width, memory)
        tile(rows, 2, &work, at.past, at.given, at.gates)
        for i in range(rows):
            h = at.past[i] + panel * LANES
            store(reset + i * padded + panel * LANES, sigmoid(load(at.gates[i])) * load(h))
            store(z + i * padded + panel * LANES, sigmoid(load(at.gates[i] + LANES)))
    for i in range(rows):
        at.past[i] = reset + i * padded
    given += g.panels * width
    weights += g.panels * width * g.cells
    bias += g.panels * width
    for panel in range(g.cell_panels):
        work.weights, work.bias = weights + panel * g.cells * cell_width, bias + panel * cell_width
        for i in range(rows):
            at.given[i] = given_to(g, at.t[i], at.row[i], given + panel * cell_width, memory)
        tile(rows, <int> g.cell_vectors, &work, at.past, at.given, at.gates)
        for i in range(rows):
            h = past_of(w, direction, step, at.t[i], at.row[i], memory.arena)
            target = memory.arena + g.out + at.t[i] * g.out_step + at.row[i] * g.out_row + direction * g.cells
            renew_reset_first(g, panel, at.gates[i], z + i * padded, h, target, spare)


cdef inline void renew_reset_first(
    const Geometry* g, Py_ssize_t panel, const float* gates, const float* z, const float* past, float* out, float* spare
) noexcept nogil:
    """The cells of one panel of one sequence: h = (1 - z) tanh(gates) + z h."""
    cdef Py_ssize_t place = panel * g.cell_vectors * LANES, count, v
    cdef vec new
    for v in range(g.cell_vectors):
        count = min(<Py_ssize_t> LANES, g.cells - place)
        if count <= 0:
            break
        new = tanh(load(gates + v * LANES))
        new = fma(load(z + place), load(past + place) - new, new)
        if count == LANES:
            store(out + place, new)
        else:
            store(spare, new)
            copy_exactly(spare, out + place, count)
        place += LANES


cdef inline void renew(
    const Work* w, Py_ssize_t direction, Py_ssize_t t, Py_ssize_t row, Py_ssize_t panel, const float* gates,
    const float* given, const float* past, const Memory* memory,
) noexcept nogil:
    """The cells of one panel of one sequence, from their gates."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t width = g.vectors * LANES if g.kind >= TANH else LANES
    cdef Py_ssize_t first = panel * width, count = min(width, g.cells - first)
    cdef float* target = memory.arena + g.out + t * g.out_step + row * g.out_row + direction * g.cells + first
    cdef float* h = target if count == width else memory.scratch + MAX_ROWS * MAX_VECTORS * LANES
    if g.kind == LSTM:
        lstm_cells(
            gates, memory.arena + w.last_c.offset + direction * w.last_c.direction + row * w.last_c.row + first, h
        )
    elif g.kind == GRU:
        gru_cells(gates, given, past + first, h)
    else:
        rnn_cells(gates, g.vectors, g.kind == RELU, h)
    if count < width:
        copy_exactly(h, target, count)
