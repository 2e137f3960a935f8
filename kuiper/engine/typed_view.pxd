"""Numbers of any element type, anywhere: in the arena or in an array from outside, with strides in bytes."""

from libc.string cimport memcpy

from kuiper.engine.step cimport MAX_NDIM, Memory
from kuiper.engine.typed_chunk cimport INT32, INT64

cdef struct TypedView:
    Py_ssize_t binding, offset  # -1: the arena; bytes
    int type
    Py_ssize_t stride[MAX_NDIM]


cdef inline char* first_of(const TypedView* view, const Memory* memory) noexcept nogil:
    """Where its first number lies."""
    return (<char*> memory.arena if view.binding < 0 else <char*> memory.bindings[view.binding]) + view.offset


cdef inline long long whole_at(const char* place, int type) noexcept nogil:
    """The integer or bool that lies there."""
    cdef long long wide
    cdef int narrow
    if type == INT64:
        memcpy(&wide, place, 8)
        return wide
    if type == INT32:
        memcpy(&narrow, place, 4)
        return narrow
    return place[0]
