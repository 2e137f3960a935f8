"""Memory in pages of its own."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from kuiper.pages import LEAST, pages


@pytest.mark.parametrize("size", [0, 1, LEAST - 1, LEAST, 5 * LEAST + 3])
def test_pages_are_zeros_that_can_be_written(size: int) -> None:
    found = pages(size)
    assert (found.shape, found.dtype, found.any()) == ((size,), np.uint8, False)
    found[...] = 7
    assert (found == 7).all()


def test_pages_go_back_when_they_are_dropped() -> None:
    found, other = pages(4 * LEAST), pages(4 * LEAST)
    room = weakref.ref(found)
    del found
    gc.collect()
    assert room() is None
    assert not other.any()


def test_pages_that_nobody_has_are_an_error() -> None:
    with pytest.raises(MemoryError, match="bytes"):
        pages(1 << 60)
