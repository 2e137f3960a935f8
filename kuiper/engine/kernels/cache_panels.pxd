"""Where a session's caches hold keys and values: in panels of 16 numbers that are used together.

    keys of 16 positions         t  t+1 ...          values, numbers 0..15     16..31
      number 0                 [ .   .  ... ]          position 0   [ . ... ]   [ . ... ]
      number 1                 [ .   .  ... ]          position 1   [ . ... ]   [ . ... ]
      ...                                              ...
"""

from kuiper.engine.blocks cimport copy_exactly
from kuiper.engine.step cimport Memory

cdef enum:
    PANEL = 16  # the layer's

cdef struct Caches:
    Py_ssize_t position, keys, values  # bindings
    Py_ssize_t texts, groups, count, numbers  # of this call; keys and values are (texts, groups, count, numbers)
    Py_ssize_t capacity  # positions

cdef struct Source:
    Py_ssize_t first, text, head, position  # where it begins in the arena, and its strides, in floats


cdef inline Py_ssize_t panels_of(Py_ssize_t count) noexcept nogil:
    """How many panels this many numbers need."""
    return (count + PANEL - 1) // PANEL


cdef inline Py_ssize_t start_of(const Caches* c, const Memory* memory) noexcept nogil:
    """How many positions were filled before this call."""
    return <Py_ssize_t> (<const long long*> memory.bindings[c.position])[0]


cdef inline float* keys_of(const Caches* c, Py_ssize_t group, const Memory* memory) noexcept nogil:
    return memory.bindings[c.keys] + group * panels_of(c.capacity) * c.numbers * PANEL


cdef inline float* values_of(const Caches* c, Py_ssize_t group, const Memory* memory) noexcept nogil:
    return memory.bindings[c.values] + group * panels_of(c.numbers) * c.capacity * PANEL


cdef inline void put(
    const float* key, const float* value, Py_ssize_t numbers, Py_ssize_t at, Py_ssize_t capacity, float* keys,
    float* values,
) noexcept nogil:
    """One key and one value, to place ``at`` of a cache of ``capacity`` positions."""
    cdef Py_ssize_t e
    for e in range(numbers):
        keys[(at // PANEL * numbers + e) * PANEL + at % PANEL] = key[e]
    for e in range(panels_of(numbers)):
        copy_exactly(
            value + e * PANEL, values + (e * capacity + at) * PANEL, min(<Py_ssize_t> PANEL, numbers - e * PANEL)
        )


cdef inline float* at_head(const Source* s, Py_ssize_t text, Py_ssize_t head, const Memory* memory) noexcept nogil:
    return memory.arena + s.first + text * s.text + head * s.head
