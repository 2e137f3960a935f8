"""Non-maximum suppression: of boxes that show the same thing, only the best.

The idea. Boxes come with the best first, so whatever has been kept is better than what comes. A box is kept unless one
that was kept before it covers nearly the same; a box that was not kept stands in nobody's way.

    +-------+                      shared area
    | a +---|---+      IoU  =  --------------------  =  1 for equal boxes, 0 for those that share nothing
    |   |///|   |               area of a or b
    +---|///|   |
        |   b   |      kept = [a];  b comes: IoU(a, b) > threshold ?  gone  :  kept = [a, b]
        +-------+

Each box is compared with the kept ones alone, and the search ends when enough are kept: n * kept steps instead of
n * n. All numbers are those of torchvision.ops.nms bit for bit: float32, rounded after each operation, and ``>`` with a
threshold in double. 0 / 0, of boxes without an area, is NaN, and NaN is not above the threshold.
"""


cdef float overlap(const float* a, const float* b, float both_areas) noexcept nogil:
    """The intersection over union of two boxes x1, y1, x2, y2; ``both_areas`` is the sum of their areas."""
    cdef float width = min(a[2], b[2]) - max(a[0], b[0])
    cdef float height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        width = height = 0
    cdef float shared = width * height
    return shared / (both_areas - shared)


def suppress(
    const float[:, ::1] boxes, const float[::1] areas, const Py_ssize_t[::1] classes, double threshold,
    Py_ssize_t[::1] kept,
):
    """Write the rows of the boxes (n, 4) that stay to ``kept``, at most as many as it has room for, and return how many.

    ``boxes`` come with the best first. Only boxes of equal ``classes`` (n,) suppress each other.
    """
    cdef Py_ssize_t i, k, j, count = 0, room = kept.shape[0]
    with nogil:
        for i in range(boxes.shape[0]):
            if count == room:
                break
            for k in range(count):
                j = kept[k]
                if classes[i] == classes[j] and overlap(&boxes[i, 0], &boxes[j, 0], areas[j] + areas[i]) > threshold:
                    break
            else:
                kept[count] = i
                count += 1
    return count
