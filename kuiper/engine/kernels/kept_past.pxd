"""Keys and values that the caller keeps from call to call: where they lie, how long each text is, and turned pairs."""

from kuiper.engine.blocks cimport copy_exactly
from kuiper.engine.step cimport Memory
from kuiper.engine.typed_view cimport whole_at
from kuiper.simd.vector cimport fma_of_one

cdef enum:
    OTHER_NUMBERS = 2  # on the error flag: what the plan was not made for; 1 is an index that lies outside

cdef struct Geometry:
    Py_ssize_t lengths, length_bytes, total  # bytes from the beginning of the arena; a total of -1 is known
    int length_type, total_type
    Py_ssize_t known_total, positions  # positions that pairs may be turned to
    Py_ssize_t past_keys, past_values, keys, values, cosines, sines  # bindings
    Py_ssize_t texts, groups, shared, count, numbers, room, size  # past is (texts, groups, room, numbers), present size
    Py_ssize_t pairs, window  # 0: nothing is turned, all earlier keys are seen
    bint interleaved
    Py_ssize_t error_flag  # offset of the flag in the arena, in floats

cdef struct Place:
    Py_ssize_t first, text, head, position  # where it begins in the arena, and its strides, in floats


cdef inline Py_ssize_t start_of(const Geometry* g, Py_ssize_t text, const Memory* memory) noexcept nogil:
    """How many keys of a text are past."""
    cdef const char* arena = <const char*> memory.arena
    cdef long long longest = g.known_total
    cdef long long start = whole_at(arena + g.lengths + text * g.length_bytes, g.length_type) + 1 - g.count
    if g.total >= 0:
        longest = whole_at(arena + g.total, g.total_type)
    if longest == 0:
        longest = g.room + g.count
    if longest == g.count or start < 0:
        start = 0
    if max(longest, <long long> g.room) != g.size or start > g.room or start + g.count > (min(g.size, g.positions) if g.pairs else g.size):
        memory.arena[g.error_flag] = OTHER_NUMBERS
        return 0
    return <Py_ssize_t> start


cdef inline void turn(
    const Geometry* g, const float* x, float* out, Py_ssize_t position, const Memory* memory
) noexcept nogil:
    """A head at its position: neighbours are a pair, or numbers of the first half with those of the second."""
    cdef const float* cosines = memory.bindings[g.cosines] + position * g.pairs
    cdef const float* sines = memory.bindings[g.sines] + position * g.pairs
    if g.interleaved:
        turn_pairs(x, out, 2, 1, g.pairs, cosines, sines)
    else:
        turn_pairs(x, out, 1, g.pairs, g.pairs, cosines, sines)
    if 2 * g.pairs < g.numbers:
        copy_exactly(x + 2 * g.pairs, out + 2 * g.pairs, g.numbers - 2 * g.pairs)


cdef inline void turn_pairs(
    const float* x, float* out, const Py_ssize_t step, const Py_ssize_t apart, Py_ssize_t pairs, const float* cosines,
    const float* sines,
) noexcept nogil:
    cdef float one, other
    cdef Py_ssize_t i
    for i in range(pairs):
        one, other = x[i * step], x[i * step + apart]
        out[i * step] = fma_of_one(-other, sines[i], one * cosines[i])
        out[i * step + apart] = fma_of_one(one, sines[i], other * cosines[i])
