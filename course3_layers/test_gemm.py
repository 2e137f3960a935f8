"""Exercise 3.8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.course import calling


def array(*numbers):
    return np.array(numbers, np.float32)


def counting(*shape, start=1):
    """start, start + 1, ... in this shape."""
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def room(*shape):
    """Old numbers: none of them may be left, or be added to."""
    return np.full(shape, 99, np.float32)


def test_pack_a(impl):
    out = room(1, 2, 4)
    calling(impl.pack_a, array([1, 2], [3, 4], [5, 6]), out).fills(out, [[[1, 3, 5, 0], [2, 4, 6, 0]]])


def test_pack_a_several_panels(impl):
    out = room(3, 2, 4)
    expected = [
        [[1, 3, 5, 7], [2, 4, 6, 8]],
        [[9, 11, 13, 15], [10, 12, 14, 16]],
        [[17, 0, 0, 0], [18, 0, 0, 0]],
    ]
    calling(impl.pack_a, counting(9, 2), out).fills(out, expected)


def test_pack_a_without_rest(impl):
    out = room(2, 1, 4)
    calling(impl.pack_a, counting(8, 1), out).fills(out, [[[1, 2, 3, 4]], [[5, 6, 7, 8]]])


def test_pack_b(impl):
    out = room(1, 2, 8)
    expected = [[[1, 2, 3, 0, 0, 0, 0, 0], [4, 5, 6, 0, 0, 0, 0, 0]]]
    calling(impl.pack_b, array([1, 2, 3], [4, 5, 6]), out).fills(out, expected)


def test_pack_b_several_panels(impl):
    out = room(2, 2, 8)
    expected = [
        [[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]],
        [[9, 10, 0, 0, 0, 0, 0, 0], [19, 20, 0, 0, 0, 0, 0, 0]],
    ]
    calling(impl.pack_b, counting(2, 10), out).fills(out, expected)


def test_pack_b_without_rest(impl):
    out = room(2, 1, 8)
    calling(impl.pack_b, counting(1, 16), out).fills(out, counting(2, 1, 8))


def packed_views(impl, a, b):
    """Transposed, and only every second row: matrices need not lie in memory as they are read."""
    a_panels, b_panels = np.full((1, 3, 4), 99, np.float32), np.full((1, 2, 8), 99, np.float32)
    impl.pack_a(a.T, a_panels)
    impl.pack_b(b[::2, ::-1], b_panels)
    return a_panels[0, :, :2], b_panels[0, :, :3]


def test_pack_views(impl):
    a, b = array([1, 2], [3, 4], [5, 6]), array([1, 2, 3], [4, 5, 6], [7, 8, 9])
    calling(packed_views, impl, a, b).gives((array([1, 2], [3, 4], [5, 6]), array([3, 2, 1], [9, 8, 7])))


def test_tile_of_one_step(impl):
    c = room(4, 8)
    expected = [
        [1, 2, 3, 4, 5, 6, 7, 8],
        [10, 20, 30, 40, 50, 60, 70, 80],
        [-1, -2, -3, -4, -5, -6, -7, -8],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]
    calling(impl.tile, array([1, 10, -1, 0]), counting(1, 8), c).fills(c, expected)


def test_tile_of_three_steps(impl):
    c = room(4, 8)
    a_panel, b_panel = counting(3, 4, start=-3), counting(3, 8, start=-9)
    calling(impl.tile, a_panel, b_panel, c).fills(c, a_panel.T @ b_panel)


@pytest.mark.parametrize(("rows", "columns"), [(4, 1), (1, 8), (3, 7), (2, 3), (1, 1)])
def test_tile_at_the_edge(impl, rows, columns):
    c = room(rows, columns)
    a_panel, b_panel = counting(2, 4), counting(2, 8, start=-5)
    calling(impl.tile, a_panel, b_panel, c).fills(c, (a_panel.T @ b_panel)[:rows, :columns])


def test_tile_without_steps(impl):
    c = room(3, 5)
    calling(impl.tile, room(0, 4), room(0, 8), c).fills(c, np.zeros((3, 5), np.float32))


def test_tile_fractions(impl):
    c = room(1, 2)
    b_panel = np.zeros((2, 8), np.float32)
    b_panel[:, :2] = [[0.5, -0.25], [4, 8]]
    calling(impl.tile, array([0.5, 0, 0, 0], [0.125, 0, 0, 0]), b_panel, c).fills(c, [[0.75, 0.875]])


def product(impl, a, b):
    """Room with old numbers for the result and the panels; then your gemm."""
    (m, k), n = a.shape, b.shape[1]
    c, a_panels, b_panels = (np.full(s, 99, np.float32) for s in ((m, n), (-(-m // 4), k, 4), (-(-n // 8), k, 8)))
    impl.gemm(a, b, c, a_panels, b_panels)
    return c


def test_gemm(impl):
    calling(product, impl, array([1, 2], [3, 4], [5, 6]), array([10, 1], [100, -1])).gives(
        array([210, -1], [430, -1], [650, -1])
    )


def test_gemm_of_several_tiles(impl):
    a, b = counting(9, 3, start=-11), counting(3, 17, start=-20)
    calling(product, impl, a, b).gives(a @ b)


@pytest.mark.parametrize(
    ("m", "k", "n"), [(4, 1, 8), (8, 5, 16), (5, 2, 8), (4, 2, 9), (3, 7, 7), (1, 13, 1), (13, 1, 2), (2, 8, 25)]
)
def test_gemm_of_size(impl, m, k, n):
    a, b = counting(m, k, start=-7), counting(k, n, start=-5)
    calling(product, impl, a, b).gives(a @ b)


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 5), (5, 3, 0), (5, 0, 9)])
def test_gemm_of_nothing(impl, m, k, n):
    calling(product, impl, counting(m, k), counting(k, n)).gives(np.zeros((m, n), np.float32))


def test_zeros_of_a_panel_do_not_meet_the_result(impl):
    a, b = array([np.inf, 1], [2, 3]), array([1, 2, -1], [np.nan, 5, 7])
    calling(product, impl, a, b).gives(array([np.nan, np.inf, -np.inf], [np.nan, 19, 19]))


def test_gemm_of_many_steps(impl):
    a, b = counting(6, 300, start=-900) % 7, counting(300, 10, start=-1500) % 5
    calling(product, impl, a, b).gives(a @ b)


def test_gemm_of_many_tiles(impl):
    a, b = counting(50, 2, start=-40), counting(2, 70, start=-60)
    calling(product, impl, a, b).gives(a @ b)


def panels_of(impl, a, b):
    """What gemm leaves in the panels."""
    a_panels, b_panels = np.full((2, 2, 4), 99, np.float32), np.full((1, 2, 8), 99, np.float32)
    impl.gemm(a, b, np.zeros((5, 3), np.float32), a_panels, b_panels)
    return a_panels, b_panels


def test_gemm_packs(impl):
    a, b = counting(5, 2), counting(2, 3)
    expected = (
        array([[1, 3, 5, 7], [2, 4, 6, 8]], [[9, 0, 0, 0], [10, 0, 0, 0]]),
        np.pad(b[None], ((0, 0), (0, 0), (0, 5))),
    )
    calling(panels_of, impl, a, b).gives(expected)


def product_of_views(impl, a, b):
    """All three matrices are parts of larger ones, and what lies around the result stays as it was."""
    c = np.full((12, 26), 7, np.float32)
    a_panels, b_panels = np.full((2, 3, 4), 99, np.float32), np.full((2, 3, 8), 99, np.float32)
    impl.gemm(a.T, b[::-1], c[1:11:2, 2:24:2], a_panels, b_panels)
    return c


def test_gemm_of_views(impl):
    a, b = counting(3, 5), counting(3, 11, start=-9)
    expected = np.full((12, 26), 7, np.float32)
    expected[1:11:2, 2:24:2] = a.T @ b[::-1]
    calling(product_of_views, impl, a, b).gives(expected)


@given(m=st.integers(1, 13), k=st.integers(1, 9), n=st.integers(1, 19), seed=st.integers(0, 99))
def test_as_in_numpy(impl, m, k, n, seed):
    random = np.random.default_rng(seed)
    a, b = (random.integers(-20, 20, shape).astype(np.float32) / 4 for shape in ((m, k), (k, n)))
    calling(product, impl, a, b).gives(a @ b)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.course.speed import best_seconds

    a, b = (np.random.default_rng(seed).random((192, 192), np.float32) for seed in (1, 2))
    c, a_panels, b_panels = (np.empty(s, np.float32) for s in ((192, 192), (48, 192, 4), (24, 192, 8)))
    return best_seconds(lambda: impl.gemm(a, b, c, a_panels, b_panels)), 2 * 192**3, "FLOP"
