"""Exercise 5.5: intersection over union, and non-maximum suppression.

A detector finds the same cat ten times, in boxes that are nearly the same. How nearly? Intersection over union says:

    +-------+                      area of the part that both cover       2 x 3
    | a +---|---+      iou(a, b) = ---------------------------------  =  ----------------  =  1/4
    |   |///|   |                  area that any of them covers          12 + 18 - 6
    +---|///|   |
        |///|   |                  a = 0 0 4 3   (4 wide, 3 high, area 12)    iou is 1 for equal boxes,
        +---+---+                  b = 2 0 8 3   (6 wide, 3 high, area 18)    0 for boxes that share nothing

(The picture is not to scale.) A box is x1, y1, x2, y2: left, upper, right, lower edge, with x1 <= x2 and y1 <= y2. An
edge has no width: 0 0 4 3 is 4 wide, and boxes that only touch share nothing. Numbers need not be whole, and may be
negative.

Non-maximum suppression then goes through the boxes, the best first, and throws away each one that is too much like a
box that it has kept already.
"""


# Both functions need the iou of two boxes, nms of many: a cdef function is called without any Python in between,
# like ``cdef float overlap(const float[:] a, const float[:] b)``. A row of a memoryview, boxes[i], is a memoryview
# again.

# BEGIN SOLUTION


cdef float overlap(const float[:] a, const float[:] b) noexcept nogil:
    """The intersection over union of two boxes."""
    cdef float width = min(a[2], b[2]) - max(a[0], b[0])
    cdef float height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0
    cdef float shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


# END SOLUTION


def iou(const float[:] a, const float[:] b):
    """The intersection over union of two boxes of four numbers each, a Python float from 0 to 1.

    Where both have no area, the quotient would be 0 / 0: then the answer is 0.

    In words: the part that both cover begins at the larger of the two left edges and ends at the smaller of the two
    right edges; if it ends before it begins, there is no such part. The same for upper and lower edges. What any of the
    two covers is the sum of the areas, minus what was counted twice.

    >>> import numpy as np
    >>> iou(np.array([0, 0, 4, 3], np.float32), np.array([2, 0, 8, 3], np.float32))
    0.25
    """
    # BEGIN SOLUTION
    return overlap(a, b)
    # END SOLUTION


def nms(
    const float[:, :] boxes, const Py_ssize_t[:] classes, const Py_ssize_t[:] order, float threshold,
    unsigned char[:] keep,
):
    """Fill ``keep`` (n,) with 1 for each box that stays and 0 for each that is thrown away.

        boxes     (n, 4)   corners
        classes   (n,)     what is in each box
        order     (n,)     the boxes by their score, the best first: 2, 0, 1 means that box 2 is the best

    Go through the boxes in this order. A box stays unless one that stays already has the same class and an iou with it
    above ``threshold`` (not equal). A box that was thrown away throws no other one away. ``keep`` holds old numbers
    when you get it.

    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 4, 3], [0, 0, 4, 4], [9, 9, 12, 12]], np.float32)
    >>> keep = np.zeros(3, np.uint8)
    >>> nms(boxes, np.array([5, 5, 5]), np.array([1, 0, 2]), 0.5, keep)
    >>> keep.tolist()
    [0, 1, 1]
    """
    cdef Py_ssize_t p, q, i, j
    # BEGIN SOLUTION
    for p in range(order.shape[0]):
        i = order[p]
        keep[i] = 1
        for q in range(p):
            j = order[q]
            if keep[j] and classes[i] == classes[j] and overlap(boxes[i], boxes[j]) > threshold:
                keep[i] = 0
                break
    # END SOLUTION
