"""The compiled loops of elementwise.pyx against their references, through the wrapper in broadcasting.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper import threads
from kuiper.tensor import broadcasting, elementwise, reference

KERNELS = [
    (elementwise.add, reference.add),
    (elementwise.sub, reference.sub),
    (elementwise.mul, reference.mul),
    (elementwise.div, reference.div),
]
NAMES = ["add", "sub", "mul", "div"]
SIZES = [1, 2, 3, 7, 8, 13, 16, 17, 31, 33]


def random(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Values away from 0, of both signs."""
    generator = np.random.default_rng((seed, *shape))
    signs = np.sign(generator.random(shape) - 0.5)
    return np.asarray(signs * (0.5 + generator.random(shape)), np.float32)


@pytest.mark.parametrize(("kernel", "reference"), KERNELS, ids=NAMES)
@pytest.mark.parametrize("n", SIZES)
def test_kernel_equals_its_reference_on_every_remainder(kernel: broadcasting.Kernel, reference: object, n: int) -> None:
    a, b = random((n,)), random((n,), 1)
    pairs = [(a, b), (a, b[:1]), (a[:1], b), (a[::-1], b), (a[::2], b[::2])]
    for x, y in pairs:
        np.testing.assert_array_equal(broadcasting.combine(kernel, x, y, "test"), reference(x, y))  # type: ignore[operator]


BROADCASTS = [
    ((2, 3, 4, 5), (2, 3, 4, 5)),
    ((3, 4, 5), (3, 1, 1)),
    ((3, 1, 1), (3, 4, 5)),
    ((2, 3, 4, 5), (3, 1, 1)),
    ((2, 3, 4, 5), (2, 1, 4, 1)),
    ((2, 1, 4, 1), (1, 3, 1, 5)),
    ((7, 13), (13,)),
    ((7, 13), (7, 1)),
    ((7, 1), (1, 13)),
    ((), (3, 5)),
    ((3, 5), ()),
    ((), ()),
    ((2, 1, 3, 1, 2, 1), (1, 2, 1, 2, 1, 3)),  # six axes that cannot be merged
    ((0, 3), (1, 3)),
    ((2, 3), (0, 1, 1)),
]


@pytest.mark.parametrize(("kernel", "reference"), KERNELS, ids=NAMES)
@pytest.mark.parametrize(("a_shape", "b_shape"), BROADCASTS)
def test_kernel_broadcasts_as_its_reference(
    kernel: broadcasting.Kernel, reference: object, a_shape: tuple[int, ...], b_shape: tuple[int, ...]
) -> None:
    a, b = random(a_shape), random(b_shape, 1)
    expected = reference(a, b)  # type: ignore[operator]
    for x in (a, np.asfortranarray(a)):
        for y in (b, np.asfortranarray(b)):
            out = broadcasting.combine(kernel, x, y, "test")
            assert out.dtype == np.float32
            np.testing.assert_array_equal(out, expected)


def test_non_contiguous_views_are_read_in_place() -> None:
    memory = random((6, 8, 10))
    a, b = memory[::2, ::-1, 1:8:3], memory[1::2, :, 9:2:-3]
    before = memory.copy()
    np.testing.assert_array_equal(broadcasting.combine(elementwise.sub, a, b, "test"), reference.sub(a, b))
    moved = memory.transpose(2, 0, 1)
    np.testing.assert_array_equal(
        broadcasting.combine(elementwise.add, moved, moved[:1], "test"), reference.add(moved, moved[:1])
    )
    np.testing.assert_array_equal(memory, before)


def test_memory_at_odd_addresses_is_read_rightly() -> None:
    packed = np.zeros(9, np.dtype([("tag", "u1"), ("value", "f4")]))
    packed["value"] = np.arange(9)
    values = packed["value"]
    assert not values.flags.aligned
    out = broadcasting.combine(elementwise.add, values, values, "test")
    assert out.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16]


@pytest.mark.parametrize(
    ("a_order", "b_shape", "b_order", "order"),
    [
        ("C", (3, 4, 5), "C", "C"),
        ("F", (3, 4, 5), "F", "F"),
        ("F", (3, 4, 5), "C", "C"),
        ("F", (3, 1, 1), "C", "F"),
        ("F", (), "C", "F"),
        ("C", (3, 1, 1), "F", "C"),
    ],
)
def test_result_is_column_major_where_both_operands_are(
    a_order: str, b_shape: tuple[int, ...], b_order: str, order: str
) -> None:
    a = np.asarray(random((3, 4, 5)), order=a_order)  # type: ignore[call-overload]
    b = np.asarray(random(b_shape, 1), order=b_order)  # type: ignore[call-overload]
    out = broadcasting.combine(elementwise.mul, a, b, "test")
    assert (out.flags.c_contiguous, out.flags.f_contiguous) == (order == "C", order == "F")
    np.testing.assert_array_equal(out, reference.mul(a, b))


def test_division_follows_ieee_754_without_a_warning() -> None:
    x = np.array([1, -1, 0, np.inf, np.nan], np.float32)
    out = broadcasting.combine(elementwise.div, x, np.zeros(5, np.float32), "test")
    np.testing.assert_array_equal(out, np.array([np.inf, -np.inf, np.nan, np.inf, np.nan], np.float32))


@pytest.mark.parametrize("size", [8191, 8192, 8193, 3 * 8192 + 5])
def test_rows_longer_than_a_block_are_complete_for_any_number_of_threads(size: int) -> None:
    a, b = random((3, size)).reshape(1, 1, 3, size), random((1, size), 1)
    wide = np.broadcast_to(b, a.shape)
    for kernel, ufunc in ((elementwise.add, np.add), (elementwise.div, np.divide)):
        for num_threads in (1, 2, 5):
            out = np.full(a.shape, np.nan, np.float32)
            kernel(a, wide, out, num_threads)
            np.testing.assert_array_equal(out, ufunc(a, b))


def test_large_arrays_use_all_threads_and_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random((5, 90, 301)), random((90, 1), 1)
    results = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "_num_threads", count)
        results.append(
            [
                broadcasting.combine(elementwise.mul, a, b, "test"),
                broadcasting.exp_negative(a, "test"),
                broadcasting.axpy(3, a, a, "test"),
            ]
        )
    for one, three in zip(*results, strict=True):
        np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(results[0][0], a * b)


@pytest.mark.parametrize("n", [0, *SIZES])
def test_axpy_equals_its_reference(n: int) -> None:
    x, y = random((n,)), random((n,), 1)
    np.testing.assert_allclose(broadcasting.axpy(0.7, x, y, "test"), reference.axpy(0.7, x, y), rtol=0, atol=3e-7)


def test_axpy_keeps_column_major_order() -> None:
    x, y = random((3, 4, 5)), random((3, 4, 5), 1)
    expected = reference.axpy(-2, x, y)
    for a, b, order in ((x, y, "C"), (np.asfortranarray(x), np.asfortranarray(y), "F"), (x, np.asfortranarray(y), "C")):
        out = broadcasting.axpy(-2, a, b, "test")
        np.testing.assert_allclose(out, expected, rtol=0, atol=3e-7)
        assert out.flags.f_contiguous == (order == "F")


@pytest.mark.parametrize("n", [0, *SIZES])
def test_exp_negative_equals_its_reference(n: int) -> None:
    x = 20 * random((n,))
    np.testing.assert_allclose(broadcasting.exp_negative(x, "test"), reference.exp_negative(x), rtol=2.5e-7)


def test_exp_negative_is_right_over_the_whole_range() -> None:
    x = np.linspace(-90, 106, 3000, dtype=np.float32)
    np.testing.assert_allclose(
        broadcasting.exp_negative(x, "test"), reference.exp_negative(x), rtol=2.5e-7, atol=1.5e-45
    )


def test_exp_negative_at_the_ends_of_float32() -> None:
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, -88.72283, 3e38, -3e38], np.float32)
    out = broadcasting.exp_negative(x, "test")
    assert out[:4].tolist() == [1, 1, 0, np.inf]
    assert np.isnan(out[4])
    assert 3.4e38 < out[5] < np.inf
    assert out[6:].tolist() == [0, np.inf]


def test_exp_negative_reads_views() -> None:
    x = random((4, 6))[::2, ::-2]
    np.testing.assert_allclose(broadcasting.exp_negative(x, "test"), reference.exp_negative(x), rtol=2.5e-7)


@st.composite
def broadcast_pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays whose shapes fit, with axes of length 1, missing, permuted or reversed."""
    full = draw(st.lists(st.integers(1, 4), min_size=0, max_size=6))

    def operand(seed: int) -> np.ndarray:
        shape = [length if draw(st.booleans()) else 1 for length in full][draw(st.integers(0, len(full))) :]
        axes = draw(st.permutations(range(len(shape))))
        array = random(tuple(shape[axis] for axis in axes), seed).transpose(np.argsort(axes))
        return array[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)]

    return operand(0), operand(1)


@settings(max_examples=150)
@given(broadcast_pairs(), st.sampled_from(range(4)))
def test_any_broadcast_agrees_with_numpy(pair: tuple[np.ndarray, np.ndarray], which: int) -> None:
    a, b = pair
    out = broadcasting.combine(KERNELS[which][0], a, b, "test")
    ufunc = (np.add, np.subtract, np.multiply, np.divide)[which]
    expected = ufunc(a, b)
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out, expected)
