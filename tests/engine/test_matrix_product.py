"""Matrix products of the engine against NumPy's in double precision, for matrices that lie in an arena in any way."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES, TILE_ROWS
from kuiper.engine.kernels.matrix_product import MatrixProduct
from tests.engine.one_step import UNTOUCHED, round_up, run_step

rng = np.random.default_rng(0)


def laid_out(x: np.ndarray, by_columns: bool, gap: int) -> np.ndarray:
    """The same matrices in other memory, NaN in between: a view of it."""
    moved = x.swapaxes(-1, -2) if by_columns else x
    room = np.full((*moved.shape[:-1], moved.shape[-1] + gap), np.nan, np.float32)
    room[..., : moved.shape[-1]] = moved
    view = room[..., : moved.shape[-1]]
    return view.swapaxes(-1, -2) if by_columns else view


def memory_of(view: np.ndarray) -> np.ndarray:
    """All of the memory that a view is of."""
    while view.base is not None:
        view = view.base
    return view.ravel()


def start(view: np.ndarray) -> int:
    """Where in that memory it begins."""
    return (view.ctypes.data - memory_of(view).ctypes.data) // 4


def floats(view: np.ndarray, axis: int) -> int:
    return view.strides[axis] // 4


def multiply(
    a: np.ndarray, b: np.ndarray, gap: int, scale: float = 1.0, whole_vectors: bool = False, panel_vectors: int = 3
) -> np.ndarray:
    """The step's product of two stacks (..., rows, depth) and (..., depth, columns), written ``gap`` floats apart."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    out = np.full((*stack, rows, columns + gap), UNTOUCHED, np.float32)
    parts = [memory_of(a), memory_of(b), out.ravel(), np.full(64, np.nan, np.float32)]
    a_stack, b_stack = (np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, b))
    numbers = {
        "rows": rows, "depth": depth, "columns": columns, "scale": scale, "whole_vectors": whole_vectors,
        "a": start(a), "a_row": floats(a, -2), "a_depth": floats(a, -1),
        "b": parts[0].size + start(b), "b_depth": floats(b, -2), "b_column": floats(b, -1),
        "out": parts[0].size + parts[1].size, "out_row": columns + gap, "panel_vectors": panel_vectors,
    }  # fmt: skip
    strides = [[floats(x, axis) for axis in range(len(stack))] for x in (out, a_stack, b_stack)]
    arena = run_step(MatrixProduct(numbers, stack, *strides), np.concatenate(parts))
    result = arena[numbers["out"] : numbers["out"] + out.size].reshape(out.shape)
    written = round_up(columns) if whole_vectors else columns
    np.testing.assert_array_equal(result[..., written:], UNTOUCHED)
    return result[..., :columns]


def random(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def check(
    a: np.ndarray, b: np.ndarray, gap: int, scale: float = 1.0, whole_vectors: bool = False, panel_vectors: int = 3
) -> None:
    """Each sum is off by one rounding of float32 for each of its terms and one for ``scale``, at most.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1.
    """
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    result = multiply(a, b, gap, scale, whole_vectors, panel_vectors)
    bound = (a.shape[-1] + 1) * 2.0**-24 * scale * np.matmul(np.abs(a64), np.abs(b64))
    np.testing.assert_array_less(np.abs(result - scale * np.matmul(a64, b64)), 1.001 * bound)


@pytest.mark.parametrize("rows", [1, 2, 6, 7, 13, 49])
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 49, 64, 100])
@pytest.mark.parametrize("depth", [1, 5, 32, 49])
def test_matrix_product_of_any_size(rows: int, depth: int, columns: int) -> None:
    for b_by_columns in (False, True):
        a, b = laid_out(random(rows, depth), False, 3), laid_out(random(depth, columns), b_by_columns, 5)
        check(a, b, gap=2)
        check(a, b, gap=round_up(columns) - columns, whole_vectors=True)


@pytest.mark.parametrize("panel_vectors", range(1, len(TILE_ROWS) + 1))
@pytest.mark.parametrize("columns", [LANES, 5 * LANES + 1, 8 * LANES])
def test_matrix_product_in_panels_of_any_width(columns: int, panel_vectors: int) -> None:
    rows = 2 * max(TILE_ROWS) + 1
    check(random(rows, 9), random(9, columns), gap=1, panel_vectors=panel_vectors)
    check(random(3, rows, 9), random(3, 9, columns), gap=0, panel_vectors=panel_vectors)


@pytest.mark.parametrize("a_by_columns", [False, True])
@pytest.mark.parametrize("b_by_columns", [False, True])
def test_matrix_product_of_stacks(a_by_columns: bool, b_by_columns: bool) -> None:
    a = laid_out(random(2, 3, 21, 40), a_by_columns, 8)
    b = laid_out(random(2, 3, 40, 70), b_by_columns, 1)
    check(a, b, gap=0, scale=0.125)
    check(a, b[0, 0], gap=10, scale=3)
    check(a, b[:, :1], gap=10)
    check(a[1:, 2], b, gap=10, whole_vectors=True)


def test_matrix_product_reads_heads_where_the_projection_left_them() -> None:
    """(batch, tokens, 3, heads, e) -> queries and keys (batch, heads, tokens, e), as permute makes them."""
    tokens, heads, e = 50, 3, 32
    both = random(2, tokens, 3, heads, e)
    queries, keys = (both[:, :, k].transpose(0, 2, 1, 3) for k in range(2))
    keys = keys.swapaxes(-1, -2)
    numbers = {
        "rows": tokens, "depth": e, "columns": tokens, "scale": 0.5, "whole_vectors": False,
        "a": 0, "a_row": 3 * heads * e, "a_depth": 1,
        "b": heads * e, "b_depth": 1, "b_column": 3 * heads * e,
        "out": both.size, "out_row": tokens, "panel_vectors": 2,
    }  # fmt: skip
    strides = (tokens * 3 * heads * e, e)
    step = MatrixProduct(numbers, (2, heads), (heads * tokens**2, tokens**2), strides, strides)
    arena = np.concatenate([both.ravel(), np.zeros(2 * heads * tokens**2 + 64, np.float32)])
    result = run_step(step, arena)[both.size : -64].reshape(2, heads, tokens, tokens)
    np.testing.assert_allclose(result, 0.5 * queries @ keys, rtol=1e-5, atol=1e-5)


def test_matrix_product_keeps_nan_and_inf_where_they_belong() -> None:
    a, b = random(9, 20), random(20, 37)
    a[3, 5], b[7, 36], b[2, 0] = np.nan, np.inf, np.nan
    with np.errstate(invalid="ignore"):
        wanted = a @ b
    result = multiply(a, b, gap=0)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(result), np.isinf(wanted))


def test_matrix_product_cuts_big_work_into_tasks() -> None:
    numbers = {
        "rows": 512, "depth": 512, "columns": 4 * LANES, "scale": 1, "whole_vectors": 0,
        "a": 0, "a_row": 512, "a_depth": 1, "b": 0, "b_depth": 64, "b_column": 1, "out": 0, "out_row": 64,
        "panel_vectors": 4,
    }  # fmt: skip
    assert MatrixProduct(numbers | {"columns": 64}).tasks >= 8
    assert MatrixProduct(numbers | {"rows": 8}).tasks == 1
    assert MatrixProduct(numbers | {"rows": 8}, (12,), (0,), (0,), (0,)).tasks == 12
