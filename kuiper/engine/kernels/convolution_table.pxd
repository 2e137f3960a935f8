"""Where a tile's pixels are: the table of pointers that the direct convolution hands to tile.pxd.

    pointers[tap][row] = image + (y * stride_h - pad_top + ky * dilation_h) * row + (x * stride_w - pad_left + ...) * pixel

Where all taps of all pixels fall on the image, that is one row of pointers plus one offset for each tap. A tap that falls
outside points to a row of zeros.

A pixel of the output may be a run of them (``lowering/pixel_runs.py``), of which the last one in a row is cut off: it is computed in
a task's memory, and what there is of it is copied to its place.

Source: M. Dukhan, "The Indirect Convolution Algorithm", 2019.
"""

from libc.string cimport memcpy

from kuiper.engine.step cimport Memory
from kuiper.engine.tile cimport MAX_ROWS

# One panel: which output channels (in floats), from which input channel on, and where its weights begin.
cdef struct Panel:
    Py_ssize_t vectors, out_channel, in_channel, weights

cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t depth
    Py_ssize_t source, in_image, in_row, in_pixel  # offsets into the arena, in floats
    Py_ssize_t target, out_image, out_row, out_pixel
    Py_ssize_t residual, residual_pixel  # -1: none
    Py_ssize_t zeros
    Py_ssize_t rest  # floats of the last pixel of a row that have a place; 0: all
    Py_ssize_t block, panels, panel_groups  # pixels of a task, panels in all, and parts that they fall into
    bint far_weights  # they do not stay in the second-level cache beside the image
    int activation
    float alpha, beta

cdef struct Work:
    Geometry geometry
    Py_ssize_t pixels, blocks, taps
    bint dense  # pixel i of the output sees pixel i of the input, and both follow one another evenly
    const Panel* panel
    const Py_ssize_t* offset  # of each tap
    const float* weights
    const float* bias
    const float* next_weights  # of the step behind this one
    double next_bytes  # how much of them comes to each step of a sum, so that all sums together ask for all

# The table of a tile, in a task's scratch memory, and the output pixel with which the next tile begins.
cdef struct Table:
    Py_ssize_t image, y, x
    int rows  # of the last tile, if all its pixels were in one row of the output and all their taps on the image; else 0
    const float** pointers  # [taps][rows]
    const float* source[MAX_ROWS]  # under the first tap
    const float* residual[MAX_ROWS]
    float* out[MAX_ROWS]
    float* cut_off[MAX_ROWS]  # where a row's last pixel belongs that is computed elsewhere; NULL: no such pixel


cdef inline void go_to(const Geometry* g, Py_ssize_t pixel, Table* table) noexcept nogil:
    """Let the next tile begin with this output pixel. Tiles then follow one another: a division for each takes long."""
    cdef Py_ssize_t row = pixel // g.out_w
    table.x = pixel - row * g.out_w
    table.image = row // g.out_h
    table.y = row - table.image * g.out_h
    table.rows = 0


cdef inline void step_on(const Geometry* g, Py_ssize_t pixels, Table* table) noexcept nogil:
    """Some pixels further, at most to the end of the row, which is the beginning of the next."""
    table.x += pixels
    if table.x == g.out_w:
        table.x = 0
        table.y += 1
        if table.y == g.out_h:
            table.y = 0
            table.image += 1


cdef inline bint shift(const Work* work, int rows, Table* table) noexcept nogil:
    """Move the last tile's table to its right, where that is all there is to do: most tiles differ by nothing else."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t last = table.x + rows - 1, i, step = rows * g.stride_w * g.in_pixel
    if (
        table.rows != rows or table.x == 0 or last >= g.out_w
        or last * g.stride_w - g.pad_left >= g.in_w - (g.kernel_w - 1) * g.dilation_w
    ):
        return False
    for i in range(work.taps * rows):
        table.pointers[i] += step
    for i in range(rows):
        table.out[i] += rows * g.out_pixel
    step_on(g, rows, table)
    return True


cdef inline bint locate(const Geometry* g, int rows, const Memory* memory, Table* table) noexcept nogil:
    """Where each pixel's first tap and its output are; the answer says whether all taps of all fall on the image."""
    cdef Py_ssize_t spare_y = g.in_h - (g.kernel_h - 1) * g.dilation_h, spare_x = g.in_w - (g.kernel_w - 1) * g.dilation_w
    cdef Py_ssize_t in_y, in_x, step = g.stride_w * g.in_pixel
    cdef const float* source
    cdef float* out
    cdef bint inside = True
    cdef int done = 0, run = 0, i
    while done < rows:  # the pixels of one row of the output in one go
        run = <int> min(<Py_ssize_t> rows - done, g.out_w - table.x)
        in_y = table.y * g.stride_h - g.pad_top
        in_x = table.x * g.stride_w - g.pad_left
        inside = inside and 0 <= in_y < spare_y and 0 <= in_x and in_x + (run - 1) * g.stride_w < spare_x
        source = memory.source + g.source + table.image * g.in_image + in_y * g.in_row + in_x * g.in_pixel
        out = memory.target + g.target + table.image * g.out_image + table.y * g.out_row + table.x * g.out_pixel
        for i in range(run):
            table.source[done + i] = source + i * step
            table.out[done + i] = out + i * g.out_pixel
        done += run
        step_on(g, run, table)
    table.rows = rows if inside and run == rows else 0
    return inside


cdef inline void clip(const Work* work, Py_ssize_t pixel, int rows, const float* zeros, Table* table) noexcept nogil:
    """Let taps that fall outside of the image see zeros."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t in_y, in_x, ky, kx, y, x
    cdef int i
    for i in range(rows):
        in_y = (pixel + i) // g.out_w % g.out_h * g.stride_h - g.pad_top
        in_x = (pixel + i) % g.out_w * g.stride_w - g.pad_left
        for ky in range(g.kernel_h):
            y = in_y + ky * g.dilation_h
            for kx in range(g.kernel_w):
                x = in_x + kx * g.dilation_w
                if y < 0 or y >= g.in_h or x < 0 or x >= g.in_w:
                    table.pointers[(ky * g.kernel_w + kx) * rows + i] = zeros


cdef inline void place(
    const Work* work, Py_ssize_t pixel, int rows, const Memory* memory, Table* table
) noexcept nogil:
    """The table for output pixels ``pixel`` .. ``pixel + rows``: those behind the last tile's."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t tap
    cdef bint inside
    cdef int i
    if g.residual >= 0:
        for i in range(rows):
            table.residual[i] = memory.arena + g.residual + (pixel + i) * g.residual_pixel
    if work.dense:
        for i in range(rows):
            table.pointers[i] = memory.source + g.source + (pixel + i) * g.in_pixel
            table.out[i] = memory.target + g.target + (pixel + i) * g.out_pixel
        return
    if shift(work, rows, table):
        return
    inside = locate(g, rows, memory, table)
    for tap in range(work.taps):
        for i in range(rows):
            table.pointers[tap * rows + i] = table.source[i] + work.offset[tap]
    if not inside:
        clip(work, pixel, rows, memory.arena + g.zeros, table)


cdef inline void set_aside(const Work* work, Py_ssize_t pixel, int rows, float* spare, Table* table) noexcept nogil:
    """Let the last pixels of rows go to spare memory."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t x = pixel % g.out_w
    cdef int i
    for i in range(rows):
        x += 1
        table.cut_off[i] = NULL
        if x == g.out_w:
            x = 0
            table.cut_off[i] = table.out[i]
            table.out[i] = spare + i * g.out_pixel


cdef inline void put_back(const Work* work, Py_ssize_t first, Py_ssize_t end, int rows, const Table* table) noexcept nogil:
    """Copy what they have of the channels ``first`` .. ``end`` to where it belongs."""
    cdef Py_ssize_t count = min(end, work.geometry.rest) - first
    cdef int i
    for i in range(rows):
        if table.cut_off[i] != NULL and count > 0:
            memcpy(table.cut_off[i] + first, table.out[i] + first, count * sizeof(float))
