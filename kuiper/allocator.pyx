"""A limit on the bytes of one array, kept where NumPy asks for memory.

Most arrays are made within NumPy, by its arithmetic as much as by ``np.empty``, so no check in front of each operator could see
them all. NumPy lets a program put its own allocator in the place of NumPy's, for the current context (thread or task) only. This one
refuses what is too large, which NumPy reports as a MemoryError, and hands everything else to NumPy's own allocator.

NumPy's C functions are found in the table that NumPy keeps for other modules: kuiper is compiled without NumPy's headers.

Source: NumPy Enhancement Proposal 49, "Data allocation strategies"; numpy/core/code_generators/numpy_api.py for the table.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport strcpy

try:
    from numpy._core import _multiarray_umath as multiarray
except ImportError:  # NumPy before 2.0
    from numpy.core import _multiarray_umath as multiarray

cdef enum:
    SET_HANDLER = 304  # places in NumPy's table
    GET_HANDLER = 305

# PyDataMem_Handler of NumPy, version 1.
cdef struct Handler:
    char name[127]
    uint8_t version
    void* ctx
    void* (*malloc)(void* ctx, size_t size) noexcept nogil
    void* (*calloc)(void* ctx, size_t count, size_t size) noexcept nogil
    void* (*realloc)(void* ctx, void* memory, size_t size) noexcept nogil
    void (*free)(void* ctx, void* memory, size_t size) noexcept nogil

ctypedef object (*SetHandler)(object)
ctypedef object (*GetHandler)()

cdef void** table = <void**> PyCapsule_GetPointer(multiarray._ARRAY_API, NULL)
cdef SetHandler set_handler = <SetHandler> table[SET_HANDLER]
cdef object usual = (<GetHandler> table[GET_HANDLER])()
cdef Handler* numpy = <Handler*> PyCapsule_GetPointer(usual, "mem_handler")
cdef Handler handler
cdef size_t most = 0


cdef void* limited_malloc(void* ctx, size_t size) noexcept nogil:
    return NULL if size > most else numpy.malloc(ctx, size)


cdef void* limited_calloc(void* ctx, size_t count, size_t size) noexcept nogil:
    return NULL if size > 0 and count > most // size else numpy.calloc(ctx, count, size)


cdef void* limited_realloc(void* ctx, void* memory, size_t size) noexcept nogil:
    return NULL if size > most else numpy.realloc(ctx, memory, size)


handler = numpy[0]
strcpy(handler.name, b"kuiper_limited")
handler.malloc, handler.calloc, handler.realloc = limited_malloc, limited_calloc, limited_realloc
cdef object limited = PyCapsule_New(&handler, "mem_handler", NULL)


def set_most_bytes(size_t size):
    """No array of more bytes is made within ``Limited``, in any thread."""
    global most
    most = size


# A handler with a limit of its own, to which its context points; arrays keep its capsule for as long as they live.
cdef struct OwnLimit:
    Handler handler
    size_t most


cdef void* own_malloc(void* ctx, size_t size) noexcept nogil:
    return NULL if size > (<size_t*> ctx)[0] else numpy.malloc(numpy.ctx, size)


cdef void* own_calloc(void* ctx, size_t count, size_t size) noexcept nogil:
    return NULL if size > 0 and count > (<size_t*> ctx)[0] // size else numpy.calloc(numpy.ctx, count, size)


cdef void* own_realloc(void* ctx, void* memory, size_t size) noexcept nogil:
    return NULL if size > (<size_t*> ctx)[0] else numpy.realloc(numpy.ctx, memory, size)


cdef void own_free(void* ctx, void* memory, size_t size) noexcept nogil:
    numpy.free(numpy.ctx, memory, size)


cdef void drop_own(object capsule) noexcept:
    free(PyCapsule_GetPointer(capsule, "mem_handler"))


cdef object with_own_limit(size_t size):
    """The capsule of a handler that makes no array of more bytes than this."""
    cdef OwnLimit* own = <OwnLimit*> malloc(sizeof(OwnLimit))
    if own is NULL:
        raise MemoryError()
    own.handler = handler
    own.most = min(size, most)
    own.handler.ctx = &own.most
    own.handler.malloc, own.handler.calloc, own.handler.realloc = own_malloc, own_calloc, own_realloc
    own.handler.free = own_free
    return PyCapsule_New(own, "mem_handler", drop_own)


cdef class Limited:
    """A context manager: what NumPy allocates within has at most so many bytes. Contexts may be nested.

    ``size`` is a limit in bytes for this context alone; it counts if it is lower than that of ``set_most_bytes``.
    """

    cdef object before
    cdef object handler

    def __init__(self, size=None):
        self.handler = limited if size is None else with_own_limit(size)

    def __enter__(self):
        self.before = set_handler(self.handler)

    def __exit__(self, *error):
        set_handler(self.before)
