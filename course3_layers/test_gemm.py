"""Exercise 3.8. The tile is as large as the registers of this machine allow, so sizes are counted in tiles."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st


def array(*numbers):
    return np.array(numbers, np.float32)


def counting(*shape, start=1):
    """start, start + 1, ... in this shape."""
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def room(*shape):
    """Old numbers: none of them may be left, or be added to."""
    return np.full(shape, 99, np.float32)


def size_in_file(impl):
    """The tile of the file: rows and columns."""
    return tuple(impl.TILE_SIZE)


def tile_size(impl):
    return calling(size_in_file, impl).answer()


def filled_up(numbers, width):
    """Zeros behind the last axis, until it is so long."""
    numbers = np.asarray(numbers, np.float32)
    return np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, width - numbers.shape[-1])])


def panels_of_rows(a, rows):
    """(panels, k, rows): what ``a`` (m, k) is packed into."""
    return np.stack([filled_up(a[top : top + rows].T, rows) for top in range(0, len(a), rows)])


def test_pack_a(impl):
    rows, _ = tile_size(impl)
    out = room(1, 2, rows)
    calling(impl.pack_a, array([1, 2], [3, 4], [5, 6]), out).fills(out, filled_up([[[1, 3, 5], [2, 4, 6]]], rows))


def test_pack_a_several_panels(impl):
    rows, _ = tile_size(impl)
    out, a = room(3, 2, rows), counting(2 * rows + 1, 2)
    calling(impl.pack_a, a, out).fills(out, panels_of_rows(a, rows))


def test_pack_a_without_rest(impl):
    rows, _ = tile_size(impl)
    out = room(2, 1, rows)
    calling(impl.pack_a, counting(2 * rows, 1), out).fills(out, counting(2, 1, rows))


def test_pack_b(impl):
    _, columns = tile_size(impl)
    out = room(1, 2, columns)
    calling(impl.pack_b, array([1, 2, 3], [4, 5, 6]), out).fills(out, filled_up([[[1, 2, 3], [4, 5, 6]]], columns))


def test_pack_b_several_panels(impl):
    _, columns = tile_size(impl)
    out, b = room(2, 2, columns), counting(2, columns + 2)
    calling(impl.pack_b, b, out).fills(out, panels_of_rows(b.T, columns))


def test_pack_b_without_rest(impl):
    _, columns = tile_size(impl)
    out = room(2, 1, columns)
    calling(impl.pack_b, counting(1, 2 * columns), out).fills(out, counting(2, 1, columns))


def packed_views(impl, a, b):
    """Transposed, and only every second row: matrices need not lie in memory as they are read."""
    rows, columns = impl.TILE_SIZE
    a_panels, b_panels = np.full((1, 3, rows), 99, np.float32), np.full((1, 2, columns), 99, np.float32)
    impl.pack_a(a.T, a_panels)
    impl.pack_b(b[::2, ::-1], b_panels)
    return a_panels[0, :, :2], b_panels[0, :, :3]


def test_pack_views(impl):
    a, b = array([1, 2], [3, 4], [5, 6]), array([1, 2, 3], [4, 5, 6], [7, 8, 9])
    calling(packed_views, impl, a, b).gives((array([1, 2], [3, 4], [5, 6]), array([3, 2, 1], [9, 8, 7])))


def test_tile_of_one_step(impl):
    rows, columns = tile_size(impl)
    c, b_panel = room(rows, columns), counting(1, columns)
    expected = np.zeros((rows, columns), np.float32)
    expected[:3] = [[1], [10], [-1]] * b_panel
    calling(impl.tile, filled_up([[1, 10, -1]], rows), b_panel, c).fills(c, expected)


def test_tile_of_three_steps(impl):
    rows, columns = tile_size(impl)
    c = room(rows, columns)
    a_panel, b_panel = counting(3, rows, start=-3), counting(3, columns, start=-9)
    calling(impl.tile, a_panel, b_panel, c).fills(c, a_panel.T @ b_panel)


@pytest.mark.parametrize(
    ("missing_rows", "missing_columns"),
    [(0, 1), (1, 0), (1, 1), (2, 5), (3, 7)],
)
def test_tile_at_the_edge(impl, missing_rows, missing_columns):
    rows, columns = tile_size(impl)
    c = room(rows - missing_rows, columns - missing_columns)
    a_panel, b_panel = counting(2, rows), counting(2, columns, start=-5)
    calling(impl.tile, a_panel, b_panel, c).fills(c, (a_panel.T @ b_panel)[: len(c), : c.shape[1]])


def test_tile_of_one_number(impl):
    rows, columns = tile_size(impl)
    c = room(1, 1)
    calling(impl.tile, counting(2, rows), counting(2, columns), c).fills(c, [[1 + (rows + 1) * (columns + 1)]])


def test_tile_without_steps(impl):
    rows, columns = tile_size(impl)
    c = room(3, 5)
    calling(impl.tile, room(0, rows), room(0, columns), c).fills(c, np.zeros((3, 5), np.float32))


def test_tile_fractions(impl):
    rows, columns = tile_size(impl)
    c = room(1, 2)
    a_panel, b_panel = filled_up([[0.5], [0.125]], rows), filled_up([[0.5, -0.25], [4, 8]], columns)
    calling(impl.tile, a_panel, b_panel, c).fills(c, [[0.75, 0.875]])


def product(impl, a, b):
    """Room with old numbers for the result and the panels; then your gemm."""
    (m, k), n, (rows, columns) = a.shape, b.shape[1], impl.TILE_SIZE
    shapes = (m, n), (-(-m // rows), k, rows), (-(-n // columns), k, columns)
    c, a_panels, b_panels = (np.full(shape, 99, np.float32) for shape in shapes)
    impl.gemm(a, b, c, a_panels, b_panels)
    return c


def test_gemm(impl):
    calling(product, impl, array([1, 2], [3, 4], [5, 6]), array([10, 1], [100, -1])).gives(
        array([210, -1], [430, -1], [650, -1])
    )


def test_gemm_of_several_tiles(impl):
    rows, columns = tile_size(impl)
    a, b = counting(2 * rows + 1, 3, start=-11), counting(3, 2 * columns + 1, start=-20)
    calling(product, impl, a, b).gives(a @ b)


@pytest.mark.parametrize(
    ("tiles_down", "more_rows", "k", "tiles_across", "more_columns"),
    [
        (1, 0, 1, 1, 0),
        (2, 0, 5, 2, 0),
        (1, 1, 2, 1, 0),
        (1, 0, 2, 1, 1),
        (1, -1, 7, 1, -1),
        (0, 1, 13, 0, 1),
        (3, 1, 1, 0, 2),
        (0, 2, 8, 3, 1),
    ],
)
def test_gemm_of_size(impl, tiles_down, more_rows, k, tiles_across, more_columns):
    rows, columns = tile_size(impl)
    a = counting(tiles_down * rows + more_rows, k, start=-7)
    b = counting(k, tiles_across * columns + more_columns, start=-5)
    calling(product, impl, a, b).gives(a @ b)


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 5), (5, 3, 0), (5, 0, 9)])
def test_gemm_of_nothing(impl, m, k, n):
    calling(product, impl, counting(m, k), counting(k, n)).gives(np.zeros((m, n), np.float32))


def test_zeros_of_a_panel_do_not_meet_the_result(impl):
    a, b = array([np.inf, 1], [2, 0]), array([1, 2, -1], [np.nan, 5, 7])
    calling(product, impl, a, b).gives(array([np.nan, np.inf, -np.inf], [np.nan, 4, -2]))


def test_gemm_of_many_steps(impl):
    a, b = counting(6, 300, start=-900) % 7, counting(300, 10, start=-1500) % 5
    calling(product, impl, a, b).gives(a @ b)


def test_gemm_of_many_tiles(impl):
    rows, columns = tile_size(impl)
    a, b = counting(12 * rows + 2, 2, start=-40), counting(2, 8 * columns + 6, start=-60)
    calling(product, impl, a, b).gives(a @ b)


def panels_of(impl, a, b):
    """What gemm leaves in the panels: two of a, one of b."""
    rows, columns = impl.TILE_SIZE
    a_panels, b_panels = np.full((2, 2, rows), 99, np.float32), np.full((1, 2, columns), 99, np.float32)
    impl.gemm(a, b, np.zeros((len(a), 3), np.float32), a_panels, b_panels)
    return a_panels, b_panels


def test_gemm_packs(impl):
    rows, columns = tile_size(impl)
    a, b = counting(rows + 1, 2), counting(2, 3)
    calling(panels_of, impl, a, b).gives((panels_of_rows(a, rows), panels_of_rows(b.T, columns)))


def product_of_views(impl, a, b):
    """All three matrices are parts of larger ones, and what lies around the result stays as it was."""
    (k, m), n, (rows, columns) = a.shape, b.shape[1], impl.TILE_SIZE
    c = np.full((2 * m + 2, 2 * n + 4), 7, np.float32)
    shapes = (-(-m // rows), k, rows), (-(-n // columns), k, columns)
    a_panels, b_panels = (np.full(shape, 99, np.float32) for shape in shapes)
    impl.gemm(a.T, b[::-1], c[1:-1:2, 2:-2:2], a_panels, b_panels)
    return c


def test_gemm_of_views(impl):
    rows, columns = tile_size(impl)
    a, b = counting(3, rows + 1), counting(3, columns + 3, start=-9)
    expected = np.full((2 * rows + 4, 2 * columns + 10), 7, np.float32)
    expected[1:-1:2, 2:-2:2] = a.T @ b[::-1]
    calling(product_of_views, impl, a, b).gives(expected)


@given(m=st.integers(1, 25), k=st.integers(1, 9), n=st.integers(1, 140), seed=st.integers(0, 99))
def test_as_in_numpy(impl, m, k, n, seed):
    random = np.random.default_rng(seed)
    a, b = (random.integers(-20, 20, shape).astype(np.float32) / 4 for shape in ((m, k), (k, n)))
    calling(product, impl, a, b).gives(a @ b)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    rows, columns = impl.TILE_SIZE
    a, b = (np.random.default_rng(seed).random((192, 192), np.float32) for seed in (1, 2))
    shapes = (192, 192), (-(-192 // rows), 192, rows), (-(-192 // columns), 192, columns)
    c, a_panels, b_panels = (np.empty(shape, np.float32) for shape in shapes)
    return best_seconds(lambda: impl.gemm(a, b, c, a_panels, b_panels)), 2 * 192**3, "FLOP", "of the peak"
