"""A limit on the bytes of one array, kept where NumPy asks for memory.

Most arrays are made within NumPy, by its arithmetic as much as by ``np.empty``, so no check in front of each operator could see
them all. NumPy lets a program put its own allocator in the place of NumPy's, for the current context (thread or task) only. This one
refuses what is too large, which NumPy reports as a MemoryError, and hands everything else to NumPy's own allocator.

Source: NumPy Enhancement Proposal 49, "Data allocation strategies".
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdlib cimport free, malloc
from libc.string cimport strcpy

cdef extern from "numpy/arrayobject.h":
    ctypedef struct Allocator "PyDataMemAllocator":
        void* ctx
        void* (*malloc)(void* ctx, size_t size) noexcept nogil
        void* (*calloc)(void* ctx, size_t count, size_t size) noexcept nogil
        void* (*realloc)(void* ctx, void* memory, size_t size) noexcept nogil
        void (*free)(void* ctx, void* memory, size_t size) noexcept nogil

    ctypedef struct Handler "PyDataMem_Handler":
        char name[127]
        Allocator allocator

    int _import_array() except -1
    object PyDataMem_SetHandler(object handler)
    object PyDataMem_GetHandler()

_import_array()
cdef object usual = PyDataMem_GetHandler()
cdef Handler* usual_handler = <Handler*> PyCapsule_GetPointer(usual, "mem_handler")
cdef Allocator* numpy = &usual_handler.allocator
cdef Handler handler
cdef size_t most = 0


cdef void* limited_malloc(void* ctx, size_t size) noexcept nogil:
    return NULL if size > most else numpy.malloc(ctx, size)


cdef void* limited_calloc(void* ctx, size_t count, size_t size) noexcept nogil:
    return NULL if size > 0 and count > most // size else numpy.calloc(ctx, count, size)


cdef void* limited_realloc(void* ctx, void* memory, size_t size) noexcept nogil:
    return NULL if size > most else numpy.realloc(ctx, memory, size)


handler = usual_handler[0]
strcpy(handler.name, b"kuiper_limited")
handler.allocator.malloc, handler.allocator.calloc = limited_malloc, limited_calloc
handler.allocator.realloc = limited_realloc
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
    own.handler.allocator = Allocator(&own.most, own_malloc, own_calloc, own_realloc, own_free)
    return PyCapsule_New(own, "mem_handler", drop_own)


cdef class Limited:
    """A context manager: what NumPy allocates within has at most this many bytes. Contexts may be nested.

    ``size`` is a limit in bytes for this context alone; it counts if it is lower than that of ``set_most_bytes``.
    """

    cdef object before
    cdef object handler

    def __init__(self, size=None):
        self.handler = limited if size is None else with_own_limit(size)

    def __enter__(self):
        self.before = PyDataMem_SetHandler(self.handler)

    def __exit__(self, *error):
        PyDataMem_SetHandler(self.before)
