"""A chunk of numbers in the first-level cache, as float32 or as int64: how it is loaded from numbers of any type and stored to
them, and what can be done with it. Division and remainder round towards minus infinity.
"""

cdef extern from "kuiper/engine/typed_chunk.h":
    enum:
        CHUNK "KUIPER_CHUNK"  # numbers
        FLOAT32 "KUIPER_FLOAT32"
        INT64 "KUIPER_INT64"
        INT32 "KUIPER_INT32"
        BOOL "KUIPER_BOOL"
        INT8 "KUIPER_INT8"
        UINT8 "KUIPER_UINT8"
        COPY "TYPED_COPY"
        WHERE "TYPED_WHERE"
        EQ "TYPED_EQ"
        NE "TYPED_NE"
        LT "TYPED_LT"
        LE "TYPED_LE"
        GT "TYPED_GT"
        GE "TYPED_GE"
        AND "TYPED_AND"
        OR "TYPED_OR"
        XOR "TYPED_XOR"
        ADD "TYPED_ADD"
        SUB "TYPED_SUB"
        MUL "TYPED_MUL"
        FLOOR_DIVIDE "TYPED_FLOOR_DIVIDE"
        REMAINDER "TYPED_REMAINDER"
        QUANTIZE "TYPED_QUANTIZE"
        DEQUANTIZE "TYPED_DEQUANTIZE"
    ctypedef struct Chunk "kuiper_chunk":
        pass
    void load_chunk "kuiper_load_chunk"(
        const char* x, int type, Py_ssize_t step, Py_ssize_t count, bint floating, Chunk* chunk
    ) noexcept nogil
    void store_chunk "kuiper_store_chunk"(
        const Chunk* chunk, bint floating, char* out, int type, Py_ssize_t step, Py_ssize_t count
    ) noexcept nogil
    void compare "kuiper_compare"(
        int operation, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil
    void calculate "kuiper_calculate"(
        int operation, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil
    void choose "kuiper_choose"(
        const Chunk* where, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil
    # floats to bytes of a type and back: the numbers, their scales and their zero points
    void rescale "kuiper_rescale"(
        int operation, int type, const Chunk* x, const Chunk* scale, const Chunk* zero, Py_ssize_t count, Chunk* out
    ) noexcept nogil
