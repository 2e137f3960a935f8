"""A table of 256 bytes, looked up for a run of bytes.

A vector looks up sixteen entries of its own register at a time (pshufb), by the lower half of each byte. So the table is sixteen
such rows; all are looked up, and the four bits of the upper half choose between them, half of the rows at a time. That is some
35 instructions for a vector of bytes, where one byte after the other needs two loads and a store each.
"""

cdef extern from "kuiper/engine/byte_lookup.h":
    void look_up_run "kuiper_look_up"(
        const unsigned char* table, const unsigned char* x, Py_ssize_t count, unsigned char* out
    ) noexcept nogil
