from __future__ import annotations

import numpy as np
import pytest

from kuiper.layers.static_sizes import with_actual_sizes


@pytest.mark.parametrize(
    ("sizes", "declared", "shape", "expected"),
    [
        ((1, 6), (1, 2, 3), (3, 2, 3), (3, 6)),
        ((4, 6), (4, 2, 3), (1, 2, 3), (1, 6)),
        ((6,), (1, 6), (3, 6), (18,)),
        ((24, 2, -1), (1, 48, 12, 12), (2, 48, 12, 12), (48, 2, -1)),
        ((1, 2, 2, 5), (4, 5), (12, 5), (3, 2, 2, 5)),  # windows of an image, put together again
        ((3, 4, 7, -1), (3, 1, 4, 7, 5), (3, 2, 4, 7, 5), (3, 8, 7, -1)),  # queries, keys, values; batch and heads
        ((1, 255, 400), (1, 255, 20, 20), (2, 255, 10, 20), (2, 255, 200)),
        ((1, 255, -1), (1, 255, 20, 20), (2, 255, 10, 20), (2, 255, -1)),
        ((1, 3, 85, 20, 20), (1, 255, 20, 20), (2, 255, 10, 40), (2, 3, 85, 10, 40)),
        ((5, 1, 1), (5,), (7,), (7, 1, 1)),
    ],
)
def test_with_actual_sizes_scales_what_changed(
    sizes: tuple[int, ...], declared: tuple[int, ...], shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert with_actual_sizes(sizes, declared, shape) == expected
    assert with_actual_sizes(sizes, declared, declared) == sizes


@pytest.mark.parametrize(
    ("sizes", "declared", "shape"),
    [
        ((1, 6), (1, None, 3), (3, 2, 3)),  # the file leaves a size open
        ((1, 6), ("batch", 2, 3), (3, 2, 3)),
        ((1, 6), None, (3, 2, 3)),
        ((1, 6), (1, 6), (3, 2, 3)),  # other axes than declared
        ((1, 7), (1, 2, 3), (3, 2, 3)),  # a shape that does not even fit the declared one
        ((-1, -1), (1, 2, 3), (3, 2, 3)),
        ((2, 1, 24, 12), (2, 24, 12), (2, 48, 12)),  # in the 1, or in the 24?
        ((2, 3, 2), (4, 3), (5, 3)),  # four images in pairs, and now five
        ((1, 4, 4), (1, 2, 8), (1, 4, 4)),  # as many numbers as before, in other axes
        ((2, -1, 24, 12), (2, 24, 12), (2, 48, 12)),  # in the -1, or in the 24?
    ],
)
def test_with_actual_sizes_does_not_guess(
    sizes: tuple[int, ...], declared: tuple[object, ...] | None, shape: tuple[int, ...]
) -> None:
    assert with_actual_sizes(sizes, declared, shape) is None  # type: ignore[arg-type]


def test_with_actual_sizes_treats_each_image_as_the_export_did() -> None:
    images = np.arange(4 * 6 * 4).reshape(4, 6, 4)
    sizes = with_actual_sizes((3, 2, 4), (1, 6, 4), images.shape)
    assert sizes == (12, 2, 4)
    np.testing.assert_array_equal(images.reshape(sizes), np.concatenate([image.reshape(3, 2, 4) for image in images]))
