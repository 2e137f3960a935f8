"""Rotary position embedding: pairs of numbers turned by position times frequency.

    RotaryAngles    cosines[s, i], sines[s, i] = cos, sin(position[s] * frequency[i])      once for all heads and layers
    Rotary          x[i], x[r + i]  ->  x[i] cos - x[r + i] sin,  x[r + i] cos + x[i] sin

Numbers i and r + i of a head are a pair, so whole vectors of first numbers meet whole vectors of second ones.

Source: J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
"""

from libc.math cimport cos, sin
from libc.string cimport memcpy

from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, fma, fma_of_one, fnma, load, store, vec

cdef enum:
    GRAIN = 4096  # numbers of a task

cdef struct Angles:
    Py_ssize_t positions  # bytes from the beginning of the arena
    Py_ssize_t frequencies, cosines, sines  # offsets into the arena, in floats
    Py_ssize_t row  # floats from row to row of cosines and sines
    Py_ssize_t count, pairs
    float scale

cdef struct Turn:
    Py_ssize_t x, x_text, x_head, x_position  # where it begins in the arena, and its strides, in floats
    Py_ssize_t out, out_text, out_head, out_position
    Py_ssize_t cosines, sines, row
    Py_ssize_t texts, heads, count, pairs, numbers

cdef struct Turning:
    Turn turn
    Py_ssize_t rows, tasks


cdef class RotaryAngles(Step):
    """See the head of this file. ``numbers`` names the fields of Angles.

    Parameters
    ----------
    numbers : dict of numbers
    """

    cdef Angles angles

    def __init__(self, dict numbers):
        self.angles = numbers
        self.tasks = self.angles.count
        self.numbers, self.run = &self.angles, angles_of


cdef void angles_of(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Those of one position."""
    cdef const Angles* a = <const Angles*> numbers
    cdef const float* frequencies = memory.arena + a.frequencies
    cdef float* cosines = memory.arena + a.cosines + task * a.row
    cdef float* sines = memory.arena + a.sines + task * a.row
    cdef long long position
    cdef float angle
    cdef Py_ssize_t i
    memcpy(&position, <const char*> memory.arena + a.positions + 8 * task, 8)
    for i in range(a.pairs):
        angle = <float> position * frequencies[i]
        cosines[i] = a.scale * <float> cos(angle)
        sines[i] = a.scale * <float> sin(angle)


cdef class Rotary(Step):
    """See the head of this file. ``numbers`` names the fields of Turn.

    Parameters
    ----------
    numbers : dict of integers
    """

    cdef Turning work

    def __init__(self, dict numbers):
        cdef Turning* w = &self.work
        w.turn = numbers
        w.rows = w.turn.texts * w.turn.heads * w.turn.count
        self.tasks = w.tasks = max(1, min(w.rows, w.rows * w.turn.numbers // GRAIN))
        self.numbers, self.run = w, turn


cdef void turn(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some heads of some positions."""
    cdef const Turning* w = <const Turning*> numbers
    cdef const Turn* t = &w.turn
    cdef Py_ssize_t row, text, head, at
    for row in range(task * w.rows // w.tasks, (task + 1) * w.rows // w.tasks):
        at, head, text = row % t.count, row // t.count % t.heads, row // t.count // t.heads
        turn_head(
            t,
            memory.arena + t.x + text * t.x_text + head * t.x_head + at * t.x_position,
            memory.arena + t.out + text * t.out_text + head * t.out_head + at * t.out_position,
            memory.arena + t.cosines + at * t.row,
            memory.arena + t.sines + at * t.row,
        )


cdef inline void turn_head(
    const Turn* t, const float* x, float* out, const float* cosines, const float* sines
) noexcept nogil:
    """One head of one position."""
    cdef Py_ssize_t vectors = t.pairs // LANES, r = t.pairs, v, i
    cdef vec first, second
    cdef float one, other
    for v in range(vectors):
        i = v * LANES
        first, second = load(x + i), load(x + r + i)
        store(out + i, fnma(second, load(sines + i), first * load(cosines + i)))
        store(out + r + i, fma(first, load(sines + i), second * load(cosines + i)))
    for i in range(vectors * LANES, r):
        one, other = x[i], x[r + i]
        out[i] = fma_of_one(-other, sines[i], one * cosines[i])
        out[r + i] = fma_of_one(one, sines[i], other * cosines[i])
    for i in range(2 * r, t.numbers):
        out[i] = x[i]
