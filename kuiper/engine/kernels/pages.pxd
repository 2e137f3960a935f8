"""Where the keys and values of a step's texts lie: in pages of a pool, of floats or of bytes (graph/paged_state.py)."""

from kuiper.engine.kernels.cache_panels cimport PANEL, panels_of
from kuiper.engine.step cimport Memory

cdef struct Pages:
    Py_ssize_t keys, values  # bindings: (pages, groups, ...), as a cache of page_size positions for each page
    bint in_bytes
    Py_ssize_t key_scales, value_scales  # bindings, of bytes: (pages, groups, page_size)
    Py_ssize_t positions, texts, tables  # bindings: integers of the step
    Py_ssize_t groups, numbers, count  # keys and values of the step are (1, groups, count, numbers)
    Py_ssize_t page_size, pages_per_text

# A group of heads of a page: floats, or signed bytes and their scales.
cdef struct Page:
    void* keys
    void* values
    float* key_scales
    float* value_scales


cdef inline const long long* integers(Py_ssize_t binding, const Memory* memory) noexcept nogil:
    return <const long long*> memory.bindings[binding]


cdef inline Py_ssize_t place_of(
    const Pages* p, Py_ssize_t row, Py_ssize_t group, Py_ssize_t page, const Memory* memory
) noexcept nogil:
    """Which group of heads of which page of the pool the text of a row has as its page number ``page``."""
    cdef Py_ssize_t text = integers(p.texts, memory)[row]
    return integers(p.tables, memory)[text * p.pages_per_text + page] * p.groups + group


cdef inline Page page_of(
    const Pages* p, Py_ssize_t row, Py_ssize_t group, Py_ssize_t page, const Memory* memory
) noexcept nogil:
    """Where that lies."""
    cdef Py_ssize_t first = place_of(p, row, group, page, memory) * p.page_size  # as if a position had one number
    cdef Py_ssize_t size = sizeof(char) if p.in_bytes else sizeof(float)
    cdef Page found
    found.keys = <char*> memory.bindings[p.keys] + first * p.numbers * size
    found.values = <char*> memory.bindings[p.values] + first * panels_of(p.numbers) * PANEL * size
    found.key_scales = memory.bindings[p.key_scales] + first if p.in_bytes else NULL
    found.value_scales = memory.bindings[p.value_scales] + first if p.in_bytes else NULL
    return found


cdef inline Py_ssize_t floats_of_bytes(const Pages* p) noexcept nogil:
    """Of a page's values, or of its keys, which are as many or fewer; 0 if the page has floats."""
    return p.page_size * PANEL * panels_of(p.numbers) if p.in_bytes else 0
