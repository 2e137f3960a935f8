"""What Winograd's kernel knows of its layer, and where a tile stands in the image."""

cdef enum:
    MAX_POSITIONS = 81

cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w, pad_top, pad_left
    Py_ssize_t source, in_image, in_row, in_pixel, channels  # offsets into the arena, in floats
    Py_ssize_t target, out_image, out_row, out_pixel, out_channels  # out_channels: whole vectors
    Py_ssize_t residual, residual_pixel  # -1: none
    Py_ssize_t size, stride  # outputs along each side of a tile, 2 or 4; 1 or 2
    Py_ssize_t block, panels, panel_groups  # tiles of a task, panels in all, and parts that they fall into
    int activation
    float alpha, beta

cdef struct Work:
    Geometry geometry
    Py_ssize_t edge, positions, tiles_h, tiles_w
    int order[MAX_POSITIONS]  # the positions; those that share weights follow each other
    int slot[MAX_POSITIONS]  # and which weights they have
    Py_ssize_t depth  # channels in whole vectors
    Py_ssize_t tables  # floats that two pointers for each tile take, in whole cache lines
    Py_ssize_t values_position, sums_position  # floats from one position to the next in V and in M
    const float* weights
    const float* bias
    const float* zeros

# Where a tile stands: the input pixel of its top left corner, and the output pixel.
cdef struct Place:
    Py_ssize_t image, in_y, in_x, out_y, out_x


cdef inline Place place_of(const Work* work, Py_ssize_t index) noexcept nogil:
    """Tiles are counted along the rows, down the image, image by image."""
    cdef Place place
    cdef Py_ssize_t row = index // work.tiles_w
    place.image = row // work.tiles_h
    place.out_y = (row - place.image * work.tiles_h) * work.geometry.size
    place.out_x = (index - row * work.tiles_w) * work.geometry.size
    place.in_y = place.out_y * work.geometry.stride - work.geometry.pad_top
    place.in_x = place.out_x * work.geometry.stride - work.geometry.pad_left
    return place
