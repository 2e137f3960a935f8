"""The check of an index in a kernel, which cannot raise an error."""

from kuiper.engine.step cimport Memory


cdef inline Py_ssize_t checked_index(
    long long index, Py_ssize_t lowest, Py_ssize_t size, Py_ssize_t error_flag, const Memory* memory
) noexcept nogil:
    """The index, counted from the start; 0 if it lies outside of lowest ... size - 1, and ``error_flag`` is set on the arena.

    ``lowest`` is 0, or -size where one may count from the end. The runner sees the flag and leaves all to the layers, which
    say what is wrong.
    """
    if lowest <= index < size:
        return index if index >= 0 else index + size
    memory.arena[error_flag] = 1
    return 0
